import axe from "axe-core";
import { HtmlValidate } from "html-validate";
import type { Page } from "playwright-core";
import { endFirstSecond, overflowing } from "../support/browser.ts";

/** Checks of a page: axe finds no accessibility fault, nothing is wider than the screen, and the HTML is valid. */

/**
 * Runs axe inside a page and returns only the violations. Without `resultTypes`, axe would report every passed check
 * too.
 */
const FIND = `
  axe
    .run(document, {
      runOnly: { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] },
      resultTypes: ["violations"],
    })
    .then(({ violations }) => violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => html) })))
`;

/**
 * Returns axe's findings at WCAG 2.2 AA. @axe-core/playwright is not used: to check frames of other sites, it opens a
 * second page for each check, which takes twice as long. These pages have no frames.
 */
export const axeFindings = async (page: Page): Promise<{ id: string; nodes: string[] }[]> => {
  await endFirstSecond(page);
  await page.evaluate(axe.source);
  return page.evaluate(FIND);
};

/** Returns the findings of axe and the elements that are wider than the screen. */
export const faults = async (page: Page): Promise<unknown> => ({
  axe: await axeFindings(page),
  overflowing: await overflowing(page),
});

/** The result of `faults` for a page without faults. */
export const SOUND = { axe: [], overflowing: [] };

const validator = new HtmlValidate({
  root: true,
  extends: ["html-validate:recommended", "html-validate:document"],
  // All stylesheets come from this service. Integrity hashes would protect nothing, and would break pages during an
  // upgrade.
  rules: {
    "require-sri": ["error", { target: "crossorigin" }],
    // A list of boxes is one field with several values. The first four are the rule's default.
    "form-dup-name": ["error", { shared: ["radio", "button", "reset", "submit", "checkbox"] }],
  },
});

/** Returns the errors of a page's HTML. */
export const invalidHtml = async (html: string): Promise<string[]> => {
  const { results } = await validator.validateString(html);
  return results.flatMap(({ messages }) =>
    messages.map(({ ruleId, message, line }) => `${ruleId} ${line}: ${message}`),
  );
};

/** Presses Tab until the focus is on an element with this text. Throws after 40 presses. */
export const tabTo = async (page: Page, text: string): Promise<void> => {
  await endFirstSecond(page);
  for (let presses = 0; presses < 40; presses += 1) {
    await page.keyboard.press("Tab");
    if ((await page.evaluate<string>("document.activeElement.textContent.trim()")) === text) return;
  }
  throw new Error(`Tab does not reach ${text}.`);
};

/**
 * Returns the links, buttons and fields outside running text that are smaller than WCAG 2.2 allows (24 by 24 pixels).
 */
export const smallTargets = (page: Page): Promise<string[]> =>
  // The function is text because this project does not load the type definitions of the DOM.
  page.evaluate<string[]>(`
    [...document.querySelectorAll("a, button, summary, input:not([type=hidden])")]
      .filter((element) => !element.closest("p, dd, li:not(:has(> a:only-child))") || element.matches(".act"))
      .filter((element) => element.checkVisibility() && !element.matches(".skip"))
      .filter((element) => {
        const { width, height } = element.getBoundingClientRect();
        return width < 24 || height < 24;
      })
      .map((element) => element.outerHTML.slice(0, 120))
  `);
