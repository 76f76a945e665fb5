import { request } from "node:http";
import test from "ava";
import { hangs, held, type Provider, slowly, startProvider } from "../reader/provider.ts";
import { withClient } from "../support/client.ts";
import { createDatabase, type Database } from "../support/database.ts";
import { assertInvariants } from "../support/invariants.ts";
import { type Agent, type Answer, call, connectedAgent, eventually, patiently, SOFA } from "../support/market.ts";
import { type Service, startPart } from "../support/service.ts";
import { sql, sqlValue } from "../support/sql.ts";

/**
 * A request with an Idempotency-Key takes effect once, even if the client, the API or the worker fails in between.
 *
 *   in flight  the first request with a key has no response yet: another request with it gets 409, and the client
 *              retries
 */

let database: Database;
let provider: Provider;
let api: Service;
let worker: Service;

const environment = () => ({
  CONNECTIONS_PER_HOUR: "1000",
  // The scripted provider is slow on purpose, and the built-in extractor must not take over.
  EXTRACTION_DEADLINE_MS: "30000",
  OPENAI_BASE_URL: provider.baseURL,
  OPENAI_API_KEY: "scripted",
});

test.before(async () => {
  [database, provider] = await Promise.all([createDatabase(), startProvider()]);
  const options = { database: database.url, env: environment() };
  [api, worker] = await Promise.all([startPart("api", options), startPart("worker", options)]);
});
test.after.always(async () => {
  await Promise.all([api?.stop(), worker?.stop()]);
  await provider?.close();
  await database?.drop();
});
test.afterEach("every invariant holds", (t) => assertInvariants(t, database.url));

/** Waits until the provider is reading a text. */
const untilRead = () =>
  eventually(
    async () => provider.requests.some(({ kind }) => kind === "offer"),
    (reading) => reading,
  );

const KEY = { "idempotency-key": "the same key" };

const publish = (url: string, agent: Agent, text = SOFA, headers: Record<string, string> = KEY): Promise<Answer> =>
  call(url, "POST", "/v1/offers", { body: { text }, headers: { authorization: `Bearer ${agent.token}`, ...headers } });

const offersOf = (agent: Agent): Promise<number> =>
  sqlValue<number>(database.url)`select count(*)::int from market.offer where agent_id = ${agent.id}`;

const callsOf = (agent: Agent): Promise<number> =>
  sqlValue<number>(
    database.url,
  )`select count(*)::int from market.rate_limit_hit where scope = 'agent:' || ${agent.id}::text`;

/** Repeats the request as a client does, until its key is no longer in flight. */
const repeat = (url: string, agent: Agent): Promise<Answer> =>
  eventually(
    () => publish(url, agent),
    ({ status }) => status !== 409,
  );

test.serial("of fifty requests with one key at once, one publishes, and others get 409 or a replay", async (t) => {
  provider.always(slowly(300));
  const agent = await connectedAgent(api.url, database.url);
  const answers = await Promise.all(Array.from({ length: 50 }, () => patiently(() => publish(api.url, agent))));
  const published = answers.filter(({ status }) => status === 201);
  const first = published.filter(({ headers }) => headers["idempotency-replayed"] === undefined);
  const inFlight = answers.filter(({ status }) => status === 409);
  t.is(first.length, 1);
  t.is(published.length + inFlight.length, 50);
  t.true(inFlight.length > 0, "some requests arrive while the text of the first is read");
  for (const { body, headers } of inFlight) {
    t.is(body.code, "idempotency_in_flight");
    t.is(headers["retry-after"], "1");
  }
  const replayed = await publish(api.url, agent);
  t.is(replayed.status, 201);
  t.is(replayed.headers["idempotency-replayed"], "true");
  for (const { body } of published) t.deepEqual(body, replayed.body);
  t.is(await offersOf(agent), 1);
  t.is(await callsOf(agent), 1);
  t.is(await sqlValue(database.url)`select count(*)::int from market.submission where agent_id = ${agent.id}`, 1);
});

test.serial("if the API is killed while a text is read, the key is in flight, then replays the 201", async (t) => {
  const doomed = await startPart("api", { database: database.url, env: environment() }, t);
  const agent = await connectedAgent(doomed.url, database.url);
  provider.reset();
  const reading = held();
  provider.nextReadings(reading.behaviour);
  const lost = publish(doomed.url, agent).then(
    ({ status }) => `answered ${status}`,
    (error: NodeJS.ErrnoException) => error.code,
  );
  await untilRead();
  await doomed.kill();
  t.is(await lost, "ECONNRESET");

  const meanwhile = await publish(api.url, agent);
  t.is(meanwhile.status, 409);
  t.is(meanwhile.body.code, "idempotency_in_flight");
  reading.release();
  const answer = await repeat(api.url, agent);
  t.is(answer.status, 201, answer.text);
  t.is(answer.headers["idempotency-replayed"], "true");
  t.is(await offersOf(agent), 1);
  t.is(await callsOf(agent), 1);
});

test.serial("a key whose job was lost does not stay in flight", async (t) => {
  const agent = await connectedAgent(api.url, database.url);
  provider.reset();
  provider.nextReadings(hangs());
  const lost = publish(api.url, agent);
  await untilRead();
  t.is((await publish(api.url, agent)).body.code, "idempotency_in_flight");
  await sql(database.url)`update market.submission set created_at = now() - interval '10 minutes'
    where agent_id = ${agent.id}`;
  await asWorker("select jobs.sweep_submissions()");
  t.is((await lost).status, 503);
  const answer = await publish(api.url, agent);
  t.is(answer.status, 201);
  t.is(answer.headers["idempotency-replayed"], undefined);
  t.is(await offersOf(agent), 1);
});

test.serial("a client that hangs up gets its response when it retries", async (t) => {
  const agent = await connectedAgent(api.url, database.url);
  provider.reset();
  const reading = held();
  provider.nextReadings(reading.behaviour);
  const { port } = new URL(api.url);
  const body = JSON.stringify({ text: SOFA });
  const impatient = request({
    port,
    method: "POST",
    path: "/v1/offers",
    headers: { authorization: `Bearer ${agent.token}`, "content-type": "application/json", ...KEY },
  });
  impatient.on("error", () => {});
  impatient.end(body);
  await untilRead();
  impatient.destroy();

  t.is((await publish(api.url, agent)).body.code, "idempotency_in_flight");
  reading.release();
  const answer = await repeat(api.url, agent);
  t.is(answer.status, 201, answer.text);
  t.is(answer.headers["idempotency-replayed"], "true");
  t.is(await offersOf(agent), 1);
});

test.serial("a request whose client hangs up before the body is complete has no effect", async (t) => {
  const agent = await connectedAgent(api.url, database.url);
  const { port } = new URL(api.url);
  const sent = request({
    port,
    method: "POST",
    path: "/v1/offers",
    headers: {
      authorization: `Bearer ${agent.token}`,
      "content-type": "application/json",
      "content-length": "500",
      ...KEY,
    },
  });
  sent.on("error", () => {});
  sent.write(JSON.stringify({ text: SOFA }));
  await new Promise((resolve) => setTimeout(resolve, 200));
  sent.destroy();
  await new Promise((resolve) => setTimeout(resolve, 200));
  t.is(await callsOf(agent), 0);
  const answer = await publish(api.url, agent);
  t.is(answer.status, 201);
  t.is(answer.headers["idempotency-replayed"], undefined);
  t.is(await offersOf(agent), 1);
});

test.serial("a text that is not read by the deadline is never published, and its key is free again", async (t) => {
  const impatient = await startPart(
    "api",
    { database: database.url, env: { ...environment(), EXTRACTION_DEADLINE_MS: "700" } },
    t,
  );
  const agent = await connectedAgent(api.url, database.url);
  provider.reset();
  const reading = held();
  provider.nextReadings(reading.behaviour);
  const refused = await publish(impatient.url, agent);
  t.is(refused.status, 503);
  t.is(refused.body.code, "service_unavailable");
  t.is(refused.headers["retry-after"], "5");
  // The worker goes on reading, and finishes too late.
  reading.release();
  await eventually(
    () =>
      sqlValue<number>(database.url)`select count(*)::int from graphile_worker.jobs
        where task_identifier = 'complete_submission'`,
    (jobs) => jobs === 0,
  );
  t.is(await offersOf(agent), 0);
  const answer = await publish(api.url, agent);
  t.is(answer.status, 201);
  t.is(answer.headers["idempotency-replayed"], undefined);
  t.is(await offersOf(agent), 1);
});

const asWorker = (statement: string) =>
  withClient(database.url, async (client) => {
    await client.query("set role souk_worker");
    return client.query(statement);
  });
