import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { LEARNING, type TrainingSet } from "./builtin/learn.ts";

/** Keeping what was learned from examples in step with the examples, in the database. */

/** Where lessons come from, and where goes what was learned: `jobs.get_training_set` and `jobs.store_classifiers`. */
export type TrainingSource = {
  /** The words and examples, when they are not learned from yet in the way of that number. */
  get: (learning: number) => Promise<(TrainingSet & { changed_at: string }) | null>;
  /** @param learned the classifiers by name, as JSON */
  store: (changedAt: string, learning: number, learned: string) => Promise<void>;
};

/** Many times as long as a lesson takes: what hangs must not keep a worker from following the words. */
const TIMEOUT_MS = 300_000;

const PROCESS = fileURLToPath(new URL("./builtin/training_process.ts", import.meta.url));

/**
 * Learns in a process of its own: it takes seconds, in which a service has others to answer, and memory that a service
 * should not keep. Nothing of the environment goes with it.
 */
const learnAside = (lesson: TrainingSet, stopping: AbortSignal): Promise<string> =>
  new Promise((resolve, reject) => {
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(TIMEOUT_MS)]);
    const process = fork(PROCESS, { serialization: "advanced", execArgv: [], env: {}, signal });
    process.once("message", (learned) => resolve(String(learned)));
    process.once("error", reject);
    process.once("exit", (code) => reject(new Error(`the process that learns ended with ${code}`)));
    process.send(lesson, (error) => {
      if (error) reject(error);
    });
  });

/**
 * Learns from the examples if words, taxonomy or examples changed since, and stores what was learned.
 * @param stopping ends the learning at once
 * @returns whether there was something to learn
 * @throws what the source throws, or that it was stopped; nothing is then stored, and the next time is as this one
 */
export const learnWhenDue = async ({ get, store }: TrainingSource, stopping: AbortSignal): Promise<boolean> => {
  const lesson = await get(LEARNING);
  if (lesson === null) return false;
  await store(lesson.changed_at, LEARNING, await learnAside(lesson, stopping));
  return true;
};
