import { type Token, tokensIn } from "./tokens.ts";

/**
 * Finds the phrases of a vocabulary in a text: cues, and names of currencies. Vocabularies are plain data, matching is
 * linear, and no pattern can backtrack.
 */

/** A phrase as people write it. `prefix`: its last word may go on ("verhandel"). */
export type Written<S> = { form: string; sense: S; prefix?: boolean };

type Phrase<S> = { words: readonly string[]; prefix: boolean; sense: S };

/** Phrases by their first word; single words that may go on by their first letters. Longest first. */
export type Phrases<S> = {
  byWord: ReadonlyMap<string, readonly Phrase<S>[]>;
  byLetters: ReadonlyMap<string, readonly Phrase<S>[]>;
};

/** A phrase that was found: tokens `from` (inclusive) to `to` (exclusive). */
export type Hit<S> = { sense: S; from: number; to: number };

/** The shortest word that may go on has this many letters. */
const KEY_LENGTH = 2;

/** Nearly all forms: words of plain letters, which are their own tokens. */
const LETTERS = /^[a-z]+(?: [a-z]+)*$/;

/** Makes phrases ready for use. */
export const compilePhrases = <S>(vocabulary: Iterable<Written<S>>): Phrases<S> => {
  const byWord = new Map<string, Phrase<S>[]>();
  const byLetters = new Map<string, Phrase<S>[]>();
  for (const { form, sense, prefix = false } of vocabulary) {
    const words = LETTERS.test(form) ? form.split(" ") : tokensIn(form).map((token) => token.text);
    const [first] = words;
    if (first === undefined) continue;
    const open = prefix && words.length === 1;
    const index = open ? byLetters : byWord;
    const key = open ? first.slice(0, KEY_LENGTH) : first;
    const same = index.get(key) ?? [];
    same.push({ words, prefix, sense });
    index.set(key, same);
  }
  const longestFirst = (one: Phrase<S>, other: Phrase<S>): number =>
    other.words.length - one.words.length || (other.words[0] ?? "").length - (one.words[0] ?? "").length;
  for (const same of byWord.values()) same.sort(longestFirst);
  for (const same of byLetters.values()) same.sort(longestFirst);
  return { byWord, byLetters };
};

const matches = <S>(tokens: readonly Token[], at: number, { words, prefix }: Phrase<S>): boolean => {
  for (let i = 0; i < words.length; i++) {
    const token = tokens[at + i];
    const word = words[i] ?? "";
    // A phrase does not continue across lines.
    if (token === undefined || (i > 0 && token.gap === "line")) return false;
    if (token.text !== word && !(prefix && i === words.length - 1 && token.text.startsWith(word))) return false;
  }
  return true;
};

/** Calls `visit` for the phrases that begin at token `at`, longest first, until it returns true. */
export const visitPhrases = <S>(
  tokens: readonly Token[],
  at: number,
  { byWord, byLetters }: Phrases<S>,
  visit: (hit: Hit<S>) => boolean,
): void => {
  const token = tokens[at];
  if (token === undefined) return;
  for (const same of [byWord.get(token.text), byLetters.get(token.text.slice(0, KEY_LENGTH))])
    for (const phrase of same ?? [])
      if (matches(tokens, at, phrase) && visit({ sense: phrase.sense, from: at, to: at + phrase.words.length })) return;
};

/** The longest phrase that starts at token `at`, or null. */
export const phraseAt = <S>(tokens: readonly Token[], at: number, phrases: Phrases<S>): Hit<S> | null => {
  let found: Hit<S> | null = null;
  visitPhrases(tokens, at, phrases, (hit) => {
    found = hit;
    return true;
  });
  return found;
};
