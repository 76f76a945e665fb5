import { type Tools, task } from "../task.ts";

/** Archives the offers of a suspended account, or publishes those of a reinstated account again, in batches. */
export const applyStanding = ({ call }: Tools) =>
  task(async ({ id }, signal) => {
    for (let done = false; !done; ) {
      signal.throwIfAborted();
      [done = true] = await call<boolean>("apply_standing", id);
    }
  });
