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

/** A run of letters and digits without a separator: mostly one or several tokens. */
export type Word = Span & {
  /** Lower case without accents, as reading.fold folds. */
  folded: string;
  capital: boolean;
  /** The characters between the previous word and this one. */
  before: string;
  /** True if a sentence, a line or a clause after a mark such as ":" ends before this word. */
  opens: boolean;
  /** The first token of which the word has a part, and the token after the last one. */
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
 * the like and for money of East Asia stand alone, because no spaces part them from the next word: "7万円です".
 */
const PIECE = /\s+|\p{Nd}+|(?<=[\p{Nd}万萬億亿千만억천])[万萬億亿千만억천円元원]|[\p{L}\p{M}\p{Nl}]+|./gsu;

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

/**
 * Characters that separate the words of a folded text: white space, punctuation, signs, pictures and private characters,
 * by ranges, so that it depends on no locale and no version of Unicode. `reading.plain_words` in SQL has the same ranges. All
 * other characters belong to words.
 */
const SEPARATORS: string = [
  String.raw`\u0001-\u002f\u003a-\u0060\u007b-\u00bf\u00d7\u00f7\u02b0-\u02ff\u0375\u0387\u03f6\u0482`,
  String.raw`\u055a-\u055f\u0589-\u058f\u05be\u05c0\u05c3\u05c6\u05f3-\u05f4\u0600-\u060f\u061b-\u061f`,
  String.raw`\u066a-\u066d\u06d4\u06dd-\u06de\u06e9\u06fd-\u06fe\u0964-\u0965\u0970\u0e3f\u0e4f`,
  String.raw`\u0e5a-\u0e5b\u10fb\u2000-\u2bff\u2e00-\u2e7f\u3000-\u3004\u3008-\u3020\u3030\u3036-\u3037`,
  String.raw`\u303d-\u303f\u30a0\u30fb\ue000-\uf8ff\ufd3e-\ufd4f\ufe10-\ufe6f\ufeff\ufff0-\uffff`,
  String.raw`\u{1d000}-\u{1d35f}\u{1f000}-\u{1fbef}\u{e0000}-\u{10ffff}`,
].join("");
const SEPARATOR = new RegExp(`[${SEPARATORS}]`, "u");

/** A character with the marks on it. NFKD moves marks only within such a cluster, so clusters fold one by one. */
const CLUSTER = /[\s\S][\p{M}\uff9e\uff9f]*/uy;

/** Characters from here on may be marks. */
const FIRST_MARK = 0x300;

/** Clusters that were folded before. There are few different ones in a language. */
const folds = new Map<string, string>();
const MAX_FOLDS = 2000;

const foldOf = (cluster: string): string => {
  const known = folds.get(cluster);
  if (known !== undefined) return known;
  if (folds.size >= MAX_FOLDS) folds.clear();
  const folded = fold(cluster);
  folds.set(cluster, folded);
  return folded;
};

const ASCII_WORD = /[a-z0-9]/;
const separates = (character: string): boolean =>
  character.charCodeAt(0) <= LAST_ASCII ? !ASCII_WORD.test(character) : SEPARATOR.test(character);

/** The words of a text, in order. One cluster may fold to several words: "½" folds to "1⁄2". */
export const wordsIn = (text: string, tokens: readonly Token[] = tokensIn(text)): readonly Word[] => {
  const words: Word[] = [];
  let token = 0;
  let last = 0;
  let start = 0;
  let end = 0;
  let folded = "";
  const finish = (): void => {
    if (folded === "") return;
    while ((tokens[token]?.end ?? start + 1) <= start) token++;
    let to = token;
    while ((tokens[to]?.start ?? end) < end) to++;
    const before = text.slice(last, start);
    const first = text.charAt(start);
    const opens = words.length === 0 || ENDS_CLAUSE.test(before);
    words.push({ folded, start, end, capital: first !== first.toLowerCase(), before, opens, from: token, to });
    last = end;
    folded = "";
  };
  for (let at = 0; at < text.length; ) {
    let cluster = text.charAt(at);
    const next = text.charCodeAt(at + 1);
    if (cluster.charCodeAt(0) > LAST_ASCII || next >= FIRST_MARK) {
      CLUSTER.lastIndex = at;
      cluster = CLUSTER.exec(text)?.[0] ?? cluster;
    }
    for (const character of foldOf(cluster)) {
      if (separates(character)) finish();
      else {
        if (folded === "") start = at;
        folded += character;
        end = at + cluster.length;
      }
    }
    at += cluster.length;
  }
  finish();
  return words;
};
