import type { WorkerEvents } from "graphile-worker";
import type { Log } from "../src/base/log.ts";
import type { Part } from "../src/parts.ts";
import type { CallJobs } from "./database.ts";

/**
 * Sends heartbeats for this worker. Each heartbeat also unlocks the jobs of dead workers, so these jobs run again
 * within a minute. This file also finds jobs that this worker has locked but does not work on.
 */

/** jobs.heartbeat counts a pool as dead after 30 seconds, which is three missed heartbeats. */
const HEARTBEAT_MS = 10_000;

/**
 * The part that sends heartbeats for every pool of graphile-worker that this process has started.
 * @param options.poolIds the pools that were started and not yet deregistered; kept from one run of the worker to the
 * next
 * @param options.alone no other worker can be alive, as with the embedded database: jobs of dead workers are unlocked
 * at once
 * @param options.startAgain ends this run of the worker, which unlocks its jobs, and starts the next one
 */
export const heartbeatPart = (options: {
  call: CallJobs;
  events: WorkerEvents;
  poolIds: Set<string>;
  alone: boolean;
  startAgain: (why: string) => void;
  log: Log;
}): Part => {
  const { call, events, poolIds, alone, startAgain, log } = options;

  const sendHeartbeats = async (alone: boolean): Promise<void> => {
    for (const id of poolIds) {
      const [dead] = await call<number>("heartbeat", id, alone);
      if (dead) log.warn({ dead }, "freed the jobs of dead workers");
    }
  };

  /** Deregisters the pools that have stopped. This unlocks their jobs, which then run again at once. */
  const deregister = async (): Promise<void> => {
    for (const id of poolIds) {
      await call("deregister", id);
      poolIds.delete(id);
    }
  };

  // If graphile-worker cannot store the end of a job, it gives up, and the job stays locked. This pool is alive, so no
  // other pool unlocks the job.
  const working = new Set<string>();
  // Claimed jobs that wait for a free slot of this worker.
  const claimed = new Set<string>();
  let suspects = new Set<string>();
  const checkHeldJobs = async (): Promise<void> => {
    for (const id of poolIds) {
      const [held = []] = await call<string[]>("get_held_jobs", id);
      const idle = new Set(held.filter((job) => !working.has(job) && !claimed.has(job)));
      // A job that has just ended may still be locked, so only a job that is idle at two heartbeats in a row counts.
      if ([...idle].some((job) => suspects.has(job))) startAgain("jobs are held that nobody works on");
      suspects = idle;
    }
  };

  return {
    name: "heartbeat",
    start: async () => {
      await deregister();
      events.on("pool:create", ({ workerPool }) => {
        poolIds.add(workerPool.id);
        sendHeartbeats(alone).catch((error: unknown) => log.warn({ err: error }, "the first heartbeat failed"));
      });
      events.on("localQueue:getJobs:complete", ({ jobs }) => {
        for (const { id } of jobs) claimed.add(id);
      });
      events.on("localQueue:returnJobs", ({ jobs }) => {
        for (const { id } of jobs) claimed.delete(id);
      });
      events.on("job:start", ({ job }) => {
        claimed.delete(job.id);
        working.add(job.id);
      });
      events.on("job:complete", ({ job }) => void working.delete(job.id));
      const timer = setInterval(() => {
        sendHeartbeats(false)
          .then(checkHeldJobs)
          .catch((error: unknown) => log.warn({ err: error }, "a heartbeat failed"));
      }, HEARTBEAT_MS);
      return async () => {
        clearInterval(timer);
        await deregister().catch((error: unknown) =>
          log.warn({ err: error }, "the end of a worker could not be stored yet"),
        );
      };
    },
  };
};
