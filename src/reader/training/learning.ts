import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { LEARNING, type TrainingSet } from "./classifiers.ts";

/** Keeps the stored classifiers up to date with the examples in the database. */

/**
 * Where the training set comes from and where the classifiers are stored: `jobs.get_training_set` and
 * `jobs.store_classifiers`.
 */
export type TrainingSource = {
  /**
   * Returns the training set, or null if the stored classifiers were already learned from it.
   * @param learning the version of the learning code (LEARNING in training/classifiers.ts); another version means that
   *   training is due
   */
  get: (learning: number) => Promise<(TrainingSet & { changed_at: string }) | null>;
  /** @param learned the classifiers by name, and the meanings of words as `meaning`, as JSON */
  store: (changedAt: string, learning: number, learned: string) => Promise<void>;
};

/** Many times as long as training takes. A process that hangs must not keep the worker from noticing later edits. */
const TIMEOUT_MS = 300_000;

const TRAINING_PROCESS = fileURLToPath(new URL("./process.ts", import.meta.url));

/**
 * Trains in a child process. Training takes seconds, during which the service must answer other requests, and memory
 * that the service should not keep. The child process gets no environment variables.
 */
const trainInChildProcess = (trainingSet: TrainingSet, stopping: AbortSignal): Promise<string> =>
  new Promise((resolve, reject) => {
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(TIMEOUT_MS)]);
    const process = fork(TRAINING_PROCESS, { serialization: "advanced", execArgv: [], env: {}, signal });
    process.once("message", (learned) => resolve(String(learned)));
    process.once("error", reject);
    process.once("exit", (code) => reject(new Error(`the process that learns ended with ${code}`)));
    process.send(trainingSet, (error) => {
      if (error) reject(error);
    });
  });

/**
 * Trains and stores the classifiers if words, taxonomy or examples changed since the last training.
 * @param stopping ends the training at once
 * @returns whether training was due
 * @throws what the source throws, or an abort error when stopped. Nothing is stored then, and the next call tries
 *   again.
 */
export const learnWhenDue = async ({ get, store }: TrainingSource, stopping: AbortSignal): Promise<boolean> => {
  const trainingSet = await get(LEARNING);
  if (trainingSet === null) return false;
  await store(trainingSet.changed_at, LEARNING, await trainInChildProcess(trainingSet, stopping));
  return true;
};
