import { setTimeout as sleep } from "node:timers/promises";
import test, { type ExecutionContext } from "ava";
import { applyMigrations } from "../../src/database/migrate.ts";
import { allowed } from "../support/busy.ts";
import { createDatabase, createEmptyDatabase } from "../support/database.ts";
import { assertInvariants } from "../support/invariants.ts";
import { type Answer, connectedAgent, eventually } from "../support/market.ts";
import { deployDatabase, previousCommit, previousRelease, runMigrate, sourcesOf } from "../support/releases.ts";
import { type Service, startPart } from "../support/service.ts";
import { sql, sqlValue } from "../support/sql.ts";

/**
 * A rolling deployment: the database is migrated and its code reloaded, while API processes of the previous commit run
 * on.
 */

const TEXT = "Grey three-seat sofa, good condition. 180 EUR, pick up in Berlin. Write to lena@example.com";

/** What two agents do on a market, all of which has to succeed. */
const useMarket = async (t: ExecutionContext, api: Service, database: string): Promise<void> => {
  const seller = await connectedAgent(api.url, database);
  const buyer = await connectedAgent(api.url, database);

  const published = await seller.call("POST", "/v1/offers", { text: TEXT });
  t.is(published.status, 201, published.text);
  const id: string = published.body.offer_id;
  const asked = await buyer.call("POST", "/v1/asks", { text: "Looking for a grey sofa in Berlin, up to 200 EUR" });
  t.is(asked.status, 201, asked.text);
  const answers = await Promise.all([
    seller.call("GET", "/v1/me"),
    seller.call("GET", "/v1/offers"),
    seller.call("GET", `/v1/offers/${id}`),
    buyer.call("GET", `/v1/offers/${id}`),
    buyer.call("GET", "/v1/asks"),
    buyer.call("GET", `/v1/asks/${asked.body.id}/matches`),
    buyer.call("POST", "/v1/offers/search", { query: "sofa", filters: { location: "Berlin" } }),
    buyer.call("POST", `/v1/offers/${id}/report`, { reason: "spam" }),
    seller.call("POST", "/v1/offers/preview", { text: TEXT }),
    seller.call("PATCH", `/v1/offers/${id}`, { text: TEXT.replace("180", "150") }),
  ]);
  answers.push(
    await seller.call("POST", `/v1/offers/${id}/archive`),
    await seller.call("POST", `/v1/offers/${id}/republish`),
    await buyer.call("POST", `/v1/asks/${asked.body.id}/fulfill`),
    await seller.call("DELETE", "/v1/me/agent"),
  );
  t.deepEqual(
    answers.map(({ status }) => status),
    answers.map((_, place) => (place === answers.length - 1 ? 204 : 200)),
    answers.map(({ text }) => text).join("\n"),
  );
};

test("an API of the previous commit works on this commit's database", async (t) => {
  const previous = await previousCommit();
  // A copy of the sources without git history has no previous commit. There the API of this copy has to work.
  const sources = previous === null ? {} : { sources: await sourcesOf(previous, t) };
  const { url } = await createDatabase(t);
  await startPart("worker", { database: url, env: { BASE_URL: "http://127.0.0.1" } }, t);
  await useMarket(t, await startPart("api", { database: url, ...sources }, t), url);
});

// Those that migrate by the previous release are serial, because roles belong to the whole server.
test.serial("between the migrations and the load of the code, the previous release works", async (t) => {
  const release = await previousRelease();
  const sources = release === null ? {} : { sources: await sourcesOf(release, t) };
  const { url } = await createEmptyDatabase(t);
  await runMigrate(url, sources.sources);
  await startPart("worker", { database: url, ...sources }, t);
  const api = await startPart("api", { database: url, ...sources }, t);
  await applyMigrations(url);
  await useMarket(t, api, url);
});

/** An outage is short if a client that tries again a few times, as Retry-After says, gets through. */
const SHORT_MS = 5_000;
/** Fewer texts than an agent's cap of 60 an hour, so that no call of the load is refused for that. */
const MOST_TEXTS = 50;
const PAUSE_MS = 100;

test.serial("while a migration runs, callers of the previous release see nothing worse than short 503s", async (t) => {
  // A copy of the sources without so much git history has no previous release. There the code alone is loaded again.
  const release = await previousRelease();
  const sources = release === null ? {} : { sources: await sourcesOf(release, t) };
  const { url } = await createEmptyDatabase(t);
  await runMigrate(url, sources.sources);
  if (release === null) await sql(url, "delete from internal.loaded where name = 'code'");
  const migrations = () => sqlValue<number>(url, "select count(*)::int from graphile_migrate.migrations");
  const before = await migrations();
  await startPart("worker", { database: url, ...sources }, t);
  const api = await startPart("api", { database: url, ...sources }, t);
  const sellers = await Promise.all([1, 2].map(() => connectedAgent(api.url, url)));
  const buyer = await connectedAgent(api.url, url);
  const [first] = sellers;
  const known = await first?.call("POST", "/v1/offers", { text: TEXT });
  t.is(known?.status, 201, known?.text);

  const outcomes: { status: number; begun: number; ended: number; text: string; retryAfter: string }[] = [];
  let over = false;
  const keepCalling = async (call: (number: number) => Promise<Answer>) => {
    for (let number = 0; !over; number++) {
      const begun = performance.now();
      // A connection that is reset makes this throw, and the test fail.
      const { status, text, headers } = await call(number);
      outcomes.push({ status, begun, ended: performance.now(), text, retryAfter: headers["retry-after"] ?? "" });
      await sleep(PAUSE_MS);
    }
  };
  const made = new Set<string>();
  const load = [
    ...sellers.map((seller) =>
      keepCalling(async (number) => {
        if (number >= MOST_TEXTS) return seller.call("GET", "/v1/me");
        const answer = await seller.call("POST", "/v1/offers", { text: TEXT });
        if (answer.status === 201) made.add(answer.body.offer_id);
        return answer;
      }),
    ),
    keepCalling(() => buyer.call("GET", `/v1/offers/${known?.body.offer_id}`)),
    keepCalling(() => buyer.call("POST", "/v1/offers/search", { query: "sofa" })),
  ];
  const answered = (count: number) =>
    eventually(
      async () => outcomes.length,
      (made) => made >= count,
    );
  await answered(20);
  await deployDatabase(url);
  await answered(outcomes.length + 20);
  over = true;
  await Promise.all(load);

  const errors = api
    .logs()
    .split("\n")
    .filter((line) => line.includes('"level":"error"'))
    .join("\n");
  for (const { status, text, retryAfter } of outcomes) {
    t.true([200, 201, 503].includes(status), `${text}\n${errors}`);
    if (status === 503) t.regex(retryAfter, /^[1-9]\d*$/);
  }
  const successes = outcomes.filter(({ status }) => status < 300).toSorted((one, other) => one.ended - other.ended);
  const gaps = successes.slice(1).map(({ ended }, place) => ended - (successes[place]?.ended ?? ended));
  const longest = Math.max(...gaps);
  t.true(longest < allowed(SHORT_MS), `nobody was served for ${longest} ms`);
  t.true(release === null || (await migrations()) > before, "a migration was applied");
  const found = await sql<{ id: string }>(url, "select id from market.offer where id <> $1", [known?.body.offer_id]);
  t.deepEqual(found.map(({ id }) => id).sort(), [...made].sort(), "each 201 is there, and nothing else");
  await assertInvariants(t, url);
});
