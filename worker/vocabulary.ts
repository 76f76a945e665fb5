import type { Log } from "../src/base/log.ts";
import type { Part } from "../src/parts.ts";
import { prepareKnowledge } from "../src/reader/builtin/knowledge.ts";
import type { Vocabulary } from "../src/reader/extraction.ts";
import type { Reader } from "../src/reader/reader.ts";
import { LEARNING } from "../src/reader/training/classifiers.ts";
import { learnWhenDue, type TrainingSource } from "../src/reader/training/learning.ts";
import { followVocabulary, VOCABULARY_POLL_MS } from "../src/reader/vocabulary.ts";
import type { CallJobs } from "./database.ts";

/** Keeps this worker's vocabulary up to date with the database, and trains the classifiers when it changes. */

/**
 * The pause after a failed training. Training takes seconds of processor time, so it is not retried at each poll.
 */
const RETRY_TRAINING_MS = 300_000;

/**
 * The part that loads the vocabulary, and loads it again after each edit.
 * @param options.use receives each version with its reader; extractions in progress continue with the version that they began with
 * @param options.stopping ends a training in progress at once
 */
export const vocabularyPart = (options: {
  call: CallJobs;
  readerOf: (vocabulary: Vocabulary) => Promise<Reader>;
  use: (vocabulary: Vocabulary, reader: Reader) => void;
  stopping: AbortSignal;
  log: Log;
}): Part => {
  const { call, readerOf, use, stopping, log } = options;
  const nextVocabulary = followVocabulary({
    changedAt: async () => (await call<string>("vocabulary_changed_at"))[0],
    load: async () => {
      const [vocabulary] = await call<Vocabulary | null>("get_vocabulary");
      if (!vocabulary) throw new Error("jobs.get_vocabulary() gave nothing");
      return vocabulary;
    },
  });
  const trainingSource: TrainingSource = {
    get: async (learning) =>
      (await call<Awaited<ReturnType<TrainingSource["get"]>>>("get_training_set", learning))[0] ?? null,
    store: async (changedAt, learning, learned) => {
      await call("store_classifiers", changedAt, learning, learned);
    },
  };

  /** After a failed training, no training starts before this time. Texts are read with the earlier classifiers. */
  let trainAgainAt = 0;
  const train = async (): Promise<boolean> => {
    if (performance.now() < trainAgainAt) return false;
    try {
      return await learnWhenDue(trainingSource, stopping);
    } catch (error) {
      trainAgainAt = performance.now() + RETRY_TRAINING_MS;
      if (!stopping.aborted) log.warn({ err: error }, "the examples could not be learned from");
      return false;
    }
  };

  /** A run that has ended must not replace what the next one uses. */
  let isOver = false;
  const refreshNow = async (): Promise<void> => {
    const edited = await nextVocabulary();
    if (!edited) return;
    await prepareKnowledge(edited);
    const reader = await readerOf(edited);
    if (isOver) return;
    use(edited, reader);
    log.info("reading with a changed vocabulary");
  };
  let refreshing: Promise<void> | null = null;
  /** One at a time, so that an older vocabulary never replaces a newer one. */
  const refresh = (): Promise<void> => {
    refreshing ??= refreshNow().finally(() => {
      refreshing = null;
    });
    return refreshing;
  };

  let isTraining = false;
  const follow = async (): Promise<void> => {
    // Use the new vocabulary at once, even if a training takes longer than the time between two polls, and the
    // classifiers trained with it as soon as they are stored.
    await refresh();
    if (isTraining) return;
    isTraining = true;
    try {
      if (await train()) await refresh();
    } finally {
      isTraining = false;
    }
  };
  const followOn = (): void => {
    follow().catch((error: unknown) => {
      if (!stopping.aborted) log.warn({ err: error }, "the vocabulary could not be followed");
    });
  };

  return {
    name: "vocabulary",
    start: async () => {
      let first = await nextVocabulary();
      // Only classifiers of this version of the code know its features. With older ones, or none, nothing can be read
      // yet.
      if ((first?.learning ?? 0) < LEARNING && (await train())) first = (await nextVocabulary()) ?? first;
      if (!first) throw new Error("there is no vocabulary");
      await prepareKnowledge(first);
      use(first, await readerOf(first));
      // If a training is due, texts are read with the stored classifiers until it ends.
      followOn();
      const timer = setInterval(followOn, VOCABULARY_POLL_MS);
      return () => {
        isOver = true;
        clearInterval(timer);
      };
    },
  };
};
