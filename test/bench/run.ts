import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { tmpdir, totalmem } from "node:os";
import { performance } from "node:perf_hooks";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { violations } from "../support/invariants.ts";
import { type Cluster, startCluster } from "../support/postgres.ts";
import { showAged } from "./aged.ts";
import { showDeals } from "./deals.ts";
import { showNoise } from "./floods.ts";
import { measureGrowth } from "./growth.ts";
import { quantile, runLoad } from "./load.ts";
import { measureMachines } from "./machines.ts";
import { makeMarket } from "./market.ts";
import { showMemory } from "./memory.ts";
import { showMigrating } from "./migrating.ts";
import { openPeers, type PeerQuery, peerQueries } from "./peers.ts";
import { runPgbench, type Sample } from "./pgbench.ts";
import { publishInTurn, showPublishing } from "./publishing.ts";
import { print, row, tell } from "./report.ts";
import { makeScenarios, type Scenario, searchStatements, type Targets, targetsOf } from "./scenarios.ts";
import { memoryOf, type Service, startService } from "./service.ts";
import { showStarts } from "./starts.ts";
import { measureTools } from "./tools.ts";
import { showWaiting } from "./waiting.ts";

/**
 * `npm run bench`: how much of PostgreSQL's own speed an agent gets.
 *
 * Creates a market in a throwaway cluster with production settings and starts the real service on it. For each kind of
 * request, it measures the service under load and pgbench with the request's statement. The two take turns, so that
 * other work on the machine affects both; the ratios are the result.
 */

const USAGE = `Usage: npm run bench -- [options]

  --offers N     the number of offers (100,000)
  --asks N       the number of asks (20,000)
  --sizes N,N    instead of all that: how the cost of each operation grows over markets of these sizes, as a table and as
                 a chart; the size and the upkeep of each market
  --chart FILE   the file for the chart (test/bench/growth.svg)
  --seconds S    the duration of each side of a measurement (6)
  --rounds N     the turns into which that time is split (3). From fewer than three no ratio is printed, because other
                 work on the machine may have hit one side only
  --no-peers     leaves out the table of other searches (Supabase's hybrid search, Sphinx and Xapian where installed)
  --noisy        instead of all that: how long another caller waits while one caller keeps 200 calls open, for each kind
                 of call, what that caller gets, and how many of twenty callers are served who search at once
  --together     with --noisy: API and worker in one process, as npm start runs them
  --memory       instead of all that: the memory of API and worker over so many mixed requests and texts to publish
  --requests N   how many (1,000,000)
  --minutes M    instead: for so long
  --publishing N instead of all that: the time until a text is published, and processor time, while N arrive each second
                 for M minutes (10)
  --tools        instead of all that: what a tool call at /mcp costs beside its REST call
  --waiting N    instead of all that: what N agents cost that wait for events, and how soon they are told
  --machines     instead of all that: what replicas and a pooler cost the primary
  --aged N       instead of all that: what archived offers cost the others, in a market of N offers of which nine of ten are
                 archived, and how long a check of all invariants takes (1,000,000 is a market after years)
  --conversations N
                 instead of all that: what conversations cost beside publishing an offer, among N with ten messages each,
                 of which one account has a tenth (100,000 is a million messages)
  --migrating    instead of all that: how long calls wait while a release migrates the table of offers
  --starts       instead of all that: how long npm start takes with its embedded database, at first and after that
  --hold         at the end, keeps everything running until Enter is pressed or the input ends, for a look with psql
`;

/** As many as the pool has, so that neither side waits for a free connection. */
const CONNECTIONS = 16;
/** The threads of pgbench. The goals are stated for a machine with two processors. */
const THREADS = 2;
/** With fewer turns, one disturbance decides a ratio. */
const MIN_ROUNDS = 3;
/** How long texts arrive at a steady rate, unless told otherwise. */
const PUBLISHING_MINUTES = 10;
/** The time before a measurement in which statements are prepared, code is compiled and pages are read. */
const WARM_UP_SECONDS = 1;
/** Offers are published one after the other with a pause, because the time on an idle service is measured. */
const PUBLICATIONS = 40;
/** Longer than matching an offer with 2,000 asks in the background, which takes a tenth of a second. */
const PAUSE_MS = 250;
/** The number of matches of an ask for a common thing. A page shows ten. */
const MATCHES_PER_ASK = 30;
/** PostgreSQL's manual advises to give a server a quarter of the memory for its own cache. */
const CACHE_MB = Math.round(totalmem() / 2 ** 20 / 4);
/** The settings of an operator who followed the manual. What production flushes to disk is flushed here, too. */
const SETTINGS = {
  fsync: "on",
  full_page_writes: "on",
  synchronous_commit: "on",
  wal_level: "replica",
  shared_buffers: `${CACHE_MB}MB`,
  effective_cache_size: `${2 * CACHE_MB}MB`,
  maintenance_work_mem: "1GB",
  max_wal_size: "4GB",
  random_page_cost: "1.1",
  // So that autovacuum is seen to run within a run of the bench, if it is due.
  autovacuum_naptime: "1s",
  shared_preload_libraries: "''",
};

const CHART = fileURLToPath(new URL("growth.svg", import.meta.url));

/** Ends the program with what it can do, after what is wrong with how it was called. */
const showUsage = (wrong?: string): never => {
  process[wrong === undefined ? "stdout" : "stderr"].write(wrong === undefined ? USAGE : `${wrong}\n\n${USAGE}`);
  process.exit(wrong === undefined ? 0 : 1);
};

const FORM = {
  options: {
    offers: { type: "string", default: "100000" },
    sizes: { type: "string" },
    asks: { type: "string", default: "20000" },
    chart: { type: "string", default: CHART },
    seconds: { type: "string", default: "6" },
    rounds: { type: "string", default: String(MIN_ROUNDS) },
    peers: { type: "boolean", default: true },
    memory: { type: "boolean", default: false },
    requests: { type: "string", default: "1000000" },
    minutes: { type: "string" },
    publishing: { type: "string" },
    noisy: { type: "boolean", default: false },
    together: { type: "boolean", default: false },
    machines: { type: "boolean", default: false },
    waiting: { type: "string" },
    tools: { type: "boolean", default: false },
    starts: { type: "boolean", default: false },
    aged: { type: "string" },
    conversations: { type: "string" },
    migrating: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
    hold: { type: "boolean", default: false },
  },
  allowNegative: true,
} as const;

const parsed = () => {
  try {
    return parseArgs(FORM).values;
  } catch (error) {
    return showUsage(error instanceof Error ? error.message : String(error));
  }
};
const options = parsed();
if (options.help) showUsage();
const whole = (
  name: "offers" | "seconds" | "rounds" | "requests" | "asks" | "waiting" | "publishing" | "aged" | "conversations",
): number => {
  const value = Number(options[name]);
  if (!Number.isInteger(value) || value < 1) showUsage(`--${name} wants a whole number from 1.`);
  return value;
};
const [offers, seconds, rounds] = [whole("offers"), whole("seconds"), whole("rounds")];

const summaryOf = (samples: Sample[]) => {
  const sorted = Float64Array.from(samples.flatMap(({ milliseconds }) => [...milliseconds])).sort();
  const rate = samples.reduce((sum, sample) => sum + sample.rate, 0) / samples.length;
  return { rate, p50: quantile(sorted), p99: quantile(sorted, 0.99) };
};

const PEER_COLUMNS = [42, 13, 12, 13, 12, 10, 12, 12, 12];
/** Returns a ratio as it is printed. */
const ratioOf = (ratio: number, print: (ratio: number) => string): string => (rounds < MIN_ROUNDS ? "" : print(ratio));

const turnSeconds = Math.max(1, Math.ceil(seconds / rounds));

type Server = Parameters<typeof runPgbench>[0];

const measure = async (server: Server, port: number, scenario: Scenario): Promise<void> => {
  const service: Sample[] = [];
  const bare: Sample[] = [];
  const load = (length: number) =>
    runLoad({ port, requests: scenario.requests, connections: CONNECTIONS, seconds: length });
  tell(scenario.name);
  await load(WARM_UP_SECONDS);
  for (let round = 0; round < rounds; round++) {
    const { milliseconds, seconds: length } = await load(turnSeconds);
    service.push({ milliseconds, rate: milliseconds.length / length });
    bare.push(
      await runPgbench(server, scenario.statements, {
        connections: CONNECTIONS,
        threads: THREADS,
        seconds: turnSeconds,
      }),
    );
  }
  const ours = summaryOf(service);
  const theirs = summaryOf(bare);
  tell("");
  row([
    scenario.name,
    ours.rate,
    theirs.rate,
    ratioOf(ours.rate / theirs.rate, (ratio) => `${Math.round(100 * ratio)} %`),
    ours.p50,
    theirs.p50,
    ratioOf(ours.p50 / theirs.p50, (ratio) => `${ratio.toFixed(2)} x`),
    ours.p99,
    theirs.p99,
  ]);
};

/** Our search, as the peers do it: for a filter the same words, domain, currency and highest price. */
const toBody = ({ words, filters }: PeerQuery): Record<string, unknown> => ({
  ...(words === null ? {} : { query: words }),
  ...(filters ? { filters: { domain: filters.domain, price: { max: filters.most, currency: filters.currency } } } : {}),
});

/** Prints the searches a second of this service and of its peers, measured in turn. */
const measurePeers = async (cluster: Cluster, server: Server, url: string, targets: Targets): Promise<void> => {
  const { peers, missing, stop } = await openPeers(url, server, {
    directory: cluster.directory,
    connections: CONNECTIONS,
    tell,
  });
  try {
    const kinds = peerQueries(offers);
    const sides = [
      {
        name: "this service, by SQL",
        measure: async (queries: PeerQuery[], length: number) => {
          const statements = await searchStatements(targets, queries.map(toBody));
          return (await runPgbench(server, statements, { connections: CONNECTIONS, threads: THREADS, seconds: length }))
            .rate;
        },
      },
      ...peers,
    ];
    const rates = sides.map(() => Object.keys(kinds).map(() => 0));
    for (let round = 0; round < rounds; round++) {
      for (const [k, queries] of Object.values(kinds).entries()) {
        for (const [n, side] of sides.entries()) {
          tell(`round ${round + 1} of ${rounds}: ${side.name}`);
          const rate = (await side.measure(queries, turnSeconds)) / rounds;
          const line = rates[n];
          if (line) line[k] = (line[k] ?? 0) + rate;
        }
      }
    }
    tell("");
    print();
    print(`searches a second over the same ${offers} texts, ${CONNECTIONS} connections, without HTTP`);
    print();
    const [first = []] = rates;
    row(["", ...Object.keys(kinds).flatMap((kind) => [kind, ""])], PEER_COLUMNS);
    for (const [n, { name }] of sides.entries()) {
      const cells = (rates[n] ?? []).flatMap((rate, k) => [
        rate,
        n === 0 ? "" : ratioOf((first[k] ?? 0) / rate, (ratio) => `we: ${ratio.toFixed(ratio < 10 ? 1 : 0)} x`),
      ]);
      row([name, ...cells], PEER_COLUMNS);
    }
    print();
    for (const line of missing) print(line);
  } finally {
    await stop();
  }
};

/** Prints what a tool call costs beside its REST call: the time of one caller alone, and the processor time under load. */
const compareTools = async (cluster: Cluster, service: Service, scenarios: readonly Scenario[]): Promise<void> => {
  print();
  print(
    "a tool call at /mcp beside its REST call, in milliseconds: the median time of one caller alone, and the processor",
  );
  print(`time of one call with ${CONNECTIONS} connections, of the API's process and together with the database`);
  print();
  const columns = [32, 15, 10, 9, 9, 9, 9];
  row(["", "", "REST", "2026", "", "2025", ""], columns);
  const limits = { connections: CONNECTIONS, seconds: turnSeconds, rounds };
  for (const { name, sides } of await measureTools(cluster, service, scenarios, limits)) {
    for (const [what, label] of [
      ["p50", "time"],
      ["api", "API"],
      ["all", "with database"],
    ] as const) {
      const [rest = Number.NaN, ...tools] = sides.map((side) => side[what]);
      const cells = tools.flatMap((tool) => [tool, ratioOf(tool / rest, (ratio) => `${ratio.toFixed(2)} x`)]);
      row([what === "p50" ? name : "", label, rest, ...cells], columns);
    }
  }
};

const bench = async (cluster: Cluster, services: Service[]): Promise<void> => {
  const market = await makeMarket(cluster.url, { offers, asks: whole("asks"), matchesPerAsk: MATCHES_PER_ASK }, tell);
  tell("");
  const database = new URL(cluster.url).pathname.slice(1);
  const server = { programs: cluster.programs, port: cluster.port, database };
  const service = await startService(cluster, database, CONNECTIONS, options.together);
  services.push(service);
  const { baseUrl, port } = service;
  if (options.waiting !== undefined) return showWaiting(cluster, service, market.url, whole("waiting"));
  if (options.publishing !== undefined)
    return showPublishing(cluster, service, market.url, {
      perSecond: whole("publishing"),
      minutes: Number(options.minutes ?? PUBLISHING_MINUTES),
    });
  if (options.noisy) {
    const { offerIds } = await targetsOf(market, baseUrl, offers);
    return showNoise(market, service, offerIds[0], seconds);
  }
  const atStart = memoryOf(service.api);
  const targets = await targetsOf(market, baseUrl, offers);
  const scenarios = await makeScenarios(targets);
  if (options.memory)
    return showMemory(
      service,
      market.callers,
      scenarios.flatMap(({ requests }) => requests),
      {
        connections: CONNECTIONS,
        length: options.minutes === undefined ? { requests: whole("requests") } : { minutes: Number(options.minutes) },
      },
    );
  if (options.migrating) return showMigrating(service, market.url, scenarios);
  if (options.tools) return compareTools(cluster, service, scenarios);

  print(`${offers} offers, ${CONNECTIONS} connections, ${seconds} s a side; times in milliseconds`);
  print();
  row(["", "a second", "pgbench", "", "p50", "pgbench", "", "p99", "pgbench"]);
  const published = await publishInTurn(baseUrl, market.callers, { count: PUBLICATIONS, pauseMs: PAUSE_MS });
  row(["POST /v1/offers, one by one", "", "", "", quantile(published), "", "", quantile(published, 0.99), ""]);
  for (const scenario of scenarios) await measure(server, port, scenario);
  await compareTools(cluster, service, scenarios);
  if (rounds < MIN_ROUNDS) print(`No ratios: they need ${MIN_ROUNDS} rounds, and there were ${rounds}.`);
  if (options.peers) await measurePeers(cluster, server, market.url, targets);
  print();
  print(
    `memory of the API process: ${Math.round(atStart)} MB at the start, ${Math.round(memoryOf(service.api))} MB now`,
  );
  const checkedFrom = performance.now();
  const broken = await violations(market.url);
  const names = [...new Set(broken.map(({ invariant }) => invariant))].join(", ");
  if (broken.length > 0) throw new Error(`The load broke ${names}: ${JSON.stringify(broken[0])}`);
  print(`every invariant holds: checked whole in ${Math.round(performance.now() - checkedFrom)} ms`);
  if (options.hold) {
    print(`\nThe service: ${baseUrl}\nThe database: ${cluster.url}\nEnter ends both.`);
    // The end of the input ends both, too: without a terminal there is nobody to press Enter.
    const lines = createInterface({ input: process.stdin });
    await Promise.race([once(lines, "line"), once(lines, "close")]);
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
  if (options.starts) {
    await showStarts();
  } else if (options.machines) {
    for (const line of await measureMachines(cluster.url)) print(line);
  } else if (options.aged !== undefined) {
    await showAged({ cluster, offers: whole("aged"), asks: whole("asks") }, tell);
  } else if (options.conversations !== undefined) {
    await showDeals({ cluster, offers, conversations: whole("conversations") }, tell);
  } else if (options.sizes === undefined) {
    await bench(cluster, services);
  } else {
    const sizes = options.sizes.split(",").map(Number);
    await measureGrowth({ cluster, sizes, asks: whole("asks") }, tell, async (lines, chart) => {
      tell("");
      for (const line of [...lines, ""]) print(line);
      if (chart !== undefined) await writeFile(options.chart, chart);
    });
    print(`The chart is in ${options.chart}.`);
  }
} finally {
  await Promise.all(services.map((service) => service.stop()));
  await cluster.destroy();
}
