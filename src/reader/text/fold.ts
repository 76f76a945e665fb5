/**
 * Folds text for comparison: compatibility forms are resolved, accents are removed, letters are lower case. The only
 * folding of the reader. `reading.fold` in SQL gives the same result (test/reader/fold.test.ts compares them).
 */

/** Combining marks that are removed after NFKD: the blocks of combining diacritical marks. */
const MARKS = /[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f]/g;

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
};

const ASCII = /^[\0-\x7f]*$/;

/**
 * Capitals: those of ASCII in runs, and those from the Latin to the Armenian alphabet one by one, because JavaScript
 * writes a Greek sigma at the end of a word differently. Capitals of other scripts stay: PostgreSQL's list of them
 * depends on its version and on the locale, so `reading.fold` has a list of its own.
 */
const CAPITALS = /[A-Z]+|[\u00c6-\u0556]/g;

/** Returns a text in the form in which texts are compared: "Größe" becomes "grosse", "№ ５" becomes "no 5". */
export const fold = (text: string): string =>
  ASCII.test(text)
    ? text.toLowerCase()
    : text
        .normalize("NFKD")
        .replace(MARKS, "")
        .replace(CAPITALS, (letters) => letters.toLowerCase())
        .replace(/[ßẞæœłøđðıþς]/g, (letter) => PLAIN[letter] ?? letter);
