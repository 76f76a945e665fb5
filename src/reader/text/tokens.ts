import { fold } from "./fold.ts";
import type { Span } from "./span.ts";

/**
 * Splits a text into tokens, in linear time. The only tokeniser of the reader. The words of a text (letters and digits
 * together, "128gb") are the same as those of `reading.words` in SQL (test/reader/fold.test.ts compares them).
 */

/**
 * A run of letters ("word"), a run of digits ("digits") or one other character ("mark").
 * `gap` is the white space before the token.
 */
export type Token = Span & {
  kind: "word" | "digits" | "mark";
  /** Folded, with plain apostrophes and dashes. */
  text: string;
  gap: "none" | "space" | "line";
  /** True if the token begins with a capital letter. */
  capital: boolean;
  /** True if the token begins a sentence or a line. */
  opens: boolean;
};

/** A run of letters and digits: one or several tokens without a gap. */
export type Word = Span & {
  /** Lower case without accents, as reading.fold folds. */
  folded: string;
  capital: boolean;
  /** The characters between the previous word and this one. */
  before: string;
  /** True if a sentence, a line or a clause after a mark such as ":" ends before this word. */
  opens: boolean;
  /** The first token of the word, and the token after its last one. */
  from: number;
  to: number;
};

/** A map and not an object, because an object has a property "constructor", which is also a word. */
const MARK_TWINS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "’": "'",
    "‘": "'",
    ʼ: "'",
    "´": "'",
    "`": "'",
    "–": "-",
    "—": "-",
    "‐": "-",
    "‑": "-",
    "−": "-",
    "‒": "-",
  }),
);

/** White space, digits, letters with their accents, or one other character. */
const PIECE = /\s+|\p{Nd}+|[\p{L}\p{M}\p{Nl}]+|./gsu;

/** Marks that end a sentence if white space follows. */
const STOP = /^[.!?;…•·|]$/u;

/**
 * Folded words of at most this many letters are abbreviations before a full stop and a digit or a small letter: "Tel. 030",
 * "ca. 50", "St. Gallen" (of at most two letters also before a capital).
 */
const ABBREVIATED = 4;
const ALWAYS_ABBREVIATED = 2;

/** True if the mark at `at` ends a sentence before token `next`. */
const endsSentence = (tokens: readonly Token[], at: number, next: Token): boolean => {
  const mark = tokens[at];
  if (mark === undefined || next.gap === "none" || !STOP.test(mark.text)) return false;
  const word = tokens[at - 1];
  if (mark.text !== "." || word?.kind !== "word" || mark.gap !== "none") return true;
  // "jo@example.fr." is not an abbreviation.
  if (word.gap === "none" && tokens[at - 2]?.text === ".") return true;
  if (word.text.length <= ALWAYS_ABBREVIATED) return false;
  return word.text.length > ABBREVIATED || next.capital;
};

const tokensOf = (text: string): Token[] => {
  const tokens: Token[] = [];
  let gap: Token["gap"] = "line";
  for (const match of text.matchAll(PIECE)) {
    const raw = match[0];
    const start = match.index;
    const first = raw.charCodeAt(0);
    if (first <= 32 || /^\s/u.test(raw)) {
      gap = /[\n\r\u2028\u2029]/u.test(raw) ? "line" : "space";
      continue;
    }
    const folded = fold(MARK_TWINS.get(raw) ?? raw);
    // Full-width digits and "²" fold to plain digits.
    const kind = /^\d+$/u.test(folded) ? "digits" : /^[\p{L}\p{N}]/u.test(folded) ? "word" : "mark";
    const token: Token = {
      kind,
      text: folded,
      start,
      end: start + raw.length,
      gap,
      capital: kind === "word" && raw.charAt(0) !== raw.charAt(0).toLowerCase(),
      opens: false,
    };
    token.opens = gap === "line" || endsSentence(tokens, tokens.length - 1, token);
    tokens.push(token);
    gap = "none";
  }
  return tokens;
};

/** A mark before a word that ends a clause. */
const ENDS_CLAUSE = /[.!?…:;](?=\s|$)|[\n\r\u2028\u2029]|\s[-–—•·|/]\s|\p{Extended_Pictographic}/u;

/** Characters between the letters and digits of a folded word: "½" folds to "1⁄2", which is two words. */
const BETWEEN = /[^\p{L}\p{N}]+/u;

const wordsOf = (text: string, tokens: readonly Token[]): Word[] => {
  const words: Word[] = [];
  let last = 0;
  for (let from = 0; from < tokens.length; ) {
    const first = tokens[from];
    if (first === undefined) break;
    let to = from + 1;
    if (first.kind === "mark") {
      from = to;
      continue;
    }
    let folded = first.text;
    for (let next = tokens[to]; next !== undefined && next.kind !== "mark" && next.gap === "none"; next = tokens[++to])
      folded += next.text;
    const end = tokens[to - 1]?.end ?? first.end;
    const before = text.slice(last, first.start);
    const opens = words.length === 0 || ENDS_CLAUSE.test(before);
    for (const part of BETWEEN.test(folded) ? folded.split(BETWEEN).filter(Boolean) : [folded])
      words.push({ folded: part, start: first.start, end, capital: first.capital, before, opens, from, to });
    last = end;
    from = to;
  }
  return words;
};

/** The last text and its tokens, because several finders read the same text one after the other. */
let last: { text: string; tokens: readonly Token[]; words: readonly Word[] } = { text: "", tokens: [], words: [] };

const read = (text: string): typeof last => {
  if (last.text !== text) {
    const tokens = tokensOf(text);
    last = { text, tokens, words: wordsOf(text, tokens) };
  }
  return last;
};

/** The tokens of a text, in order. White space is kept only as the gap before a token. */
export const tokensIn = (text: string): readonly Token[] => read(text).tokens;

/** The words of a text, in order. */
export const wordsIn = (text: string): readonly Word[] => read(text).words;

/** True if token `at` begins a sentence or a line, or is outside the text. */
export const startsSentence = (tokens: readonly Token[], at: number): boolean => tokens[at]?.opens ?? true;
