import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import test from "ava";
import pg from "pg";
import { newToken } from "../../src/base/tokens.ts";
import { signedInModerator } from "../admin/fixture.ts";
import { allowed } from "../support/busy.ts";
import { withClient } from "../support/client.ts";
import { createEmptyDatabase } from "../support/database.ts";
import { assertInvariants } from "../support/invariants.ts";
import { type Agent, type Answer, call, connectAgent, connectedAgent, eventually, SOFA } from "../support/market.ts";
import type { Cluster } from "../support/postgres.ts";
import { startMarketCluster } from "../support/prepared.ts";
import { type Service, startPart, startService } from "../support/service.ts";
import { sql, sqlValue } from "../support/sql.ts";

/**
 * The database is stopped, full, locked or read-only. The process stays alive, answers 503 with Retry-After within
 * bounded time, and recovers by itself.
 */

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

/**
 * Requests wait two seconds for a connection or a lock (src/database/database.ts, db/schema/logins.sql). The rest is a
 * margin for a busy machine.
 */
const BOUND_MS = 4_500;
/** The service must work again within this time after its database is back. */
const RECOVERY_MS = 5_000;

let cluster: Cluster;
let service: Service;

const environment = { CONNECTIONS_PER_HOUR: "100000" };

test.before(async () => {
  // An answered commit must survive an immediate shutdown, as PostgreSQL's default ensures. Test clusters turn it off.
  // What nobody asks PostgreSQL to flush is lost in a crash here: its WAL writer would flush it after 200 ms.
  cluster = await startMarketCluster({ synchronous_commit: "on", wal_writer_delay: "10s" });
  service = await startService({ database: cluster.url, env: environment });
});
test.after.always(async () => {
  await service?.stop();
  await cluster?.destroy();
});
test.afterEach("every invariant holds", (t) => assertInvariants(t, cluster.url));

type Timed = Answer & { ms: number };

const timed = async (answer: Promise<Answer>): Promise<Timed> => {
  const start = performance.now();
  return Object.assign(await answer, { ms: performance.now() - start });
};

const publish = (agent: Agent) => agent.call("POST", "/v1/offers", { text: SOFA });

const newConnected = () => connectedAgent(service.url, cluster.url);

/** Holds the locks that a statement takes, until released. */
const hold = async (statement: string): Promise<{ release: () => Promise<void> }> => {
  const holder = new pg.Client({ connectionString: cluster.url });
  holder.on("error", () => {});
  await holder.connect();
  await holder.query("begin");
  await holder.query(statement);
  return {
    release: async () => {
      await holder.query("rollback").catch(() => {});
      await holder.end();
    },
  };
};

for (const mode of ["fast", "immediate"] as const) {
  test.serial(`callers get 503 during a restart of the database (${mode}), then the service works again`, async (t) => {
    const agent = await newConnected();
    // An agent that makes no calls until the restart is over, so that it has not reached its cap.
    const fresh = await newConnected();
    t.is((await publish(agent)).status, 201);
    let over = false;
    const outcomes: Answer[] = [];
    const load = Promise.all(
      Array.from({ length: 4 }, async (_, number) => {
        while (!over) {
          // If the process had exited, the connection would be refused and this call would throw.
          outcomes.push(await (number % 2 === 0 ? agent.call("GET", "/v1/me") : publish(agent)));
          await sleep(20);
        }
      }),
    );
    const untilAnswered = (...statuses: number[]) =>
      eventually(
        async () => outcomes.map(({ status }) => status),
        (seen) => statuses.every((status) => seen.includes(status)),
      );
    await untilAnswered(200, 201);
    await cluster.halt(mode);
    await untilAnswered(503);
    const down = await Promise.all([
      agent.call("GET", "/v1/me"),
      publish(agent),
      agent.call("POST", "/v1/offers/search", { query: "sofa" }),
      call(service.url, "POST", "/v1/connect", { body: {} }),
      call(service.url, "GET", "/readyz"),
    ]);
    for (const answer of down) {
      t.is(answer.status, 503, answer.text);
      t.regex(answer.headers["retry-after"] ?? "", /^[1-9]\d*$/);
    }
    t.is(down[0]?.headers["content-type"], "application/problem+json; charset=utf-8");
    t.is((await call(service.url, "GET", "/healthz")).status, 200);
    t.is((await call(service.url, "GET", "/v1")).status, 200);

    await cluster.start();
    const back = Date.now();
    await eventually(
      () => publish(fresh),
      ({ status }) => status === 201,
      allowed(RECOVERY_MS),
    );
    await eventually(
      () => call(service.url, "GET", "/readyz"),
      ({ status }) => status === 200,
      allowed(RECOVERY_MS),
    );
    t.true(Date.now() - back < allowed(RECOVERY_MS), `${Date.now() - back} ms`);
    over = true;
    await load;
    const statuses = new Set(outcomes.map(({ status }) => status));
    statuses.delete(429);
    t.deepEqual([...statuses].sort(), [200, 201, 503]);
    t.is(service.process.exitCode, null);
  });
}

/** How many jobs that read texts a worker has locked. Cron jobs are left out, because they come and go. */
const heldJobs = () =>
  sqlValue<number>(cluster.url)`select count(*)::int from graphile_worker.jobs
    where locked_at is not null and task_identifier = 'complete_submission'`;

/** Waits until this many statements whose text contains `named` wait for a lock. */
const untilBlocked = (named: string, wanted = 1) =>
  eventually(
    () =>
      sqlValue<number>(cluster.url)`select count(*)::int from pg_stat_activity where wait_event_type = 'Lock'
        and query like '%' || ${named} || '%'`,
    (count) => count >= wanted,
  );

for (const [path, body] of [
  ["/v1/offers", { text: SOFA }],
  ["/v1/asks", { text: "I am looking for a used sofa in Rotterdam, up to 200 euros." }],
] as const) {
  test.serial(`the answer to POST ${path} survives a crash of the database that follows at once`, async (t) => {
    const agent = await newConnected();
    const headers = { authorization: `Bearer ${agent.token}`, "idempotency-key": "one text" };
    const told = await call(service.url, "POST", path, { body, headers });
    await cluster.halt("immediate");
    t.is(told.status, 201, told.text);
    await cluster.start();
    const again = await eventually(
      () => call(service.url, "POST", path, { body, headers }),
      ({ status }) => status !== 503,
      allowed(RECOVERY_MS),
    );
    t.is(again.headers["idempotency-replayed"], "true");
    t.deepEqual(again.body, told.body);
    const read = await agent.call("GET", `${path}/${told.body.offer_id ?? told.body.id}`);
    t.is(read.status, 200, read.text);
  });
}

for (const survives of [true, false])
  test.serial(
    `a text that is read while the database crashes${survives ? "" : ", which mostly loses its admission,"} is published exactly if its caller gets 201`,
    async (t) => {
      const agent = await newConnected();
      // The worker has read the text and waits to publish it when the database crashes.
      const lock = await hold("lock table market.offer in share mode");
      t.teardown(lock.release);
      const answer = publish(agent);
      await untilBlocked("complete_submission");
      // Then everything until here is on the disk.
      if (survives) await sql(cluster.url, "select pg_logical_emit_message(true, 'flush', '')");
      await cluster.halt("immediate");
      await cluster.start();
      const { status, text } = await answer;
      t.true(status === 201 || status === 503, text);
      t.is(
        await sqlValue<number>(cluster.url)`select count(*)::int from market.offer where agent_id = ${agent.id}`,
        status === 201 ? 1 : 0,
      );
      await eventually(heldJobs, (held) => held === 0);
      t.is((await publish(agent)).status, 201);
    },
  );

test.serial("if a database crash prevents a job from being marked as done, the job does not stay locked", async (t) => {
  const agent = await newConnected();
  const publishing = await hold("lock table market.offer in share mode");
  const answer = publish(agent);
  await untilBlocked("complete_submission");
  const ending = await hold("select from graphile_worker._private_jobs where locked_at is not null for update");
  t.teardown(ending.release);
  await publishing.release();
  t.is((await answer).status, 201);
  await untilBlocked("_private_jobs");
  t.is(await heldJobs(), 1);
  await cluster.halt("immediate");
  await cluster.start();
  await eventually(heldJobs, (held) => held === 0);
  await eventually(
    () =>
      sqlValue<number>(cluster.url)`select count(*)::int from graphile_worker.jobs
        where task_identifier <> 'sweep_submissions'`,
    (left) => left === 0,
  );
  t.is(await sqlValue(cluster.url)`select count(*)::int from market.offer where agent_id = ${agent.id}`, 1);
});

const lockTimeouts = async (): Promise<number> => (await cluster.log()).split("due to lock timeout").length;

test.serial("if a lock keeps a job from being marked as done, the job stays locked for at most a minute", async (t) => {
  const agent = await newConnected();
  const publishing = await hold("lock table market.offer in share mode");
  const answer = publish(agent);
  await untilBlocked("complete_submission");
  // The lock is held for longer than the ten seconds that the worker waits for it.
  const before = await lockTimeouts();
  const ending = await hold("select from graphile_worker._private_jobs where locked_at is not null for update");
  t.teardown(ending.release);
  await publishing.release();
  t.is((await answer).status, 201);
  await untilBlocked("_private_jobs");
  await eventually(lockTimeouts, (count) => count > before);
  await ending.release();
  t.is(await heldJobs(), 1);
  await eventually(heldJobs, (held) => held === 0, 60_000);
  t.is(await sqlValue(cluster.url)`select count(*)::int from market.offer where agent_id = ${agent.id}`, 1);
});

test.serial("while the database is silent, a moderator gets 503, and nobody else learns of the admin", async (t) => {
  const sql = (query: string, values: unknown[] = []) =>
    withClient(cluster.url, async (client) => (await client.query(query, values)).rows);
  const [known, unknown] = await Promise.all([signedInModerator(sql), signedInModerator(sql)]);
  const admin = ({ cookie }: { cookie: string }) =>
    call(service.url, "GET", "/admin", { headers: { cookie, accept: "text/html" } });
  await eventually(
    () => admin(known),
    ({ status }) => status === 200,
  );
  const lock = await hold("lock table market.moderator in access exclusive mode");
  t.teardown(lock.release);
  const [one, other] = await Promise.all([admin(known), admin(unknown)]);
  t.is(one.status, 503, one.text);
  t.regex(one.headers["retry-after"] ?? "", /^[1-9]\d*$/);
  t.is(other.status, 404, other.text);
  await lock.release();
  t.deepEqual([(await admin(known)).status, (await admin(unknown)).status], [200, 200]);
});

test.serial("while a process prepares an empty database, calls are answered or get 503", async (t) => {
  const empty = await createEmptyDatabase(t);
  const starting = await startService({ database: empty.url, env: environment, waitUntilReady: false }, t);
  await eventually(
    () => call(starting.url, "GET", "/healthz").catch(() => null),
    (answer) => answer?.status === 200,
  );
  const early = { refused: 0, unready: 0 };
  for (let ready = false; !ready; ) {
    ready = (await call(starting.url, "GET", "/readyz")).status === 200;
    const answers = await Promise.all([
      call(starting.url, "GET", "/v1/taxonomy"),
      call(starting.url, "GET", "/v1/me", { headers: { authorization: `Bearer ${newToken()}` } }),
      call(starting.url, "POST", "/v1/connect", { body: {} }),
      call(starting.url, "GET", "/connect/no-such-link"),
    ]);
    if (!ready) early.unready += 1;
    for (const { status, headers, text } of answers) {
      t.true([200, 201, 401, 404, 503].includes(status), text);
      if (status !== 503) continue;
      early.refused += 1;
      t.regex(headers["retry-after"] ?? "", /^[1-9]\d*$/);
    }
  }
  t.true(early.unready > 0 && early.refused > 0, JSON.stringify(early));
  t.is((await call(starting.url, "POST", "/v1/connect", { body: {} })).status, 201);
});

test.serial("a process that starts without a database logs the reason, waits, and then works", async (t) => {
  const absent = await startMarketCluster();
  t.teardown(absent.destroy);
  await absent.halt("fast");
  const options = { database: absent.url, env: environment, waitUntilReady: false };
  const [all, api, worker] = await Promise.all([
    startService(options, t),
    startPart("api", options, t),
    startPart("worker", options, t),
  ]);
  for (const { url } of [all, api]) {
    await eventually(
      () => call(url, "GET", "/healthz").catch(() => null),
      (answer) => answer?.status === 200,
    );
    const ready = await call(url, "GET", "/readyz");
    t.is(ready.status, 503);
    t.regex(ready.headers["retry-after"] ?? "", /^[1-9]\d*$/);
    t.is((await call(url, "POST", "/v1/connect", { body: {} })).status, 503);
    t.is((await call(url, "GET", "/v1")).status, 200);
  }
  for (const [part, said] of [
    [all, "the database could not be migrated; trying again"],
    [api, "the database cannot be used; trying again"],
    [worker, "ECONNREFUSED"],
  ] as const) {
    await eventually(
      async () => part.logs(),
      (logs) => logs.includes(said) && logs.includes("ECONNREFUSED"),
    );
    t.is(part.process.exitCode, null, "no crash loop");
  }

  await absent.start();
  for (const { url } of [all, api]) {
    await eventually(
      () => call(url, "GET", "/readyz"),
      ({ status }) => status === 200,
    );
  }
  const agent = await connectedAgent(api.url, absent.url);
  await all.stop();
  // The worker that started before its database reads the text.
  t.is((await agent.call("POST", "/v1/offers", { text: SOFA })).status, 201, worker.logs());
});

test.serial("while all connections are in use, callers get 503 soon, and what needs none is answered", async (t) => {
  const api = await startPart("api", { database: cluster.url, env: { ...environment, DATABASE_POOL_SIZE: "2" } }, t);
  // One caller never holds all connections. This process knows an agent after the agent's first call.
  const [agent, second] = [await newConnected(), await newConnected()];
  for (const { token } of [agent, second])
    t.is((await call(api.url, "GET", "/v1/me", { headers: { authorization: `Bearer ${token}` } })).status, 200);
  // Publishing locks the caller's rate limit window, and this test holds that lock: two calls use both connections.
  const lock = await hold(
    `select internal.lock_window('agent:' || id, 'publish_offer') from unnest('{${agent.id},${second.id}}'::text[]) as id`,
  );
  t.teardown(lock.release);
  const publishing = Array.from({ length: 12 }, (_, n) =>
    timed(
      call(api.url, "POST", "/v1/offers", {
        body: { text: SOFA },
        headers: { authorization: `Bearer ${(n % 2 === 0 ? agent : second).token}` },
      }),
    ),
  );
  await untilBlocked("publish_offer", 2);
  const [health, index, anonymous, invented, unparsable, connect] = await Promise.all([
    timed(call(api.url, "GET", "/healthz")),
    timed(call(api.url, "GET", "/v1")),
    timed(call(api.url, "POST", "/v1/offers", { body: { text: SOFA } })),
    timed(call(api.url, "POST", "/v1/offers", { body: {}, headers: { authorization: "Bearer agt_invented" } })),
    timed(call(api.url, "POST", "/v1/offers", { raw: "{", headers: { authorization: `Bearer ${agent.token}` } })),
    timed(call(api.url, "POST", "/v1/connect", { raw: "{" })),
  ]);
  t.deepEqual(
    [health, index, anonymous, invented, unparsable, connect].map(({ status }) => status),
    [200, 200, 401, 401, 400, 400],
  );
  for (const { ms } of [health, index, anonymous, invented, connect]) t.true(ms < allowed(1_000), `${ms} ms`);
  t.true(unparsable.ms < allowed(BOUND_MS), `${unparsable.ms} ms`);
  for (const { status, headers, ms, text } of await Promise.all(publishing)) {
    t.is(status, 503, text);
    t.regex(headers["retry-after"] ?? "", /^[1-9]\d*$/);
    t.true(ms < allowed(BOUND_MS), `${ms} ms`);
  }
  await lock.release();
  const after = await call(api.url, "POST", "/v1/offers", {
    body: { text: SOFA },
    headers: { authorization: `Bearer ${agent.token}` },
  });
  t.is(after.status, 201, after.text);
  t.is((await agent.call("GET", "/v1/me")).body.limits.publish_offer.used, 1, "a call that got 503 is not counted");
});

test.serial("requests that need a locked table get 503 within the lock timeout, and others are served", async (t) => {
  const agent = await newConnected();
  const published = await publish(agent);
  const lock = await hold("lock table market.offer, search.document in access exclusive mode");
  t.teardown(lock.release);
  const refused = await Promise.all([
    timed(agent.call("GET", "/v1/offers")),
    timed(agent.call("GET", `/v1/offers/${published.body.offer_id}`)),
    timed(agent.call("POST", "/v1/offers/search", { query: "sofa" })),
    timed(publish(agent)),
  ]);
  for (const { status, headers, ms, text } of refused) {
    t.is(status, 503, text);
    t.regex(headers["retry-after"] ?? "", /^[1-9]\d*$/);
    t.true(ms > 1_000 && ms < allowed(BOUND_MS), `${ms} ms`);
  }
  t.is((await call(service.url, "POST", "/v1/connect", { body: {} })).status, 201);
  t.is((await call(service.url, "GET", "/v1/taxonomy")).status, 200);
  await lock.release();
  t.is((await publish(agent)).status, 201);
});

const runMigrate = (database: string): Promise<{ code: number | null; printed: string }> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [MAIN, "migrate"], {
      env: { PATH: process.env["PATH"], DATABASE_URL: database },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let printed = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        printed += text;
      });
    }
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, printed }));
  });

test.serial("a migration that cannot get its lock gives up soon, says so, and leaves nothing half done", async (t) => {
  await sql(cluster.url, "create database to_migrate");
  const url = new URL(cluster.url);
  url.pathname = "/to_migrate";
  const lock = await withLockedRoles();
  const started = Date.now();
  const { code, printed } = await runMigrate(url.href);
  await lock.release();
  t.is(code, 1);
  t.true(Date.now() - started < allowed(15_000), `${Date.now() - started} ms`);
  t.regex(printed, /lock timeout/i);
  t.is(
    await sqlValue(url.href, "select count(*)::int from pg_namespace where nspname in ('market', 'api', 'jobs')"),
    0,
  );
});

/** Locks the table of role settings, which every migration of an empty database writes to. */
const withLockedRoles = () => hold("lock table pg_catalog.pg_db_role_setting in access exclusive mode");

test.serial("on a read-only database writes get 503, and reads are answered", async (t) => {
  const agent = await newConnected();
  const published = await publish(agent);
  const waiting = await connectAgent(service.url);
  const everySession = (setting: string) =>
    withClient(cluster.url, async (client) => {
      await client.query("set transaction_read_only = off");
      await client.query(setting);
      await client.query("select pg_reload_conf()");
      await client.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'souk%'");
    });
  await everySession("alter system set default_transaction_read_only = on");
  t.teardown(() => everySession("alter system reset default_transaction_read_only"));
  await eventually(
    () => agent.call("GET", "/v1/me"),
    ({ status }) => status === 200,
    allowed(RECOVERY_MS),
  );

  const writes = await Promise.all([
    publish(agent),
    agent.call("POST", "/v1/asks", { text: "A sofa" }),
    agent.call("POST", `/v1/offers/${published.body.offer_id}/archive`),
    call(service.url, "POST", "/v1/connect", { body: {} }),
    agent.call("DELETE", "/v1/me/agent"),
  ]);
  for (const { status, headers, text } of writes) {
    t.is(status, 503, text);
    t.regex(headers["retry-after"] ?? "", /^[1-9]\d*$/);
  }
  const reads = await Promise.all([
    agent.call("GET", "/v1/me"),
    agent.call("GET", "/v1/offers"),
    agent.call("GET", `/v1/offers/${published.body.offer_id}`),
    agent.call("POST", "/v1/offers/search", { query: "sofa" }),
    call(waiting.link, "GET", ""),
    call(service.url, "GET", "/readyz"),
  ]);
  t.deepEqual(
    reads.map(({ status }) => status),
    [200, 200, 200, 200, 200, 200],
  );

  await everySession("alter system reset default_transaction_read_only");
  await eventually(
    () => publish(agent),
    ({ status }) => status === 201,
    allowed(RECOVERY_MS),
  );
});
