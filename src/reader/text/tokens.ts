import { fold } from "./fold.ts";
import type { Span } from "./span.ts";

/**
 * Splits a text into tokens, in linear time. The only tokeniser of the reader. Tokens of letters and digits without a gap
 * make a word: "128gb". `reading.words` in SQL finds the same words in everything in db/data (test/reader/fold.test.ts
 * compares them).
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

/** A run of letters and digits without a separator: mostly one or several tokens. */
export type Word = Span & {
  /** Lower case without accents, as `reading.fold` folds. */
  folded: string;
  capital: boolean;
  /** The characters between the previous word and this one. */
  before: string;
  /** True if a sentence, a line or a clause after a mark such as ":" ends before this word. */
  opens: boolean;
  /** The first token of the word, and the token after the last one. */
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

const LAST_ASCII = 0x7f;

/**
 * White space, digits, letters with their accents, or one other character. After digits, the signs for ten thousand and
 * the like and for money of East Asia stand alone, because no spaces part them from the next word: "7万円です". One of the
 * apostrophes is a letter in Unicode.
 */
const PIECE = /\s+|\p{Nd}+|(?<=[\p{Nd}万萬億亿千만억천])[万萬億亿千만억천円元원]|[[\p{L}\p{M}\p{Nl}]--ʼ]+|./gsv;

/** The noughts of the scripts with digits of their own: Arabic, Persian, Devanagari, Bengali, Thai. */
const NOUGHTS = [0x660, 0x6f0, 0x966, 0x9e6, 0xe50];

/** Digits of any of these scripts as 0 to 9. */
const plainDigits = (digits: string): string =>
  Array.from(digits, (digit) => {
    const code = digit.charCodeAt(0);
    const nought = NOUGHTS.find((zero) => code >= zero && code < zero + 10);
    return nought === undefined ? digit : String(code - nought);
  }).join("");

/** Marks that end a sentence if white space follows. */
const STOP = /^[.!?;…•·|]$/u;

/**
 * Folded words of at most this many letters are abbreviations before a full stop and a digit or a small letter: "Tel. 030",
 * "ca. 50".
 */
const ABBREVIATED = 4;
/** Abbreviations also before a capital: "St. Gallen". Other words of two letters end a sentence: "Report it. Sofa". */
const BEFORE_NAMES: ReadonlySet<string> = new Set("al av bd dr fr ft hr jr mr ms mt nr os pl rd sr st ul".split(" "));

/** True if the mark at `at` ends a sentence before token `next`. */
const endsSentence = (tokens: readonly Token[], at: number, next: Token): boolean => {
  const mark = tokens[at];
  if (mark === undefined || next.gap === "none" || !STOP.test(mark.text)) return false;
  const word = tokens[at - 1];
  if (mark.text !== "." || word?.kind !== "word" || mark.gap !== "none") return true;
  // "jo@example.fr." is not an abbreviation.
  if (word.gap === "none" && tokens[at - 2]?.text === ".") return true;
  if (word.text.length === 1 || BEFORE_NAMES.has(word.text)) return false;
  return word.text.length > ABBREVIATED || next.capital;
};

/** The tokens of a text, in order. White space is kept only as the gap before a token. */
export const tokensIn = (text: string): readonly Token[] => {
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
    const plain = fold(MARK_TWINS.get(raw) ?? raw);
    const folded = first > LAST_ASCII && /^\p{Nd}/u.test(plain) ? plainDigits(plain) : plain;
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

/** The words of a text, in order: tokens of letters and digits that nothing parts. */
export const wordsIn = (text: string, tokens: readonly Token[] = tokensIn(text)): readonly Word[] => {
  const words: Word[] = [];
  let last = 0;
  for (let from = 0; from < tokens.length; from++) {
    const first = tokens[from];
    if (first === undefined || first.kind === "mark") continue;
    let folded = first.text;
    let { end } = first;
    let to = from + 1;
    for (
      let next = tokens[to];
      next !== undefined && next.kind !== "mark" && next.gap === "none";
      next = tokens[++to]
    ) {
      folded += next.text;
      end = next.end;
    }
    const before = text.slice(last, first.start);
    const opens = words.length === 0 || ENDS_CLAUSE.test(before);
    words.push({ folded, start: first.start, end, capital: first.capital, before, opens, from, to });
    last = end;
    from = to - 1;
  }
  return words;
};
