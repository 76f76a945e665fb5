/**
 * Light stemming: enough for plurals and cases to meet their vocabulary word, little enough for different words to stay
 * apart. Not linguistics: both sides are cut alike, so only collisions matter, and the shortest stems are left alone.
 */

const ENDINGS: Readonly<Record<string, readonly string[]>> = {
  en: ["'s", "es", "s"],
  de: ["ern", "en", "er", "es", "em", "n", "e", "s"],
  fr: ["es", "s", "x", "e"],
  es: ["es", "as", "os", "s", "a", "o", "e"],
  it: ["hi", "he", "i", "e", "a", "o"],
  pt: ["es", "as", "os", "s", "a", "o", "e"],
  nl: ["en", "es", "s", "e"],
  pl: [
    "ami",
    "ach",
    "ego",
    "emu",
    "ymi",
    "imi",
    "iem",
    "ow",
    "om",
    "em",
    "ej",
    "ym",
    "ych",
    "ich",
    "im",
    "ie",
    "ia",
    "iu",
    "a",
    "e",
    "i",
    "o",
    "u",
    "y",
  ],
};

/** Letters that a stem keeps at least: below that "cars" and "care" would meet. */
const SHORTEST = 4;

/** English plurals are safe one letter earlier: "cars", "cats", "bikes". */
const SHORTEST_BEFORE_S = 3;

/** The stem of a folded word in a language; the word itself where nothing can be cut. */
export const stem = (word: string, language: string): string => {
  if (/\d/.test(word)) return word;
  if (language === "en") {
    if (word.length > 4 && word.endsWith("ies")) return `${word.slice(0, -3)}y`;
    if (word.length > 4 && /(?:s|x|z|ch|sh)es$/.test(word)) return word.slice(0, -2);
    if (word.length > SHORTEST_BEFORE_S && word.endsWith("s") && !word.endsWith("ss")) return word.slice(0, -1);
    return word;
  }
  for (const ending of ENDINGS[language] ?? []) {
    if (word.length - ending.length >= SHORTEST && word.endsWith(ending)) return word.slice(0, -ending.length);
  }
  return word;
};
