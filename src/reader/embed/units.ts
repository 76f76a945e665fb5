import { wordsIn } from "../text/tokens.ts";

/**
 * The units of a text that can have a meaning of their own: words, and phrases of the lexicon ("washing machine").
 */

/** A phrase has at most this many words. Longer labels say nothing that their words do not say. */
export const MAX_WORDS = 4;

/** A folded word or phrase. `at`: the position of its first word. `inPhrase`: it is a word of a known phrase. */
export type Unit = { name: string; at: number; inPhrase: boolean };

/** For each word that begins a phrase, how many words its longest phrase has. */
export type Openings = ReadonlyMap<string, number>;

/** Returns the openings of the phrases among `names`. */
export const openingsOf = (names: Iterable<string>): Openings => {
  const openings = new Map<string, number>();
  for (const name of names) {
    const end = name.indexOf(" ");
    if (end < 0) continue;
    const first = name.slice(0, end);
    openings.set(first, Math.max(openings.get(first) ?? 1, name.split(" ").length));
  }
  return openings;
};

/** The folded words of a text. */
export const foldedWords = (text: string): string[] => wordsIn(text).map(({ folded }) => folded);

/**
 * Splits words into units. A known phrase is a unit, followed by its words.
 * @param isKnown true for the phrases that are units
 */
export const unitsOf = (words: readonly string[], openings: Openings, isKnown: (name: string) => boolean): Unit[] => {
  const units: Unit[] = [];
  for (let at = 0; at < words.length; ) {
    const word = words[at] ?? "";
    let length = Math.min(openings.get(word) ?? 1, words.length - at);
    let name = word;
    for (; length > 1; length--) {
      name = words.slice(at, at + length).join(" ");
      if (isKnown(name)) break;
    }
    if (length > 1) {
      units.push({ name, at, inPhrase: false });
      for (const part of words.slice(at, at + length)) units.push({ name: part, at, inPhrase: true });
    } else units.push({ name: word, at, inPhrase: false });
    at += Math.max(length, 1);
  }
  return units;
};
