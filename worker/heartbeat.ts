import type { WorkerEvents } from "graphile-worker";
import type { Log } from "../src/log.ts";
import type { Part } from "../src/parts.ts";
import type { CallJobs } from "./database.ts";

/**
 * Tells the database that this worker lives, so that the jobs of a dead one are freed within a minute, and finds jobs that
 * this worker holds although it does not work on them.
 */

/** market.worker_heartbeat takes three missed heartbeats for death. */
const HEARTBEAT_MS = 10_000;

/**
 * The part that sends heartbeats for every pool of graphile-worker that this process has started.
 * @param options.poolIds those that were started and not yet deregistered; kept from one run of the worker to the next
 * @param options.alone no other worker can be alive, as with the embedded database: jobs of dead ones are freed at once
 * @param options.startAgain ends this run of the worker, and so gives its jobs back
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

  /** Tells the database of the pools that have stopped, so that jobs which they still hold run again at once. */
  const deregister = async (): Promise<void> => {
    for (const id of poolIds) {
      await call("deregister", id);
      poolIds.delete(id);
    }
  };

  // graphile-worker drops a job's end that it cannot write down: the job then stays locked by a pool that lives.
  const working = new Set<string>();
  let suspects = new Set<string>();
  const checkHeldJobs = async (): Promise<void> => {
    for (const id of poolIds) {
      const [held = []] = await call<string[]>("get_held_jobs", id);
      const idle = new Set(held.filter((job) => !working.has(job)));
      // At one heartbeat it may be on its way out.
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
      events.on("job:start", ({ job }) => void working.add(job.id));
      events.on("job:complete", ({ job }) => void working.delete(job.id));
      const timer = setInterval(() => {
        sendHeartbeats(false)
          .then(checkHeldJobs)
          .catch((error: unknown) => log.warn({ err: error }, "a heartbeat failed"));
      }, HEARTBEAT_MS);
      return async () => {
        clearInterval(timer);
        await deregister().catch((error: unknown) =>
          log.warn({ err: error }, "the end of a worker could not be told yet"),
        );
      };
    },
  };
};
