/** Splits a text into words for comparison, each with its position. */

/** `start` and `end` are UTF-16 offsets in the text. */
export type Token = {
  /** Lower case without accents, as reading.fold folds. */
  folded: string;
  start: number;
  end: number;
  /** True if the first letter is upper case. */
  capital: boolean;
  /** The characters between the previous token and this one. */
  before: string;
  /** True if a sentence, line or paragraph ends before this token. */
  opens: boolean;
};

/** Letters that NFKD does not decompose, as in reading.fold (SQL). */
const LETTERS: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ł: "l",
  ø: "o",
  đ: "d",
  ð: "d",
  ı: "i",
  þ: "t",
};

const ASCII = /^[\x20-\x7e]*$/;

/** Folds words for comparison: lower case, no accents, compatibility forms resolved. */
export const fold = (words: string): string => {
  const lower = words.toLowerCase();
  if (ASCII.test(lower)) return lower;
  return lower
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .replace(/[ßæœłøđðıþ]/g, (letter) => LETTERS[letter] ?? letter);
};

/** A mark that ends a sentence or clause if white space or the end of the text follows. */
const ENDS_SENTENCE = /[.!?…:;](?=\s|$)|[\n\r\u2028\u2029]|\s[-–—•·|/]\s|[\p{Extended_Pictographic}]/u;

/** Splits a text into words and numbers, in linear time. */
export const tokenize = (text: string): Token[] => {
  const tokens: Token[] = [];
  let last = 0;
  for (const match of text.matchAll(/[\p{L}\p{M}\p{N}]+/gu)) {
    const word = match[0];
    const start = match.index;
    const end = start + word.length;
    const before = text.slice(last, start);
    const first = word.charAt(0);
    tokens.push({
      folded: fold(word),
      start,
      end,
      capital: first !== first.toLowerCase(),
      before,
      opens: tokens.length === 0 || ENDS_SENTENCE.test(before),
    });
    last = end;
  }
  return tokens;
};
