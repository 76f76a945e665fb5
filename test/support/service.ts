import { type ChildProcess, spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "./postgres.ts";

/**
 * The real service as a separate process, started as an operator would start it.
 *
 *   part   what the process runs: `start` is everything, `api` and `worker` are parts
 *   ready  GET /readyz returns 200; a worker may log a line that says so instead
 *
 * The process inherits only a few variables: an API key of a paid provider in a developer's shell must not reach it.
 */

/**
 * A first start takes twenty seconds of a processor, and beside other tests minutes. A little less than what ava allows
 * (ava.config.js), whose own timeout would not show the logs of a start that hangs.
 */
const READY_TIMEOUT_MS = 280_000;

/** Longer than the service's own grace period, so that only a real hang fails. */
const STOP_TIMEOUT_MS = 60_000;

/**
 * The interval at which a process is asked whether it is ready. A process that logs it is asked at once: each question
 * costs the process and the database time that they need for the start.
 */
const POLL_MS = 250;
const WATCH_MS = 20;

/** /readyz responds in milliseconds. A listener that accepts and says nothing is not ready. */
const PROBE_TIMEOUT_MS = 2_000;

/** A process that is both an API and a worker says so of each. */
const READY_LINE = /(?<!not )\bready\b/gi;

/** Variables that a process needs to run and to load fast, and those of coverage and debugging. */
const INHERITED = ["PATH", "HOME", "TMPDIR", "LANG", "NODE_COMPILE_CACHE", "NODE_OPTIONS", "NODE_V8_COVERAGE"];

/** Another process may take a free port before the service does. Three failures in a row have another cause. */
const PORT_TRIES = 3;

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Options of V8: most of what a start allocates either dies at once or stays, and collections look at it again and again.
 * New objects get 16 MB at once, and old ones are first collected when there are 512 MB of them. The tests start a
 * hundred services, and memory is not what they lack.
 */
const FEW_COLLECTIONS = ["--min-semi-space-size=16", "--max-semi-space-size=16", "--initial-old-space-size=512"];

/** How the scripts of package.json run a process, for measuring memory and speed. */
export const PRODUCTION = {
  v8: ["--max-semi-space-size=4"],
  env: { MALLOC_ARENA_MAX: "1", MALLOC_TRIM_THRESHOLD_: "131072" },
} as const;

/** The subcommand of src/main.ts that a process runs. */
export type Part = "start" | "api" | "worker";

/** Options of a service process. */
export type ServiceOptions = {
  /** The database's URL, as from `createDatabase`. */
  database: string;
  /** Further environment variables, which override those set here. */
  env?: Record<string, string>;
  /** Options of V8. Without them, those with which a start is cheap and memory grows. */
  v8?: readonly string[];
  /** Another command line that runs the part. Without it, node runs src/main.ts. */
  command?: readonly [string, ...string[]];
  /** With false, returns at once, for tests of a start that cannot succeed. */
  waitUntilReady?: boolean;
};

/** A running process of the service. */
export type Service = {
  /** The address of the service, without a slash at the end: `http://127.0.0.1:41234`. */
  url: string;
  process: ChildProcess;
  /** Everything that the process has printed, both streams in the order of arrival. */
  logs: () => string;
  /** Resolves with the exit code, or with the signal that ended the process. */
  exited: Promise<number | NodeJS.Signals>;
  /** Sends SIGTERM and waits. @throws an Error if the exit code is not 0. Does nothing after `stop` or `kill` */
  stop: () => Promise<void>;
  /** Sends SIGKILL, like a crash. Resolves when the process has ended. */
  kill: () => Promise<void>;
};

/** The part of ava's `t` that registers a clean-up. Hooks have none: call `stop` in `test.after.always`. */
export type Teardown = { teardown: (clean: () => Promise<void>) => void };

/**
 * Starts the whole service. With a test's `t`, it is stopped after that test.
 * @throws an Error with the logs if the service does not become ready
 */
export function startService(options: ServiceOptions, t?: Teardown): Promise<Service> {
  return startPart("start", options, t);
}

/** Starts one part of the service, like `startService`. */
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
  const main = join(ROOT, "src/main.ts");
  const [program, ...args] = options.command ?? [process.execPath, ...(options.v8 ?? FEW_COLLECTIONS), main, part];
  const child = spawn(program, args, {
    // Node is started where no .env of a developer is. The scripts of package.json run in the folder of the sources.
    cwd: options.command ? ROOT : tmpdir(),
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
  // A test file that dies must not leave its service running.
  const abandon = () => {
    child.kill("SIGKILL");
  };
  process.once("exit", abandon);
  const exited = new Promise<number | NodeJS.Signals>((resolve, reject) => {
    child.once("error", reject);
    // "close" comes after "exit", when all output has been read.
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

/** Returns undefined when the service is ready, or else what is wrong with it. */
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
  for (let askAt = 0, said = 0; Date.now() < deadline; ) {
    if (ended !== undefined) return `ended with ${ended} before it was ready`;
    const says = service.logs().match(READY_LINE)?.length ?? 0;
    if (part === "worker" && says > 0) return undefined;
    if (says > said || Date.now() >= askAt) {
      if (await answersReady(service.url)) return undefined;
      askAt = Date.now() + POLL_MS;
      said = says;
    }
    await sleep(WATCH_MS);
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
