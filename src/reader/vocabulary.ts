import type { Vocabulary } from "./extraction.ts";

/** How often a process asks whether the vocabulary was edited: people who edit it wait, and it is one small query. */
export const VOCABULARY_POLL_MS = 10_000;

/** Where a process learns of the vocabulary. */
export type VocabularySource = {
  /** When it was last edited; whatever differs from the answer before is an edit. */
  changedAt: () => Promise<string | undefined>;
  load: () => Promise<Vocabulary>;
};

/**
 * Follows the vocabulary of the database. The function returned looks once, and gives the vocabulary the first time and
 * whenever it was edited since, else null. @throws what the source throws; the next look is then as this one
 */
export const followVocabulary = ({ changedAt, load }: VocabularySource): (() => Promise<Vocabulary | null>) => {
  let known: string | null = null;
  return async () => {
    // Asked before the words are: an edit between the two is found the next time.
    const at = (await changedAt()) ?? "never";
    if (at === known) return null;
    const vocabulary = await load();
    known = at;
    return vocabulary;
  };
};
