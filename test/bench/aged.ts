import { performance } from "node:perf_hooks";
import pg from "pg";
import { hashSecret } from "../../src/base/tokens.ts";
import { statementOf } from "../../src/database/database.ts";
import { urlOf, withClient } from "../support/client.ts";
import { violations } from "../support/invariants.ts";
import type { Cluster } from "../support/postgres.ts";
import { clockOf, measureMatching, measurePublishing, measureRecall, percentiles, timed } from "./growth.ts";
import { type Market, makeMarket } from "./market.ts";
import { print, row } from "./report.ts";
import { makeScenarios, targetsOf } from "./scenarios.ts";
import { startService } from "./service.ts";

/**
 * A market after years of trade: `npm run bench -- --aged N`. Of N offers nine of ten are archived. Each cost is measured
 * in the same market before they come and after, so that nothing differs but them.
 */

/** For one live offer so many that are archived. */
const ARCHIVED = 9;
const RUNS = 60;
const WARM_UP = 12;
const MATCHES_PER_ASK = 10;
const CONNECTIONS = 16;
const COLUMNS = [46, 14, 14, 10];

/** The columns of an archived copy of an offer that differ from it; the others are copied. Those that are not there are left out. */
const AGED: Readonly<Record<string, string>> = {
  id: "internal.uuid_v7()",
  status: "'archived'",
  created_at: "o.created_at - n * interval '60 days'",
  updated_at: "o.updated_at - n * interval '60 days'",
  published_at: "o.published_at - n * interval '60 days'",
  confirmed_at: "o.confirmed_at - n * interval '60 days'",
  expired_at: "now()",
  stale_at: "null",
  // It would have the id of the live offer in it; it is built when somebody reads it.
  document: "null",
};

/** Adds the archived offers. Indexes that have to take them in are made anew, which is faster. */
const addArchived = (url: string, tell: (what: string) => void): Promise<void> =>
  withClient(url, async (client) => {
    const { rows: columns } = await client.query<{ name: string }>(
      `select attname as name from pg_attribute
       where attrelid = 'market.offer'::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    );
    const names = columns.map(({ name }) => name);
    const { rows: indexes } = await client.query<{ name: string; definition: string }>(
      `select i.indexname as name, i.indexdef as definition from pg_indexes i
       where i.schemaname = 'market' and i.tablename = 'offer' and i.indexdef not like '% UNIQUE %'
         and i.indexdef not like '%WHERE%published%sandbox_id%'`,
    );
    for (const { name } of indexes) await client.query(`drop index market.${name}`);
    await client.query("set maintenance_work_mem = '1GB'; set session_replication_role = replica");
    const { rows: live } = await client.query<{ ids: string[] }>("select array_agg(id) as ids from market.offer");
    for (let n = 1; n <= ARCHIVED; n++) {
      tell(`archived offers: ${n} of ${ARCHIVED} times the live ones`);
      await client.query(
        `insert into market.offer (${names.join(", ")})
         select ${names.map((name) => AGED[name] ?? `o.${name}`).join(", ")}
         from market.offer o cross join (select $2::integer as n) as a where o.id = any ($1)`,
        [live[0]?.ids ?? [], n],
      );
    }
    for (const { definition } of indexes) {
      tell(definition.replace(/ WHERE.*| WITH.*/, ""));
      await client.query(definition);
    }
    await client.query(
      `update market.account_stats s set lifetime = o.count
       from (select account_id, count(*) from market.offer group by account_id) as o where o.account_id = s.account_id`,
    );
    tell("vacuum analyze");
    await client.query("vacuum analyze");
  });

/** Measures archiving an offer as its agent. Each run is rolled back. */
const measureArchiving = (market: Market, asAgent: pg.Client): Promise<number> =>
  withClient(market.url, async (operator) => {
    const { rows } = await operator.query<{ id: string; accountId: string }>(
      `select id, account_id as "accountId" from market.offer where status = 'published' order by md5(id::text) limit $1`,
      [RUNS + WARM_UP],
    );
    const text = statementOf("agent", "archive_offer", ["id"]);
    const clock = await clockOf(asAgent);
    const times: number[] = [];
    for (const { id, accountId } of rows) {
      const token = market.callers.find((caller) => caller.accountId === accountId)?.token ?? "";
      await asAgent.query("begin");
      times.push(await timed(clock, () => asAgent.query({ name: "archive", text, values: [hashSecret(token), id] })));
      await asAgent.query("rollback");
    }
    return percentiles(times.slice(WARM_UP)).p50;
  });

/** The cost of each operation by its name, in milliseconds of processor time, and the recall of the search. */
type Measured = { costs: Map<string, number>; recall: number; filteredRecall: number };

const measureAll = async (
  cluster: Cluster,
  name: string,
  market: Market,
  offers: number,
  tell: (what: string) => void,
): Promise<Measured> => {
  const costs = new Map<string, number>();
  const asAgent = new pg.Client({ connectionString: market.url.replace(/\/\/[^@/]+@/, "//souk_api@") });
  await asAgent.connect();
  try {
    const clock = await clockOf(asAgent);
    for (const { name: what, statements } of await makeScenarios(await targetsOf(market, "http://souk.test", offers))) {
      tell(what);
      const times: number[] = [];
      for (let n = 0; n < RUNS + WARM_UP; n++) {
        const { text = "", values = [] } = statements[n % statements.length] ?? {};
        times.push(await timed(clock, () => asAgent.query({ name: what, text, values })));
      }
      costs.set(what, percentiles(times.slice(WARM_UP)).p50);
    }
    tell("archiving");
    costs.set("archiving an offer", await measureArchiving(market, asAgent));
  } finally {
    await asAgent.end();
  }
  tell("matching");
  costs.set("matching one new offer with all asks", (await measureMatching(market)).p50);
  tell("comparing with an exact scan");
  const recall = await measureRecall(market);
  tell("publishing");
  const service = await startService(cluster, name, CONNECTIONS);
  try {
    costs.set("publishing: API, worker and database", (await measurePublishing(cluster, market, service)).p50);
  } finally {
    await service.stop();
  }
  return { costs, recall: recall.all, filteredRecall: recall.filtered };
};

/** Prints how long a check of all invariants takes: whole, for a DBA, and part by part, as every night. */
const showCheck = (market: Market): Promise<void> =>
  withClient(market.url, async (client) => {
    const start = performance.now();
    const broken = await violations(market.url);
    const whole = (performance.now() - start) / 1000;
    const parts: number[] = [];
    for (let isDone = false; !isDone; ) {
      const began = performance.now();
      const { rows } = await client.query<{ done: boolean }>(
        "select (jobs.check_invariants(null) ->> 'done')::boolean as done",
      );
      parts.push((performance.now() - began) / 1000);
      isDone = rows[0]?.done ?? true;
    }
    const all = parts.reduce((sum, part) => sum + part, 0);
    print(
      `inspect.check(): ${whole.toFixed(1)} s, ${broken.length} findings${broken[0] ? `, such as ${JSON.stringify(broken[0])}` : ""}`,
    );
    print(
      `every night: ${parts.length} parts, ${all.toFixed(1)} s in all, the longest ${Math.max(...parts).toFixed(1)} s`,
    );
  });

/** Prints what nine of ten archived offers cost the others. */
export const showAged = async (
  { cluster, offers, asks }: { cluster: Cluster; offers: number; asks: number },
  tell: (what: string) => void,
): Promise<void> => {
  const name = "aged";
  const live = Math.round(offers / (ARCHIVED + 1));
  await withClient(cluster.url, (client) => client.query(`create database ${name} template template0`));
  const market = await makeMarket(
    urlOf(cluster.url, name),
    { offers: live, asks, matchesPerAsk: MATCHES_PER_ASK },
    tell,
  );
  const before = await measureAll(cluster, name, market, live, tell);
  await addArchived(market.url, tell);
  const after = await measureAll(cluster, name, market, live, tell);
  tell("");
  print(`${live} live offers, alone and with ${ARCHIVED * live} archived ones; ms of processor time`);
  print();
  row(["", "alone", "aged", ""], COLUMNS);
  for (const [what, cost] of before.costs) {
    const then = after.costs.get(what) ?? Number.NaN;
    row([what, cost, then, `${(then / cost).toFixed(2)} x`], COLUMNS);
  }
  print();
  print("Of the ten truly nearest offers the search by vector finds, alone and aged:");
  print(
    `${before.recall.toFixed(3)} and ${after.recall.toFixed(3)}; under a filter ${before.filteredRecall.toFixed(3)} and ${after.filteredRecall.toFixed(3)}`,
  );
  await showCheck(market);
};
