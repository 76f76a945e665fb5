import type { Task } from "graphile-worker";
import { z } from "zod";
import type { Tools } from "../task.ts";

/** How many rows of each large table to look at; null: all. */
const payload = z.object({ sample: z.int().positive().nullable() });

type Broken = { invariant: string; broken: number; example: string };

/** Looks whether every invariant holds, keeps what it found for /metrics, and says so in the log. */
export const checkInvariants =
  ({ query, log }: Tools): Task =>
  async (given) => {
    const { rows } = await query<Broken>("select * from jobs.check_invariants($1)", [payload.parse(given).sample]);
    for (const row of rows) log.error(row, "an invariant is broken: select * from inspect.check()");
  };
