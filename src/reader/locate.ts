import type { AskExtraction, OfferExtraction } from "./extraction.ts";
import type { Span } from "./text/span.ts";

/**
 * Finds where the quotes of an extraction stand in the text. It judges nothing: the database decides whether a quote
 * states its value (`reading.ground_offer`, `reading.ground_ask`).
 *
 *   quote  the words that an extractor copied from the text, perhaps with other spaces, case, apostrophes or dashes
 *   span   where these words stand: zero-based, half-open, in code points, so that a client's `text[start:end]` is the
 *          quote
 */

type Found = { value: unknown; quote: string; basis: "stated" | "inferred"; confidence: number };

/** An extraction in which every found value whose quote stands in the text has its span. */
type Located<T> = T extends Found
  ? T & Partial<Span>
  : T extends readonly (infer E)[]
    ? Located<E>[]
    : T extends object
      ? { [K in keyof T]: Located<T[K]> }
      : T;

/** What the database gets: the extractions of a text, and the passages that are addressed to software. */
export type LocatedReading<T> = { extractions: Located<T>[]; addressed: Span[] };

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

/** The number of code points before each UTF-16 unit of a text, and before its end. */
const codePointsBefore = (text: string): number[] => {
  const before: number[] = [];
  let count = 0;
  for (const character of text) {
    for (let i = 0; i < character.length; i++) before.push(count);
    count++;
  }
  return [...before, count];
};

type Locator = (quote: string) => (Span & { quote: string }) | null;

/**
 * Creates the function that locates a quote: first exactly, then in plain form. The returned quote is the text's own
 * words.
 */
const createLocator = (text: string, before: readonly number[]): Locator => {
  const spanOf = (start: number, end: number) => ({
    quote: text.slice(start, end),
    start: before[start] ?? 0,
    end: before[end] ?? 0,
  });
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
 * Locates the quotes of several extractions of one text, and the passages of the text that are addressed to software.
 * No quote is located in such a passage. A quote that does not stand in the text gets no span, and the database then
 * drops its value.
 *
 * @param text the text as stored: NFC, at most 4,000 code points
 * @param passages the passages that are addressed to software, in UTF-16 units, in order
 */
export const locate = <T extends OfferExtraction | AskExtraction>(
  text: string,
  extractions: readonly T[],
  passages: readonly Span[],
): LocatedReading<T> => {
  const before = codePointsBefore(text);
  const find = createLocator(without(text, passages), before);
  return {
    extractions: extractions.map((extraction) => withSpans(extraction, find) as Located<T>),
    addressed: passages.map(({ start, end }) => ({ start: before[start] ?? 0, end: before[end] ?? 0 })),
  };
};
