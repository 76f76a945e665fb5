import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { changedTests } from "./changed.ts";
import { findServer } from "./support/postgres.ts";
import { preparedData } from "./support/prepared.ts";
import { startBroker } from "./support/shared.ts";
import type { FileTime } from "./support/times.ts";

/**
 * `npm test` finds or starts a PostgreSQL server, runs the tests against it, and prints `N passed, N failed` at the
 * end.
 *
 * Arguments go to ava: `npm test -- test/schema.test.ts`, `npm test -- --match "a link *"`. `npm test -- --changed`
 * runs the test files that a change can affect (changed.ts).
 * The tests are counted in ava's default report, because ava's TAP reporter stops at a timeout and then names no test.
 * Tests print to standard error, so their output is never counted.
 */

/** Enough time for ava to name the tests that were pending and for services to stop. After that they are killed. */
const GRACE_MS = 5_000;

/** How many of the slowest files are printed. */
const SLOWEST = 10;

/**
 * V8's compile cache for our files and the packages. Processes and runs share it. With it, a test file or a service
 * starts in two thirds of the time.
 */
const COMPILED = fileURLToPath(new URL("../node_modules/.cache/souk/compiled", import.meta.url));

/** The argument that selects the tests that a change can affect. */
const CHANGED = "--changed";

const AVA = fileURLToPath(new URL("../node_modules/ava/entrypoints/cli.js", import.meta.url));
const ROOT = fileURLToPath(new URL("..", import.meta.url));

type Count = { passed: number; failed: number; skipped: number; complete: boolean; nothingToDo: boolean };

const count: Count = { passed: 0, failed: 0, skipped: 0, complete: false, nothingToDo: false };
// Closes the report in the exit handler, so that the closing line is always printed, and is always the last.
process.once("exit", (code) => {
  process.exitCode = close(code);
});
try {
  process.exitCode = await testAgainstServer();
} catch (error) {
  print(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exitCode = 1;
}

async function testAgainstServer(): Promise<number> {
  const args = process.argv.slice(2).filter((argument) => argument !== CHANGED);
  if (process.argv.includes(CHANGED)) {
    const files = await changedTests();
    count.nothingToDo = files.length === 0;
    if (count.nothingToDo) {
      print("No test can be affected by what differs from the main line.");
      return 0;
    }
    args.push(...files);
  }
  const interruption = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => interruption.abort());
  const testRun = randomBytes(4).toString("hex");
  const times = join(tmpdir(), `souk-test-times-${testRun}`);
  const server = await findServer(testRun, preparedData);
  process.env["NODE_COMPILE_CACHE"] ??= COMPILED;
  // The broker needs them, too.
  Object.assign(process.env, { TEST_DATABASE_URL: server.url, TEST_RUN: testRun });
  const broker = await startBroker();
  try {
    const environment = { ...process.env, ...broker.env, TEST_TIMES: times };
    return interruption.signal.aborted ? 1 : await runAva(args, environment, interruption.signal);
  } finally {
    for (const wrong of await broker.close()) {
      print(`  ✘ ${wrong}`);
      count.failed += 1;
    }
    await server.release();
    await tellSlowest(times);
  }
}

async function runAva(args: string[], environment: NodeJS.ProcessEnv, interruption: AbortSignal): Promise<number> {
  // ava gets its own process group, so that the processes of a test file that dies can be ended with it.
  const ava = spawn(process.execPath, [AVA, ...args], {
    cwd: ROOT,
    // ava writes into a pipe here, so it would print no colours even in a terminal.
    env: process.stdout.isTTY ? { FORCE_COLOR: "1", ...environment } : environment,
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const signalAll = (signal: NodeJS.Signals) => {
    try {
      if (ava.pid !== undefined) process.kill(-ava.pid, signal);
    } catch {
      // The group has no process left.
    }
  };
  interruption.addEventListener("abort", () => {
    print("Interrupted.");
    signalAll("SIGTERM");
    setTimeout(() => signalAll("SIGKILL"), GRACE_MS).unref();
  });
  const code = new Promise<number | null>((resolve, reject) => {
    ava.once("error", reject);
    ava.once("exit", (status) => {
      // A process that outlives ava would keep the pipe open, and the loop below would not end.
      signalAll("SIGKILL");
      resolve(status);
    });
  });
  for await (const line of createInterface({ input: ava.stdout })) {
    print(line);
    tally(stripVTControlCharacters(line));
  }
  return (await code) ?? 1;
}

/**
 * Counts one line of the report. A tick or a cross precedes the title of each test, and a cross the failure of a file.
 * After the horizontal rule ava repeats the failures, so nothing is counted there. Log lines are indented further.
 */
function tally(line: string): void {
  if (/^ {2}─+$/.test(line)) count.complete = true;
  if (count.complete) return;
  if (/^ {2}[✔√] /.test(line)) count.passed += 1;
  if (/^ {2}[✘×] /.test(line)) count.failed += 1;
  if (/^ {2}- \[(?:skip|todo)\] /.test(line)) count.skipped += 1;
}

/** Prints which files took longest. */
async function tellSlowest(times: string): Promise<void> {
  const noted = await readFile(times, "utf8").catch(() => "");
  await rm(times, { force: true });
  const lines = noted.split("\n").filter((line) => line !== "");
  if (lines.length < 2) return;
  print(
    "\nThe slowest files, in seconds, and the seconds of a processor that they used (without those of PostgreSQL):",
  );
  const slowest = lines.map((line): FileTime => JSON.parse(line)).sort((one, other) => other.ms - one.ms);
  const seconds = (ms: number): string => (ms / 1000).toFixed(1).padStart(6);
  for (const { file, ms, processorMs } of slowest.slice(0, SLOWEST))
    print(`${seconds(ms)} ${seconds(processorMs)}  ${file}`);
  const together = slowest.reduce((sum, { processorMs }) => sum + processorMs, 0);
  print(`${" ".repeat(6)} ${seconds(together)}  all ${slowest.length} files`);
}

function close(code: number): number {
  const sound = code === 0 && (count.nothingToDo || (count.complete && count.failed === 0 && count.passed > 0));
  const failed = sound ? 0 : Math.max(1, count.failed);
  const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : "";
  print(`${count.passed} passed, ${failed} failed${skipped}`);
  return sound ? 0 : code || 1;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
