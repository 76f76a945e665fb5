import { type Token, tokensIn } from "./tokens.ts";

/**
 * Finds the phrases of a vocabulary in a text. Vocabularies are plain data, matching is linear, and no pattern can
 * backtrack.
 */

type Phrase<S> = { words: string[]; open: boolean; sense: S };

/**
 * Phrases by their first word. Single-word prefix phrases ("verhandel*") are indexed by their first letters. Longest
 * first.
 */
export type Phrases<S> = {
  byWord: ReadonlyMap<string, readonly Phrase<S>[]>;
  byLetters: ReadonlyMap<string, readonly Phrase<S>[]>;
};

/** A phrase that was found: tokens `from` (inclusive) to `to` (exclusive). */
export type Hit<S> = { sense: S; from: number; to: number };

/** Short enough for the shortest prefix phrase of a vocabulary. */
const KEY_LENGTH = 2;

const keyOf = (word: string): string => word.slice(0, KEY_LENGTH);

/**
 * Compiles a vocabulary: for each sense, phrases separated by `|` or line breaks, written as people write them.
 * A phrase that ends in `*` also matches a last word that is longer ("verhandel*").
 */
export const compilePhrases = <S extends string>(vocabulary: Readonly<Record<S, string>>): Phrases<S> => {
  const byWord = new Map<string, Phrase<S>[]>();
  const byLetters = new Map<string, Phrase<S>[]>();
  for (const sense of Object.keys(vocabulary) as S[]) {
    for (const written of vocabulary[sense].split(/[|\n]/u)) {
      const phrase = written.trim();
      if (phrase === "") continue;
      const open = phrase.endsWith("*");
      const words = tokensIn(open ? phrase.slice(0, -1) : phrase).map((token) => token.text);
      const first = words[0] ?? "";
      const prefix = open && words.length === 1;
      const index = prefix ? byLetters : byWord;
      const key = prefix ? keyOf(first) : first;
      const same = index.get(key) ?? [];
      same.push({ words, open, sense });
      index.set(key, same);
    }
  }
  for (const same of byWord.values()) same.sort((a, b) => b.words.length - a.words.length);
  for (const same of byLetters.values()) same.sort((a, b) => (b.words[0] ?? "").length - (a.words[0] ?? "").length);
  return { byWord, byLetters };
};

const matchesAt = <S>(tokens: readonly Token[], at: number, phrase: Phrase<S>): boolean => {
  const last = phrase.words.length - 1;
  return phrase.words.every((word, i) => {
    const token = tokens[at + i];
    // A phrase does not continue across lines.
    if (token === undefined || (i > 0 && token.gap === "line")) return false;
    return token.text === word || (phrase.open && i === last && token.text.startsWith(word));
  });
};

/** The longest phrase that starts at token `at`, or null. */
export const phraseAt = <S>(tokens: readonly Token[], at: number, phrases: Phrases<S>): Hit<S> | null => {
  const token = tokens[at];
  if (token === undefined) return null;
  const matches = (candidate: Phrase<S>): boolean => matchesAt(tokens, at, candidate);
  const phrase =
    phrases.byWord.get(token.text)?.find(matches) ??
    (phrases.byLetters.size === 0 ? undefined : phrases.byLetters.get(keyOf(token.text))?.find(matches));
  return phrase === undefined ? null : { sense: phrase.sense, from: at, to: at + phrase.words.length };
};
