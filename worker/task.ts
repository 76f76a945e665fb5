import type { Task } from "graphile-worker";
import type pg from "pg";
import { z } from "zod";
import type { Makers } from "../src/language/makers.ts";
import type { Log } from "../src/log.ts";
import type { Mailer } from "../src/mail/mailer.ts";

/** What every task works with. */
export type Tools = {
  /** One statement as souk_worker: it may call functions of schema `jobs`, and nothing else. */
  query: <Row extends pg.QueryResultRow>(text: string, values: unknown[]) => Promise<pg.QueryResult<Row>>;
  makers: Makers;
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
