import test from "ava";
import { isLoopbackHost } from "../../src/base/address.ts";
import { readConfig } from "../../src/config.ts";
import { keepsMail, openMailbox } from "../../src/mail/mailbox.ts";
import { launchBrowser, openPage, screenshot, VIEWS } from "../support/browser.ts";
import { call } from "../support/market.ts";
import { servePages, type Teardown } from "./site.ts";
import { faults, invalidHtml, SOUND } from "./sound.ts";

/**
 * Tests the mailbox of a service without a mail server: who sees it, and what it keeps. test/admin/embedded.test.ts signs in
 * with it.
 */

const SIGN_IN = { methods: ["email"] as const, providers: {}, recordKey: null };

const withMailbox = async (t: Teardown) => {
  const mailbox = openMailbox();
  const site = await servePages(t, {}, undefined, { ...SIGN_IN, mailer: mailbox, mailbox });
  return {
    site,
    mailbox,
    open: (headers: Record<string, string> = {}) => call(site.url, "GET", mailbox.path, { headers }),
  };
};

test("mail is kept only by a service with its own database, without a mail server, on a loopback address", (t) => {
  const keeps = (env: Record<string, string>) => keepsMail(readConfig(env));
  for (const env of [{}, { BASE_URL: "http://localhost:3000", HOST: "0.0.0.0" }, { HOST: "::1" }])
    t.true(keeps(env), JSON.stringify(env));
  for (const env of [
    { BASE_URL: "https://souk.example" },
    { HOST: "0.0.0.0" },
    { DATABASE_URL: "postgres://localhost/souk" },
    { SMTP_URL: "smtp://127.0.0.1:1025", MAIL_FROM: "souk@localhost.example" },
  ])
    t.false(keeps(env), JSON.stringify(env));
});

test("a proxy, an agent and who does not know the secret do not see the mailbox", async (t) => {
  const { site, mailbox, open } = await withMailbox(t);
  const { port } = new URL(site.url);
  for (const host of ["127.0.0.1", "localhost", "[::1]", "souk.localhost"])
    t.is((await open({ host: `${host}:${port}` })).status, 200, host);
  for (const header of ["x-forwarded-for", "forwarded", "x-forwarded-host", "x-real-ip", "via"])
    t.is((await open({ [header]: "127.0.0.1" })).status, 404, header);
  t.is((await open({ authorization: "Bearer agt_x" })).status, 400);
  t.is((await call(site.url, "POST", mailbox.path)).status, 405);
  for (const path of ["/mailbox", "/mailbox/", "/mailbox/x", `${mailbox.path}x`])
    t.is((await call(site.url, "GET", path)).status, 404, path);
});

test("the mailbox escapes what others wrote, is not stored, and keeps the newest fifty messages", async (t) => {
  const { site, mailbox, open } = await withMailbox(t);
  for (let count = 1; count <= 51; count += 1)
    await mailbox.send(`reader${count}@example.com`, { subject: `Number ${count}`, text: "-", html: "" });
  const hostile = '<img src=x onerror="alert(1)"> http://evil.example/ javascript:alert(1)';
  await mailbox.send("<b>@example.com", { subject: hostile, text: `${hostile}\n${site.url}/sign-in/link/x`, html: "" });
  const page = await open();
  t.is(page.headers["cache-control"], "no-store");
  t.deepEqual(await invalidHtml(page.text), []);
  t.false(page.text.includes("<img"));
  t.deepEqual(
    [...page.text.matchAll(/<a href="(http[^"]*)"/g)].map(([, href]) => href),
    [`${site.url}/sign-in/link/x`],
  );
  const subjects = [...page.text.matchAll(/Number (\d+)</g)].map(([, number]) => Number(number));
  t.is(subjects.length, 49);
  t.deepEqual([subjects[0], subjects.at(-1)], [51, 3]);
});

test("names and addresses of the machine itself, and no others, are loopback", (t) => {
  for (const host of ["localhost", "LOCALHOST", "127.0.0.1", "127.9.9.9", "::1", "[::1]", "::ffff:127.0.0.1"])
    t.true(isLoopbackHost(host), host);
  for (const host of ["", "0.0.0.0", "::", "128.0.0.1", "127.0.0.1.evil.example", "localhost.evil.example", "fe80::1"])
    t.false(isLoopbackHost(host), host);
});

test("the mailbox is accessible and fits every screen", async (t) => {
  const { site, mailbox } = await withMailbox(t);
  const browser = await launchBrowser();
  t.teardown(() => browser.close());
  for (const view of [...VIEWS, { name: "narrow", width: 320, height: 640, colorScheme: "light" as const }]) {
    const page = await openPage(browser, view, t);
    await page.goto(`${site.url}${mailbox.path}`);
    t.deepEqual(await faults(page), SOUND, view.name);
    await mailbox.send(`${"long".repeat(15)}@example.com`, {
      subject: "Sign in to Souk",
      text: `Type this code where you asked for it:\n\n    123456\n\n${site.url}/sign-in/link/${"x".repeat(60)}`,
      html: "",
    });
    await page.reload();
    await screenshot(page, `mailbox-${view.name}`);
    t.deepEqual(await faults(page), SOUND, view.name);
  }
});
