import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "./postgres.ts";

/**
 * The real service as a process of its own, started as an operator would start it.
 *
 *   part   what the process runs: `start` is everything, `api` and `worker` are the parts
 *   ready  GET /readyz answers 200; a worker may instead log a line that says so
 *
 * Its environment is only what is set here: a key for a paid provider in a developer's shell must not reach it.
 */

/** A cold start with migration takes seconds; on a busy machine many times that. */
const READY_TIMEOUT_MS = 180_000;

/** Longer than the grace period that the service gives itself, so that a hanging stop is told apart from a slow one. */
const STOP_TIMEOUT_MS = 60_000;

const POLL_MS = 50;

/** One answer of /readyz takes milliseconds; a listener that accepts and says nothing is not ready. */
const PROBE_TIMEOUT_MS = 2_000;

const READY_LINE = /(?<!not )\bready\b/i;

/** What a process needs to run at all and to load fast, and what coverage and debugging need to reach it. */
const INHERITED = ["PATH", "HOME", "TMPDIR", "LANG", "NODE_COMPILE_CACHE", "NODE_OPTIONS", "NODE_V8_COVERAGE"];

/** The port may be taken between being found free and being listened on; three times in a row is something else. */
const PORT_TRIES = 3;

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export type Part = "start" | "api" | "worker";

export type ServiceOptions = {
  /** The database's URL, as from `createDatabase`. */
  database: string;
  /** More environment, which wins over what is set here. */
  env?: Record<string, string>;
  /** A folder with other sources of the service, which have their modules beside them. */
  sources?: string;
  /** False returns at once, for tests of a start that cannot succeed. */
  waitUntilReady?: boolean;
};

export type Service = {
  /** Where it listens, without a slash at the end: `http://127.0.0.1:41234`. */
  url: string;
  process: ChildProcess;
  /** Everything that it has printed, both streams as they came. */
  logs: () => string;
  /** Resolves with the exit code, or with the signal that ended it. */
  exited: Promise<number | NodeJS.Signals>;
  /** Sends SIGTERM and demands exit code 0. Harmless when it has ended already, by `stop` or by `kill`. */
  stop: () => Promise<void>;
  /** Sends SIGKILL: a crash. Resolves when it is gone. */
  kill: () => Promise<void>;
};

/** What of ava's `t` is needed to clean up after a test. In hooks there is none: call `stop` in `test.after.always`. */
export type Teardown = { teardown: (clean: () => Promise<void>) => void };

/**
 * Starts the whole service. Given a test's `t`, stops it after that test.
 * Throws with its logs when it does not get ready.
 */
export function startService(options: ServiceOptions, t?: Teardown): Promise<Service> {
  return startPart("start", options, t);
}

/** Starts one part of the service. As `startService`. */
export async function startPart(part: Part, options: ServiceOptions, t?: Teardown): Promise<Service> {
  let service = await launch(part, options);
  for (let tries = 1; options.waitUntilReady !== false; tries += 1) {
    const failure = await readiness(part, service);
    if (failure === undefined) break;
    await service.kill();
    const portTaken = service.logs().includes("EADDRINUSE") && options.env?.["PORT"] === undefined;
    if (!portTaken || tries === PORT_TRIES) throw new Error(`The service (${part}) ${failure}.\n${service.logs()}`);
    service = await launch(part, options);
  }
  t?.teardown(service.stop);
  return service;
}

async function launch(part: Part, options: ServiceOptions): Promise<Service> {
  const port = options.env?.["PORT"] ?? String(await freePort());
  const child = spawn(process.execPath, [join(options.sources ?? ROOT, "src/main.ts"), part], {
    cwd: options.sources ?? ROOT,
    env: {
      ...inherited(),
      NODE_ENV: "test",
      HOST: "127.0.0.1",
      PORT: port,
      DATABASE_URL: options.database,
      LOG_LEVEL: "info",
      ...options.env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
    });
  }
  // A test file that dies must not leave its service behind.
  const abandon = () => {
    child.kill("SIGKILL");
  };
  process.once("exit", abandon);
  const exited = new Promise<number | NodeJS.Signals>((resolve, reject) => {
    child.once("error", reject);
    // "close" and not "exit": by then everything printed has been read.
    child.once("close", (code, signal) => {
      process.removeListener("exit", abandon);
      resolve(signal ?? code ?? 1);
    });
  });
  exited.catch(() => {});

  let killed = false;
  const kill = async () => {
    killed = true;
    child.kill("SIGKILL");
    await exited;
  };
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= terminate();
    return stopping;
  };
  const terminate = async () => {
    if (killed) return;
    child.kill("SIGTERM");
    const patience = new AbortController();
    const ending = await Promise.race([exited, sleep(STOP_TIMEOUT_MS, "late" as const, patience)]);
    patience.abort();
    if (ending === "late") await kill();
    if (ending !== 0) throw new Error(`The service did not stop cleanly, but with ${ending}.\n${printed}`);
  };
  return { url: `http://127.0.0.1:${port}`, process: child, logs: () => printed, exited, stop, kill };
}

/** Undefined when the service is ready, else what is wrong with it. */
async function readiness(part: Part, service: Service): Promise<string | undefined> {
  let ended: number | NodeJS.Signals | undefined;
  service.exited.then(
    (ending) => {
      ended = ending;
    },
    () => {
      ended = 1;
    },
  );
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (Date.now() < deadline) {
    if (ended !== undefined) return `ended with ${ended} before it was ready`;
    if (part === "worker" && READY_LINE.test(service.logs())) return undefined;
    if (await answersReady(service.url)) return undefined;
    await sleep(POLL_MS);
  }
  return `was not ready after ${READY_TIMEOUT_MS / 1000} seconds`;
}

async function answersReady(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
    await answer.arrayBuffer();
    return answer.status === 200;
  } catch {
    return false;
  }
}

function inherited(): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of INHERITED) {
    const value = process.env[name];
    if (value !== undefined) found[name] = value;
  }
  return found;
}
