import type { Task } from "graphile-worker";
import { z } from "zod";
import { onBehalfOf } from "../src/database/request_id.ts";
import type { Log } from "../src/log.ts";
import type { Mailer } from "../src/mail/mailer.ts";
import type { Embedder } from "../src/reader/extraction.ts";
import type { AccountableExtractor } from "../src/reader/fallback.ts";
import type { CallJobs } from "./database.ts";

/** What every task works with. */
export type Tools = {
  call: CallJobs;
  /** The one with the words of this moment: a task asks for it when it reads a text. */
  extractor: () => AccountableExtractor;
  embedder: Embedder;
  /** null when no mail server is configured. */
  mailer: Mailer | null;
  /** Where people reach the service, without a trailing slash. */
  baseUrl: () => string;
  log: Log;
};

/** Jobs carry the id of a row and nothing else: no text, no contact, no secret. */
const payload = z.object({ id: z.uuid() });

/** A task about one row. `signal` aborts when the worker has to stop: every call to a provider must heed it. */
export const task =
  (work: (job: { id: string }, signal: AbortSignal) => Promise<void>): Task =>
  async (given, helpers) => {
    if (!helpers.abortSignal) throw new Error("graphile-worker gave no abort signal");
    await work(payload.parse(given), helpers.abortSignal);
  };

/** Tasks whose statements the audit log ascribes to the job that ran them. */
export const onBehalfOfItsJob = (tasks: Record<string, Task>): Record<string, Task> =>
  Object.fromEntries(
    Object.entries(tasks).map(([name, work]): [string, Task] => [
      name,
      (given, helpers) => onBehalfOf(`job ${helpers.job.id}`, () => work(given, helpers)),
    ]),
  );
