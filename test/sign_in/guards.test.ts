import test from "ava";
import { raised, type Script, type Site, servePages, type Teardown } from "../pages/site.ts";
import { newVisitor } from "./visitor.ts";

/** Tests the protection of the sign-in pages: security headers, origin of forms, cookies, and redirect targets. */

const SECRET = "lZq4eJ9mX2v7Yw0bTnKcRsUdGfHiPaQo1E3r5t8u6yA";

const SCRIPT: Script = {
  get_viewer: { viewer: null },
  start_sign_in: { email: "lena@example.com" },
  get_sign_in: { method: "email", email: "lena@example.com", expires_in: 873, tries_left: 5, finished: false },
  get_mail_link: { same_browser: true, expires_in: 873 },
  finish_mail_sign_in: { label: "lena@example.com" },
  finish_sign_in: { label: "lena@example.com" },
  get_verification_page: {
    status: "pending",
    method: "google",
    agent_name: "Claude",
    agent_connected: true,
    account_label: null,
    requires: "nothing",
    mine: false,
    expires_in: 1675,
  },
};

const serve = (t: Teardown, script: Script = {}, baseUrl?: string): Promise<Site> =>
  servePages(t, { ...SCRIPT, ...script }, baseUrl);

const PATHS = [
  "/sign-in",
  "/sign-in/code",
  `/sign-in/link/${SECRET}`,
  "/sign-in/google",
  "/sign-in/apple",
  "/sign-out",
  "/sign-out/everywhere",
  `/verify/${SECRET}`,
];

/** Pages whose forms may redirect to a provider, so that form-action must allow it. */
const LEADING = ["/sign-in", `/verify/${SECRET}`];

for (const path of PATHS) {
  test(`no response at ${path.replace(SECRET, ":secret")} can be framed, cached or indexed`, async (t) => {
    const site = await serve(t);
    const providers = LEADING.includes(path) ? " https://google.example https://apple.example" : "";
    for (const method of ["GET", "HEAD", "POST", "DELETE"]) {
      const { headers } = await fetch(site.url + path, { method, redirect: "manual" });
      t.like(Object.fromEntries(headers), {
        "content-security-policy": `default-src 'none';style-src 'self';form-action 'self'${providers};frame-ancestors 'none';base-uri 'none'`,
        "x-frame-options": "DENY",
        "cache-control": "no-store",
        "x-robots-tag": "noindex",
        "referrer-policy": "no-referrer",
      });
    }
  });
}

for (const path of PATHS.filter((one) => !one.startsWith("/sign-in/google") && !one.startsWith("/sign-in/apple"))) {
  test(`${path.replace(SECRET, ":secret")} refuses a form from another site or with an agent's token`, async (t) => {
    const site = await serve(t);
    const visitor = newVisitor();
    const shown = await visitor.get(`${site.url}${path === "/sign-out/everywhere" ? "/sign-out" : path}`);
    const token = /name="token" value="([^"]+)"/.exec(shown.text)?.[1] ?? "";
    site.calls.length = 0;
    const fields = { token, method: "email", email: "lena@example.com", code: "123456", decision: "cancel" };
    for (const headers of [{ origin: "https://evil.example" }, { authorization: "Bearer agt_x" }])
      t.is((await visitor.post(site.url + path, fields, headers as Record<string, string>)).status, 400);
    t.deepEqual(
      site.calls.filter(({ name }) => !name.startsWith("get_")),
      [],
    );
  });
}

test("with an agent's token, public pages open and personal pages are refused", async (t) => {
  const site = await serve(t);
  const headers = { authorization: "Bearer agt_x" };
  const moderator = `/moderator/${SECRET}`;
  for (const path of [...PATHS, `/connect/${SECRET}`, moderator, "/settings", "/settings/account/deleted"]) {
    if (path === "/sign-out/everywhere") continue;
    const page = await newVisitor().get(site.url + path, headers);
    t.is(page.status, 400, path);
    t.true(page.text.includes("This page is for a person in a browser."), path);
  }
  for (const path of ["/", "/errors", "/assets/souk.css"]) {
    t.is((await newVisitor().get(site.url + path, headers)).status, 200, path);
  }
  // The home page is the same for everybody.
  t.deepEqual(
    site.calls.filter(({ name }) => name !== "get_market_overview"),
    [],
  );
});

test("the page of a first sign-in says that agents see the name that the provider gives", async (t) => {
  const site = await serve(t);
  const said = async (path: string) => (await newVisitor().get(site.url + path)).text.includes("agents are shown that");
  t.deepEqual([await said("/sign-in"), await said("/sign-in?again=1")], [true, false]);
});

test("opening any of the pages calls no function that writes", async (t) => {
  const site = await serve(t);
  const visitor = newVisitor();
  for (const path of [...PATHS, "/sign-in/google?code=a&state=b", "/sign-in/apple?code=a&state=b"])
    await visitor.get(site.url + path);
  t.deepEqual(
    site.calls.filter(({ name }) => !name.startsWith("get_")),
    [],
  );
});

test("a HEAD request to a callback does not finish a sign-in", async (t) => {
  const site = await serve(t);
  const visitor = newVisitor();
  await visitor.send(await visitor.get(`${site.url}/sign-in`), "Continue with Google");
  const cookie = `souk_flow=${visitor.cookie(site.url, "souk_flow")}`;
  site.script["get_sign_in"] = { method: "google", email: null, expires_in: 873, tries_left: 5, finished: false };
  const head = await fetch(`${site.url}/sign-in/google?code=a&state=b`, { method: "HEAD", headers: { cookie } });
  t.is(head.status, 400);
  t.false(site.calls.some(({ name }) => name === "finish_sign_in"));
});

test("if the base URL is https with a path, cookies are __Host- cookies and links start with the path", async (t) => {
  const base = "https://example.org/souk";
  const site = await serve(t, {}, base);
  const page = await fetch(`${site.url}/sign-in?return=/settings/methods`);
  const html = await page.text();
  t.true(html.includes('action="/souk/sign-in"'));
  const token = /name="token" value="([^"]+)"/.exec(html)?.[1] ?? "";
  const sent = await fetch(`${site.url}/sign-in`, {
    method: "POST",
    redirect: "manual",
    headers: { origin: "https://example.org", cookie: page.headers.getSetCookie()[0]?.split(";")[0] ?? "" },
    body: new URLSearchParams({ token, method: "email", email: "lena@example.com", return: "/settings/methods" }),
  });
  t.is(sent.headers.get("location"), "/souk/sign-in/code");
  t.is(sent.headers.get("strict-transport-security"), "max-age=31536000");
  const [flow = "", back = ""] = sent.headers.getSetCookie();
  t.regex(flow, /^__Host-souk_flow=[\w-]{43}; Max-Age=900; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
  t.regex(back, /^__Host-souk_return=[\w-]+; Max-Age=900; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
  const link = await fetch(`${site.url}/sign-in/link/${SECRET}`, { headers: { cookie: flow.split(";")[0] ?? "" } });
  const button = /name="token" value="([^"]+)"/.exec(await link.text())?.[1] ?? "";
  const cookies = [flow, back, link.headers.getSetCookie()[0] ?? ""].map((line) => line.split(";")[0]).join("; ");
  const arrived = await fetch(`${site.url}/sign-in/link/${SECRET}`, {
    method: "POST",
    redirect: "manual",
    headers: { origin: "https://example.org", cookie: cookies },
    body: new URLSearchParams({ token: button }),
  });
  t.is(arrived.headers.get("location"), "/souk/settings/methods");
  t.regex(arrived.headers.getSetCookie()[0] ?? "", /^__Host-souk_session=[\w-]{43}; .*Secure; SameSite=Lax$/);
});

test("a forged return path never leads to another site", async (t) => {
  const site = await serve(t);
  for (const path of [
    "//evil.example",
    "/\\evil.example",
    "https://evil.example",
    "/settings/../..//evil.example",
    "/%2f/evil.example",
    "/settings\r\nX: y",
  ]) {
    const visitor = newVisitor();
    const page = await visitor.get(`${site.url}/sign-in?return=${encodeURIComponent(path)}`);
    t.false(page.text.includes("evil.example"), path);
    const code = await visitor.submit(page, "email", { email: "lena@example.com", return: path });
    t.is((await visitor.send(code, "code", { code: "123456" })).headers.get("location"), "/settings", path);
    const fresh = await visitor.get(`${site.url}/sign-in`);
    const again = await visitor.submit(fresh, "email", { email: "lena@example.com" });
    visitor.jar.get("127.0.0.1")?.set("souk_return", Buffer.from(path).toString("base64url"));
    t.is((await visitor.send(again, "code", { code: "123456" })).headers.get("location"), "/settings", path);
  }
});

for (const [what, members, path] of [
  ["the session has ended", {}, "/sign-in?return=%2Fsettings%2Fmethods"],
  ["the last sign-in is too old", { sign_in_again: true }, "/sign-in?return=%2Fsettings%2Fmethods&again=1"],
] as const) {
  test(`if ${what}, a person who comes back from a provider is redirected to sign-in`, async (t) => {
    const refused = raised(401, "unauthorized", "To be sure that it is you, sign in again.", members);
    const site = await serve(t, { finish_sign_in: refused });
    const visitor = newVisitor();
    const page = await visitor.get(`${site.url}/sign-in?return=/settings/methods`);
    await visitor.send(page, "Continue with Google", { return: "/settings/methods" });
    site.script["get_sign_in"] = { method: "google", email: null, expires_in: 873, tries_left: 5, finished: false };
    const answer = await visitor.get(`${site.url}/sign-in/google?code=a&state=b`);
    t.is(answer.status, 303);
    t.is(answer.headers.get("location"), path);
    t.is(visitor.cookie(site.url, "souk_session"), undefined);
    const shown = await visitor.follow(answer);
    t.is(shown.heading, "sign_in_again" in members ? "Sign in once more" : "Sign in");
    t.true(shown.text.includes('value="/settings/methods"'));

    const program = await visitor.get(`${site.url}/sign-in/google?code=a&state=b`, { accept: "application/json" });
    t.is(program.status, 401);
    t.like(JSON.parse(program.text), { code: "unauthorized" });
  });
}

test("only the known fields of Apple's form are passed on, within a size limit", async (t) => {
  const site = await serve(t);
  const visitor = newVisitor();
  const elsewhere = { origin: "https://apple.example", "sec-fetch-site": "cross-site" };
  const posted = await visitor.post(
    `${site.url}/sign-in/apple`,
    { code: "c&d", state: "s", evil: "1", user: "u".repeat(3000) },
    elsewhere,
  );
  t.is(posted.headers.get("location"), "/sign-in/apple?code=c%26d&state=s");
  t.is((await visitor.post(`${site.url}/sign-in/apple`, { code: "c".repeat(40_000) }, elsewhere)).status, 413);
  const strange = await visitor.post(
    `${site.url}/sign-in/apple`,
    {},
    { ...elsewhere, "content-type": "application/json" },
  );
  t.is(strange.status, 415);
  t.deepEqual(site.calls, []);
});

test("if the database is down, pages answer 503, but the sign-in page still opens", async (t) => {
  const down = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  const site = await serve(
    t,
    Object.fromEntries([...Object.keys(SCRIPT), "continue_verification"].map((name) => [name, down])),
  );
  const visitor = newVisitor();
  const page = await visitor.get(`${site.url}/sign-in`);
  t.is(page.status, 200);
  const failed = await visitor.send(page, "email", { email: "lena@example.com" });
  t.is(failed.status, 503);
  t.is(failed.headers.get("retry-after"), "2");
  t.true(failed.text.includes('value="lena@example.com"'));
  for (const path of [`/sign-in/link/${SECRET}`, `/verify/${SECRET}`]) {
    const answer = await visitor.get(site.url + path);
    t.is(answer.status, 503, path);
    t.is(answer.headers.get("retry-after"), "2", path);
  }
  t.true(site.thrown.every((thrown) => thrown === down) && site.thrown.length >= 2);
});

test("a program gets a Problem where a person gets a page", async (t) => {
  const site = await serve(t, { get_mail_link: raised(410, "link_expired", "This link or code no longer works.") });
  const answer = await fetch(`${site.url}/sign-in/link/${SECRET}`, { headers: { accept: "application/json" } });
  t.is(answer.headers.get("content-type"), "application/problem+json; charset=utf-8");
  t.like(await answer.json(), { code: "link_expired", status: 410 });
});
