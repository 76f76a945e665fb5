import test from "ava";
import type { Browser, Page } from "playwright-core";
import { faults, SOUND } from "../pages/sound.ts";
import { launchBrowser, leaveBy, openPage, PHONE, screenshot } from "../support/browser.ts";
import { connectAgent } from "../support/market.ts";
import { codeFrom, linkFrom } from "./mailbox.ts";
import { type Market, startMarket } from "./market.ts";

/**
 * Signing in with a real browser, real OpenID providers on another site and a real mail server. The tests are serial,
 * because a provider signs in one person at a time.
 */

let browser: Browser;
let market: Market;
test.before(async () => {
  [browser, market] = await Promise.all([launchBrowser(), startMarket()]);
});
test.after.always(async () => {
  await browser?.close();
  await market?.close();
});

/** Collects the browser's console messages and errors, such as that the CSP forbids the target of a form. */
const complaintsOf = (page: Page): string[] => {
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  return complaints;
};

const cookieNames = async (page: Page): Promise<string[]> =>
  (await page.context().cookies(market.url)).map(({ name }) => name).filter((name) => name.startsWith("souk_"));

const h1 = (page: Page) => page.getByRole("heading", { level: 1 }).textContent();

test.serial("a person approves an agent and proves an e-mail address, and the agent's limits rise", async (t) => {
  const agent = await connectAgent(market.url, "Claude");
  const page = await openPage(browser, PHONE, t);
  const complaints = complaintsOf(page);
  await page.goto(agent.link);
  await leaveBy(page, page.getByRole("button", { name: agent.code }));
  t.is(await h1(page), "Claude now acts for you");
  const before = (await agent.call("GET", "/v1/me")).body;
  const { body: verification } = await agent.call("POST", "/v1/me/verifications", { method: "email" });

  await page.goto(verification.url);
  await screenshot(page, "journey-verify");
  await page.getByLabel("Your e-mail address").fill("lena@example.com");
  await leaveBy(page, page.getByRole("button", { name: "Send me a code" }));
  const letter = await market.mail.next("lena@example.com");

  // The same mail, opened in another browser, shows the code and no way to sign in.
  const desk = await openPage(browser, undefined, t);
  await desk.goto(linkFrom(letter));
  t.is(await h1(desk), "Type this code where you started");
  await screenshot(desk, "journey-elsewhere");
  t.is((await desk.locator(".code").textContent())?.replace(" ", ""), codeFrom(letter));
  t.is(await desk.getByRole("button").count(), 0);

  await page.getByLabel("Six-digit code").fill(codeFrom(letter));
  await leaveBy(page, page.getByRole("button", { name: "Continue" }));
  t.is(await h1(page), "You have signed in");
  await screenshot(page, "journey-proved");
  t.deepEqual(await faults(page), SOUND);
  const after = (await agent.call("GET", "/v1/me")).body;
  t.deepEqual(after.account.verified, ["email"]);
  t.true(after.limits.publish_offer.limit > before.limits.publish_offer.limit);
  await leaveBy(page, page.getByRole("link", { name: "your settings" }));
  t.true((await page.locator("main").textContent())?.includes("Claude"));
  t.deepEqual(complaints, []);
});

test.serial("Google signs in from its own site and redirects back to the page that needed the sign-in", async (t) => {
  market.google.person = { sub: "1", email: "max@gmail.example", email_verified: true, name: "Max" };
  const page = await openPage(browser, PHONE, t);
  const complaints = complaintsOf(page);
  await page.goto(`${market.url}/settings/profile`);
  t.is(await h1(page), "Sign in");
  await leaveBy(page, page.getByRole("button", { name: "Continue with Google" }));
  await page.waitForURL(`${market.url}/settings/profile`);
  t.true((await page.locator("main").textContent())?.includes("max@gmail.example"));
  t.deepEqual((await cookieNames(page)).sort(), ["souk_csrf", "souk_session"]);
  t.deepEqual(complaints, []);

  await page.goBack();
  await page.goForward();
  t.is(new URL(page.url()).pathname, "/settings/profile");
});

test.serial("Apple posts its response from another site, and the sign-in attempt is still found", async (t) => {
  market.apple.person = { sub: "2", email: "eva@privaterelay.example", email_verified: "true" };
  const page = await openPage(browser, PHONE, t);
  const complaints = complaintsOf(page);
  const posts: (string | undefined)[] = [];
  page.on("request", async (request) => {
    if (request.method() === "POST" && request.url() === `${market.url}/sign-in/apple`) {
      posts.push((await request.allHeaders())["cookie"]);
    }
  });
  await page.goto(`${market.url}/sign-in?return=/settings/methods`);
  await leaveBy(page, page.getByRole("button", { name: "Continue with Apple" }));
  await page.waitForURL(`${market.url}/settings/methods`);
  t.true((await page.locator("main").textContent())?.includes("eva@privaterelay.example"));
  t.deepEqual(posts, [undefined], "the browser does not send our cookies with a post from another site");
  t.deepEqual(complaints, []);
});

test.serial("a second method is added from the settings", async (t) => {
  const page = await openPage(browser, PHONE, t);
  const complaints = complaintsOf(page);
  await page.goto(`${market.url}/sign-in?return=/settings/methods`);
  await page.getByLabel("Your e-mail address").fill("two@example.com");
  await leaveBy(page, page.getByRole("button", { name: "Send me a code" }));
  await page.goto(linkFrom(await market.mail.next("two@example.com")));
  await page.getByRole("button", { name: "Sign in" }).dblclick();
  // The second click aborts the navigation of the first one, which page.waitForURL takes for a failure. If the first one
  // was faster, its cookies are there, and the second one knows no more where the person wanted to go.
  await page.locator('a[href$="/settings/methods"]').first().waitFor();
  if (page.url() === `${market.url}/settings`) await page.goto(`${market.url}/settings/methods`);
  t.is(page.url(), `${market.url}/settings/methods`);
  market.google.person = { sub: "two", email: "two@gmail.example", email_verified: true };
  await leaveBy(page, page.getByRole("button", { name: "Add Google" }));
  await page.waitForURL(`${market.url}/settings/methods`);
  await page.getByRole("listitem").filter({ hasText: "two@gmail.example" }).waitFor();
  t.deepEqual(complaints, []);
});

test.serial("after signing out, the back button shows nothing of the account", async (t) => {
  market.google.person = { sub: "1", email: "max@gmail.example", email_verified: true, name: "Max" };
  const page = await openPage(browser, PHONE, t);
  await page.goto(`${market.url}/sign-in`);
  await leaveBy(page, page.getByRole("button", { name: "Continue with Google" }));
  await page.waitForURL(`${market.url}/settings`);
  await page.goto(`${market.url}/sign-out`);
  await leaveBy(page, page.getByRole("button", { name: "Sign out here" }));
  t.is(await h1(page), "You are signed out");
  t.deepEqual(await cookieNames(page), ["souk_csrf"]);
  await page.goBack();
  await page.goBack();
  t.is((await page.locator("body").textContent())?.includes("max@gmail.example"), false);
});
