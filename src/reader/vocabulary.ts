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

let latest: { at: string; vocabulary: Promise<WeakRef<Vocabulary>> } | null = null;

/**
 * Loads a vocabulary, once for an API and a worker in the same process: it is many megabytes. What nobody uses any more
 * is not kept, because most of it is only needed until it is compiled.
 */
const loadOnce = async (at: string, load: VocabularySource["load"]): Promise<Vocabulary> => {
  const known = latest?.at === at ? await latest.vocabulary.catch(() => undefined) : undefined;
  const kept = known?.deref();
  if (kept !== undefined) return kept;
  const loading = load();
  latest = { at, vocabulary: loading.then((vocabulary) => new WeakRef(vocabulary)) };
  // Each caller gets the error of its own load.
  latest.vocabulary.catch(() => undefined);
  return loading;
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
    const vocabulary = await loadOnce(at, load);
    known = at;
    return vocabulary;
  };
};
