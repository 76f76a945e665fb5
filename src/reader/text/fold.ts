/**
 * Folds text for comparison: compatibility forms are resolved, accents are removed, letters are lower case. The only
 * folding of the reader. `reading.fold` in SQL gives the same result (test/reader/fold.test.ts compares them).
 */

/**
 * Marks that are removed after NFKD: the blocks of combining diacritical marks, the vowel signs and the lengthening of
 * Arabic, and the dot below of Hindi, all of which people leave out. The Cyrillic "й" is a letter of its own.
 */
const MARKS =
  /[\u0640\u0670\u093c]|(?<![иИ])\u0306|[\u064b-\u065f]|[\u0300-\u0305\u0307-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f]/g;

/** Letters that NFKD does not decompose and that people also write as plain letters. */
const PLAIN: Readonly<Record<string, string>> = {
  ß: "ss",
  ẞ: "ss",
  æ: "ae",
  œ: "oe",
  ł: "l",
  ø: "o",
  đ: "d",
  ð: "d",
  ı: "i",
  þ: "t",
  ς: "σ",
  ى: "ي",
  ی: "ي",
  ک: "ك",
  ة: "ه",
  "\u0901": "\u0902",
};

/** True for a digit of any script. */
const isDigit = (code: number): boolean => /^\p{Nd}$/u.test(String.fromCodePoint(code));

/** A digit of any script as 0 to 9. In Unicode, the ten digits of a script follow each other, with nought first. */
const plainDigit = (digit: string): string => {
  const code = digit.codePointAt(0) ?? 0;
  let first = code;
  while (isDigit(first - 1)) first--;
  return String((code - first) % 10);
};

const ASCII = /^[\0-\x7f]*$/;

/**
 * Capitals: those of ASCII in runs, and those from the Latin to the Armenian alphabet one by one, because JavaScript
 * writes a Greek sigma at the end of a word differently. Capitals of other scripts stay: PostgreSQL's list of them
 * depends on its version and on the locale, so `reading.fold` has a list of its own.
 */
const CAPITALS = /[A-Z]+|[\u00c6-\u0556]/g;

/**
 * Returns a text in the form in which texts are compared: "Größe" becomes "grosse", "№ ５" becomes "no 5". Syllables of
 * Korean and voiced letters of Japanese, which NFKD parts, stay one letter.
 */
export const fold = (text: string): string =>
  ASCII.test(text)
    ? text.toLowerCase()
    : text
        .normalize("NFKD")
        .replace(MARKS, "")
        .replace(CAPITALS, (letters) => letters.toLowerCase())
        .replace(/[ßẞæœłøđðıþςىیکة\u0901]/g, (letter) => PLAIN[letter] ?? letter)
        .replace(/[\p{Nd}--[0-9]]/gv, plainDigit)
        .normalize("NFC");
