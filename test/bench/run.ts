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
import { createBuiltinEmbedder } from "../../src/reader/builtin/embedder.ts";
import { createQueryExtractor } from "../../src/reader/builtin/query.ts";
import type { Vocabulary } from "../../src/reader/extraction.ts";
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
 * `npm run bench`: how much of PostgreSQL's own speed arrives at an agent.
 *
 * A market of a size in a throwaway cluster with the settings of production, the real service on it, and for each kind
 * of request the service under load beside pgbench with the statement that the request becomes. The two take turns, so
 * that whatever else the machine does hits both; the ratios are what to look at.
 *
 *   --offers N     the size of the market (100,000)
 *   --asks N       how many asks it has (20,000)
 *   --sizes N,N    instead of all that: how finding alone grows over markets of these sizes, as a table and as a chart
 *   --chart FILE   where the chart goes (test/bench/growth.svg)
 *   --seconds S    how long each side of a measurement runs (5)
 *   --requests N   then N more requests, with the memory of the API process after each tenth of them
 *   --hold         in the end keeps everything running until Enter, to look at with psql
 */

/** As many as the pool has, so that neither side waits for a free connection. */
const CONNECTIONS = 16;
/** pgbench's threads: one for each processor of the machine that goals are stated for. */
const THREADS = 2;
/** Each side's time is cut in as many turns. */
const ROUNDS = 2;
/** Before a measurement: statements are prepared, code is compiled, pages are read. */
const WARM_UP_SECONDS = 1;
/** One after the other with a pause, since an idle service is what is asked about. */
const PUBLICATIONS = 40;
/** Longer than an offer is held against 2,000 asks in the background, which takes a tenth of a second. */
const PAUSE_MS = 250;
/** What an ask of a common thing has; an ask shows ten at a time. */
const MATCHES_PER_ASK = 30;
const READY_TIMEOUT_MS = 60_000;
/** Offers and asks that are looked up for the requests: one for each variant of a scenario. */
const TARGETS = 48;

/** What an operator of a small server sets; what is flushed in production is flushed here. */
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
/** On a line of its own that the next one overwrites; not at all where nobody looks. */
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
  // To a file, as in production: a pipe would have this process read a line for each request.
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

/** Resident memory of a process in MB. */
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

/** Publishes one text after the other, and gives the median and the 99th percentile of their times. */
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

/** Many requests of the two quickest kinds, and what they leave in the memory of the API process. */
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
    return rows[0]?.vocabulary ?? { taxonomy: [], terms: [], classifiers: {} };
  });
  const targets = {
    baseUrl,
    callers: market.callers,
    offers,
    embedder: createBuiltinEmbedder(),
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

// On the disk and not in memory, where the tests' clusters are: flushing is to cost here what it costs.
process.env["TMPDIR"] ??= tmpdir();
tell("a cluster");
const cluster = await startCluster(SETTINGS);
const services: Service[] = [];
// What was begun is cleaned up, however this ends; the cluster's watchdog and the services' exit listeners do the rest.
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
