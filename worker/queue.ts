import { readFileSync } from "node:fs";
import { Logger, type Runner, run, type TaskList, type WorkerEvents } from "graphile-worker";
import type pg from "pg";
import type { Log } from "../src/log.ts";
import type { Part } from "../src/parts.ts";

/** How many jobs run at a time. A job mostly waits for a provider and computes little. */
export const CONCURRENCY = 8;
/**
 * A stopping worker gives jobs this long to finish, then aborts their provider calls. It must end within ten seconds.
 */
const GRACE_MS = 3_000;
/**
 * On a server, a notification starts a new job at once, and polling finds retries. PGlite sends no notifications, so
 * polling finds all jobs.
 */
const POLL_MS = { server: 1_000, embedded: 100 };

const CRONTAB = readFileSync(new URL("./crontab", import.meta.url), "utf8");

/**
 * The part that takes jobs from the queue and runs their tasks.
 * @param options.startAgain ends this run of the worker and starts the next one
 */
export const queuePart = (options: {
  pool: pg.Pool;
  embedded: boolean;
  events: WorkerEvents;
  tasks: () => TaskList;
  startAgain: (why: string) => void;
  log: Log;
}): Part => {
  const { pool, embedded, events, tasks, startAgain, log } = options;
  return {
    name: "queue",
    start: async () => {
      let runner: Runner | null = null;
      // The database may have restarted, and the ends of jobs may not have been stored.
      events.on("pool:listen:error", () => {
        if (runner) startAgain("the worker's listening connection was lost");
      });
      events.on("job:failed", ({ job, error }) => {
        log.error({ err: error, task: job.task_identifier, job: job.id }, "a job failed for good");
      });
      events.on("job:error", ({ job, error }) => {
        log.warn(
          { err: error, task: job.task_identifier, job: job.id, attempt: job.attempts },
          "a job will be tried again",
        );
      });
      const started = await run({
        pgPool: pool,
        events,
        concurrency: CONCURRENCY,
        noHandleSignals: true,
        noPreparedStatements: embedded,
        pollInterval: embedded ? POLL_MS.embedded : POLL_MS.server,
        gracefulShutdownAbortTimeout: GRACE_MS,
        logger: new Logger(() => (level, message) => {
          if (level === "error") log.warn({ source: "graphile-worker" }, message);
        }),
        crontab: CRONTAB,
        taskList: tasks(),
      });
      runner = started;
      let over = false;
      const ended = started.promise.finally(() => {
        over = true;
        startAgain("the queue ended");
      });
      // The promise is awaited when the part stops. Until then its rejection must not end the process.
      ended.catch(() => undefined);
      return async () => {
        if (!over) {
          await started.stop().catch((error: unknown) => log.warn({ err: error }, "the worker did not stop cleanly"));
        }
        await ended;
      };
    },
  };
};
