import type { Log } from "../src/log.ts";
import type { Part } from "../src/parts.ts";
import type { Vocabulary } from "../src/reader/extraction.ts";
import { learnWhenDue, type TrainingSource } from "../src/reader/learning.ts";
import { followVocabulary, VOCABULARY_POLL_MS } from "../src/reader/vocabulary.ts";
import type { CallJobs } from "./database.ts";

/** Keeps this worker's vocabulary up to date with the database, and trains the classifiers when it changes. */

/**
 * The pause after a failed training. Training takes seconds of processor time, so it is not retried at each poll.
 */
const RETRY_TRAINING_MS = 300_000;

/**
 * The part that loads the vocabulary, and loads it again after each edit.
 * @param options.use receives each version; extractions in progress continue with the version that they began with
 * @param options.stopping ends a training in progress at once
 */
export const vocabularyPart = (options: {
  call: CallJobs;
  use: (vocabulary: Vocabulary) => void;
  stopping: AbortSignal;
  log: Log;
}): Part => {
  const { call, use, stopping, log } = options;
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

  const refresh = async (): Promise<void> => {
    const edited = await nextVocabulary();
    if (!edited) return;
    use(edited);
    log.info("reading with a changed vocabulary");
  };

  let isFollowing = false;
  const follow = async (): Promise<void> => {
    // A training can take longer than the time between two polls.
    if (isFollowing) return;
    isFollowing = true;
    try {
      // Use the new vocabulary at once. Use the classifiers trained with it as soon as they are stored.
      await refresh();
      if (await train()) await refresh();
    } finally {
      isFollowing = false;
    }
  };

  return {
    name: "vocabulary",
    start: async () => {
      await train();
      const first = await nextVocabulary();
      if (!first) throw new Error("there is no vocabulary");
      use(first);
      const timer = setInterval(() => {
        follow().catch((error: unknown) => {
          if (!stopping.aborted) log.warn({ err: error }, "the vocabulary could not be followed");
        });
      }, VOCABULARY_POLL_MS);
      return () => clearInterval(timer);
    },
  };
};
