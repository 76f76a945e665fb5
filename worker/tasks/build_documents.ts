import type { Task } from "graphile-worker";
import { type Tools, task } from "../task.ts";

/** Offers and asks per job. A batch takes about half a second, because each changed row is entered in all indexes again. */
const BATCH = 200;

type Progress = { looked_at: number; built: number; finished: boolean };

/** Mends what is found of the offers and asks after the job's id. The database enqueues the next batch. */
export const buildDocuments = ({ call, log }: Tools): Task =>
  task(async ({ id }) => {
    const [progress] = await call<Progress>("build_documents", id, BATCH);
    if (progress) log.info(progress, progress.finished ? "documents are built" : "documents are being built");
  });
