import { existsSync, readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import pgvector from "pgvector";
import { hashSecret, linkKey } from "../../src/base/tokens.ts";
import { statementOf } from "../../src/database/database.ts";
import { createQueryExtractor } from "../../src/reader/builtin/query.ts";
import { createBuiltinEmbedder } from "../../src/reader/embed/embedder.ts";
import type { QueryExtraction, Vocabulary } from "../../src/reader/extraction.ts";
import { NO_PLACES } from "../../src/reader/propose/gazetteer.ts";
import { seedMeaning } from "../reader/vocabulary.ts";
import { urlOf, withClient } from "../support/client.ts";
import type { Cluster } from "../support/postgres.ts";
import { drawGrowth, type Percentiles, type Series } from "./chart.ts";
import { type Market, makeMarket } from "./market.ts";
import { publishOne } from "./publishing.ts";
import { processorTimeOf, type Service, startService } from "./service.ts";
import { modelOf } from "./texts.ts";
import { measureChurn, measureRebuilding, measureSize } from "./upkeep.ts";

/**
 * How cost grows with the market: the processor time of each kind of search in markets of several sizes, beside that of a
 * bare index scan for the same words and filters; of reading an offer and an account; of matching one new offer with all
 * asks; and of publishing. Also the recall of the vector search, the size of the database, and its upkeep (upkeep.ts).
 */

/** Runs of each search: enough for a stable 95th percentile. */
const RUNS = 60;
/** Runs before the measurement, in which plans are made and pages are read. */
const WARM_UP = 6;
/** At least as many offers, because only a few of them meet hundreds of asks. */
const OFFERS_MATCHED = 100;
/** The number of query vectors whose ten nearest offers are compared with an exact scan. */
const RECALL_QUERIES = 40;
/** Smaller differences of distance are a tie: halfvec keeps three digits of each of 512 numbers. */
const TIE = 1e-6;

/** Offers published before the measurement, in which code is compiled, and in it: the clock ticks only every 10 ms. */
const PUBLICATIONS = { warmUp: 20, measured: 100 };
/** The connections of the API. Publishing takes one after the other. */
const CONNECTIONS = 16;

type Body = { query?: string; filters?: Record<string, unknown> };

const embedder = createBuiltinEmbedder(seedMeaning);

/** The median and the 95th percentile. */
export const percentiles = (times: number[]): Percentiles => {
  const sorted = Float64Array.from(times).sort();
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { p50: at(0.5), p95: at(0.95) };
};

/**
 * Returns a clock, in milliseconds, of the processor time that the server has spent on a connection, so that other work
 * on the machine does not count. On systems other than Linux it is the elapsed time.
 */
export const clockOf = async (client: pg.Client): Promise<() => number> => {
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  const file = `/proc/${rows[0]?.pid}/schedstat`;
  if (!existsSync(file)) return () => performance.now();
  // The first number is the time on a processor, in nanoseconds.
  return () => Number(readFileSync(file, "utf8").split(" ")[0]) / 1e6;
};

/** How long a step takes, by a clock. */
export const timed = async (clock: () => number, work: () => Promise<unknown>): Promise<number> => {
  const start = clock();
  await work();
  return clock() - start;
};

const DAY_MS = 24 * 3600 * 1000;
const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

/** The searches of each kind. If a kind has several, they take turns. */
const searchesOf = (offers: number): Record<string, Body[]> => ({
  "common words": [{ query: "good condition sofa" }, { query: "Fahrrad in gutem Zustand" }],
  "a rare word": Array.from({ length: 12 }, (_, n) => ({ query: modelOf(Math.floor((n * offers) / 12)) })),
  "words and filters": [
    { query: "good condition sofa", filters: { location: "Bristol", price: { max: 300, currency: "GBP" } } },
    { query: "laptop", filters: { domain: "electronics", price: { max: 500, currency: "EUR" } } },
  ],
  "words, and a filter that keeps 1 %": [
    { query: "good condition sofa", filters: { posted_since: daysAgo(1) } },
    { query: "Fahrrad in gutem Zustand", filters: { posted_since: daysAgo(1) } },
  ],
  "read from the query": [
    { query: "flat to rent in London under 1200 pounds" },
    { query: "couch up to 300 EUR in Berlin" },
  ],
  "filters alone": [
    { filters: { domain: "vehicles", price: { max: 400, currency: "EUR" } } },
    { filters: { location: "Berlin" } },
  ],
});

/** Returns filters as a search_filter value that the planner can use. */
const conditionsOf = async (client: pg.Client, filters: object): Promise<string> => {
  const { rows } = await client.query<{ conditions: string }>(
    "select search.to_search_filter($1, 'infinity', null, null)::text as conditions",
    [JSON.stringify(filters)],
  );
  return rows[0]?.conditions ?? "";
};

/** Some ten milliseconds, without a table. */
const FIXED = "select sum(sqrt(n)) from generate_series(1, 50000) as n";

/** The bare query: finds every offer with the words and filters by PostgreSQL's indexes alone. */
const BARE = `
  select count(*) from search.document d
  where ($1::tsquery is null or d.words @@ $1)
    and search.matches_filter(d, $2::search.search_filter, search.facet_query($2::search.search_filter))`;

const measureSearches = async (
  market: Market,
  offers: number,
  extractQuery: (query: string) => QueryExtraction,
): Promise<{ name: string; ours: Percentiles; bare: number }[]> => {
  const asAgent = new pg.Client({ connectionString: market.url.replace(/\/\/[^@/]+@/, "//souk_api@") });
  await asAgent.connect();
  try {
    return await withClient(market.url, async (operator) => {
      const measured = [];
      for (const [name, bodies] of Object.entries(searchesOf(offers))) {
        const searches = [];
        for (const body of bodies) {
          const { query = null, filters = {} } = body;
          const [vector] = query === null ? [] : await embedder.embed([query], AbortSignal.timeout(5_000));
          const extraction = query === null ? null : extractQuery(query);
          const args = {
            request: JSON.stringify(body),
            extraction: extraction && JSON.stringify(extraction),
            embedding: vector ? pgvector.toSql(vector) : null,
            model: embedder.model,
            notices: "[]",
          };
          const { rows } = await operator.query<{ words: string | null }>(
            "select string_agg('(' || forms::text || ')', ' & ') as words from search.query_terms($1::jsonb, $2) where weight >= 1",
            [JSON.stringify(extraction?.words ?? []), extraction?.language ?? null],
          );
          searches.push({
            text: statementOf("agent", "search_offers", Object.keys(args), "read"),
            args,
            conditions: await conditionsOf(operator, filters),
            words: query === null ? null : (rows[0]?.words ?? null),
          });
        }
        const [ourClock, bareClock] = [await clockOf(asAgent), await clockOf(operator)];
        const times: number[] = [];
        const bare: number[] = [];
        for (let n = -WARM_UP; n < RUNS; n++) {
          const search = searches[(n + WARM_UP) % searches.length];
          if (!search) continue;
          const token = hashSecret(market.callers[(n + WARM_UP) % market.callers.length]?.token ?? "");
          const took = await timed(ourClock, () =>
            asAgent.query({ name: "search", text: search.text, values: [token, ...Object.values(search.args)] }),
          );
          // The bare query runs less often, because it is slow and its times vary little.
          const alone =
            n % 4 === 0 ? await timed(bareClock, () => operator.query(BARE, [search.words, search.conditions])) : null;
          if (n < 0) continue;
          times.push(took);
          if (alone !== null) bare.push(alone);
        }
        measured.push({ name, ours: percentiles(times), bare: percentiles(bare).p50 });
      }
      return measured;
    });
  } finally {
    await asAgent.end();
  }
};

/** Measures what an agent reads most: an offer, and its own account. */
const measureReads = (market: Market): Promise<{ name: string; ours: Percentiles; bare: number }[]> =>
  withClient(market.url.replace(/\/\/[^@/]+@/, "//souk_api@"), async (client) => {
    const { rows } = await withClient(market.url, (operator) =>
      operator.query<{ id: string }>("select id from market.offer order by md5(id::text) limit $1", [RUNS + WARM_UP]),
    );
    const clock = await clockOf(client);
    const kinds = {
      "reading an offer": { call: "get_offer", args: (n: number) => ({ id: rows[n]?.id ?? null }) },
      "reading one's account": {
        call: "get_me",
        args: (n: number) => ({ base_url: "http://souk.test", link_key: linkKey(tokenOf(market, n)) }),
      },
    };
    const measured = [];
    for (const [name, { call, args }] of Object.entries(kinds)) {
      const text = statementOf("agent", call, Object.keys(args(0)));
      const times: number[] = [];
      for (let n = 0; n < RUNS + WARM_UP; n++) {
        const values = [hashSecret(tokenOf(market, n)), ...Object.values(args(n))];
        const took = await timed(clock, () => client.query({ name: call, text, values }));
        if (n >= WARM_UP) times.push(took);
      }
      measured.push({ name, ours: percentiles(times), bare: Number.NaN });
    }
    return measured;
  });

/** Measures what does not depend on the market: a difference between two sizes is one of the machine's speed. */
const measureMachine = (market: Market): Promise<Percentiles> =>
  withClient(market.url, async (client) => {
    const clock = await clockOf(client);
    const times: number[] = [];
    for (let n = 0; n < RUNS; n++) times.push(await timed(clock, () => client.query(FIXED)));
    return percentiles(times);
  });

const tokenOf = ({ callers }: Market, n: number): string => callers[n % callers.length]?.token ?? "";

/**
 * Measures publishing one offer after the other: the processor time of API, worker and database for each, which includes
 * the jobs that follow. It is an average, so that p50 and p95 are the same.
 */
export const measurePublishing = async (cluster: Cluster, market: Market, service: Service): Promise<Percentiles> => {
  const publish = (n: number) => publishOne(service.baseUrl, market.callers, n);
  const jobsDone = () =>
    withClient(market.url, async (client) => {
      for (;;) {
        const { rows } = await client.query<{ jobs: number }>(
          "select count(*)::integer as jobs from graphile_worker._private_jobs where run_at <= now() and attempts < max_attempts",
        );
        if (rows[0]?.jobs === 0) return;
        await sleep(50);
      }
    });
  for (let n = 0; n < PUBLICATIONS.warmUp; n++) await publish(n);
  await jobsDone();
  const start = await processorTimeOf(cluster, service);
  for (let n = 0; n < PUBLICATIONS.measured; n++) await publish(PUBLICATIONS.warmUp + n);
  await jobsDone();
  const each = ((await processorTimeOf(cluster, service)) - start) / PUBLICATIONS.measured;
  return { p50: each, p95: each };
};

/**
 * Measures recall: the share of the ten nearest offers that is found, without filters and with one that keeps about 1
 * %.
 */
export const measureRecall = (market: Market): Promise<{ all: number; filtered: number; share: number }> =>
  withClient(market.url, async (client) => {
    const { rows: vectors } = await client.query<{ vector: string }>(
      "select e.embedding::text as vector from market.ask_embedding e order by md5(e.ask_id::text) limit $1",
      [RECALL_QUERIES],
    );
    // The filter keeps the offers of the last days. The time of publication has nothing to do with similarity.
    const { rows: kept } = await client.query<{ since: string }>(
      `select ((now() at time zone 'UTC')::date - 1)::text as since`,
    );
    const filtered = await conditionsOf(client, { posted_since: kept[0]?.since });
    const found = async (where: string): Promise<number> => {
      let hits = 0;
      let wanted = 0;
      for (const { vector } of vectors) {
        const { rows: ours } = await client.query<{ distance: number }>(
          `select distance from search.nearest_offers($1::halfvec, '${embedder.model}', $2::search.search_filter) order by distance limit 10`,
          [vector, where],
        );
        await client.query("begin");
        await client.query("set local enable_indexscan = off");
        const { rows: exact } = await client.query<{ distance: number }>(
          `select d.embedding <=> $1::halfvec as distance from search.document d
           where search.matches_filter(d, $2::search.search_filter, search.facet_query($2::search.search_filter))
           order by 1 limit 10`,
          [vector, where],
        );
        await client.query("rollback");
        // If several offers are as far away as the tenth, each of them counts.
        const farthest = (exact.at(-1)?.distance ?? 0) + TIE;
        hits += ours.filter(({ distance }) => distance <= farthest).length;
        wanted += exact.length;
      }
      return wanted === 0 ? 1 : hits / wanted;
    };
    const { rows: share } = await client.query<{ share: number }>(
      `select avg(search.matches_filter(d, $1::search.search_filter, search.facet_query($1::search.search_filter))::integer)::float
         as share from search.document d`,
      [filtered],
    );
    return {
      all: await found(await conditionsOf(client, {})),
      filtered: await found(filtered),
      share: share[0]?.share ?? 0,
    };
  });

/** Archives nine of ten offers, as years of trade do, and measures recall among those that are left. */
const measureAged = (market: Market): Promise<string> =>
  withClient(market.url, async (client) => {
    await client.query("update market.offer set status = 'archived' where md5(id::text) >= '1999'");
    const before = await measureRecall(market);
    await client.query("vacuum search.document");
    const after = await measureRecall(market);
    return `nine of ten offers archived: of the ten nearest that are left, the search by vector finds ${before.all.toFixed(3)}, and after a vacuum ${after.all.toFixed(3)}`;
  });

/** Measures matching one new offer with all asks. Each run is rolled back. */
export const measureMatching = (market: Market): Promise<Percentiles> =>
  withClient(market.url, async (client) => {
    const { rows } = await client.query<{ id: string }>(
      "select id from market.offer where status = 'published' order by md5(id::text) limit $1",
      [OFFERS_MATCHED + WARM_UP],
    );
    // The worker's login role has JIT off, too: compiling these plans takes longer than running them.
    await client.query("set jit = off");
    const clock = await clockOf(client);
    const times: number[] = [];
    for (const [n, { id }] of rows.entries()) {
      await client.query("begin");
      await client.query("delete from market.match where offer_id = $1", [id]);
      const took = await timed(clock, () => client.query("select search.match_offer($1)", [id]));
      await client.query("rollback");
      if (n >= WARM_UP) times.push(took);
    }
    return percentiles(times);
  });

/**
 * Measures markets of several sizes one after the other, each in a database of its own.
 * @param tell called with the current step
 * @param show called twice for each size, because the largest takes hours: with the table so far as lines and the chart as
 *   SVG, and then with the upkeep of this size as lines
 */
export const measureGrowth = async (
  server: { cluster: Cluster; sizes: number[]; asks: number },
  tell: (what: string) => void,
  show: (lines: string[], chart?: string) => Promise<void>,
): Promise<void> => {
  const { cluster, sizes, asks } = server;
  const series = new Map<string, Series>();
  const add = (name: string, ours: Percentiles, bare = Number.NaN): void => {
    const one = series.get(name) ?? { name, ours: [], bare: [] };
    series.set(name, one);
    one.ours.push(ours);
    one.bare.push(bare);
  };
  const recalls: string[] = [];
  for (const [n, offers] of sizes.entries()) {
    const name = `market_${offers}`;
    await withClient(cluster.url, (client) => client.query(`create database ${name} template template0`));
    const started = performance.now();
    const step = (what: string) => tell(`${offers}: ${what}`);
    const market = await makeMarket(urlOf(cluster.url, name), { offers, asks, matchesPerAsk: 0 }, step);
    const filled = (performance.now() - started) / 1000;
    const size = await measureSize(market, offers);
    const vocabulary = await withClient(market.url, async (client) => {
      const { rows } = await client.query<{ vocabulary: Vocabulary }>("select jobs.get_vocabulary() as vocabulary");
      return rows[0]?.vocabulary ?? { taxonomy: [], concepts: [], labels: [], places: NO_PLACES, classifiers: {} };
    });
    step("searching");
    const searches = await measureSearches(market, offers, createQueryExtractor(vocabulary));
    for (const { name: what, ours, bare } of searches) add(what, ours, bare);
    add("a fixed computation", await measureMachine(market));
    step("reading");
    for (const { name: what, ours } of await measureReads(market)) add(what, ours);
    step("comparing with an exact scan");
    const recall = await measureRecall(market);
    recalls.push(
      `${offers} offers: ${recall.all.toFixed(3)}, and ${recall.filtered.toFixed(3)} under a filter that keeps ${(100 * recall.share).toFixed(1)} %`,
    );
    step("matching");
    add(`one new offer against ${asks} asks`, await measureMatching(market));
    step("publishing");
    const service = await startService(cluster, name, CONNECTIONS);
    const upkeep = [`${offers} offers, filled in ${filled.toFixed(0)} s:`, "", `- ${size}`];
    try {
      add("publishing: API, worker and database", await measurePublishing(cluster, market, service));
      const done = sizes.slice(0, n + 1);
      const all = [...series.values()];
      await show([...tableOf(done, all), ...recallLines(recalls)], drawGrowth(done, all));
      step("rebuilding the graph while serving");
      upkeep.push(...listOf(await measureRebuilding(market, offers, service)));
    } finally {
      await service.stop();
    }
    upkeep.push(...listOf(await measureChurn(market, step)));
    step("archiving nine of ten");
    upkeep.push(...listOf([await measureAged(market)]));
    await show(upkeep);
    await withClient(cluster.url, (client) => client.query(`drop database ${name} with (force)`));
  }
};

const listOf = (lines: string[]): string[] => lines.map((line) => `- ${line}`);

const tableOf = (sizes: number[], all: Series[]): string[] => [
  `| ms of processor time: p50 / p95 (bare index scan) | ${sizes.map((size) => `${size} offers`).join(" | ")} | p50 a tenfold |`,
  `|---|${sizes.map(() => "---:").join("|")}|---:|`,
  ...all.map(({ name, ours, bare }) => {
    const cells = ours.map(({ p50, p95 }, n) => {
      const alone = bare[n] ?? Number.NaN;
      return `${p50.toFixed(1)} / ${p95.toFixed(1)}${Number.isNaN(alone) ? "" : ` (${alone.toFixed(1)})`}`;
    });
    return `| ${name} | ${cells.join(" | ")} | ${sizes.length < 2 ? "" : `${growthOf(sizes, ours).toFixed(2)} x`} |`;
  }),
];

const recallLines = (recalls: string[]): string[] => [
  "",
  "Of the ten truly nearest offers the search by vector finds:",
  "",
  ...listOf(recalls),
];

/**
 * By how much the median is multiplied when the market grows tenfold, averaged from the smallest to the largest size.
 */
const growthOf = (sizes: number[], ours: Percentiles[]): number => {
  const tenfolds = Math.log10((sizes.at(-1) ?? 1) / (sizes[0] ?? 1));
  return tenfolds > 0 ? ((ours.at(-1)?.p50 ?? 0) / (ours[0]?.p50 ?? 1)) ** (1 / tenfolds) : Number.NaN;
};
