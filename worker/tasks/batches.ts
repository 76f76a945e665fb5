import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type { Task } from "graphile-worker";
import type { Tools } from "../task.ts";

/** For each job, the rows of its smallest full batch (db/schema/jobs). A sandbox is a batch of its own. */
const FULL_BATCH = {
  sweep_submissions: 1_000,
  purge_keys: 1_000,
  purge_sign_ins: 1_000,
  purge_agents: 1_000,
  end_unused_agents: 1_000,
  purge_oauth: 1_000,
  expire_deals: 500,
  forget_deals: 1_000,
  purge_deliveries: 1_000,
  purge_sandboxes: 1,
};
/** How long a job goes on: the crontab starts the next one after a minute. */
const LONGEST_MS = 50_000;

/**
 * Sweeps or deletes what is past its time in batches, each in a transaction of its own, until one is not full. Between two
 * batches it rests for as long as one took, so that requests get their share of the disk.
 */
export const inBatches =
  ({ call, log }: Pick<Tools, "call" | "log">, name: keyof typeof FULL_BATCH): Task =>
  async (_payload, { abortSignal }) => {
    const end = performance.now() + LONGEST_MS;
    let count = 0;
    for (;;) {
      const start = performance.now();
      const [rows = 0] = await call<number>(name);
      count += rows;
      if (rows < FULL_BATCH[name] || performance.now() > end) break;
      await sleep(performance.now() - start, undefined, { signal: abortSignal });
    }
    if (count > 0) log.info({ count }, name);
  };
