import type { AskExtraction, Found, Located, OfferExtraction } from "./extraction.ts";
import { codePointsBefore, inCodePoints, quoteOf, type Span } from "./text/span.ts";

/**
 * Finds where the quotes of a model's extraction stand in the text. It judges nothing: builtin/stated.ts decides whether
 * a quote states its value.
 *
 *   quote  the words that a model copied from the text, perhaps with other spaces, case, apostrophes or dashes
 */

/** Typographic variants that models and keyboards use for one another. */
const VARIANTS = new Map([
  ..."’‘‚‛ʼʹ´`′".split("").map((mark) => [mark, "'"] as const),
  ..."“”„‟«»″".split("").map((mark) => [mark, '"'] as const),
  ..."‐‑‒–—―−".split("").map((mark) => [mark, "-"] as const),
]);

/**
 * Replaces whitespace, case and typographic variants, and records where each unit of the result came from. For unit
 * `i`, `starts[i]` and `ends[i]` are the bounds of its character in the text, in UTF-16 units. Accents stay, because
 * they tell words apart and a model copies them.
 */
const plainWithOrigins = (text: string): { plain: string; starts: number[]; ends: number[] } => {
  let plain = "";
  const starts: number[] = [];
  const ends: number[] = [];
  let position = 0;
  for (const character of text) {
    const end = position + character.length;
    const space = /\s/u.test(character);
    if (space && plain.endsWith(" ")) {
      ends[ends.length - 1] = end;
    } else {
      const unit = space ? " " : (VARIANTS.get(character) ?? character.toLowerCase());
      plain += unit;
      for (let i = 0; i < unit.length; i++) {
        starts.push(position);
        ends.push(end);
      }
    }
    position = end;
  }
  return { plain, starts, ends };
};

const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;

/** True if the boundary between `before` and `after` is inside a number: "450" does not occur in "1.450" or "4500". */
const cutsNumber = (before: string, after: string): boolean =>
  /\d[.,'’]?$/u.test(before) && /^[.,'’]?\d/u.test(after) && /\d$|^\d/u.test(`${before.slice(-1)}${after.slice(0, 1)}`);

/** A letter of an alphabet whose words have spaces between them; `reading.cuts_word` in SQL has the same ranges. */
const LETTER =
  /[A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0388-\u0481\u048a-\u0556\u0561-\u0587\u05d0-\u05ea\u0620-\u064a]/;

/** A span that ends inside words, with the whole of them: "wohnung" becomes "Dachgeschosswohnung". */
const toWords = (text: string, { start, end }: Span): Span => {
  let [first, last] = [start, end];
  if (LETTER.test(text.charAt(start))) while (LETTER.test(text.charAt(first - 1))) first -= 1;
  if (LETTER.test(text.charAt(end - 1))) while (LETTER.test(text.charAt(last))) last += 1;
  return { start: first, end: last };
};

/** True if the boundary is inside a word. */
const cutsWord = (before: string, after: string): boolean =>
  LETTER_OR_DIGIT.test(before.slice(-1)) && LETTER_OR_DIGIT.test(after.slice(0, 1));

/**
 * The position of `needle` in `haystack` in UTF-16 units, or -1. Whole words come first ("rent", not the end of
 * "current"), then parts of words ("wohnung" in "Dachgeschosswohnung"). A part of a number never matches.
 */
const occurrence = (haystack: string, needle: string): number => {
  let insideWord = -1;
  for (let at = haystack.indexOf(needle); at >= 0; at = haystack.indexOf(needle, at + 1)) {
    const end = at + needle.length;
    // The boundary checks look at no more than two characters on each side.
    const before = haystack.slice(Math.max(0, at - 2), at);
    const after = haystack.slice(end, end + 2);
    const head = needle.slice(0, 2);
    const tail = needle.slice(-2);
    if (cutsNumber(before, head) || cutsNumber(tail, after)) continue;
    if (!cutsWord(before, head) && !cutsWord(tail, after)) return at;
    if (insideWord < 0) insideWord = at;
  }
  return insideWord;
};

type Locator = (quote: string) => (Span & { quote: string }) | null;

/**
 * Creates the function that locates a quote: first exactly, then in plain form. The returned quote is the text's own
 * words.
 */
const createLocator = (text: string, before: readonly number[]): Locator => {
  const spanOf = (start: number, end: number) => {
    const span = toWords(text, { start, end });
    return { quote: quoteOf(text, span), ...inCodePoints(before, span) };
  };
  let origins: ReturnType<typeof plainWithOrigins> | null = null;

  return (quote) => {
    const wanted = quote.normalize("NFC").trim();
    // Half a surrogate pair would match inside a whole pair.
    if (wanted === "" || !wanted.isWellFormed()) return null;
    const exact = occurrence(text, wanted);
    if (exact >= 0) return spanOf(exact, exact + wanted.length);
    origins ??= plainWithOrigins(text);
    const { plain } = plainWithOrigins(wanted);
    const at = occurrence(origins.plain, plain);
    const start = origins.starts[at];
    const end = origins.ends[at + plain.length - 1];
    return at < 0 || start === undefined || end === undefined ? null : spanOf(start, end);
  };
};

const isFound = (value: object): value is Found => "quote" in value && "confidence" in value;

/** Adds spans to every found value, wherever it stands in the extraction. */
const withSpans = (value: unknown, locate: Locator): unknown => {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((entry) => withSpans(entry, locate));
  if (isFound(value)) return { ...value, ...locate(value.quote) };
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, withSpans(entry, locate)]));
};

/** The text with spaces in place of the passages, so that every other character keeps its position. */
const without = (text: string, passages: readonly Span[]): string => {
  let visible = text;
  for (const { start, end } of passages) {
    visible = visible.slice(0, start) + visible.slice(start, end).replace(/[^\r\n]/g, " ") + visible.slice(end);
  }
  return visible;
};

/**
 * Locates the quotes of an extraction. No quote is located in a passage that is addressed to software.
 *
 * @param text the text as stored: NFC, at most 4,000 code points
 * @param passages the passages that are addressed to software, in UTF-16 units, in order
 */
export const locate = <T extends OfferExtraction | AskExtraction>(
  text: string,
  extraction: T,
  passages: readonly Span[],
): Located<T> => withSpans(extraction, createLocator(without(text, passages), codePointsBefore(text))) as Located<T>;
