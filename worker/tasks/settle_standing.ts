import { type Tools, task } from "../task.ts";

/** Archives the offers of a suspended account, or publishes again those of a reinstated one, batch by batch. */
export const settleStanding = ({ query }: Tools) =>
  task(async ({ id }, signal) => {
    for (let done = false; !done; ) {
      signal.throwIfAborted();
      const { rows } = await query<{ done: boolean }>("select jobs.settle_standing($1) as done", [id]);
      done = rows[0]?.done ?? true;
    }
  });
