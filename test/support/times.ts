import { appendFileSync } from "node:fs";
import { relative } from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import test from "ava";

/**
 * Notes how long a test file took, from the start of its process to its end, in the file that TEST_TIMES names: one line
 * of JSON for each. ava loads this into every test process (package.json); test/run.ts reads what was noted.
 */

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** How long a test file took. */
export type FileTime = { file: string; ms: number };

export default (): void => {
  const times = process.env["TEST_TIMES"];
  if (times === undefined) return;
  const file = relative(ROOT, fileURLToPath(test.meta.file));
  process.once("exit", () => {
    appendFileSync(times, `${JSON.stringify({ file, ms: Math.round(performance.now()) } satisfies FileTime)}\n`);
  });
};
