import type { Log } from "../src/log.ts";
import type { Part } from "../src/parts.ts";
import type { Vocabulary } from "../src/reader/extraction.ts";
import { learnWhenDue, type TrainingSource } from "../src/reader/learning.ts";
import { followVocabulary, VOCABULARY_POLL_MS } from "../src/reader/vocabulary.ts";
import type { CallJobs } from "./database.ts";

/** Keeps this worker's words, and what is learned from examples, in step with the database. */

/** Learning takes seconds of a processor: what cannot be learned is not tried all the time. */
const LEARN_AGAIN_MS = 300_000;

/**
 * The part that loads the vocabulary, and loads it again whenever it was edited.
 * @param options.use takes each edition; texts that are being read go on with the words they began with
 * @param options.stopping ends the learning at once
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
  const lessons: TrainingSource = {
    get: async (learning) =>
      (await call<Awaited<ReturnType<TrainingSource["get"]>>>("get_training_set", learning))[0] ?? null,
    store: async (changedAt, learning, learned) => {
      await call("store_classifiers", changedAt, learning, learned);
    },
  };

  /** After a failure another try waits, while texts are read by what was learned before. */
  let learnAgainAt = 0;
  const learn = async (): Promise<boolean> => {
    if (performance.now() < learnAgainAt) return false;
    try {
      return await learnWhenDue(lessons, stopping);
    } catch (error) {
      learnAgainAt = performance.now() + LEARN_AGAIN_MS;
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

  let following = false;
  const follow = async (): Promise<void> => {
    // Learning takes longer than some looks are apart.
    if (following) return;
    following = true;
    try {
      // New words hold at once, and what is learned with them a little later.
      await refresh();
      if (await learn()) await refresh();
    } finally {
      following = false;
    }
  };

  return {
    name: "vocabulary",
    start: async () => {
      await learn();
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
