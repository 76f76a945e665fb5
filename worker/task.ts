import type { Task } from "graphile-worker";
import { z } from "zod";
import type { Log } from "../src/base/log.ts";
import { onBehalfOf } from "../src/base/request.ts";
import { startSpan } from "../src/base/tracing/tracing.ts";
import type { Mailer } from "../src/mail/mailer.ts";
import type { Embedder } from "../src/reader/extraction.ts";
import type { Reader } from "../src/reader/reader.ts";
import type { CallJobs } from "./database.ts";

/** What tasks may use. */
export type Tools = {
  call: CallJobs;
  /** Begins the attempts that are due to one webhook. */
  deliver: (webhookId: string) => Promise<void>;
  /** Returns the reader with the current vocabulary. A task calls it each time it reads a text. */
  reader: () => Reader;
  embedder: Embedder;
  /** Null when no mail server is configured. */
  mailer: Mailer | null;
  /** The public URL of the service, without a trailing slash. */
  baseUrl: () => string;
  log: Log;
};

/**
 * A job's payload is a row's id, and its position in a trace if it has one: no text, no contact, no secret. A worker
 * ignores unknown members.
 */
const payload = z.object({ id: z.uuid() });
const traced = z.object({ traceparent: z.string() });

/**
 * Makes a task that works on one row.
 * @param work Every call to a provider must use its `signal`, which aborts when the worker has to stop.
 */
export const task =
  (work: (job: { id: string }, signal: AbortSignal) => Promise<void>): Task =>
  async (given, helpers) => {
    if (!helpers.abortSignal) throw new Error("graphile-worker gave no abort signal");
    await work(payload.parse(given), helpers.abortSignal);
  };

/** Wraps tasks so that the audit log names the job that ran a statement, and so that a trace goes on in its job. */
export const onBehalfOfItsJob = (tasks: Record<string, Task>): Record<string, Task> =>
  Object.fromEntries(
    Object.entries(tasks).map(([name, work]): [string, Task] => [
      name,
      async (given, helpers) => {
        const { job } = helpers;
        const attributes = { "messaging.operation.name": "process", "souk.job": job.id, "souk.attempt": job.attempts };
        const span = startSpan(`job ${name}`, "consumer", traced.safeParse(given).data?.traceparent, attributes);
        try {
          await onBehalfOf({ id: `job ${job.id}`, span }, () => work(given, helpers));
          span?.end();
        } catch (error) {
          span?.end({ error: "failed" });
          throw error;
        }
      },
    ]),
  );
