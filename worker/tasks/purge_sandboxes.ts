import type { Task } from "graphile-worker";
import type { Tools } from "../task.ts";

/** Deletes sandboxes that have ended, one in each transaction. */
export const purgeSandboxes =
  ({ call, log }: Tools): Task =>
  async (_payload, { abortSignal }) => {
    let deleted = 0;
    for (let [done = true] = await call<boolean>("purge_sandboxes"); !done; deleted++) {
      abortSignal?.throwIfAborted();
      [done = true] = await call<boolean>("purge_sandboxes");
    }
    if (deleted > 0) log.info({ count: deleted }, "purge_sandboxes");
  };
