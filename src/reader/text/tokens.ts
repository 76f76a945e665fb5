import { fold } from "./fold.ts";
import type { Span } from "./span.ts";

/**
 * Splits a text into tokens, in linear time. The only tokeniser of the reader. Tokens of letters and digits without a gap
 * make a word: "128gb". `reading.words` in SQL finds the same words in everything in db/data, but for scripts without spaces
 * (test/reader/fold.test.ts compares them).
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
  /** True for a word that is one although no space parts it from the next, as in Chinese. */
  apart: boolean;
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
    "〜": "~",
    "٫": ".",
    "٬": ",",
    "،": ",",
    "؛": ";",
    "؟": "?",
  }),
);

/** What needs no further look: letters of Europe up to the Armenian ones, and digits and marks. */
const LATIN = /^[\0-\u058f]*$/u;

/**
 * White space, digits, letters with their accents, or one other character. After digits, the signs for ten thousand and
 * the like and for money of East Asia stand alone, because no spaces part them from the next word: "7万円です". One of the
 * apostrophes is a letter in Unicode.
 */
const PIECE = /\s+|\p{Nd}+|(?<=[\p{Nd}万萬億亿千만억천])[万萬億亿千만억천円元원]|[[\p{L}\p{M}\p{Nl}]--ʼ]+|./gsv;

/** Letters of scripts that are written without spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** A word that is not joined with digits beside it. */
const APART = new RegExp(`^(?:${UNSPACED.source}|\\p{Script=Hangul})`, "u");

/** The dictionaries of Unicode's library find their words. They are the same for all languages. */
const SEGMENTER = new Intl.Segmenter("en", { granularity: "word" });

/** Letters and marks between which an address may stand without a space, unless it has them itself: "/路". */
const BESIDE_ADDRESS = new RegExp(`[/.=_-]?(?:${APART.source.slice(1)}|[\\u3000-\\u303f！（），：；？])+`, "gu");

/** A text of the same length in which only spaces stand beside an address: "邮箱jo@example.cn联系". */
export const withAddressesApart = (text: string): string =>
  text.replace(BESIDE_ADDRESS, (run) => (/^[/.=_-]/.test(run) ? run : " ".repeat(run.length)));

/** Korean words of two syllables or more before the particles and verbs that are written together with them. */
const KOREAN =
  /^(\p{Script=Hangul}{2,}?)((?:이에요|예요|입니다|합니다|해요|하세요|하는|됩니다|드립니다|드려요|주세요|이고|인데|이나|에서|에게|까지|부터|으로|하고|이랑|처럼|보다|마다|밖에|[은는을를이가에의도만로와과])+)$/u;
const PARTICLES =
  /이에요|예요|입니다|합니다|해요|하세요|하는|됩니다|드립니다|드려요|주세요|이고|인데|이나|에서|에게|까지|부터|으로|하고|이랑|처럼|보다|마다|밖에|[은는을를이가에의도만로와과]/gu;

/** Arabic words of three letters or more after the article and what is written together with it: "and", "in", "for". */
const ARABIC = /^([وف]?[بك]?)(ال|لل)([\p{Script=Arabic}\p{M}]{3,})$/u;

/** The words of a run of letters. */
const wordsOfRun = (run: string): readonly string[] => {
  if (UNSPACED.test(run)) return Array.from(SEGMENTER.segment(run), ({ segment }) => segment);
  if (/^\p{Script=Hangul}/u.test(run)) {
    const [, word = run, ending = ""] = run.match(KOREAN) ?? [];
    return [word, ...(ending.match(PARTICLES) ?? [])];
  }
  // Labels are folded, and in them the article looks like the beginning of "ألمانيا".
  const length = run
    .replace(/[أإآ]/gu, "ا")
    .match(ARABIC)
    ?.slice(1)
    .map((part) => part.length);
  if (length === undefined) return [run];
  const [before = 0, article = 0] = length;
  const parts = [run.slice(0, before), run.slice(before, before + article), run.slice(before + article)];
  return parts.filter((part) => part !== "");
};

/** Marks that end a sentence if white space follows. */
const STOP = /^[.!?;…•·|]$/u;
/** Marks that end a sentence wherever they stand, and those that close it. Before they are folded. */
const FULL_STOP = /^[。！？｡।॥۔]$/u;
const CLOSES = /^[」』）】》\])"”]$/u;

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
  let stopped = false;
  const add = (raw: string, start: number, apart: boolean): void => {
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
      apart,
    };
    const goesOn = CLOSES.test(raw) || FULL_STOP.test(raw);
    token.opens = gap === "line" || (stopped && !goesOn) || endsSentence(tokens, tokens.length - 1, token);
    stopped = FULL_STOP.test(raw) || (stopped && goesOn);
    tokens.push(token);
    gap = "none";
  };
  for (const match of text.matchAll(PIECE)) {
    const raw = match[0];
    const start = match.index;
    const first = raw.charCodeAt(0);
    if (first <= 32 || /^\s/u.test(raw)) {
      gap = /[\n\r\u2028\u2029]/u.test(raw) ? "line" : "space";
      continue;
    }
    if (LATIN.test(raw)) {
      add(raw, start, false);
      continue;
    }
    const words = wordsOfRun(raw);
    let at = start;
    for (const word of words) {
      add(word, at, APART.test(word) || (words.length > 1 && /^\p{Script=Arabic}/u.test(word)));
      at += word.length;
    }
  }
  return tokens;
};

/** A mark before a word that ends a clause. */
const ENDS_CLAUSE = /[.!?…:;](?=\s|$)|[。！？｡।॥۔：；]|[\n\r\u2028\u2029]|\s[-–—•·|/]\s|\p{Extended_Pictographic}/u;

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
      next !== undefined && next.kind !== "mark" && next.gap === "none" && !next.apart && !first.apart;
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

/** What may stand between the words of one phrase: "jusqu'à". */
const INSIDE = /^[\s'’]*$/u;

/** The words of the longest phrase. */
const MAX_PHRASE = 4;

/** The number of words of the longest phrase that begins at word `at` and is one of those wanted; 0 if there is none. */
export const phraseAt = (words: readonly Word[], at: number, isWanted: (phrase: string) => boolean): number => {
  for (let length = Math.min(MAX_PHRASE, words.length - at); length > 0; length--) {
    const phrase = words.slice(at, at + length);
    if (!phrase.every(({ before, opens }, n) => n === 0 || (INSIDE.test(before) && !opens))) continue;
    if (isWanted(phrase.map(({ folded }) => folded).join(" "))) return length;
  }
  return 0;
};
