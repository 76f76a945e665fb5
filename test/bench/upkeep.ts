import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { withClient } from "../support/client.ts";
import { quantile, rawRequest, runLoad } from "./load.ts";
import { type Market, memoryToBuild } from "./market.ts";
import type { Service } from "./service.ts";

/**
 * What a market needs besides answering: disk, vacuum after many changes, and a new graph of vectors while it serves.
 *
 *   churn   a tenth of all offers gets another text and another vector, as on a day with many changes
 *   bloat   by how much tables and indexes have grown through it, although the market is not larger
 */

/** The share of the offers that changes. */
const CHURN = 0.1;
/** Rows of one statement. */
const BATCH = 500;
/** Two connections change rows at a time, on a machine with two processors. */
const WRITERS = 2;
/** Autovacuum looks at a table each second in the bench's server. It has begun by then if it is going to. */
const AUTOVACUUM_MS = 30_000;
/** A few callers, so that the rebuilding competes with requests but is not starved by them. */
const CALLERS = 4;
const BASELINE_SECONDS = 5;

/** The tables that hold offers: as they are, their vectors, and what is found of them. */
const TABLES = "('market.offer'::regclass, 'market.offer_embedding'::regclass, 'search.document'::regclass)";
const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(bytes < 100 * 2 ** 20 ? 1 : 0)} MB`;

type Sizes = Map<string, number>;

/** Returns the sizes in bytes of the tables of offers and of their indexes, by name. */
const sizesOf = async (client: pg.Client): Promise<Sizes> => {
  const { rows } = await client.query<{ name: string; bytes: string }>(
    `select c.relname as name, case c.relkind when 'r' then pg_table_size(c.oid) else pg_relation_size(c.oid) end as bytes
     from pg_class c left join pg_index i on i.indexrelid = c.oid
     where c.oid in ${TABLES} or i.indrelid in ${TABLES}
     order by 2 desc`,
  );
  return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]));
};

/** Changes every tenth offer and its vector. The jobs that this makes are dropped, so that only its rows are measured. */
const changeOffers = async (url: string): Promise<number> => {
  const ids = await withClient(url, async (client) => {
    const { rows } = await client.query<{ id: string }>(
      `select id from market.offer where status = 'published' and hashtext(id::text) % 1000 between 0 and $1`,
      // hashtext is negative for half of the ids.
      [Math.round(2 * 1000 * CHURN) - 1],
    );
    return rows.map(({ id }) => id);
  });
  let next = 0;
  const changeBatch = async (client: pg.Client): Promise<void> => {
    const batch = ids.slice(next, next + BATCH);
    next += BATCH;
    await client.query(
      "update market.offer set text = text || ' Now with a lamp.', updated_at = now() where id = any ($1)",
      [batch],
    );
    // The vectors change places, so each needs new links in the graph.
    await client.query(
      `update market.offer_embedding e set embedding = other.embedding
       from (select offer_id, lead(offer_id, 1, $1[1]) over (order by offer_id) as with_id from unnest($1::uuid[]) as u (offer_id)) as pair
         join market.offer_embedding other on other.offer_id = pair.with_id
       where e.offer_id = pair.offer_id`,
      [batch],
    );
  };
  // The first batch makes the queues of the jobs. Two transactions that make them in different orders are a deadlock.
  await withClient(url, changeBatch);
  await Promise.all(
    Array.from({ length: WRITERS }, () =>
      withClient(url, async (client) => {
        while (next < ids.length) await changeBatch(client);
      }),
    ),
  );
  await withClient(url, (client) => client.query("truncate graphile_worker._private_jobs cascade"));
  return ids.length;
};

/** @param since when the changes began: the loading of the market may have been followed by an autovacuum, too */
const deadRows = async (client: pg.Client, since: Date): Promise<{ dead: number; vacuumed: boolean }> => {
  const { rows } = await client.query<{ dead: string; vacuumed: boolean }>(
    `select sum(n_dead_tup) as dead, coalesce(bool_and(last_autovacuum > $1), false) as vacuumed
     from pg_stat_user_tables where relid in ${TABLES}`,
    [since],
  );
  return { dead: Number(rows[0]?.dead), vacuumed: rows[0]?.vacuumed === true };
};

/** Measures a day's worth of changes, and what they leave behind. Nothing else may run on the market. */
export const measureChurn = (market: Market, tell: (what: string) => void): Promise<string[]> =>
  withClient(market.url, async (client) => {
    const before = await sizesOf(client);
    tell("changing a tenth of the offers");
    const since = new Date();
    const start = performance.now();
    const changed = await changeOffers(market.url);
    const seconds = (performance.now() - start) / 1000;
    tell("waiting for autovacuum");
    await client.query("select pg_stat_force_next_flush()");
    const { dead } = await deadRows(client, since);
    const until = performance.now() + AUTOVACUUM_MS;
    while (!(await deadRows(client, since)).vacuumed && performance.now() < until) await sleep(1_000);
    const { vacuumed } = await deadRows(client, since);
    tell("vacuum");
    const vacuumStart = performance.now();
    await client.query("vacuum (analyze) market.offer, market.offer_embedding, search.document");
    const vacuum = (performance.now() - vacuumStart) / 1000;
    const after = await sizesOf(client);
    const growth = [...before]
      // Smaller indexes grow by whole pages, which says nothing.
      .filter(([, bytes]) => bytes > 2 ** 20)
      .map(([name, bytes]) => ({ name, bytes, ratio: (after.get(name) ?? bytes) / bytes }))
      .sort((a, b) => b.ratio - a.ratio);
    const total = (sizes: Sizes) => [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
    return [
      `churn: ${changed} offers changed with their vectors in ${seconds.toFixed(0)} s, ${dead} dead rows`,
      `autovacuum: ${vacuumed ? "ran by itself" : `did not run within ${AUTOVACUUM_MS / 1000} s`}; vacuum of them took ${vacuum.toFixed(1)} s by hand afterwards`,
      `bloat: tables and indexes of offers grew from ${megabytes(total(before))} to ${megabytes(total(after))}; most: ${growth
        .slice(0, 4)
        .map(({ name, ratio }) => `${name} ${ratio.toFixed(2)} x`)
        .join(", ")}`,
    ];
  });

/** Returns the size of the database, for each offer and in all, and its largest parts. */
export const measureSize = (market: Market, offers: number): Promise<string> =>
  withClient(market.url, async (client) => {
    const { rows } = await client.query<{ bytes: string }>("select pg_database_size(current_database()) as bytes");
    const bytes = Number(rows[0]?.bytes);
    const largest = [...(await sizesOf(client))].slice(0, 4);
    return `size: ${(bytes / offers / 1024).toFixed(1)} KB an offer, ${megabytes(bytes)} in all; ${largest
      .map(([name, part]) => `${name} ${megabytes(part)}`)
      .join(", ")}`;
  });

/** Builds the graph of the vectors anew while requests are served. */
export const measureRebuilding = async (market: Market, offers: number, service: Service): Promise<string[]> => {
  const bearer = (n: number) => ({ Authorization: `Bearer ${market.callers[n]?.token}` });
  const requests = ["good condition sofa", "Fahrrad in gutem Zustand", "bicycle"].map((query, n) =>
    rawRequest("POST", "/v1/offers/search", bearer(n), { query }),
  );
  const load = async (seconds: number) => {
    const { milliseconds } = await runLoad({ port: service.port, requests, connections: CALLERS, seconds });
    return milliseconds;
  };
  await load(1);
  const quiet = (await load(BASELINE_SECONDS)).toSorted();
  const during: number[] = [];
  let seconds: number | null = null;
  const rebuilding = withClient(market.url, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select format('%I.%I', schemaname, indexname) as name from pg_indexes
       where schemaname = 'search' and tablename = 'document' and indexdef like '%USING hnsw%'`,
    );
    await client.query(`set maintenance_work_mem = '${memoryToBuild(offers)}MB'`);
    const start = performance.now();
    for (const { name } of rows) await client.query(`reindex index concurrently ${name}`);
    return (performance.now() - start) / 1000;
  }).finally(() => {
    seconds ??= 0;
  });
  // A failure is thrown when it is awaited below.
  rebuilding.catch(() => undefined);
  while (seconds === null) during.push(...(await load(1)));
  const took = await rebuilding;
  const busy = Float64Array.from(during).sort();
  return [
    `HNSW: built in ${market.graphSeconds.toFixed(1)} s after loading; built anew while serving in ${took.toFixed(1)} s`,
    `searches of ${CALLERS} callers meanwhile: p50 ${quantile(busy).toFixed(1)} ms, p99 ${quantile(busy, 0.99).toFixed(1)} ms, none failed; before: p50 ${quantile(quiet).toFixed(1)} ms, p99 ${quantile(quiet, 0.99).toFixed(1)} ms`,
  ];
};
