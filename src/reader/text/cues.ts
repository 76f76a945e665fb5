import { type Term, term } from "../judge/features.ts";
import { type Token, tokensIn } from "./tokens.ts";

/**
 * Cues: words and phrases that say what stands beside them ("statt", "no calls", "deposit"), by concept. They are
 * labels of the lexicon (reading.label), and only evidence: the models learn what each concept is worth.
 */

/** A label of a concept. `prefix`: the last word may go on ("verhandel"). */
export type CueLabel = { concept: string; form: string; prefix: boolean };

/** A cue that was found: tokens `from` (inclusive) to `to` (exclusive). */
export type Cue = { concept: Term; from: number; to: number };

type Phrase = { words: readonly string[]; prefix: boolean; concept: Term };

/** The labels, ready for use: by the first word, or by its first letters if it may go on. */
export type CueIndex = {
  byWord: ReadonlyMap<string, readonly Phrase[]>;
  byLetters: ReadonlyMap<string, readonly Phrase[]>;
};

/** The shortest first word that may go on has this many letters. */
const KEY_LENGTH = 2;

/** Nearly all forms: words of plain letters, which are their own tokens. */
const LETTERS = /^[a-z]+(?: [a-z]+)*$/;

/** Makes labels ready for use. */
export const compileCues = (labels: readonly CueLabel[]): CueIndex => {
  const byWord = new Map<string, Phrase[]>();
  const byLetters = new Map<string, Phrase[]>();
  const concepts = new Map<string, Term>();
  // Sorted, so that what is found does not depend on the order of the rows.
  const sorted = labels.toSorted((one, other) =>
    one.concept === other.concept ? (one.form < other.form ? -1 : 1) : one.concept < other.concept ? -1 : 1,
  );
  for (const { concept, form, prefix } of sorted) {
    const known = concepts.get(concept) ?? term(concept);
    concepts.set(concept, known);
    const words = LETTERS.test(form) ? form.split(" ") : tokensIn(form).map((token) => token.text);
    const first = words[0];
    if (first === undefined) continue;
    const open = prefix && words.length === 1;
    const index = open ? byLetters : byWord;
    const key = open ? first.slice(0, KEY_LENGTH) : first;
    const phrases = index.get(key) ?? [];
    phrases.push({ words, prefix, concept: known });
    index.set(key, phrases);
  }
  const longestFirst = (one: Phrase, other: Phrase): number =>
    other.words.length - one.words.length || (other.words[0] ?? "").length - (one.words[0] ?? "").length;
  for (const phrases of byWord.values()) phrases.sort(longestFirst);
  for (const phrases of byLetters.values()) phrases.sort(longestFirst);
  return { byWord, byLetters };
};

const matches = (tokens: readonly Token[], at: number, { words, prefix }: Phrase): boolean => {
  for (let i = 0; i < words.length; i++) {
    const token = tokens[at + i];
    const word = words[i] ?? "";
    // A phrase does not continue across lines.
    if (token === undefined || (i > 0 && token.gap === "line")) return false;
    if (token.text !== word && !(prefix && i === words.length - 1 && token.text.startsWith(word))) return false;
  }
  return true;
};

/**
 * All cues of a text, by position. Of the cues of one concept that begin at one token, only the longest is given; a cue
 * inside a longer cue of the same concept is left out.
 */
export const findCues = (tokens: readonly Token[], index: CueIndex): readonly Cue[] => {
  if (last.tokens !== tokens || last.index !== index) last = { tokens, index, cues: cuesIn(tokens, index) };
  return last.cues;
};

/** The cues of the last text, because orders are judged before the rest of a text. */
let last: { tokens: readonly Token[]; index: CueIndex | null; cues: readonly Cue[] } = {
  tokens: [],
  index: null,
  cues: [],
};

const cuesIn = (tokens: readonly Token[], { byWord, byLetters }: CueIndex): Cue[] => {
  const cues: Cue[] = [];
  const ends = new Map<Term, number>();
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at];
    if (token === undefined || token.kind === "digits") continue;
    const add = (phrases: readonly Phrase[] | undefined): void => {
      if (phrases === undefined) return;
      for (const phrase of phrases) {
        const to = at + phrase.words.length;
        if ((ends.get(phrase.concept) ?? 0) >= to || !matches(tokens, at, phrase)) continue;
        ends.set(phrase.concept, to);
        cues.push({ concept: phrase.concept, from: at, to });
      }
    };
    add(byWord.get(token.text));
    if (token.kind === "word") add(byLetters.get(token.text.slice(0, KEY_LENGTH)));
  }
  return cues;
};
