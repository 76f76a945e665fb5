import { isDeepStrictEqual } from "node:util";
import { violations as brokenInvariants } from "../support/invariants.ts";
import { eventually, withoutPage } from "../support/market.ts";
import { sql } from "../support/sql.ts";
import type { Ledger, Text } from "./ledger.ts";
import type { Load } from "./load.ts";
import type { Processes, Sample, Slot } from "./processes.ts";

/** Compares the ledger with the database, when the load and the faults are over. */

/** The built-in reader takes milliseconds for a text, and an embedding a moment. */
const DRAIN_MS = 180_000;
const HOUR_MS = 3_600_000;
/** Each replay is a request. This many show a key that was lost, and take seconds. */
const REPLAYS = 200;
/**
 * After so long a process has filled its pools and compiled its code, and has loaded what workers learned after the
 * deployment, which takes a hundred megabytes for a moment.
 */
const WARM_MS = 300_000;
/** Fewer samples than these (one a second) say nothing about a trend. So a run of two minutes does not judge memory. */
const ENOUGH_SAMPLES = 120;
/**
 * What a process may grow by after it is warm. V8 lets garbage accumulate up to a limit, and caches fill: some 40 MB in
 * the first minutes, and hardly more later. A leak of one kilobyte for each call exceeds this within an hour.
 */
const GROWTH_MB = 64;
/** Pools open further connections up to their limit: 14 for reads, 14 for writes, and requests have sockets. */
const GROWTH_FILES = 48;

const median = (values: number[]): number =>
  values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN;

/** The growth of a process between the first and the last quarter of its warm life; null when it was too short. */
const growthOf = (life: Sample[]): { megabytes: number; files: number; minutes: number; now: number } | null => {
  const warm = life.filter(({ age }) => age > WARM_MS);
  if (warm.length < ENOUGH_SAMPLES) return null;
  const quarter = warm.length >> 2;
  const [early, late] = [warm.slice(0, quarter), warm.slice(-quarter)];
  const between = (figure: (sample: Sample) => number) => median(late.map(figure)) - median(early.map(figure));
  return {
    megabytes: between(({ megabytes }) => megabytes),
    files: between(({ files }) => files),
    minutes: ((warm.at(-1)?.age ?? 0) - (warm[0]?.age ?? 0)) / 60_000,
    now: median(late.map(({ megabytes }) => megabytes)),
  };
};

/** Notes violations of processes that grow. Returns a line for each process that lived long enough to judge. */
export const judgeGrowth = (ledger: Ledger, slots: readonly Slot[]): string[] =>
  slots.flatMap(({ name, lives }) => {
    const longest = lives.toSorted((one, other) => other.length - one.length)[0] ?? [];
    const growth = growthOf(longest);
    if (growth === null) return [`${name}: no process lived long enough to judge its memory`];
    const { megabytes, files, minutes, now } = growth;
    const said = `${name}: ${now.toFixed(0)} MB, ${megabytes >= 0 ? "+" : ""}${megabytes.toFixed(1)} MB and ${files >= 0 ? "+" : ""}${files} open files within ${minutes.toFixed(1)} minutes`;
    if (megabytes > GROWTH_MB || files > GROWTH_FILES) ledger.violate("memory and connections are flat", said);
    return [said];
  });

/** Every text that was answered with 201 is there once, unchanged but for acknowledged changes; no refused text is. */
const checkTexts = async (ledger: Ledger, url: string): Promise<void> => {
  const rows = await sql<{
    kind: Text["kind"];
    mark: string;
    id: string;
    text: string;
    account: string;
    agents: string;
  }>(
    url,
    `select kind, substring(text from 'reference (zq[a-z]+x)') as mark, id, text, account_id as account, agent_id as agents
     from (select 'offer' as kind, id, text, account_id, agent_id from market.offer
       union all select 'ask', id, text, account_id, agent_id from market.ask) as texts`,
  );
  const found = Map.groupBy(rows, ({ mark }) => mark);
  const households = new Map<string, string>();
  for (const text of ledger.texts) {
    const mine = found.get(text.mark) ?? [];
    const least = text.verdict === "made" ? 1 : 0;
    const most = text.verdict === "refused" ? 0 : 1;
    const what = `${text.kind} ${text.mark} (${text.status ?? "no answer"}, key ${text.key}) is there ${mine.length} times`;
    if (mine.length < least) ledger.violate("each 201 is there once", what, text.begun);
    if (mine.length > most)
      ledger.violate(most === 0 ? "no refusal left anything" : "each 201 is there once", what, text.begun);
    const [row] = mine;
    if (text.verdict !== "made" || !row) continue;
    if (row.id !== (text.body.offer_id ?? text.body.id))
      ledger.violate("each 201 is there once", `${text.mark} was answered with another id`, text.begun);
    if (text.revision !== null && !row.text.endsWith(`Version ${text.revision}`))
      ledger.violate(
        "an acknowledged change stays",
        `${text.kind} ${row.id} lacks ${text.revision}: ${row.text}`,
        text.begun,
      );
    const account = households.get(text.household);
    if (account !== undefined && account !== row.account)
      ledger.violate(
        "nobody gets another's rows",
        `${text.mark} belongs to ${row.account}, and not to ${account}`,
        text.begun,
      );
    households.set(text.household, row.account);
  }
};

/** No agent was admitted more often within an hour than the highest cap that it was told. */
const checkCaps = (ledger: Ledger): void => {
  const groups = Map.groupBy(ledger.texts, ({ kind, token }) => `${kind} ${token}`);
  for (const texts of groups.values()) {
    const cap = Math.max(...texts.map((text) => text.cap));
    const made = texts.filter(({ verdict }) => verdict === "made").toSorted((one, other) => one.begun - other.begun);
    for (const [index, first] of made.entries()) {
      const within = made.slice(index).filter(({ ended }) => ended <= first.begun + HOUR_MS).length;
      if (within > cap)
        ledger.violate("no window exceeds its cap", `${within} ${first.kind}s with a cap of ${cap}`, first.begun);
    }
  }
};

const checkReplays = async (ledger: Ledger, load: Load): Promise<number> => {
  const gone = new Set(load.ghosts.map(({ token }) => token));
  const keyed = ledger.texts.filter(
    ({ key, verdict, token }) => key !== null && verdict === "made" && !gone.has(token),
  );
  for (const text of keyed.slice(-REPLAYS)) {
    const told = await load.send("last replay", "POST", text.kind === "offer" ? "/v1/offers" : "/v1/asks", {
      token: text.token,
      body: text.sent,
      headers: { "idempotency-key": text.key ?? "" },
    });
    const replayed = told?.answer.status === 201 && told.answer.headers["idempotency-replayed"] === "true";
    if (!replayed || !isDeepStrictEqual(withoutPage(told.answer.body), withoutPage(text.body)))
      ledger.violate("a used key replays the first answer", `${text.key}: ${told?.answer.text}`, text.begun);
  }
  return Math.min(keyed.length, REPLAYS);
};

const checkGhosts = async (ledger: Ledger, load: Load, processes: Processes): Promise<void> => {
  for (const slot of processes.slots.filter(({ part }) => part === "api")) {
    for (const { token } of load.ghosts.slice(-REPLAYS)) {
      const told = await load.send("last call of a removed agent", "GET", "/v1/me", { token, apis: [slot] });
      if (told?.answer.status !== 401)
        ledger.violate("a removed agent is never answered again", `at the end, ${slot.name}: ${told?.answer.text}`);
    }
  }
};

/**
 * Runs jobs that wait for another try at once, and waits until the queue is empty. Jobs whose vector may not be paid for
 * again today stay: among this many faults, a few have made their eight requests in vain (search.begin_embedding).
 */
const drain = async (ledger: Ledger, url: string): Promise<void> => {
  const left = () =>
    sql<{ task: string; state: string; attempts: number; last_error: string | null }>(
      url,
      `select task, state, attempts, last_error from inspect.jobs
       where task !~ '^(sweep|purge|check|keep|resume)_'
         and not (task ~ '^embed_' and state = 'scheduled' and search.embedding_wait(row_id::uuid) is not null)`,
    );
  try {
    await eventually(
      async () => {
        // What a worker does every ten minutes.
        await sql(url, "select jobs.resume_reembedding()");
        await sql(
          url,
          `select graphile_worker.reschedule_jobs(array_agg(id), run_at => now()) from graphile_worker.jobs
           where run_at > now() and attempts > 0 and attempts < max_attempts and locked_at is null`,
        );
        return left();
      },
      (jobs) => jobs.length === 0,
      DRAIN_MS,
    );
  } catch {
    const workers = await sql(url, "select pool_id, now() - beat_at as silent from market.worker_heartbeat");
    const queues = await sql(url, "select * from graphile_worker._private_job_queues where locked_by is not null");
    const standbys = await sql(url, "select state, sync_state, replay_lsn from pg_stat_replication");
    const jobs = (await left()).slice(0, 10);
    ledger.violate("jobs are drained", JSON.stringify({ jobs, queues, workers, standbys }));
  }
};

/** Checks everything that can only be checked at the end. Returns lines for the report. */
export const verify = async (ledger: Ledger, load: Load, processes: Processes, url: string): Promise<string[]> => {
  await drain(ledger, url);
  const replays = await checkReplays(ledger, load);
  await checkGhosts(ledger, load, processes);
  await checkTexts(ledger, url);
  checkCaps(ledger);
  for (const { invariant, object, detail } of await brokenInvariants(url))
    ledger.violate("inspect.check() finds nothing", `${invariant}: ${object}: ${detail}`);
  const of = (verdict: Text["verdict"]) => ledger.texts.filter((text) => text.verdict === verdict).length;
  return [
    `${ledger.texts.length} texts: ${of("made")} made, ${of("refused")} refused, ${of("unknown")} without a final answer`,
    `${load.ghosts.length} agents removed, ${replays} keys replayed at the end`,
  ];
};
