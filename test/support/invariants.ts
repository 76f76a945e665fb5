import { sql } from "./sql.ts";

/** A violated invariant, the object that violates it, and how. */
export type Violation = { invariant: string; object: string; detail: string };

/** Returns the violated invariants that inspect.check() finds in a database. */
export const violations = (url: string): Promise<Violation[]> => sql(url, "select * from inspect.check()");

/** The last assertion of a test that creates load or faults: every invariant of the market holds. */
export const assertInvariants = async (
  t: { deepEqual: (actual: unknown, expected: unknown, message?: string) => unknown },
  url: string,
): Promise<void> => {
  t.deepEqual(await violations(url), [], "inspect.check() finds nothing broken");
};
