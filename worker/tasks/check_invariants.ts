import type { Task } from "graphile-worker";
import { z } from "zod";
import type { Tools } from "../task.ts";

/** How many rows of each large table to check; null for all. */
const payload = z.object({ sample: z.int().positive().nullable() });

type Broken = { invariant: string; broken: number; example: string };

/** Checks the invariants and logs those that are broken. The database stores the result for /metrics. */
export const checkInvariants =
  ({ call, log }: Tools): Task =>
  async (given) => {
    const { sample } = payload.parse(given);
    for (const row of await call<Broken>("check_invariants", sample))
      log.error(row, "an invariant is broken: select * from inspect.check()");
  };
