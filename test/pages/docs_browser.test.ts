import test, { type ExecutionContext } from "ava";
import type { Browser } from "playwright-core";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import { renderGuides } from "../../src/docs/guides.ts";
import {
  launchBrowser,
  leaveBy,
  openPage,
  overflowing,
  PHONE,
  screenshot,
  VIEWS,
  type View,
} from "../support/browser.ts";
import { type Script, servePages } from "./site.ts";
import { faults, SOUND, smallTargets, tabTo } from "./sound.ts";

/** Tests the home page and the documentation in a browser, from the narrowest phone to a laptop. */

const NARROW: View = { name: "narrow", width: 320, height: 640, colorScheme: "light" };

const PAGES = [
  "/",
  "/docs",
  ...renderGuides("http://localhost").map(({ slug }) => `/docs/${slug}`),
  "/docs/search?q=price",
  "/docs/search?q=zzzzzz",
  "/docs/reference",
  ...["getMe", "searchOffers", "publishOffer", "removeOwnAgent"].map((id) => `/docs/reference/${id}`),
];

const OVERVIEW = {
  get_market_overview: {
    shown: true,
    most: 10_000,
    offers: 10_001,
    asks: 2_345,
    newest: ["Grey three-seat sofa", "W".repeat(120), "أريكة رمادية"],
  },
};

let browser: Browser;
test.before(async () => {
  browser = await launchBrowser();
});
test.after.always(() => browser?.close());

/** Opens a site in a view. Collects messages of the console and requests to other hosts. */
const visit = async (t: ExecutionContext, view: View, script: Script = {}, options = {}) => {
  const site = await servePages(t, script);
  const page = await openPage(browser, view, t, options);
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => {
    if (!request.url().startsWith(site.url)) complaints.push(request.url());
  });
  return { site, page, complaints };
};

for (const view of VIEWS) {
  test(`the home page and the documentation are accessible, fit the screen and load nothing from elsewhere on ${view.name}`, async (t) => {
    const { site, page, complaints } = await visit(t, view, OVERVIEW);
    for (const path of PAGES) {
      await page.goto(site.url + path);
      await screenshot(page, `docs${path.replaceAll(/\W+/g, "-")}-${view.name}`);
      t.deepEqual(await faults(page), SOUND, path);
      t.deepEqual(await smallTargets(page), [], path);
    }
    t.deepEqual(complaints, []);
  });
}

test("every page of the documentation fits the narrowest phone, with all members of the reference shown", async (t) => {
  const { site, page, complaints } = await visit(t, NARROW, OVERVIEW);
  for (const path of [...PAGES, ...ENDPOINTS.map(({ operationId }) => `/docs/reference/${operationId}`)]) {
    await page.goto(site.url + path);
    await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
    t.deepEqual(await overflowing(page), [], path);
    t.deepEqual(await smallTargets(page), [], path);
  }
  t.deepEqual(complaints, []);
});

// The tests of the clipboard run one after the other, because all pages of a browser share it.
test.serial("a button copies its text, by mouse and by keyboard, and says so", async (t) => {
  const { site, page, complaints } = await visit(t, PHONE, {}, { permissions: ["clipboard-read", "clipboard-write"] });
  await page.goto(`${site.url}/`);
  const buttons = page.locator("button[data-copy]");
  await buttons.nth(0).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  t.is(await page.evaluate("navigator.clipboard.readText()"), `${site.url}/mcp`);
  await buttons
    .nth(0)
    .filter({ hasText: /^Copy$/ })
    .waitFor();
  await buttons.nth(1).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Copied" }).waitFor();
  t.regex(await page.evaluate<string>("navigator.clipboard.readText()"), /^Read http.*to approve you\.$/);
  t.deepEqual(complaints, []);
});

test.serial("where the browser has no clipboard, a button marks the text and copies it", async (t) => {
  const { site, page } = await visit(t, PHONE);
  await page.addInitScript("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
  await page.goto(`${site.url}/docs/rest`);
  await page.getByRole("button", { name: "Copy" }).first().click();
  await page.getByRole("button", { name: /Copied|Mark the text/ }).waitFor();
  t.regex(await page.evaluate<string>("getSelection().toString()"), /^SOUK=http/);
});

test("without a script there is no button that does nothing, and the search works", async (t) => {
  const { site, page } = await visit(t, PHONE, {}, { javaScriptEnabled: false });
  await page.goto(`${site.url}/docs`);
  await page.getByLabel("Search the documentation").fill("retry");
  await leaveBy(page, page.getByRole("button", { name: "Search" }));
  t.is(page.url(), `${site.url}/docs/search?q=retry`);
  t.is(await page.getByLabel("Search the documentation").inputValue(), "retry");
  await page.getByRole("link", { name: "Retry without doing it twice" }).click();
  await page.waitForURL(`${site.url}/docs/errors#retry-without-doing-it-twice`);
  t.is(await page.getByRole("button", { name: "Copy" }).count(), 0);
});

test("the documentation can be read and searched with the keyboard alone", async (t) => {
  const { site, page } = await visit(t, PHONE);
  await page.goto(`${site.url}/docs`);
  await tabTo(page, "Connect your assistant");
  t.not(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle"), "none", "the focus is visible");
  await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
  t.is(await page.getByRole("heading", { level: 1 }).textContent(), "Connect your assistant");
  await tabTo(page, "Copy");
});
