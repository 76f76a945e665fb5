import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from "playwright-core";

/**
 * Pages as people see them: in Chromium as the operating system packages it, since playwright-core brings none.
 *
 *   view   a screen: its size, and light or dark
 *   shot   a picture of a page in a view, kept when SCREENSHOTS names a folder
 */

/** Programs that speak Chromium's protocol, the lightest first. */
const PROGRAMS = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

const MAC_PROGRAMS = [
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** Tests talk to a server on the same machine: the browser is kept from calling home, and needs no graphics card. */
const ARGUMENTS = [
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Local pages answer in milliseconds; the default of thirty seconds only makes a broken test slow. */
const ACTION_TIMEOUT_MS = 30_000;

export type View = { name: string; width: number; height: number; colorScheme: "light" | "dark" };

/** A small telephone, the view that goes wrong first. */
export const PHONE: View = { name: "phone-light", width: 360, height: 740, colorScheme: "light" };

/** A small telephone and a laptop, by day and by night. */
export const VIEWS: readonly View[] = [
  PHONE,
  { name: "phone-dark", width: 360, height: 740, colorScheme: "dark" },
  { name: "laptop-light", width: 1280, height: 800, colorScheme: "light" },
  { name: "laptop-dark", width: 1280, height: 800, colorScheme: "dark" },
];

/** Launches Chromium. Close it in `test.after.always`. Throws with what to install when there is none. */
export function launchBrowser(): Promise<Browser> {
  // Chromium refuses its sandbox to root, and the pages are our own.
  const args = process.getuid?.() === 0 ? [...ARGUMENTS, "--no-sandbox"] : ARGUMENTS;
  return chromium.launch({ executablePath: findChromium(), args });
}

/** What of ava's `t` is needed to clean up after a test. */
export type Teardown = { teardown: (clean: () => Promise<void>) => void };

/**
 * Opens an empty page with cookies and storage of its own. Given a test's `t`, closes them after that test;
 * else `page.context().close()` does.
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

/** A page takes milliseconds, and seconds while other test files keep the machine busy. */
const LOAD_MS = 30_000;

/**
 * Clicks on what leads to another page, and waits until that page is there with its scripts: a click alone may end while
 * the page before is still shown.
 */
export async function leaveBy(page: Page, element: Locator): Promise<void> {
  await Promise.all([page.waitForEvent("load", { timeout: LOAD_MS }), element.click()]);
}

/** Takes `<name>.png` of the whole page into the folder that SCREENSHOTS names; does nothing when it names none. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env["SCREENSHOTS"];
  if (!folder) return;
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}

/** The elements that stick out of the page's width, so that a person has to scroll sideways: none, on a sound page. */
export function overflowing(page: Page): Promise<string[]> {
  // Text and not a function: the types of a browser are not those of this project.
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
