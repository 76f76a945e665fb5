import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { findServer } from "./support/postgres.ts";

/**
 * `npm test`: a PostgreSQL server, the tests against it, and one closing line `N passed, N failed`.
 *
 * Arguments go to ava: `npm test -- test/schema.test.ts`, `npm test -- --match "a link *"`.
 * ava speaks TAP here, since that is what can be counted; what tests print goes to standard error.
 */

/** Long enough for ava to say which tests were pending, and for services to stop; then they are killed. */
const GRACE_MS = 5_000;

const AVA = fileURLToPath(new URL("../node_modules/ava/entrypoints/cli.js", import.meta.url));
const ROOT = fileURLToPath(new URL("..", import.meta.url));

type Count = { passed: number; failed: string[]; skipped: number };

const count: Count = { passed: 0, failed: [], skipped: 0 };
// At the very end, so that the closing line is there and is the last however this process ends.
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
  const interruption = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => interruption.abort());
  const testRun = randomBytes(4).toString("hex");
  const server = await findServer(testRun);
  try {
    const environment = { ...process.env, TEST_DATABASE_URL: server.url, TEST_RUN: testRun };
    return interruption.signal.aborted ? 1 : await runAva(environment, interruption.signal);
  } finally {
    await server.release();
  }
}

async function runAva(environment: NodeJS.ProcessEnv, interruption: AbortSignal): Promise<number> {
  // A group of its own, so that what a dying test file leaves behind can be ended with it.
  const ava = spawn(process.execPath, [AVA, "--tap", ...process.argv.slice(2)], {
    cwd: ROOT,
    env: environment,
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const signalAll = (signal: NodeJS.Signals) => {
    try {
      if (ava.pid !== undefined) process.kill(-ava.pid, signal);
    } catch {
      // Nobody left in the group, which is what was wanted.
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
      // A grandchild that lives on would hold the pipe open, and the loop below with it.
      signalAll("SIGKILL");
      resolve(status);
    });
  });
  let planned = false;
  for await (const line of createInterface({ input: ava.stdout })) {
    print(line);
    planned ||= /^1\.\.\d+/.test(line);
    tally(line);
  }
  const status = await code;
  // Without a plan at its end the report broke off, whatever the exit code says.
  return planned ? (status ?? 1) : status || 1;
}

/** Counts one line of TAP. Lines that belong to a test's report are indented or begin with a hash. */
function tally(line: string): void {
  const [, not, title = ""] = /^(not )?ok \d+(?: - (.*))?$/.exec(line) ?? [];
  if (!/^(?:not )?ok \d/.test(line)) return;
  if (/ # (?:SKIP|TODO)\b/.test(line)) count.skipped += 1;
  else if (not) count.failed.push(title);
  else count.passed += 1;
}

function close(code: number): number {
  if (count.failed.length > 0) print(["", "Failed:", ...count.failed.map((title) => `  ${title}`), ""].join("\n"));
  if (code === 0 && count.passed + count.failed.length === 0) print("No test ran.");
  const sound = code === 0 && count.failed.length === 0 && count.passed > 0;
  const failed = sound ? 0 : Math.max(1, count.failed.length);
  const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : "";
  print(`${count.passed} passed, ${failed} failed${skipped}`);
  return sound ? 0 : code || 1;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
