import type { Task } from "graphile-worker";
import type { Tools } from "../task.ts";

/** Offers per job. A batch takes about half a second. An operator who edits synonyms waits at most that long. */
const BATCH = 200;

type Progress = { looked_at: number; changed: number; finished: boolean };

/** Sets the concepts of one batch of offers again after a change of synonyms. The database enqueues the next batch. */
export const refreshConcepts =
  ({ call, log }: Tools): Task =>
  async () => {
    const [progress] = await call<Progress | null>("refresh_concepts", BATCH);
    if (progress)
      log.info(progress, progress.finished ? "concepts are up to date" : "concepts are being brought up to date");
  };
