import { appendFileSync } from "node:fs";
import { relative } from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import test from "ava";

/**
 * Appends the run time of a test file's process to the file that TEST_TIMES names, as one line of JSON. ava loads this
 * into every test process (package.json), and test/run.ts reads the lines.
 */

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The run time of a test file in milliseconds. */
export type FileTime = { file: string; ms: number };

export default (): void => {
  const times = process.env["TEST_TIMES"];
  if (times === undefined) return;
  const file = relative(ROOT, fileURLToPath(test.meta.file));
  process.once("exit", () => {
    appendFileSync(times, `${JSON.stringify({ file, ms: Math.round(performance.now()) } satisfies FileTime)}\n`);
  });
};
