import test from "ava";
import { type Flood, makeFloods, measureFlood } from "../bench/floods.ts";
import { rawRequest } from "../bench/load.ts";
import { allowed } from "../support/busy.ts";
import { createDatabase, type Database } from "../support/database.ts";
import { connectedAgent, SOFA } from "../support/market.ts";
import { type Service, startService } from "../support/service.ts";

/**
 * How long another caller waits while one caller keeps many calls open. `npm run bench -- --noisy` prints the times of a
 * quiet machine. Here other tests run at the same time, so these tests compare within one run: without fair use, the
 * other caller waits as long as the calls of the flood do. Equal quantiles are compared, because whatever stops the
 * whole process for a second is in the p99 of both.
 */

/** Fewer than the calls that one caller may have open, so that none is refused. */
const OPEN = 250;
/** The duration of each side of a measurement. A slow machine still answers hundreds of calls meanwhile. */
const SECONDS = 2;
/**
 * At most so many calls of the flood may overtake half of the other caller's calls: 8 that run, 8 that begin in its turns
 * of the event loop, and those that are answered while the answer is on its way. Without fair use all 250 do.
 */
const OVERTAKING = 50;
/** A search takes milliseconds. The statement timeout of the login role is five seconds. */
const ALONE_MS = 3000;

let database: Database;
let service: Service;
let request: string;

test.before(async () => {
  database = await createDatabase();
  service = await startService({ database: database.url });
  const other = await connectedAgent(service.url, database.url);
  const published = await other.call("POST", "/v1/offers", { text: SOFA });
  request = rawRequest("GET", `/v1/offers/${published.body.offer_id}`, { Authorization: `Bearer ${other.token}` });
});
test.after.always(async () => {
  await service?.stop();
  await database?.drop();
});

const FLOODS = ["search, nobody approved the agent", "GET /v1/me", "a session: pages"];

const measureOne = (flood: Flood) => measureFlood(Number(new URL(service.url).port), request, flood, SECONDS, OPEN);

const measure = async (name: string) => {
  const floods = await makeFloods(database.url, service.url);
  const flood = floods.find((one) => one.name === name);
  if (flood === undefined) throw new Error(`There is no flood ${name}.`);
  return measureOne(flood);
};

for (const name of FLOODS) {
  test.serial(`while one caller keeps ${OPEN} calls open, the p99 of another is a fraction: ${name}`, async (t) => {
    const { noisy, statuses, flooder } = await measure(name);
    t.deepEqual(Object.keys(statuses), ["200"]);
    t.true(noisy.p99 < flooder.p99, `p99 of the other: ${noisy.p99} ms, of the flood: ${flooder.p99} ms`);
    t.true(noisy.p50 < flooder.p50 / 4, `median of the other: ${noisy.p50} ms, of the flood: ${flooder.p50} ms`);
    t.true(noisy.overtaken <= OVERTAKING, `${noisy.overtaken} calls of the flood overtook half of the other's`);
  });
}

/** The most characters that a query may have. */
const QUERY_LENGTH = 500;
const STOP_WORDS = ["the", "of", "and", "in", "der", "die", "das", "und", "le", "la", "de", "el", "los", "il", "het"];
const filled = (words: readonly string[], joint: string): string =>
  Array.from({ length: QUERY_LENGTH }, (_, n) => words[n % words.length])
    .join(joint)
    .slice(0, QUERY_LENGTH)
    .trim();

/** Searches that would be expensive if their words or values were looked up one by one, and how they are answered. */
const HEAVY: Record<string, { body: object; status: number }> = {
  "stop words": { body: { query: filled(STOP_WORDS, " ") }, status: 200 },
  operators: { body: { query: filled(["sofa", "|", "!(", "&", "<->", '"', ":*", "OR", "-"], " ") }, status: 200 },
  "ten thousand alternatives": {
    body: {
      query: "sofa",
      filters: { category: Array.from({ length: 10_000 }, (_, n) => (n % 2 === 0 ? "tv" : "art")) },
    },
    status: 400,
  },
};

for (const [what, { body, status }] of Object.entries(HEAVY)) {
  test.serial(`searches of ${what} end in bounded time, and do not change how long another waits`, async (t) => {
    const searcher = await connectedAgent(service.url, database.url, "Noisy");
    const search = rawRequest("POST", "/v1/offers/search", { Authorization: `Bearer ${searcher.token}` }, body);
    const started = performance.now();
    t.is((await searcher.call("POST", "/v1/offers/search", body)).status, status);
    const alone = performance.now() - started;
    t.true(alone < allowed(ALONE_MS), `${Math.round(alone)} ms for one search`);
    const { noisy, statuses, flooder } = await measureOne({ name: what, requests: [search] });
    t.deepEqual(Object.keys(statuses), [String(status)]);
    t.true(noisy.p99 < flooder.p99, `p99 of the other: ${noisy.p99} ms, of the flood: ${flooder.p99} ms`);
    t.true(noisy.overtaken <= OVERTAKING, `${noisy.overtaken} calls of the flood overtook one`);
  });
}

// These calls need no database, so they are fast, and other callers' calls that need one may take longer. But without
// fair use all of them are answered before another call begins, several times for each call of the other.
test.serial(
  `while one caller keeps ${OPEN} calls with malformed tokens open, others are served between them`,
  async (t) => {
    const { noisy, statuses, flooder } = await measure("malformed tokens");
    t.deepEqual(Object.keys(statuses), ["401"]);
    t.true(noisy.p50 < flooder.p50 / 2, `median of the other: ${noisy.p50} ms, of the flood: ${flooder.p50} ms`);
  },
);
