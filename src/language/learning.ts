import { Worker } from "node:worker_threads";
import { LEARNING, type Lesson } from "./builtin/learn.ts";

/** Keeping what was learned from examples in step with the examples, in the database. */

/** Where lessons come from, and where goes what was learned: `jobs.get_lesson` and `jobs.store_classifiers`. */
export type LessonSource = {
  /** The words and examples, when they are not learned from yet in the way of that number. */
  get: (learning: number) => Promise<(Lesson & { changed_at: string }) | null>;
  /** @param learned the classifiers by name, as JSON */
  store: (changedAt: string, learning: number, learned: string) => Promise<void>;
};

const THREAD = new URL("./builtin/learn_thread.ts", import.meta.url);

/** Learns in a thread of its own: it takes seconds, in which a service has others to answer. */
const learnAside = (lesson: Lesson): Promise<string> =>
  new Promise((resolve, reject) => {
    const thread = new Worker(THREAD, { workerData: lesson });
    thread.once("message", resolve);
    thread.once("error", reject);
    thread.once("exit", (code) => reject(new Error(`the thread that learns ended with ${code}`)));
  });

/**
 * Learns from the examples if words, taxonomy or examples changed since, and stores what was learned.
 * @returns whether there was something to learn
 * @throws what the source throws; nothing is then stored, and the next time is as this one
 */
export const learnWhenDue = async ({ get, store }: LessonSource): Promise<boolean> => {
  const lesson = await get(LEARNING);
  if (lesson === null) return false;
  await store(lesson.changed_at, LEARNING, await learnAside(lesson));
  return true;
};
