import { LANGUAGES } from "../languages.ts";

/**
 * Light stemming. It removes enough for plurals and cases to match their vocabulary word, and little enough to keep
 * different words apart. It is not linguistically correct: both sides are cut in the same way, so only collisions
 * matter. Short stems are not cut further.
 */

/** Least number of letters of a stem. With fewer, "cars" and "care" would collide. */
const SHORTEST = 4;

/** English plurals in -s are safe one letter earlier: "cars", "cats", "bikes". */
const SHORTEST_BEFORE_S = 3;

/** The stem of a folded word in a language, or the word itself if no ending can be removed. */
export const stem = (word: string, language: string): string => {
  if (/\d/.test(word)) return word;
  if (language === "en") {
    if (word.length > 4 && word.endsWith("ies")) return `${word.slice(0, -3)}y`;
    if (word.length > 4 && /(?:s|x|z|ch|sh)es$/.test(word)) return word.slice(0, -2);
    if (word.length > SHORTEST_BEFORE_S && word.endsWith("s") && !word.endsWith("ss")) return word.slice(0, -1);
    return word;
  }
  for (const ending of LANGUAGES[language]?.endings ?? []) {
    if (word.length - ending.length >= SHORTEST && word.endsWith(ending)) return word.slice(0, -ending.length);
  }
  return word;
};
