import axe from "axe-core";
import { HtmlValidate } from "html-validate";
import type { Page } from "playwright-core";
import { overflowing } from "../support/browser.ts";

/** What makes a page sound for everyone who meets it: nothing that axe finds, nothing that sticks out, valid HTML. */

/** What axe finds in the page that it is put into, said shortly: parts that pass are many, and nobody looks at them. */
const FIND = `
  axe
    .run(document, {
      runOnly: { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] },
      resultTypes: ["violations"],
    })
    .then(({ violations }) => violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => html) })))
`;

/**
 * Findings of axe at WCAG 2.2 AA. By hand and not by @axe-core/playwright, which opens a second page for each look at
 * one, for frames from other sites: the pages have none, and it takes twice as long.
 */
export const axeFindings = async (page: Page): Promise<{ id: string; nodes: string[] }[]> => {
  await page.evaluate(axe.source);
  return page.evaluate(FIND);
};

/** Findings of axe, and what sticks out of the page's width. */
export const faults = async (page: Page): Promise<unknown> => ({
  axe: await axeFindings(page),
  overflowing: await overflowing(page),
});

export const SOUND = { axe: [], overflowing: [] };

const validator = new HtmlValidate({
  root: true,
  extends: ["html-validate:recommended", "html-validate:document"],
  // A hash on our own stylesheet protects from nobody, and leaves pages bare while two versions are being rolled out.
  rules: { "require-sri": ["error", { target: "crossorigin" }] },
});

/** What is wrong with a page as HTML. */
export const invalidHtml = async (html: string): Promise<string[]> => {
  const { results } = await validator.validateString(html);
  return results.flatMap(({ messages }) =>
    messages.map(({ ruleId, message, line }) => `${ruleId} ${line}: ${message}`),
  );
};

/** Presses Tab until the focus is on an element with this text. */
export const tabTo = async (page: Page, text: string): Promise<void> => {
  for (let presses = 0; presses < 40; presses += 1) {
    await page.keyboard.press("Tab");
    if ((await page.evaluate<string>("document.activeElement.textContent.trim()")) === text) return;
  }
  throw new Error(`Tab does not reach ${text}.`);
};

/** What a person can press that is smaller than WCAG 2.2 allows (24 by 24 pixels), outside of running text. */
export const smallTargets = (page: Page): Promise<string[]> =>
  // Text and not a function: the types of a browser are not those of this project.
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
