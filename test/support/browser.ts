import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from "playwright-core";

/**
 * Tests in a browser: Chromium as the operating system packages it, because playwright-core brings none.
 *
 *   view        a screen: its size, and light or dark colours
 *   screenshot  a picture of a page in a view, saved if SCREENSHOTS names a folder
 */

/** Programs that speak Chromium's protocol, the lightest first. */
const PROGRAMS = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

const MAC_PROGRAMS = [
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/**
 * Tests need only a server on this machine. These arguments stop background requests and the use of a graphics card.
 */
const ARGUMENTS = [
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Local pages respond in milliseconds, but the machine may be busy with other test files. */
const ACTION_TIMEOUT_MS = 30_000;

/** A screen: its size in pixels, and its colours. */
export type View = { name: string; width: number; height: number; colorScheme: "light" | "dark" };

/** A small phone in light colours, the view in which errors of layout show first. */
export const PHONE: View = { name: "phone-light", width: 360, height: 740, colorScheme: "light" };

/** A laptop in dark colours. */
export const LAPTOP: View = { name: "laptop-dark", width: 1280, height: 800, colorScheme: "dark" };

/** The extremes: what is sound in both is sound in between, because sizes and colours do not depend on each other. */
export const VIEWS: readonly View[] = [PHONE, LAPTOP];

/** Launches Chromium. Close it in `test.after.always`. @throws an Error that says what to install if there is none */
export function launchBrowser(): Promise<Browser> {
  // Chromium's sandbox does not work for root. The pages are our own, so it is not needed.
  const args = process.getuid?.() === 0 ? [...ARGUMENTS, "--no-sandbox"] : ARGUMENTS;
  return chromium.launch({ executablePath: findChromium(), args });
}

/** The part of ava's `t` that registers a clean-up. */
export type Teardown = { teardown: (clean: () => Promise<void>) => void };

/**
 * Opens an empty page with cookies and storage of its own. With a test's `t`, they are closed after the test; otherwise
 * call `page.context().close()`.
 */
export async function openPage(
  browser: Browser,
  view: View = PHONE,
  t?: Teardown,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width: view.width, height: view.height },
    colorScheme: view.colorScheme,
    reducedMotion: "reduce",
    locale: "en-GB",
    timezoneId: "UTC",
    ...options,
  });
  context.setDefaultTimeout(ACTION_TIMEOUT_MS);
  t?.teardown(() => context.close());
  return context.newPage();
}

/**
 * Ends the first second of a page, in which its buttons take no answer (src/pages/souk.css), so that a test need not wait
 * for it.
 */
export const endFirstSecond = (page: Page): Promise<void> =>
  page.evaluate("document.getAnimations().forEach((animation) => animation.finish())");

/** Keeps the pages that follow in their first second until `endFirstSecond`, however busy the machine is. */
export const holdFirstSecond = async (page: Page): Promise<void> => {
  await page.addInitScript(
    `document.addEventListener("animationstart", ({ target }) => {
      for (const animation of target.getAnimations()) {
        animation.pause();
        animation.currentTime = 0;
      }
    })`,
  );
};

/** A page loads in milliseconds, and in seconds while other test files keep the machine busy. */
const LOAD_MS = 30_000;

/**
 * Clicks on an element that leads to another page, and waits until that page and its scripts have loaded. After a mere
 * click, the old page may still be shown.
 */
export async function leaveBy(page: Page, element: Locator): Promise<void> {
  const started = page.getByRole("checkbox", { name: /^I started this/ });
  if ((await started.count()) > 0) await started.check();
  await endFirstSecond(page);
  await Promise.all([page.waitForEvent("load", { timeout: LOAD_MS }), element.click()]);
}

/** Saves `<name>.png` of the whole page in the folder that SCREENSHOTS names. Does nothing if it is unset. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env["SCREENSHOTS"];
  if (!folder) return;
  await mkdir(folder, { recursive: true });
  await endFirstSecond(page);
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}

/** Returns the elements that extend beyond the page's width, so that a person must scroll sideways. */
export function overflowing(page: Page): Promise<string[]> {
  // The function is text because this project does not load the type definitions of the DOM.
  return page.evaluate<string[]>(`
    [...document.querySelectorAll("body *")]
      .filter((element) => element.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
      .map((element) => element.outerHTML.slice(0, 120))
  `);
}

function findChromium(): string {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const candidates = PROGRAMS.flatMap((program) => folders.map((folder) => join(folder, program)));
  const found = [...candidates, ...MAC_PROGRAMS].find((file) => existsSync(file));
  if (!found) {
    throw new Error("Browser tests need Chromium: on Debian, `apt-get install chromium-headless-shell`.");
  }
  return found;
}
