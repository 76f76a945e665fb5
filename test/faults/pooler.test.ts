import test from "ava";
import { openDatabase } from "../../src/database/database.ts";
import { signedInModerator } from "../admin/fixture.ts";
import { withClient } from "../support/client.ts";
import { createDatabase, type Database } from "../support/database.ts";
import { assertInvariants } from "../support/invariants.ts";
import { type Agent, call, connectAgent, connectedAgent, eventually, SOFA } from "../support/market.ts";
import { type PgBouncer, startPgBouncer } from "../support/pgbouncer.ts";
import { type Service, startPart } from "../support/service.ts";
import { sql } from "../support/sql.ts";

/**
 * API, worker and admin behind PgBouncer in transaction mode. It has far fewer connections to the server than they open,
 * so each statement may run in another session, after a statement of another client.
 */

/** Connections to the server for each login. The API opens up to 31, the worker 11. */
const SIZE = 3;

let database: Database;
let pooler: PgBouncer;
let api: Service;
let worker: Service;

test.before(async () => {
  database = await createDatabase();
  pooler = await startPgBouncer(database.url, SIZE);
  const direct = (role: string) => {
    const url = new URL(database.url);
    url.username = role;
    return url.href;
  };
  [api, worker] = await Promise.all([
    startPart("api", {
      database: pooler.urlFor("souk_api"),
      env: { DATABASE_DIRECT_URL: direct("souk_api"), CONNECTIONS_PER_HOUR: "1000" },
    }),
    startPart("worker", {
      database: pooler.urlFor("souk_worker"),
      env: { DATABASE_DIRECT_URL: direct("souk_worker") },
    }),
  ]);
});

test.after.always(async () => {
  await Promise.all([api?.stop(), worker?.stop()]);
  await pooler?.stop();
  await database?.drop();
});

/** Returns the sessions of the service on the server: how many there are by login, and which of them listen. */
const sessions = () =>
  sql<{ login: string; count: number; listening: number }>(
    database.url,
    `select usename as login, count(*)::int as count, count(*) filter (where query ~* '^listen')::int as listening
     from pg_stat_activity where datname = current_database() and usename in ('souk_api', 'souk_worker')
     group by 1 order by 1`,
  );

test.serial("agents publish, search and read at once, while few sessions serve many connections", async (t) => {
  const agents = await Promise.all(
    Array.from({ length: 8 }, (_, i) => connectedAgent(api.url, database.url, `A ${i}`)),
  );
  const published = await Promise.all(agents.map((agent) => agent.call("POST", "/v1/offers", { text: SOFA })));
  t.deepEqual(
    published.map(({ status }) => status),
    agents.map(() => 201),
  );
  const offers = published.map(({ body }) => body.offer_id as string);
  const reads = (agent: Agent, i: number) => [
    agent.call("GET", "/v1/me"),
    agent.call("POST", "/v1/offers/search", { query: "grey sofa in Berlin" }),
    agent.call("GET", `/v1/offers/${offers[(i + 1) % offers.length]}`),
    agent.call("POST", `/v1/offers/${offers[i]}/archive`),
  ];
  const answers = await Promise.all(agents.map((agent, i) => Promise.all(reads(agent, i))));
  for (const [i, [me, found, , archived]] of answers.entries()) {
    // Each answer is its caller's, although others' claims were set in the same sessions.
    t.is(me?.body.agent.id, agents[i]?.id);
    t.is(found?.status, 200);
    t.is(archived?.body.status, "archived");
  }
  const servers = await sessions();
  // One more of each listens without the pooler.
  for (const { count } of servers) t.true(count <= SIZE + 1, JSON.stringify(servers));
  await assertInvariants(t, database.url);
});

test.serial("notifications arrive, because they do not pass the pooler", async (t) => {
  t.deepEqual(
    (await sessions()).map(({ login, listening }) => [login, listening]),
    [
      ["souk_api", 1],
      ["souk_worker", 1],
    ],
  );
  const agent = await connectedAgent(api.url, database.url);
  const times: number[] = [];
  for (let i = 0; i < 5; i++) {
    const begun = performance.now();
    t.is(
      (await agent.call("POST", "/v1/asks", { text: `Looking for a grey sofa in Berlin, up to ${200 + i} EUR` }))
        .status,
      201,
    );
    times.push(performance.now() - begun);
  }
  // Without notifications, the worker would look for jobs only once a second.
  const [, , median = Number.NaN] = times.toSorted((one, other) => one - other);
  t.true(median < 500, times.map(Math.round).join(" "));
});

test.serial("nothing of a request stays in a session, and the settings of the role hold", async (t) => {
  const agent = await connectedAgent(api.url, database.url);
  await Promise.all(Array.from({ length: 12 }, () => agent.call("GET", "/v1/me")));
  await withClient(pooler.urlFor("souk_api"), async (client) => {
    for (let i = 0; i < 2 * SIZE; i++) {
      const { rows } = await client.query(
        `select current_user as who, current_setting('market.agent_id', true) as agent,
           current_setting('transaction_read_only') as read_only, current_setting('statement_timeout') as timeout,
           (select count(*)::int from pg_prepared_statements) as prepared`,
      );
      const [row] = rows;
      t.deepEqual(
        { ...row, agent: row.agent ?? "" },
        {
          who: "souk_api",
          agent: "",
          read_only: "off",
          // Settings of a role hold behind the pooler, because it logs in as that role.
          timeout: "5s",
          prepared: 0,
        },
      );
    }
  });
});

test.serial("a call that reads cannot write, in whichever session it runs", async (t) => {
  const pooled = openDatabase({
    url: pooler.urlFor("souk_api"),
    pooled: true,
    poolSize: 2,
    role: "souk_api",
    embedded: false,
    onError: () => {},
  });
  t.teardown(pooled.close);
  const write = (lane: "read" | "write") => pooled.call("visitor", "offer_methods", { methods: ["email"] }, lane);
  for (let i = 0; i < SIZE; i++) {
    await t.throwsAsync(write("read"), { code: "25006" });
    await t.notThrowsAsync(write("write"));
  }
});

test.serial("moderators work behind the pooler", async (t) => {
  const moderator = await signedInModerator((query, values = []) => sql(database.url, query, values), "Pool");
  const headers = { cookie: moderator.cookie, origin: api.url, "sec-fetch-site": "same-origin" };
  const pages = await Promise.all(
    ["/admin", "/admin/audit", "/admin/settings", "/admin"].map((path) => call(api.url, "GET", path, { headers })),
  );
  t.deepEqual(
    pages.map(({ status }) => status),
    [200, 200, 200, 200],
  );
  const waiting = await connectAgent(api.url);
  const page = await call(api.url, "GET", new URL(waiting.link).pathname);
  t.is(page.status, 200);
});

test.serial("behind the pooler, a login that is not the role itself is refused", async (t) => {
  const other = await startPart("api", {
    database: pooler.urlFor("postgres"),
    env: { DATABASE_DIRECT_URL: database.url },
    waitUntilReady: false,
  });
  t.teardown(other.stop);
  const logs = await eventually(
    async () => other.logs(),
    (text) => text.includes("cannot be used"),
  );
  t.regex(logs, /log in as souk_api, not as postgres/);
});
