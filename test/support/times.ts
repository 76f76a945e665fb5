import { appendFileSync, readFileSync } from "node:fs";
import { relative } from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import test from "ava";

/**
 * Appends the run time and the processor time of a test file's process to the file that TEST_TIMES names, as one line of JSON. ava loads this
 * into every test process (package.json), and test/run.ts reads the lines.
 */

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The run time of a test file in milliseconds, and the processor time of its process and those that it started. */
export type FileTime = { file: string; ms: number; processorMs: number };

/** Linux counts in hundredths of a second. */
const TICK_MS = 10;

/** Returns the processor time of this process, and on Linux also that of its children that have ended. */
const processorMs = (): number => {
  try {
    // After the program's name in brackets: utime, stime, cutime and cstime are the 12th to 15th field.
    const fields = readFileSync("/proc/self/stat", "utf8").split(") ").at(-1)?.split(" ").slice(11, 15) ?? [];
    return fields.reduce((sum, ticks) => sum + Number(ticks) * TICK_MS, 0);
  } catch {
    const { user, system } = process.cpuUsage();
    return Math.round((user + system) / 1000);
  }
};

export default (): void => {
  const times = process.env["TEST_TIMES"];
  if (times === undefined) return;
  const file = relative(ROOT, fileURLToPath(test.meta.file));
  process.once("exit", () => {
    const time: FileTime = { file, ms: Math.round(performance.now()), processorMs: processorMs() };
    appendFileSync(times, `${JSON.stringify(time)}\n`);
  });
};
