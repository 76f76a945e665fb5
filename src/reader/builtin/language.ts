import { LANGUAGES } from "../languages.ts";
import type { Word } from "../text/tokens.ts";

/** The languages of each frequent word, with a weight: a word of several languages counts for each of them in part. */
export type FunctionWords = ReadonlyMap<string, readonly { language: string; weight: number }[]>;

/** The part of the lexicon that shows a language: its frequent words, and the languages of its labels. */
type WordsOfLanguages = {
  functionWords: FunctionWords;
  exact: { get: (word: string) => { single: readonly { language: string | null }[] } | undefined };
};

/** Makes the frequent words of the languages ready for use. */
export const functionWordsOf = (words: readonly { language: string; form: string }[]): FunctionWords => {
  const languages = Map.groupBy(words, ({ form }) => form);
  return new Map(
    // Single letters are also abbreviations ("w/ box").
    [...languages].map(([form, entries]) => [
      form,
      entries.map(({ language }) => ({ language, weight: (form.length === 1 ? 0.4 : 1) / entries.length })),
    ]),
  );
};

/** True if a folded word is a function word of a language. */
export const isFunctionWord = (words: FunctionWords, word: string, language: string): boolean =>
  words.get(word)?.some((entry) => entry.language === language) ?? false;

const LETTER_WEIGHT = 0.5;

/** More letters than this add no evidence. */
const MAX_LETTERS = 4;

/** Less evidence may be chance: one shared word. */
const MIN_EVIDENCE = 0.4;

/**
 * The language with the most evidence, if it has more than `least` times that of the next one. Of languages with equal
 * evidence it is the first by name, whatever the order of the words.
 */
const clearest = (scores: ReadonlyMap<string, number>, least: number): string | null => {
  const [best, next] = [...scores].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  return best !== undefined && best[1] > MIN_EVIDENCE && best[1] > (next?.[1] ?? 0) * least ? best[0] : null;
};

/**
 * Detects the language (ISO 639-1) of a text, among those of the market. Null if the text does not show it.
 *
 * @param perLabel the evidence that a word gives for each of so many languages in which it is a label of the lexicon
 * @param margin how many times the evidence of the next language the best one must have
 */
export const detectLanguage = (
  text: string,
  words: readonly Word[],
  { exact, functionWords }: WordsOfLanguages,
  perLabel: (languages: number) => number,
  margin = 0,
): string | null => {
  const scores = new Map<string, number>();
  const add = (language: string, weight: number) => scores.set(language, (scores.get(language) ?? 0) + weight);
  for (const { folded } of words) {
    const named = new Set(exact.get(folded)?.single.flatMap(({ language }) => language ?? []));
    for (const language of named) add(language, perLabel(named.size));
    for (const entry of functionWords.get(folded) ?? []) add(entry.language, entry.weight);
  }
  for (const [language, { letters, foreign }] of Object.entries(LANGUAGES)) {
    const count = letters === null || foreign?.test(text) ? 0 : Math.min(text.match(letters)?.length ?? 0, MAX_LETTERS);
    if (count > 0) add(language, count * LETTER_WEIGHT);
  }
  return clearest(scores, margin);
};
