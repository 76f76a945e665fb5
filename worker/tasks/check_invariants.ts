import type { Task } from "graphile-worker";
import { z } from "zod";
import type { Tools } from "../task.ts";

/** How many rows of each large table to check; null for all. */
const payload = z.object({ sample: z.int().positive().nullable() });

type Checked = { done: boolean; broken: { invariant: string; broken: number; example: string }[] };

/**
 * Checks the invariants, all rows part by part, and logs those that are broken. The database stores the result for
 * /metrics, and where a check of all rows is.
 */
export const checkInvariants =
  ({ call, log }: Tools): Task =>
  async (given, { abortSignal }) => {
    const { sample } = payload.parse(given);
    for (let isDone = false; !isDone; ) {
      abortSignal?.throwIfAborted();
      const [{ done, broken } = { done: true, broken: [] }] = await call<Checked>("check_invariants", sample);
      for (const { invariant, broken: rows, example } of broken)
        log.error({ invariant, broken: rows, example }, "an invariant is broken: select * from inspect.check()");
      isDone = done;
    }
  };
