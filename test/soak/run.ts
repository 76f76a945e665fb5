import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { signedInModerator } from "../admin/fixture.ts";
import { startProvider } from "../reader/provider.ts";
import { urlOf } from "../support/client.ts";
import { runMigrate } from "../support/migrate.ts";
import { type Cluster, startCluster } from "../support/postgres.ts";
import { sql } from "../support/sql.ts";
import { giveOwnVolume } from "../support/volume.ts";
import type { Probe } from "./calls.ts";
import { type Fault, faultsOf, type Targets } from "./faults.ts";
import { openLedger } from "./ledger.ts";
import { type Load, startLoad } from "./load.ts";
import { type Processes, startProcesses } from "./processes.ts";
import { type Random, randomOf } from "./random.ts";
import { judgeGrowth, verify } from "./verify.ts";

/**
 * `npm run soak`: load of all kinds on the real service, with a replica and a scripted provider, while faults occur at
 * random. At the end the ledger of what callers were told is compared with the database. The exit code is 1 if anything
 * was lost.
 *
 *   --minutes N   how long load and faults last (10). Starting and checking take about a minute more
 *   --seed S      decides which fault comes when, and what callers do. Each run prints its seed
 */

const { values: options } = parseArgs({
  options: { minutes: { type: "string", default: "10" }, seed: { type: "string" } },
});
const minutes = Number(options.minutes);
const seed = options.seed === undefined ? Math.floor(Math.random() * 1_000_000) : Number(options.seed);
if (!(minutes > 0) || !Number.isSafeInteger(seed)) throw new Error("Usage: npm run soak -- --minutes 10 --seed 7");

/**
 * Settings that a standby needs on its primary. An answered commit must survive an immediate shutdown. A standby notices
 * a restart seconds later, and then needs WAL that the primary would have recycled. Without it the standby never comes
 * back, and everything that commits on all synchronous standbys waits for ever.
 */
const STREAMING = {
  wal_level: "replica",
  max_wal_senders: "5",
  wal_keep_size: "1GB",
  synchronous_commit: "local",
  hot_standby: "on",
};
/** The load runs for so long before the first fault. */
const CALM_MS = 3_000;
/** The pause between two faults of a lane. */
const GAP_MS = [500, 2_000] as const;
/** Promised is five seconds after a restart of the database. The rest is for a busy machine. */
const RECOVERY_MS = 30_000;
const DATABASE = "souk";
/** Slot 1 is left alone after this share of the run, so that there is a process whose memory can be judged. */
const SPARED_FROM = 0.3;

/** Of each broken promise so many cases are printed. The ledger has all. */
const PRINTED = 5;
/** The id of a request in a problem. */
const REQUEST_ID = /"request_id":"([0-9a-f-]{36})"/;

/** One time that a fault occurred. */
type Occurrence = { fault: string; lane: Fault["lane"]; begun: number; ended: number };

const print = (line = ""): void => void process.stdout.write(`${line}\n`);

const started = performance.now();
const occurrences: Occurrence[] = [];
const skipped: string[] = [];
/** What the service logged about a request. */
let logged: Processes["logged"] = () => [];
const cleanups: (() => Promise<unknown>)[] = [];
const folder = await mkdtemp(join(tmpdir(), "souk-soak-"));
const ledger = openLedger(join(folder, "ledger.jsonl"));
// On every exit, the watchdogs of clusters and volumes and the exit listeners of the services clean up.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

/** Waits until the market can be read and written. */
const recovered = async (load: Load, since: number): Promise<void> => {
  const works = (kind: Probe["kind"]) =>
    load.probes.some((probe) => probe.kind === kind && probe.ok && probe.begun > since);
  while (!works("read") || !works("write")) {
    if (performance.now() > since + RECOVERY_MS) {
      ledger.violate("the market recovers by itself", `not within ${RECOVERY_MS} ms after a fault`, since);
      return;
    }
    await sleep(100);
  }
};

const cause = async (fault: Fault, random: Random, load: Load, until: number): Promise<void> => {
  const occurrence: Occurrence = {
    fault: fault.name,
    lane: fault.lane,
    begun: performance.now(),
    ended: Number.POSITIVE_INFINITY,
  };
  occurrences.push(occurrence);
  print(`${((performance.now() - started) / 1000).toFixed(0).padStart(5)} s  ${fault.name}`);
  const end = await fault.begin(random);
  await sleep(Math.min(random.whole(...fault.held), Math.max(0, until - performance.now())));
  await end();
  const over = performance.now();
  if (fault.lane === "sharp") await recovered(load, over);
  occurrence.ended = performance.now();
};

/** Causes the faults of one lane in rounds. In each round every fault occurs once, in a random order. */
const runLane = async (faults: Fault[], name: Fault["lane"], load: Load, until: number): Promise<void> => {
  const random = randomOf(seed, `${name} faults`);
  const mine = faults.filter(({ lane }) => lane === name);
  for (let round: Fault[] = []; performance.now() < until; ) {
    if (round.length === 0) round = random.shuffled(mine);
    const fault = round.pop();
    if (fault) await cause(fault, random, load, until);
    await sleep(random.whole(...GAP_MS));
  }
};

/** The longest time between two successful probes during an occurrence, in seconds. */
const outageOf = (probes: readonly Probe[], kind: Probe["kind"], { begun, ended }: Occurrence): number => {
  let longest = 0;
  let last: number | null = null;
  for (const probe of probes) {
    if (probe.kind !== kind || !probe.ok) continue;
    if (last !== null && probe.ended > begun && last < ended) longest = Math.max(longest, probe.ended - last);
    last = probe.ended;
  }
  return longest / 1000;
};

const report = (probes: readonly Probe[]): void => {
  const names = [...new Set(occurrences.map(({ fault }) => fault))].sort();
  const width = Math.max(...names.map((name) => name.length));
  const row = (...cells: string[]) =>
    print(`| ${cells.map((cell, place) => (place === 0 ? cell.padEnd(width) : cell)).join(" | ")} |`);
  row("fault", "times", "longest without a read", "longest without a write", "lost");
  print(`|${"-".repeat(width + 2)}|---:|---:|---:|---:|`);
  for (const name of names) {
    const mine = occurrences.filter(({ fault }) => fault === name);
    const longest = (kind: Probe["kind"]) => Math.max(...mine.map((one) => outageOf(probes, kind, one))).toFixed(1);
    const lost = ledger.violations.filter(({ at }) =>
      mine.some(({ begun, ended }) => begun <= at && at <= ended),
    ).length;
    row(name, String(mine.length), `${longest("read")} s`, `${longest("write")} s`, String(lost));
  }
  for (const line of skipped) print(line);
};

const soak = async (): Promise<void> => {
  const primary: Cluster = await startCluster(STREAMING);
  cleanups.push(primary.destroy);
  const volume = await giveOwnVolume(primary);
  if (typeof volume === "string") skipped.push(`disk full: skipped, because ${volume}`);
  else
    cleanups.push(async () => {
      await primary.halt("immediate").catch(() => {});
      await volume.remove();
    });
  await sql(primary.url, `create database ${DATABASE}`);
  const url = urlOf(primary.url, DATABASE);
  // The standby is copied from the primary meanwhile, and replays the rest.
  const copying = startCluster({ ...STREAMING }, primary).then((made) => {
    cleanups.push(made.destroy);
    return made;
  });
  const [standby] = await Promise.all([copying, runMigrate(url)]);
  await sql(primary.url, "alter system set synchronous_standby_names = '*'");
  await sql(primary.url, "select pg_reload_conf()");
  const provider = await startProvider();
  cleanups.push(provider.close);

  const as = (role: string, cluster: Cluster) => `postgres://${role}@127.0.0.1:${cluster.port}/${DATABASE}`;
  const model = { OPENAI_BASE_URL: provider.baseURL, OPENAI_API_KEY: "scripted" };
  const processes = await startProcesses(ledger, (name) => ({
    database: as(name.startsWith("api") ? "souk_api" : "souk_worker", primary),
    env: {
      CONNECTIONS_PER_HOUR: "1000000",
      WEBHOOK_KEYS: "soak".repeat(8),
      WEBHOOK_PRIVATE: "allow",
      ...model,
      // One of two APIs reads from the replica.
      ...(name === "api-1" ? { DATABASE_READ_URL: as("souk_api", standby) } : {}),
      ...(name.startsWith("api") ? { LOG_LEVEL: "warn" } : {}),
    },
  }));
  cleanups.push(processes.stop);
  logged = processes.logged;
  const moderator = await signedInModerator((query, values = []) => sql(url, query, values), "Soak");

  let [start, until] = [Number.NaN, Number.NaN];
  const targets: Targets = {
    primary,
    url,
    standby,
    provider,
    processes,
    volume: typeof volume === "string" ? null : volume,
    mayEndFirst: () => performance.now() < start + SPARED_FROM * (until - start),
  };
  const faults = faultsOf(targets);
  const load = startLoad(ledger, processes, seed, moderator.cookie);
  // The provider notes every request, which nobody reads here.
  const forgetting = setInterval(() => void provider.requests.splice(0), 1_000);
  try {
    await sleep(CALM_MS);
    start = performance.now();
    until = start + minutes * 60_000;
    await Promise.all([runLane(faults, "sharp", load, until), runLane(faults, "lasting", load, until)]);
    await recovered(load, performance.now());
  } finally {
    clearInterval(forgetting);
    await load.stop();
  }
  const growth = judgeGrowth(ledger, processes.slots);
  const lines = await verify(ledger, load, processes, url);
  report(load.probes);
  print();
  const isFault = ({ begun, ended }: Probe) =>
    occurrences.some((one) => one.lane === "sharp" && ended > one.begun && begun < one.ended);
  for (const line of [...lines, ...growth, load.attackers.judge(load.probes, isFault)]) print(line);
  const missed = faults.filter(({ name }) => !occurrences.some(({ fault }) => fault === name)).map(({ name }) => name);
  if (missed.length > 0) print(`not reached in ${minutes} minutes: ${missed.join(", ")}`);
};

print(`soak: ${minutes} minutes, seed ${seed}`);
try {
  await soak();
} catch (error) {
  ledger.violate("the soak runs to its end", error instanceof Error ? (error.stack ?? error.message) : String(error));
} finally {
  for (const clean of cleanups.reverse()) await clean().catch((error: unknown) => print(`cleaning up: ${error}`));
  await ledger.close();
}
const lost = ledger.violations.length;
if (lost > 0) {
  for (const [rule, found] of Map.groupBy(ledger.violations, ({ rule }) => rule)) {
    print(`\nBROKEN (${found.length} times): ${rule}`);
    for (const { detail } of found.slice(0, PRINTED)) {
      print(`  ${detail}`);
      const id = REQUEST_ID.exec(detail)?.[1];
      for (const line of id === undefined ? [] : logged([id])) print(`    ${line}`);
    }
  }
  print(`\nThe ledger: ${join(folder, "ledger.jsonl")}`);
} else {
  await rm(folder, { recursive: true });
}
print(`\nlost: ${lost} (seed ${seed})`);
process.exit(lost === 0 ? 0 : 1);
