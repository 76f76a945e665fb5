import type { Vocabulary } from "./extraction.ts";

/**
 * How often a process asks whether the vocabulary was edited. Short, because people who edit it wait; the query is
 * small.
 */
export const VOCABULARY_POLL_MS = 10_000;

/** How a process loads the vocabulary and notices edits. */
export type VocabularySource = {
  /** The time of the last edit. Every change of this value counts as an edit. */
  changedAt: () => Promise<string | undefined>;
  load: () => Promise<Vocabulary>;
};

/**
 * Watches the vocabulary of the database.
 * @returns a function that checks once. It returns the vocabulary on the first call and after each edit, otherwise
 *   null. It throws what the source throws; the next call then tries again.
 */
export const followVocabulary = ({ changedAt, load }: VocabularySource): (() => Promise<Vocabulary | null>) => {
  let known: string | null = null;
  return async () => {
    // The time is read before the vocabulary, so that an edit between the two queries is noticed by the next call.
    const at = (await changedAt()) ?? "never";
    if (at === known) return null;
    const vocabulary = await load();
    known = at;
    return vocabulary;
  };
};
