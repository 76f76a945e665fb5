/**
 * The marks in the labelled texts of the training set: `[[price 180 EUR negotiable|180 €]]` (db/data/README.md lists
 * them).
 */

/** A marked passage: UTF-16 offsets in the text without marks. */
export type Mark = { role: string; args: readonly string[]; start: number; end: number };

/** A text without its marks, and the marks. */
export type MarkedText = { text: string; marks: readonly Mark[] };

const MARK = /\[\[([^|[\]]+)\|((?:(?!\]\]|\[\[)[\s\S])+)\]\]/g;

/** The roles of marks. */
const MARK_ROLES = ["title", "price", "sum", "contact", "refused", "other", "place", "mention", "order"] as const;

/**
 * Separates a text from its marks.
 * @throws if a mark is broken or has an unknown role. The message says where.
 */
export const parseMarks = (marked: string): MarkedText => {
  const marks: Mark[] = [];
  let text = "";
  let last = 0;
  for (const match of marked.matchAll(MARK)) {
    text += marked.slice(last, match.index);
    const [role = "", ...args] = (match[1] ?? "").split(" ");
    if (!(MARK_ROLES as readonly string[]).includes(role)) throw new Error(`unknown mark "${role}" in: ${marked}`);
    const words = match[2] ?? "";
    marks.push({ role, args, start: text.length, end: text.length + words.length });
    text += words;
    last = match.index + match[0].length;
  }
  text += marked.slice(last);
  if (/\[\[(?:title|price|sum|contact|refused|other|place|mention|order)\b/.test(text))
    throw new Error(`a mark is not closed in: ${marked}`);
  return { text, marks };
};

/** True if a text has marks, so that it teaches every decision and not only its kind and category. */
export const isMarked = (marked: string): boolean => marked.search(MARK) >= 0;
