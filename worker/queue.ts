import { readFileSync } from "node:fs";
import { Logger, type Runner, run, type TaskList, type WorkerEvents } from "graphile-worker";
import type pg from "pg";
import type { Log } from "../src/base/log.ts";
import type { Part } from "../src/parts.ts";

/** How many jobs run at a time. A job mostly waits for a provider and computes little. */
export const CONCURRENCY = 8;
/**
 * How many jobs one statement claims. They wait in this process until a slot is free, so more would keep jobs from
 * other workers.
 */
const CLAIMED = CONCURRENCY;
/**
 * A claimed job that has not started after this time goes back to the database, because all slots wait for a slow
 * provider. Another worker may have a free slot, and a text of a quiet account may have come since.
 */
const CLAIM_MS = 500;
/**
 * This long after a job of a named queue has ended, the queue's next job is claimed. graphile-worker unlocks the queue
 * in a statement that it starts when the job ends, and does not report its end. It takes a few milliseconds.
 */
const UNLOCK_MS = 10;
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
 * Returns the pool for graphile-worker, but with LISTEN on another one, because notifications do not pass a pooler in
 * transaction mode. graphile-worker connects with a callback only to listen.
 */
export const listeningOn = (listener: pg.Pool, pool: pg.Pool): pg.Pool => {
  const connect = (callback?: Parameters<pg.Pool["connect"]>[0]): unknown =>
    callback ? listener.connect(callback) : pool.connect();
  return new Proxy(pool, {
    get: (target, name) => {
      if (name === "connect") return connect;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
};

/**
 * The part that takes jobs from the queue and runs their tasks.
 * @param options.plain named statements do not work
 * @param options.startAgain ends this run of the worker and starts the next one
 */
export const queuePart = (options: {
  pool: pg.Pool;
  plain: boolean;
  embedded: boolean;
  events: WorkerEvents;
  tasks: TaskList;
  startAgain: (why: string) => void;
  log: Log;
}): Part => {
  const { pool, plain, embedded, events, tasks, startAgain, log } = options;
  return {
    name: "queue",
    start: async () => {
      let runner: Runner | null = null;
      // The database may have restarted, and the ends of jobs may not have been stored.
      events.on("pool:listen:error", () => {
        if (runner) startAgain("the worker's listening connection was lost");
      });
      events.on("job:failed", ({ job, error }) => {
        log.error({ err: error, task: job.task_identifier, job: job.id }, "a job permanently failed");
      });
      events.on("job:error", ({ job, error }) => {
        log.warn(
          { err: error, task: job.task_identifier, job: job.id, attempt: job.attempts },
          "a job will be tried again",
        );
      });
      // graphile-worker claims the jobs that are first in their order, but gives them to its slots in no order.
      events.on("localQueue:getJobs:complete", ({ jobs }) => {
        jobs.sort((one, other) => one.priority - other.priority || one.run_at.getTime() - other.run_at.getTime());
      });
      // A claim takes only the first job of each named queue. Without this, the second would wait for the next poll.
      events.on("localQueue:init", ({ localQueue }) => {
        events.on("job:complete", ({ job }) => {
          if (job.job_queue_id !== null) setTimeout(() => localQueue.pulse(1), UNLOCK_MS).unref();
        });
      });
      const started = await run({
        pgPool: pool,
        events,
        noHandleSignals: true,
        preset: {
          worker: {
            concurrentJobs: CONCURRENCY,
            localQueue: { size: CLAIMED, ttl: CLAIM_MS },
            preparedStatements: !plain,
            pollInterval: embedded ? POLL_MS.embedded : POLL_MS.server,
            gracefulShutdownAbortTimeout: GRACE_MS,
          },
        },
        logger: new Logger(() => (level, message) => {
          if (level === "error") log.warn({ source: "graphile-worker" }, message);
        }),
        crontab: CRONTAB,
        taskList: tasks,
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
