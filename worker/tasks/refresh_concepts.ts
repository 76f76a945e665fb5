import type { Task } from "graphile-worker";
import type { Tools } from "../task.ts";

/** Offers of one job: about half a second of work, so that whoever edits synonyms meanwhile does not wait longer. */
const BATCH = 200;

type Progress = { looked_at: number; changed: number; finished: boolean };

/** Files one batch of offers again under the concepts that their words name; the database queues the next one. */
export const refreshConcepts =
  ({ call, log }: Tools): Task =>
  async () => {
    const [progress] = await call<Progress | null>("refresh_concepts", BATCH);
    if (progress)
      log.info(progress, progress.finished ? "concepts are up to date" : "concepts are being brought up to date");
  };
