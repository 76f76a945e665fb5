import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type pg from "pg";
import { toSql } from "pgvector";
import { hashSecret, newToken } from "../../src/base/tokens.ts";
import { migrate } from "../../src/install/migrate.ts";
import { createBuiltinEmbedder } from "../../src/reader/embed/embedder.ts";
import { seedMeaning } from "../reader/vocabulary.ts";
import { withClient } from "../support/client.ts";
import type { Share } from "./fill.ts";
import { askNumber } from "./texts.ts";

/**
 * Creates a market of a given size: accounts with agents whose tokens are known, offers with vectors, asks with
 * matches.
 */

/**
 * So many that their rows do not stay in a processor's cache, and that none reaches its hourly cap while publishing.
 */
const AGENTS = 400;
/** The goals are stated for a machine with two processors. */
const THREADS = 2;

const embedder = createBuiltinEmbedder(seedMeaning);

/** An agent's token and the id of its account. */
export type Caller = { token: string; accountId: string };
/** The URL of the database, the agents in it, and the seconds in which the graph of the vectors was built. */
export type Market = { url: string; callers: Caller[]; graphSeconds: number };

/** Drops the indexes that are faster to build once over all rows than row by row. Returns their definitions. */
const takeIndexes = async (client: pg.Client): Promise<string[]> => {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select i.schemaname || '.' || i.indexname as name, i.indexdef as definition from pg_indexes i
     where i.schemaname || '.' || i.tablename in ('market.offer', 'market.offer_embedding', 'search.document')
       and i.indexname not like '%_pkey'`,
  );
  for (const { name } of rows) await client.query(`drop index ${name}`);
  return rows.map(({ definition }) => definition);
};

/**
 * Returns the megabytes with which indexes are built. A graph that does not fit is built on disk, which takes many times
 * as long: a vector and its links need 2 KB.
 */
export const memoryToBuild = (offers: number): number => Math.max(1_000, Math.ceil(offers * 0.0025));

/**
 * Adds agents that somebody who proved a sign-in method approved long ago, each with an account of its own, so that they
 * take turns of their own.
 */
export const makeAgents = async (client: pg.Client, agents = AGENTS): Promise<Caller[]> => {
  const tokens = Array.from({ length: agents }, newToken);
  const { rows } = await client.query<{ id: string }>(
    `insert into market.account (claimed_at, created_at)
     select now(), now() - interval '200 days' from generate_series(1, $1) returning id`,
    [agents],
  );
  await client.query(
    `insert into market.proved_method (account_id, method, subject_hash)
     select id, 'google', sha256(uuid_send(id)) from unnest($1::uuid[]) as a (id)`,
    [rows.map(({ id }) => id)],
  );
  await client.query(
    `insert into market.agent (account_id, name, token_hash, connected_at)
     select a.account_id, 'Bench', a.token_hash, now() from unnest($1::uuid[], $2::bytea[]) as a (account_id, token_hash)`,
    [rows.map(({ id }) => id), tokens.map(hashSecret)],
  );
  return tokens.map((token, n) => ({ token, accountId: rows[n]?.id ?? "" }));
};

const makeOffers = async (url: string, offers: number, tell: (done: number) => void): Promise<void> => {
  const now = Date.now();
  let done = 0;
  await Promise.all(
    Array.from({ length: THREADS }, (_, first) => {
      const share: Share = { url, offers, first, step: THREADS, now };
      const worker = new Worker(fileURLToPath(new URL("fill.ts", import.meta.url)), { workerData: share });
      worker.on("message", (rows: number) => {
        done += rows;
        tell(done);
      });
      return new Promise<void>((resolve, reject) => {
        worker.once("error", reject);
        worker.once("exit", (code) =>
          code === 0 ? resolve() : reject(new Error(`A filling thread ended with ${code}.`)),
        );
      });
    }),
  );
};

/** Counts the offers of each account, which triggers would otherwise have done. */
const COUNT_OFFERS = `
  update market.account_stats p set active = o.count, lifetime = o.count
  from (select account_id, count(*) from market.offer group by account_id) as o where o.account_id = p.account_id
`;

/** Asks share a few combinations of words and a few cities, so the query of each is made once. */
const MAKE_ASKS = `
  with made as materialized (
    select * from jsonb_populate_recordset(null::market.ask, $1) with ordinality as k
  ), subjects as materialized (
    select s.keywords, s.title, s.language, search.subject_query(s.keywords, s.title, s.language) as query
    from (select distinct k.criteria -> 'keywords' as keywords, k.title, k.language from made k) as s
  ), places as materialized (
    select p.city, search.place_query(p.city) as query
    from (select distinct k.criteria -> 'location' ->> 'city' as city from made k) as p
  )
  insert into market.ask (account_id, agent_id, status, text, language, title, domain, category, ask_kind, criteria,
    price_max_thousandths, price_currency, keywords_query, place_query, read_at)
  select a.account_id, a.id, 'active', k.text, k.language, k.title, k.domain, k.category, k.ask_kind, k.criteria,
    k.price_max_thousandths, k.price_currency, s.query, p.query, now()
  from made k
    join subjects s on (s.keywords, s.title, s.language) = (k.criteria -> 'keywords', k.title, k.language)
    join places p on p.city = k.criteria -> 'location' ->> 'city'
    join (select a.*, row_number() over (order by a.id) as n, count(*) over () as agents from market.agent a) as a
      on a.n = k.ordinality % a.agents + 1
`;

/** Asks with the same text have the same vector. */
const EMBED_ASKS = `
  insert into market.ask_embedding (ask_id, model, embedding)
  select a.id, $1, v.embedding::halfvec
  from market.ask a join (select distinct on (text) * from unnest($2::text[], $3::text[]) as u (text, embedding)) as v using (text)
`;

/** The offers by subject and time, so that the matches of an ask are next to each other. */
const LIST_BY_SUBJECT = `
  create temporary table candidate as
  select o.id, o.account_id, o.domain, o.category, o.offer_kind, o.published_at, o.price_currency, o.price_thousandths, o.title,
    o.metadata -> 'pricing' -> 'label' as price_label
  from market.offer o where o.status = 'published';
  create index on candidate (domain, category, offer_kind, published_at desc, id desc);
  analyze candidate
`;

/**
 * Matches of the right category within the price, with plausible reasons. Finding matches is measured elsewhere,
 * reading them here.
 */
const MAKE_MATCHES = `
  insert into market.match (ask_id, offer_id, score, reasons)
  select k.id, o.id, 0.5 + 0.4 * random(), jsonb_build_array(
    jsonb_build_object('criterion', 'kind', 'verdict', 'met', 'wanted', k.ask_kind, 'found', o.offer_kind),
    jsonb_build_object('criterion', 'category', 'verdict', 'met', 'wanted', k.category, 'found', o.category),
    jsonb_build_object('criterion', 'keywords', 'verdict', 'met', 'wanted', k.criteria -> 'keywords', 'found', o.title),
    jsonb_build_object('criterion', 'price', 'verdict', 'met', 'wanted', k.criteria -> 'price',
      'found', o.price_label))
  from (select a.*, now() - random() * interval '90 days' as before from market.ask a) as k cross join lateral (
    select o.* from candidate o
    where o.domain = k.domain and o.category = k.category
      and o.offer_kind = case k.ask_kind when 'buy' then 'sale' when 'rent' then 'rental' else 'service_offer' end
      and o.account_id <> k.account_id and o.published_at < k.before
      and not coalesce(o.price_currency = k.price_currency and o.price_thousandths > k.price_max_thousandths, false)
    order by o.published_at desc, o.id desc limit $1) as o
`;

/** Creates the market in an empty database, ready to be measured: indexed, vacuumed, and without jobs for a worker. */
export const makeMarket = async (
  url: string,
  { offers, asks: wanted, matchesPerAsk }: { offers: number; asks: number; matchesPerAsk: number },
  tell: (what: string) => void,
): Promise<Market> => {
  await migrate(url);
  return withClient(url, async (client) => {
    await client.query(`set maintenance_work_mem = '${memoryToBuild(offers)}MB'`);
    const callers = await makeAgents(client);
    const indexes = await takeIndexes(client);
    await makeOffers(url, offers, (done) => tell(`${done} of ${offers} offers`));
    let graphSeconds = 0;
    for (const definition of indexes) {
      tell(definition.replace(/ WHERE.*| WITH.*/, ""));
      const start = performance.now();
      await client.query(definition);
      if (definition.includes("USING hnsw")) graphSeconds += (performance.now() - start) / 1000;
    }
    tell("asks and matches");
    await client.query(COUNT_OFFERS);
    await client.query("set session_replication_role = replica");
    const asks = Array.from({ length: wanted }, (_, n) => askNumber(n));
    await client.query(MAKE_ASKS, [JSON.stringify(asks)]);
    const vectors = await embedder.embed(
      asks.map(({ text }) => text),
      AbortSignal.timeout(60_000),
    );
    await client.query(EMBED_ASKS, [embedder.model, asks.map(({ text }) => text), vectors.map(toSql)]);
    await client.query("analyze");
    if (matchesPerAsk > 0) {
      await client.query(LIST_BY_SUBJECT);
      await client.query(MAKE_MATCHES, [matchesPerAsk]);
      await client.query("drop table candidate");
    }
    await client.query("reset session_replication_role");
    tell("vacuum analyze");
    await client.query("vacuum analyze");
    return { url, callers, graphSeconds };
  });
};
