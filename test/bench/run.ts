import { type ChildProcess, execFile, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { createInterface } from "node:readline/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { createQueryExtractor } from "../../src/reader/builtin/query.ts";
import { createBuiltinEmbedder } from "../../src/reader/embed/embedder.ts";
import type { Vocabulary } from "../../src/reader/extraction.ts";
import { NO_PLACES } from "../../src/reader/find/gazetteer.ts";
import { seedMeaning } from "../reader/vocabulary.ts";
import { withClient } from "../support/client.ts";
import { violations } from "../support/invariants.ts";
import { type Cluster, freePort, startCluster } from "../support/postgres.ts";
import { measureGrowth } from "./growth.ts";
import type { Job, Result } from "./load.ts";
import { type Caller, type Market, makeMarket } from "./market.ts";
import { runPgbench, type Sample } from "./pgbench.ts";
import { makeScenarios, type Scenario } from "./scenarios.ts";
import { textToPublish } from "./texts.ts";

/**
 * `npm run bench`: how much of PostgreSQL's own speed an agent gets.
 *
 * Creates a market in a throwaway cluster with production settings and starts the real service on it. For each kind of
 * request, it measures the service under load and pgbench with the request's statement. The two take turns, so that
 * other work on the machine affects both; the ratios are the result.
 *
 *   --offers N     the number of offers (100,000)
 *   --asks N       the number of asks (20,000)
 *   --sizes N,N    instead of all that: how search grows over markets of these sizes, as a table and as a chart
 *   --chart FILE   the file for the chart (test/bench/growth.svg)
 *   --seconds S    the duration of each side of a measurement (5)
 *   --requests N   afterwards N more requests, with the memory of the API process after each tenth of them
 *   --hold         at the end, keeps everything running until Enter is pressed, for a look with psql
 */

/** As many as the pool has, so that neither side waits for a free connection. */
const CONNECTIONS = 16;
/** The threads of pgbench. The goals are stated for a machine with two processors. */
const THREADS = 2;
/** The time of each side is split into so many turns. */
const ROUNDS = 2;
/** The time before a measurement in which statements are prepared, code is compiled and pages are read. */
const WARM_UP_SECONDS = 1;
/** Offers are published one after the other with a pause, because the time on an idle service is measured. */
const PUBLICATIONS = 40;
/** Longer than matching an offer with 2,000 asks in the background, which takes a tenth of a second. */
const PAUSE_MS = 250;
/** The number of matches of an ask for a common thing. A page shows ten. */
const MATCHES_PER_ASK = 30;
const READY_TIMEOUT_MS = 60_000;
/** The number of offers and asks that requests refer to: one for each variant of a scenario. */
const TARGETS = 48;

/** The settings of an operator with a small server. What production flushes to disk is flushed here, too. */
const SETTINGS = {
  fsync: "on",
  full_page_writes: "on",
  synchronous_commit: "on",
  wal_level: "replica",
  shared_buffers: "1GB",
  effective_cache_size: "2GB",
  maintenance_work_mem: "1GB",
  max_wal_size: "4GB",
  random_page_cost: "1.1",
  shared_preload_libraries: "''",
};

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
const CHART = fileURLToPath(new URL("growth.svg", import.meta.url));
const LOAD = fileURLToPath(new URL("load.ts", import.meta.url));

const { values: options } = parseArgs({
  options: {
    offers: { type: "string", default: "100000" },
    sizes: { type: "string" },
    asks: { type: "string", default: "20000" },
    chart: { type: "string", default: CHART },
    seconds: { type: "string", default: "5" },
    requests: { type: "string", default: "0" },
    hold: { type: "boolean", default: false },
  },
});
const [offers, seconds, requests] = [options.offers, options.seconds, options.requests].map(Number) as [
  number,
  number,
  number,
];

const print = (line = ""): void => void process.stdout.write(`${line}\n`);
/** Shows a step in a line that the next one overwrites, and shows nothing if the output is not a terminal. */
const tell = (what: string): void => {
  if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K${what}`);
};

type Service = { process: ChildProcess; stop: () => Promise<void> };

const startService = async (
  part: "api" | "worker",
  environment: Record<string, string>,
  log: string,
  isReady: () => Promise<boolean>,
): Promise<Service> => {
  // The log goes to a file, as in production. With a pipe, this process would read a line for each request.
  const output = openSync(log, "w");
  const child = spawn(process.execPath, [MAIN, part], {
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], NODE_ENV: "production", ...environment },
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

/** Returns the resident memory of a process in MB. */
const memoryOf = async ({ process: child }: Service): Promise<number> => {
  const { stdout } = await promisify(execFile)("ps", ["-o", "rss=", "-p", String(child.pid)]);
  return Number(stdout) / 1024;
};

const runLoad = async (job: Job): Promise<Result> => {
  const child = fork(LOAD, { serialization: "advanced" });
  child.send(job);
  const [result] = (await once(child, "message")) as [Result];
  if (result.failure !== null) throw new Error(`A request failed: ${result.failure}`);
  return result;
};

const median = (sorted: Float64Array, share = 0.5): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

const summaryOf = (samples: Sample[]) => {
  const sorted = Float64Array.from(samples.flatMap(({ milliseconds }) => [...milliseconds])).sort();
  const rate = samples.reduce((sum, sample) => sum + sample.rate, 0) / samples.length;
  return { rate, p50: median(sorted), p99: median(sorted, 0.99) };
};

const COLUMNS = [30, 10, 10, 8, 9, 9, 8, 9, 9];
const row = (cells: (string | number)[]): void =>
  print(
    cells
      .map((cell, i) => {
        const text = typeof cell === "number" ? cell.toFixed(cell < 10 ? 2 : cell < 100 ? 1 : 0) : cell;
        return i === 0 ? text.padEnd(COLUMNS[i] ?? 0) : text.padStart(COLUMNS[i] ?? 0);
      })
      .join(""),
  );

const measure = async (cluster: Cluster, database: string, port: number, scenario: Scenario): Promise<void> => {
  const turn = Math.max(1, Math.ceil(seconds / ROUNDS));
  const service: Sample[] = [];
  const bare: Sample[] = [];
  const server = { programs: cluster.programs, port: cluster.port, database };
  const load = (length: number) =>
    runLoad({ port, requests: scenario.requests, connections: CONNECTIONS, seconds: length });
  tell(scenario.name);
  await load(WARM_UP_SECONDS);
  for (let round = 0; round < ROUNDS; round++) {
    const { milliseconds, seconds: length } = await load(turn);
    service.push({ milliseconds, rate: milliseconds.length / length });
    bare.push(
      await runPgbench(server, scenario.statements, { connections: CONNECTIONS, threads: THREADS, seconds: turn }),
    );
  }
  const ours = summaryOf(service);
  const theirs = summaryOf(bare);
  tell("");
  row([
    scenario.name,
    ours.rate,
    theirs.rate,
    `${Math.round((100 * ours.rate) / theirs.rate)} %`,
    ours.p50,
    theirs.p50,
    `${(ours.p50 / theirs.p50).toFixed(2)} x`,
    ours.p99,
    theirs.p99,
  ]);
};

/** Publishes texts one after the other. Returns the median and the 99th percentile of the times in milliseconds. */
const publish = async (baseUrl: string, callers: Caller[]) => {
  const times: number[] = [];
  for (let n = 0; n < PUBLICATIONS; n++) {
    const start = performance.now();
    const answer = await fetch(`${baseUrl}/v1/offers`, {
      method: "POST",
      headers: { authorization: `Bearer ${callers[n % callers.length]?.token}`, "content-type": "application/json" },
      body: JSON.stringify({ text: textToPublish(n) }),
    });
    const body = await answer.text();
    times.push(performance.now() - start);
    if (answer.status !== 201) throw new Error(`Publishing gave ${answer.status}: ${body}`);
    await sleep(PAUSE_MS);
  }
  const sorted = Float64Array.from(times).sort();
  return { p50: median(sorted), p99: median(sorted, 0.99) };
};

const findTargets = (market: Market) =>
  withClient(market.url, async (client) => {
    const { rows: found } = await client.query<{ id: string }>(
      "select id from market.offer order by md5(id::text) limit $1",
      [TARGETS],
    );
    const { rows: asks } = await client.query<{ id: string; accountId: string }>(
      'select id, account_id as "accountId" from market.ask order by md5(id::text) limit $1',
      [TARGETS],
    );
    return { offerIds: found.map(({ id }) => id), asks };
  });

/** Sends many requests of the two fastest kinds and prints the memory of the API process. */
const soak = async (port: number, scenarios: Scenario[], api: Service): Promise<void> => {
  const mixed = scenarios.slice(0, 2).flatMap((scenario) => scenario.requests);
  print();
  for (let tenth = 1; tenth <= 10; tenth++) {
    const result = await runLoad({ port, requests: mixed, connections: CONNECTIONS, count: Math.ceil(requests / 10) });
    const memory = Math.round(await memoryOf(api));
    const rate = Math.round(result.milliseconds.length / result.seconds);
    print(`after ${Math.ceil((requests * tenth) / 10)} requests: ${memory} MB (${rate} requests a second)`);
  }
};

const bench = async (cluster: Cluster, services: Service[]): Promise<void> => {
  const market = await makeMarket(
    cluster.url,
    { offers, asks: Number(options.asks), matchesPerAsk: MATCHES_PER_ASK },
    tell,
  );
  tell("");
  const database = new URL(cluster.url).pathname.slice(1);
  const urlAs = (role: string) => `postgres://${role}@127.0.0.1:${cluster.port}/${database}`;
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const log = (part: string) => join(cluster.directory, `${part}.log`);
  const api = await startService(
    "api",
    { DATABASE_URL: urlAs("souk_api"), PORT: String(port), DATABASE_POOL_SIZE: String(CONNECTIONS) },
    log("api"),
    async () => (await fetch(`${baseUrl}/readyz`).catch(() => null))?.status === 200,
  );
  services.push(api);
  services.push(
    await startService("worker", { DATABASE_URL: urlAs("souk_worker") }, log("worker"), async () =>
      (await readFile(log("worker"), "utf8")).includes("worker ready"),
    ),
  );
  const atStart = await memoryOf(api);
  const vocabulary = await withClient(market.url, async (client) => {
    const { rows } = await client.query<{ vocabulary: Vocabulary }>("select jobs.get_vocabulary() as vocabulary");
    return rows[0]?.vocabulary ?? { taxonomy: [], concepts: [], labels: [], places: NO_PLACES, classifiers: {} };
  });
  const targets = {
    baseUrl,
    callers: market.callers,
    offers,
    embedder: createBuiltinEmbedder(seedMeaning),
    extractQuery: createQueryExtractor(vocabulary),
  };
  const scenarios = await makeScenarios({ ...targets, ...(await findTargets(market)) });

  print(`${offers} offers, ${CONNECTIONS} connections, ${seconds} s a side; times in milliseconds`);
  print();
  row(["", "a second", "pgbench", "", "p50", "pgbench", "", "p99", "pgbench"]);
  const published = await publish(baseUrl, market.callers);
  row(["POST /v1/offers, one by one", "", "", "", published.p50, "", "", published.p99, ""]);
  for (const scenario of scenarios) await measure(cluster, database, port, scenario);
  print();
  print(`memory of the API process: ${Math.round(atStart)} MB at the start, ${Math.round(await memoryOf(api))} MB now`);
  if (requests > 0) await soak(port, scenarios, api);
  const checkedFrom = performance.now();
  const broken = await violations(market.url);
  const names = [...new Set(broken.map(({ invariant }) => invariant))].join(", ");
  if (broken.length > 0) throw new Error(`The load broke ${names}: ${JSON.stringify(broken[0])}`);
  print(`every invariant holds: checked whole in ${Math.round(performance.now() - checkedFrom)} ms`);
  if (options.hold) {
    const lines = createInterface({ input: process.stdin, output: process.stdout });
    await lines.question(`\nThe service: ${baseUrl}\nThe database: ${cluster.url}\nEnter ends both. `);
    lines.close();
  }
};

// The cluster is on disk and not in memory like those of the tests, because flushing must have its real cost.
process.env["TMPDIR"] ??= tmpdir();
tell("a cluster");
const cluster = await startCluster(SETTINGS);
const services: Service[] = [];
// On every exit, the watchdog of the cluster and the exit listeners of the services clean up.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
try {
  if (options.sizes === undefined) {
    await bench(cluster, services);
  } else {
    const sizes = options.sizes.split(",").map(Number);
    await measureGrowth({ url: cluster.url, sizes, asks: Number(options.asks) }, tell, async (lines, chart) => {
      tell("");
      for (const line of [...lines, ""]) print(line);
      await writeFile(options.chart, chart);
    });
    print(`The chart is in ${options.chart}.`);
  }
} finally {
  await Promise.all(services.map((service) => service.stop()));
  await cluster.destroy();
}
