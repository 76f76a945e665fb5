import test from "ava";
import { dashboard } from "../../src/metrics/dashboard.ts";
import { type Provider, startProvider, well } from "../reader/provider.ts";
import { createDatabase, type Database } from "../support/database.ts";
import { assertInvariants } from "../support/invariants.ts";
import { type Agent, call, connectedAgent, eventually, SOFA, until } from "../support/market.ts";
import { freePort } from "../support/postgres.ts";
import { type Service, startPart } from "../support/service.ts";
import { sharedService } from "../support/shared.ts";
import { sql } from "../support/sql.ts";

/** The metrics that an API process and a worker process expose to Prometheus. */

const TOKEN = "a-token-of-the-tests";

let database: Database;
let provider: Provider;
let api: Service;
let worker: Service;
let agent: Agent;
const port = { api: "", worker: "" };

test.before(async () => {
  [database, provider, port.api, port.worker] = await Promise.all([
    createDatabase(),
    startProvider(),
    freePort().then(String),
    freePort().then(String),
  ]);
  provider.always(well());
  await sql(database.url, `alter database "${new URL(database.url).pathname.slice(1)}" set track_functions = 'pl'`);
  const models = { OPENAI_BASE_URL: provider.baseURL, OPENAI_API_KEY: "scripted" };
  [api, worker] = await Promise.all([
    startPart("api", {
      database: database.url,
      // The primary itself, as a replica that is never behind. test/faults/replica.test.ts has real ones.
      env: { ...models, METRICS_PORT: port.api, METRICS_TOKEN: TOKEN, DATABASE_READ_URL: database.url },
    }),
    startPart("worker", { database: database.url, env: { ...models, METRICS_PORT: port.worker } }),
  ]);
  agent = await connectedAgent(api.url, database.url);
});

test.after.always(async () => {
  await Promise.all([api?.stop(), worker?.stop(), provider?.close()]);
  await database?.drop();
});

type Sample = { name: string; labels: Record<string, string>; value: number };

/** One line of the text format: a name, labels in braces, a number. */
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;

const parse = (text: string): Sample[] =>
  text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [, name = "", labels = "", value] = SAMPLE.exec(line) ?? [];
      if (name === "") throw new Error(`not a sample: ${line}`);
      const pairs = [...labels.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, given]) => [label, given]);
      return { name, labels: Object.fromEntries(pairs), value: Number(value) };
    });

const get = (url: string, token?: string): Promise<Response> =>
  fetch(url, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } });
const read = async (url: string, token?: string): Promise<Sample[]> => parse(await (await get(url, token)).text());
const ofApi = () => read(`http://127.0.0.1:${port.api}/metrics`, TOKEN);
const ofWorker = () => read(`http://127.0.0.1:${port.worker}/metrics`);

const value = (samples: Sample[], name: string, labels: Record<string, string> = {}): number | undefined =>
  samples.find((s) => s.name === name && Object.entries(labels).every(([label, given]) => s.labels[label] === given))
    ?.value;

test.serial("requests are counted by operation and status, and unknown paths share the operation none", async (t) => {
  await agent.call("GET", "/v1/me");
  await agent.call("GET", "/v1/me");
  await agent.call("POST", "/v1/offers", {});
  await fetch(`${api.url}/v1/nothing/${agent.id}`);
  const samples = await ofApi();
  const count = (operation: string, status: string) =>
    value(samples, "souk_http_request_duration_seconds_count", { operation, status });
  t.is(count("getMe", "200"), 2);
  t.is(count("publishOffer", "400"), 1);
  t.is(count("none", "404"), 1);
  t.is(value(samples, "souk_http_request_duration_seconds_bucket", { operation: "getMe", le: "+Inf" }), 2);
  t.is(value(samples, "souk_pool_waiting", { pool: "write" }), 0);
  for (const pool of ["write", "read", "admin"]) t.is(value(samples, "souk_calls_waiting", { pool }), 0);
  t.is(value(samples, "souk_calls_refused_total"), 0);
  t.true((value(samples, "souk_pool_connections", { pool: "read", state: "idle" }) ?? 0) >= 1);
});

test.serial(
  "the worker exposes its jobs, and both processes expose backlog, heartbeats and what models were asked",
  async (t) => {
    t.is((await agent.call("POST", "/v1/offers", { text: SOFA })).status, 201);
    const done = (task: string) => ({ task, outcome: "done" });
    const samples = await eventually(
      ofWorker,
      (told) => (value(told, "souk_job_duration_seconds_count", done("embed_offer")) ?? 0) >= 1,
    );
    t.is(value(samples, "souk_job_duration_seconds_count", done("complete_submission")), 1);
    t.is(value(samples, "souk_job_wait_seconds_count", { task: "complete_submission" }), 1);
    const model = "gpt-4.1-mini";
    t.is(value(samples, "souk_model_calls_total", { model, operation: "read_offer", outcome: "ok" }), 1);
    t.is(value(samples, "souk_model_calls_total", { model, operation: "read_offer", outcome: "fallback" }), 0);
    for (const direction of ["input", "output"])
      t.is(value(samples, "souk_model_tokens_total", { model, operation: "read_offer", direction }), 1, direction);
    t.is(value(samples, "souk_reading_duration_seconds_count", { model, operation: "read_offer" }), 1);
    t.is(value(samples, "souk_embedding_duration_seconds_count", { outcome: "ok" }), 1);
    t.is((await agent.call("POST", "/v1/offers/search", { query: "sofa" })).status, 200);
    // The embedding of the search's query. Metrics are read twice, and a read must not count it again.
    for (const _ of [1, 2]) {
      const told = await ofApi();
      const embedding = { model: "text-embedding-3-small", operation: "embed" };
      t.is(value(told, "souk_model_calls_total", { ...embedding, outcome: "ok" }), 1);
      t.is(value(told, "souk_model_tokens_total", { ...embedding, direction: "input" }), 1);
      t.is(value(told, "souk_model_calls_total", { operation: "read_offer" }), undefined);
    }
    for (const told of [await ofApi(), await ofWorker()]) {
      t.is(value(told, "souk_database_up"), 1);
      t.is(value(told, "souk_workers"), 1);
      t.true((value(told, "souk_worker_heartbeat_age_seconds") ?? 99) < 30);
      t.is(value(told, "souk_submissions_waiting"), 0);
      t.is(value(told, "souk_sign_in_mails"), 0);
      t.is(value(told, "souk_sign_in_mails_limit"), 1000);
    }
  },
);

test.serial("a broken invariant is exposed once the worker has checked", async (t) => {
  await sql(database.url, "update market.account_stats set active = active + 5 where active > 0");
  await sql(database.url, `select graphile_worker.add_job('check_invariants', '{"sample": 10000}')`);
  await eventually(
    ofApi,
    (read) => value(read, "souk_invariant_violations", { invariant: "stats_equal_recount" }) === 1,
  );
  t.true((value(await ofApi(), "souk_invariants_checked_age_seconds") ?? 99) < 30);
  // The log line comes a moment after the metric.
  await until(() => /"invariant":"stats_equal_recount","broken":1.*an invariant is broken/.test(worker.logs()));
  t.is(value(await ofApi(), "souk_invariant_violations", { invariant: "stats_equal_recount" }), 1);
  await sql(database.url, "update market.account_stats set active = active - 5 where active > 0");
  await sql(database.url, `select graphile_worker.add_job('check_invariants', '{"sample": null}')`);
  await eventually(
    ofApi,
    (read) => value(read, "souk_invariant_violations", { invariant: "stats_equal_recount" }) === 0,
  );
  await assertInvariants(t, database.url);
});

test.serial("failed and waiting jobs are counted by task", async (t) => {
  await sql(database.url, `select graphile_worker.add_job('embed_offer', '{"id": "none"}', max_attempts => 1)`);
  const waiting = { task: "embed_offer", state: "permanently failed" };
  const read = await eventually(ofWorker, (told) => value(told, "souk_jobs", waiting) === 1);
  t.is(value(read, "souk_job_duration_seconds_count", { task: "embed_offer", outcome: "given_up" }), 1);
});

test.serial(
  "the API's own port serves metrics only with the token, and not at all if no token is configured",
  async (t) => {
    for (const [token, status] of [
      [undefined, 401],
      ["a-token-of-the-test", 401],
      ["", 401],
      [TOKEN, 200],
    ] as const) {
      t.is((await get(`${api.url}/metrics`, token)).status, status);
      t.is((await get(`http://127.0.0.1:${port.api}/metrics`, token)).status, status);
    }
    t.is((await get(`http://127.0.0.1:${port.worker}/metrics`)).status, 200);
    t.is((await get(`http://127.0.0.1:${port.worker}/v1/me`)).status, 404);
    t.is((await get(`http://127.0.0.1:${port.worker}/metrics`)).headers.get("cache-control"), "no-store");
    const bare = await sharedService();
    t.is((await get(`${bare.url}/metrics`, TOKEN)).status, 404);
  },
);

test.serial("labels contain only names from the code, and no one's data", async (t) => {
  await fetch(`${api.url}/connect/${"s".repeat(40)}`);
  const samples = [...(await ofApi()), ...(await ofWorker())].filter(({ name }) => name.startsWith("souk_"));
  t.true(samples.length > 100);
  for (const { name, labels } of samples) {
    for (const [label, given] of Object.entries(labels)) {
      t.regex(given, label === "model" ? /^[a-z0-9.-]{1,40}$/ : /^[A-Za-z0-9_+. ]{1,40}$/, `${name} ${label}`);
      t.notRegex(given, /[0-9a-f]{8}-|agt_|ssss/, `${name} ${label}`);
    }
  }
});

test.serial("a replica is in use while it is up to date", async (t) => {
  const replica = "replica 1";
  const samples = await eventually(ofApi, (found) => value(found, "souk_replica_in_use", { replica }) === 1);
  const behind = value(samples, "souk_replica_behind_seconds", { replica }) ?? Number.NaN;
  t.true(behind >= 0 && behind < 30, String(behind));
});

test.serial("each metric in the dashboard exists with the labels that the dashboard uses", async (t) => {
  const { panels } = dashboard();
  const samples = [...(await ofApi()), ...(await ofWorker())];
  const labelsOf = (name: string) =>
    new Set(samples.filter((sample) => sample.name === name).flatMap(({ labels }) => Object.keys(labels)));
  const asked = panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ title, expr })));
  t.true(asked.length >= 15);
  const names = new Set<string>();
  for (const { title, expr } of asked) {
    const found = expr.match(/\b(souk|nodejs|process)_[a-z0-9_]+/g) ?? [];
    t.true(found.length > 0, title);
    for (const name of found) {
      names.add(name.replace(/_(bucket|count|sum)$/, ""));
      t.true(
        samples.some((sample) => sample.name === name),
        `${title}: ${name}`,
      );
      const labels = [...expr.matchAll(/by \(([^)]+)\)/g)].flatMap(([, list = ""]) => list.split(/, */));
      const selected = [...expr.matchAll(/([a-z_]+)(?:=~|!=|=)"/g)].map(([, label = ""]) => label);
      if (name.startsWith("souk_"))
        for (const label of [...labels, ...selected])
          t.true(labelsOf(name).has(label), `${title}: ${name} by ${label}`);
    }
  }
  const ours = new Set(
    samples.map(({ name }) => name.replace(/_(bucket|count|sum)$/, "")).filter((name) => name.startsWith("souk_")),
  );
  t.deepEqual(
    [...ours].filter((name) => !names.has(name)),
    [],
    "the dashboard shows each metric of the service",
  );
});

test.serial("if the database is gone, a process exposes this, its own metrics, and no stale values", async (t) => {
  const own = await createDatabase();
  const metricsPort = String(await freePort());
  const service = await startPart("api", { database: own.url, env: { METRICS_PORT: metricsPort } }, t);
  const figures = () => read(`http://127.0.0.1:${metricsPort}/metrics`);
  t.is(value(await figures(), "souk_database_up"), 1);
  t.is(value(await figures(), "souk_submissions_waiting"), 0);
  const foreign = await call(`http://127.0.0.1:${metricsPort}`, "GET", "/metrics", {
    headers: { host: "evil.example" },
  });
  t.is(foreign.status, 400, "a name that somebody's DNS points at this machine");
  await own.drop();
  const samples = await figures();
  t.is(value(samples, "souk_database_up"), 0);
  t.is(value(samples, "souk_submissions_waiting"), undefined);
  t.true((value(samples, "process_resident_memory_bytes") ?? 0) > 0);
  await service.stop();
});
