import type { AskExtraction, Found, Located, OfferExtraction } from "./extraction.ts";
import { codePointsBefore, inCodePoints, overlaps, quoteOf, type Span, spanOf } from "./text/span.ts";
import { tokensIn } from "./text/tokens.ts";

/**
 * Finds where the quotes of a model's extraction stand in the text. It judges nothing: builtin/stated.ts decides whether
 * a quote states its value.
 *
 *   quote  the words that a model copied from the text, perhaps with other spaces, case, accents, apostrophes or dashes
 */

type Locator = (quote: string) => (Span & { quote: string }) | null;

/** Stands around every token: no token contains it. */
const EDGE = "\n";

/**
 * Creates the function that locates a quote. A quote that the text has verbatim comes before one that differs, whole
 * words before parts of words, and a part of a word stands for the word: "wohnung" for "Dachgeschosswohnung". A part of a
 * number is never found. The returned quote is the text's own words.
 *
 * @param hidden the passages in which no quote is found
 */
const createLocator = (text: string, hidden: readonly Span[]): Locator => {
  const tokens = tokensIn(text).filter((token) => !hidden.some((passage) => overlaps(passage, token)));
  const all = [EDGE, ...tokens.flatMap((token) => [token.text, EDGE])].join("");
  const before = codePointsBefore(text);
  /** True if a token goes on with the number before it: "450" in "1.450". */
  const goesOn = (at: number): boolean => {
    const [last, mark, token] = [tokens[at - 2], tokens[at - 1], tokens[at]];
    if (token?.kind !== "digits" || token.gap !== "none") return false;
    return (
      mark?.kind === "digits" || (/^[.,']$/.test(mark?.text ?? "") && mark?.gap === "none" && last?.kind === "digits")
    );
  };

  return (quote) => {
    const words = quote.normalize("NFC").trim();
    // Half a surrogate pair would match inside a whole pair.
    const wanted = words.isWellFormed() ? tokensIn(words).map((token) => token.text) : [];
    if (wanted.length === 0) return null;
    const plain = wanted.join(EDGE);
    let first: Span | null = null;
    for (const isWhole of [true, false]) {
      for (let at = all.indexOf(plain); at >= 0; at = all.indexOf(plain, at + 1)) {
        const isCut = [all[at - 1] !== EDGE, all[at + plain.length] !== EDGE];
        if (isWhole === isCut.includes(true)) continue;
        const from = all.slice(0, at).split(EDGE).length - 2;
        const to = from + wanted.length;
        const cutsDigits = [from, to - 1].some((token, end) => isCut[end] && tokens[token]?.kind === "digits");
        if (cutsDigits || goesOn(from) || goesOn(to) || goesOn(to + 1)) continue;
        const span = spanOf(tokens, { from, to });
        const isVerbatim = quoteOf(text, span) === words;
        if (isVerbatim || first === null) first = span;
        if (isVerbatim) break;
      }
      if (first !== null) return { quote: quoteOf(text, first), ...inCodePoints(before, first) };
    }
    return null;
  };
};

/** Adds spans to every found value, wherever it stands in the extraction. */
const withSpans = (value: unknown, locate: Locator): unknown => {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((entry) => withSpans(entry, locate));
  if ("quote" in value && "confidence" in value) return { ...value, ...locate((value as Found).quote) };
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, withSpans(entry, locate)]));
};

/**
 * Locates the quotes of an extraction. No quote is located in a passage that is addressed to software.
 *
 * @param text the text as stored: NFC, at most 4,000 code points
 * @param passages the passages that are addressed to software, in UTF-16 units, in order
 */
export const locateQuotes = <T extends OfferExtraction | AskExtraction>(
  text: string,
  extraction: T,
  passages: readonly Span[],
): Located<T> => withSpans(extraction, createLocator(text, passages)) as Located<T>;
