import { once } from "node:events";
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import test from "ava";
import { hangs, held, type Provider, slowly, startProvider, well } from "../reader/provider.ts";
import { allowed } from "../support/busy.ts";
import { openClient } from "../support/client.ts";
import { createDatabase, type Database } from "../support/database.ts";
import { assertInvariants } from "../support/invariants.ts";
import { type Agent, type Answer, call, connectedAgent, eventually, SOFA } from "../support/market.ts";
import { type Service, startPart, startService } from "../support/service.ts";
import { sql, sqlValue } from "../support/sql.ts";

/**
 * Processes are stopped with SIGTERM or killed with SIGKILL. No accepted request is lost, and none takes effect twice.
 */

/**
 * Twice the time within which the job of a dead worker must run again, so that a test can tell a late job from a lost
 * one.
 */
const PATIENCE_MS = 120_000;

/** After this silence a worker counts as dead. Others look every ten seconds, so its jobs run again within a minute. */
const SILENCE = "30 seconds";

/** Promised: a worker that is told to stop has exited within ten seconds. */
const STOP_MS = 10_000;

let database: Database;
let provider: Provider;
/** The API of the tests whose workers stop. It is stopped in the test of an idle connection. */
let api: Service;
/** The worker of these tests, each of which stops it and starts the next one. */
let worker: Service;

test.before(async () => {
  [database, provider] = await Promise.all([createDatabase(), startProvider()]);
  [api, worker] = await Promise.all([startPart("api", options()), startPart("worker", options())]);
});
test.after.always(async () => {
  await Promise.all([api?.stop(), worker?.stop()]);
  await provider?.close();
  await database?.drop();
});
test.afterEach("every invariant holds", (t) => assertInvariants(t, database.url));
test.beforeEach(() => {
  provider.reset();
});

const options = () => ({
  database: database.url,
  env: {
    CONNECTIONS_PER_HOUR: "1000",
    EXTRACTION_DEADLINE_MS: "60000",
    OPENAI_BASE_URL: provider.baseURL,
    OPENAI_API_KEY: "scripted",
  },
});

const publish = (url: string, agent: Agent, key = "a key"): Promise<Answer> =>
  call(url, "POST", "/v1/offers", {
    body: { text: SOFA },
    headers: { authorization: `Bearer ${agent.token}`, "idempotency-key": key },
  });

const offersOf = (agent: Agent): Promise<number> =>
  sqlValue<number>(database.url)`select count(*)::int from market.offer where agent_id = ${agent.id}`;

const readings = (): number => provider.requests.filter(({ kind }) => kind === "offer").length;

const untilRead = (count: number) =>
  eventually(
    async () => readings(),
    (read) => read >= count,
  );

const unreadJobs = () =>
  sqlValue<number>(database.url)`select count(*)::int from graphile_worker.jobs
    where task_identifier = 'complete_submission'`;

/** Makes dead workers look as if they had been silent for long enough, so that a test need not wait. */
const letSilencePass = () =>
  sql(
    database.url,
    `with beats as (update market.worker_heartbeat set beat_at = beat_at - interval '${SILENCE}')
     update graphile_worker._private_jobs set locked_at = locked_at - interval '${SILENCE}' where locked_at is not null`,
  );

test.serial("if a worker is killed while it reads, its job runs again and takes effect once", async (t) => {
  const agent = await connectedAgent(api.url, database.url);
  provider.nextReadings(hangs());
  const answer = publish(api.url, agent);
  await untilRead(1);
  await worker.kill();
  await letSilencePass();
  worker = await startPart("worker", options());
  // The caller still waits, and gets its response.
  const { status, headers } = await answer;
  t.is(status, 201);
  t.is(headers["idempotency-replayed"], undefined);
  t.is(readings(), 2);
  t.is(await offersOf(agent), 1);
});

test.serial("if a worker is killed before it marks a job as done, the job runs again without effect", async (t) => {
  const agent = await connectedAgent(api.url, database.url);
  const reading = held();
  provider.nextReadings(reading.behaviour);
  const answer = publish(api.url, agent);
  await untilRead(1);
  // Locks the job's row, so that the worker can do the work but cannot mark the job as done.
  const holder = await openClient(database.url, t);
  await holder.query("begin");
  const locked = await holder.query(
    `select from graphile_worker._private_jobs j join graphile_worker._private_tasks k on k.id = j.task_id
     where j.locked_at is not null and k.identifier = 'complete_submission' for update of j`,
  );
  t.is(locked.rowCount, 1);
  reading.release();
  t.is((await answer).status, 201);
  await worker.kill();
  // The killed worker's sessions may still be open, because PostgreSQL notices a lost client late. This ends them.
  await sql(database.url)`select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'souk_worker'`;
  await holder.query("rollback");
  t.is(await unreadJobs(), 1);
  await letSilencePass();
  worker = await startPart("worker", options());
  await eventually(unreadJobs, (jobs) => jobs === 0, PATIENCE_MS);
  t.is(await offersOf(agent), 1);
  const again = await publish(api.url, agent);
  t.deepEqual(again.body, (await answer).body);
  t.is(again.headers["idempotency-replayed"], "true");
});

test.serial("a worker that stops while its provider hangs exits in ten seconds, and another goes on", async (t) => {
  const agent = await connectedAgent(api.url, database.url);
  provider.nextReadings(hangs());
  const answer = publish(api.url, agent);
  await untilRead(1);
  const started = Date.now();
  await worker.stop();
  t.true(Date.now() - started < allowed(STOP_MS), `${Date.now() - started} ms`);
  // This process may hear of it a moment later.
  t.true(
    await eventually(
      async () => provider.requests.some(({ hungUp }) => hungUp),
      (hungUp) => hungUp,
    ),
    "the call to the provider was aborted",
  );
  t.is(
    await sqlValue(database.url, "select count(*)::int from graphile_worker.jobs where locked_at is not null"),
    0,
    "no job is locked any more",
  );
  worker = await startPart("worker", options());
  t.is((await answer).status, 201);
  t.is(await offersOf(agent), 1);
});

test.serial("an idle connection does not keep an API from stopping", async (t) => {
  const { port } = new URL(api.url);
  const idle = request({ port, path: "/v1", headers: { connection: "keep-alive" } });
  idle.on("error", () => {});
  const answered = new Promise((resolve) => idle.on("response", (response) => response.resume().on("end", resolve)));
  idle.end();
  await answered;
  const silent = request({ port, method: "POST", path: "/v1/connect", headers: { "content-length": "10" } });
  silent.on("error", () => {});
  silent.flushHeaders();
  await sleep(100);
  const started = Date.now();
  await api.stop();
  t.true(Date.now() - started < allowed(STOP_MS), `${Date.now() - started} ms`);
});

/** Sends requests one after another, each on its own connection, until `enough` says stop, and notes each outcome. */
const keepCalling = async (
  url: string,
  agent: Agent,
  path: string,
  outcomes: string[],
  enough: () => boolean,
): Promise<void> => {
  while (!enough()) {
    outcomes.push(
      await agentCall(url, agent, "GET", path).then(
        ({ status }) => String(status),
        (error: NodeJS.ErrnoException) => error.code ?? error.message,
      ),
    );
  }
};

const agentCall = (url: string, agent: Agent, method: string, path: string): Promise<Answer> =>
  call(url, method, path, { headers: { authorization: `Bearer ${agent.token}` } });

test.serial("an API that stops answers 503 at /readyz, then every accepted request, and exits with 0", async (t) => {
  const api = await startPart("api", options(), t);
  const agents = await Promise.all(Array.from({ length: 4 }, () => connectedAgent(api.url, database.url)));
  provider.always(slowly(1_000));

  // Acts as a load balancer, which sends no more requests once /readyz answers 503.
  let told = false;
  const readiness: number[] = [];
  const balancer = (async () => {
    while (!told) {
      const { status } = await call(api.url, "GET", "/readyz");
      readiness.push(status);
      told = status !== 200;
      await sleep(20);
    }
  })();
  const outcomes: string[] = [];
  const load = agents.map((agent) => keepCalling(api.url, agent, "/v1/me", outcomes, () => told));
  await eventually(
    async () => outcomes.length,
    (calls) => calls > 50,
  );
  const texts = agents.map((agent) => publish(api.url, agent));
  await untilRead(agents.length);
  // A client that has sent half of its request when the signal comes.
  const [slowest] = agents;
  const { port } = new URL(api.url);
  const body = JSON.stringify({ query: "sofa" });
  const half = request({
    port,
    method: "POST",
    path: "/v1/offers/search",
    headers: {
      authorization: `Bearer ${slowest?.token}`,
      "content-type": "application/json",
      "content-length": String(body.length),
      expect: "100-continue",
    },
  });
  // The API sends 100 Continue when it has begun with the request.
  const begun = once(half, "continue");
  const halfAnswered = new Promise<number>((resolve, reject) => {
    half.on("error", reject);
    half.on("response", (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode ?? 0));
    });
  });
  half.flushHeaders();
  await begun;
  half.write(body.slice(0, 5));

  const stopped = api.stop();
  await balancer;
  half.end(body.slice(5));
  await Promise.all(load);
  t.deepEqual([...new Set(outcomes)], ["200"]);
  t.deepEqual(
    (await Promise.all(texts)).map(({ status }) => status),
    agents.map(() => 201),
  );
  t.is(await halfAnswered, 200);
  t.is(readiness.at(-1), 503);
  await stopped;
  t.is(await api.exited, 0);
  await t.throwsAsync(() => call(api.url, "GET", "/healthz"), { code: "ECONNREFUSED" });
});

/** The process of the last two tests. */
let service: Service;
test.after.always(() => service?.stop());

test.serial("if a process with API and worker is killed and restarted, no accepted request is lost", async (t) => {
  await worker.stop();
  const doomed = await startService(options(), t);
  const agent = await connectedAgent(doomed.url, database.url);
  t.is((await publish(doomed.url, agent, "before")).status, 201);
  provider.always(hangs());
  const reading = readings();
  const lost = ["one", "two", "three"].map((key) => publish(doomed.url, agent, key).catch(() => null));
  await untilRead(reading + 3);
  await doomed.kill();
  t.deepEqual(await Promise.all(lost), [null, null, null]);

  provider.always(well());
  await letSilencePass();
  service = await startService(options());
  t.is((await publish(service.url, agent, "before")).headers["idempotency-replayed"], "true");
  for (const key of ["one", "two", "three"]) {
    const answer = await eventually(
      () => publish(service.url, agent, key),
      ({ status }) => status !== 409,
      PATIENCE_MS,
    );
    t.is(answer.status, 201, answer.text);
    t.is(answer.headers["idempotency-replayed"], "true");
  }
  t.is(await offersOf(agent), 4);
});

test.serial("when a service is killed at any moment, each text is published once", async (t) => {
  provider.always(slowly(30));
  const agent = await connectedAgent(service.url, database.url);
  const keys = Array.from({ length: 12 }, (_, number) => `text ${number}`);
  for (const delay of [15, 45, 90]) {
    const sent = keys.map((key) => publish(service.url, agent, key).catch(() => null));
    await sleep(delay);
    await service.kill();
    await Promise.all(sent);
    await letSilencePass();
    service = await startService(options());
  }
  for (const key of keys) {
    const { status } = await eventually(
      () => publish(service.url, agent, key),
      (answer) => answer.status !== 409,
      PATIENCE_MS,
    );
    t.is(status, 201);
  }
  t.is(await offersOf(agent), keys.length);
});
