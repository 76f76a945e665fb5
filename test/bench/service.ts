import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Cluster, freePort } from "../support/postgres.ts";
import { PRODUCTION } from "../support/service.ts";

/** The real service with production settings, and what its processes use of the machine. */

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
const READY_TIMEOUT_MS = 60_000;
/** The unit of the times in /proc/PID/stat, in milliseconds. It is a hundredth of a second on every Linux. */
const TICK_MS = 10;

type Running = { process: ChildProcess };
type Process = Running & { stop: () => Promise<void> };

/** A running service: an API process and a worker, or one process that is both. */
export type Service = {
  baseUrl: string;
  port: number;
  api: Process;
  worker: Process;
  stop: () => Promise<void>;
};

const startPart = async (
  part: "api" | "worker" | "start",
  environment: Record<string, string>,
  log: string,
  isReady: () => Promise<boolean>,
): Promise<Process> => {
  // The log goes to a file, as in production. With a pipe, this process would read a line for each request.
  const output = openSync(log, "w");
  const child = spawn(process.execPath, [...PRODUCTION.v8, MAIN, part], {
    // Where no .env of a developer is.
    cwd: tmpdir(),
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      NODE_ENV: "production",
      ...PRODUCTION.env,
      ...environment,
    },
    stdio: ["ignore", output, output],
  });
  closeSync(output);
  const abandon = () => void child.kill("SIGKILL");
  process.once("exit", abandon);
  const exited = once(child, "exit");
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (!(await isReady())) {
    if (child.exitCode !== null || performance.now() > deadline) {
      child.kill("SIGKILL");
      throw new Error(`The service (${part}) did not start.\n${await readFile(log, "utf8")}`);
    }
    await sleep(100);
  }
  return {
    process: child,
    stop: async () => {
      child.kill("SIGTERM");
      await exited;
      process.removeListener("exit", abandon);
    },
  };
};

/**
 * Starts the service on a database of a cluster.
 * @param together API and worker in one process, as `npm start` runs them
 */
export const startService = async (
  cluster: Cluster,
  database: string,
  connections: number,
  together = false,
): Promise<Service> => {
  const urlAs = (role: string) => `postgres://${role}@127.0.0.1:${cluster.port}/${database}`;
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const log = (part: string) => join(cluster.directory, `${part}.log`);
  const api = await startPart(
    together ? "start" : "api",
    // A superuser's login serves both.
    {
      DATABASE_URL: together ? urlAs("postgres") : urlAs("souk_api"),
      PORT: String(port),
      DATABASE_POOL_SIZE: String(connections),
    },
    log("api"),
    async () => (await fetch(`${baseUrl}/readyz`).catch(() => null))?.status === 200,
  );
  const worker = together
    ? api
    : await startPart("worker", { DATABASE_URL: urlAs("souk_worker") }, log("worker"), async () =>
        (await readFile(log("worker"), "utf8")).includes("worker ready"),
      );
  return {
    baseUrl,
    port,
    api,
    worker,
    stop: async () => {
      await Promise.all([...new Set([api, worker])].map((part) => part.stop()));
    },
  };
};

/** Returns the resident memory of a process in MB. */
export const memoryOf = ({ process: child }: Running): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]) / 1024;

type Times = { parent: number; own: number; children: number };

const timesOf = (pid: number): Times | null => {
  try {
    // The name of the program, in parentheses, may contain spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ")
      .map(Number);
    const [user = 0, system = 0, userBelow = 0, systemBelow = 0] = fields.slice(11, 15);
    return { parent: fields[1] ?? 0, own: user + system, children: userBelow + systemBelow };
  } catch {
    return null;
  }
};

/** Returns the processor time in milliseconds that a process has used so far. */
export const processTimeOf = ({ process: child }: Running): number => (timesOf(child.pid ?? 0)?.own ?? 0) * TICK_MS;

/**
 * Returns the processor time in milliseconds that the service and the whole server of the database have used so far.
 * Processes of the server that have ended count in the time of their parent.
 */
export const processorTimeOf = async (cluster: Cluster, service: Service): Promise<number> => {
  const postmaster = Number((await readFile(join(cluster.directory, "data", "postmaster.pid"), "utf8")).split("\n")[0]);
  let ticks = 0;
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const times = timesOf(pid);
    if (times === null) continue;
    const isService = pid === service.api.process.pid || pid === service.worker.process.pid;
    if (isService || times.parent === postmaster) ticks += times.own;
    if (pid === postmaster) ticks += times.own + times.children;
  }
  return ticks * TICK_MS;
};
