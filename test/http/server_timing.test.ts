import test from "ava";
import { hashSecret, newSecret, newToken } from "../../src/base/tokens.ts";
import { type Agent, call, connectedAgent, SOFA } from "../support/market.ts";
import { type SharedService, sharedService } from "../support/shared.ts";
import { sql } from "../support/sql.ts";

/** Who is told where the time of a request went. */

let service: SharedService;
let agent: Agent;

test.before(async () => {
  service = await sharedService({ env: { SERVER_TIMING: "true" } });
  agent = await connectedAgent(service.url, service.database);
});

const ASK = { prefer: "server-timing" };
const as = (token: string) => ({ authorization: `Bearer ${token}` });
const partsOf = (header: string | undefined): string[] =>
  (header ?? "").split(", ").map((entry) => entry.split(";")[0] ?? "");

test("a known agent that asks learns the parts of its request, and one that does not ask learns nothing", async (t) => {
  const headers = { ...as(agent.token), prefer: "respond-async, Server-Timing; wait=1" };
  const read = await call(service.url, "GET", "/v1/me", { headers });
  t.is(read.status, 200);
  t.regex(
    read.headers["server-timing"] ?? "",
    /^turn;dur=[\d.]+;desc="waiting for a turn", db;dur=[\d.]+;desc="database", total;dur=[\d.]+$/,
  );
  const published = await call(service.url, "POST", "/v1/offers", { headers, body: { text: SOFA } });
  t.is(published.status, 201);
  t.deepEqual(partsOf(published.headers["server-timing"]), ["turn", "db", "read", "render", "total"]);
  const durations = [...(published.headers["server-timing"] ?? "").matchAll(/dur=([\d.]+)/g)].map(([, n]) => Number(n));
  const total = durations.pop() ?? 0;
  t.true(durations.reduce((sum, n) => sum + n, 0) <= total + 1, "the parts are not longer than the whole");
  const search = await call(service.url, "POST", "/v1/offers/search", { headers, body: { query: "sofa" } });
  t.deepEqual(partsOf(search.headers["server-timing"]), ["turn", "db", "read", "total"]);
  t.is((await call(service.url, "GET", "/v1/me", { headers: as(agent.token) })).headers["server-timing"], undefined);
});

test("without the operator's switch nobody learns the times", async (t) => {
  const silent = await sharedService();
  const { token } = await connectedAgent(silent.url, silent.database);
  const { status, headers } = await call(silent.url, "GET", "/v1/me", { headers: { ...as(token), ...ASK } });
  t.is(status, 200);
  t.is(headers["server-timing"], undefined);
});

test("no refusal, no visitor and no answer that caches may keep comes with times", async (t) => {
  const { body } = await call(service.url, "POST", "/v1/offers", { headers: as(agent.token), body: { text: SOFA } });
  const other = await connectedAgent(service.url, service.database);
  await call(service.url, "POST", `/v1/offers/${body.id}/archive`, { headers: as(agent.token) });
  const refused = [
    // Exists and is hidden, and does not exist: both look the same.
    ["GET", `/v1/offers/${body.id}`, as(other.token)],
    ["GET", `/v1/offers/${crypto.randomUUID()}`, as(other.token)],
    ["GET", "/v1/me", as(newToken())],
    ["GET", "/v1", {}],
    ["GET", "/v1", as(agent.token)],
    ["GET", "/sign-in", {}],
    ["POST", "/v1/connect", {}],
  ] as const;
  for (const [method, path, headers] of refused) {
    const answer = await call(service.url, method, path, { headers: { ...headers, ...ASK } });
    t.is(answer.headers["server-timing"], undefined, `${method} ${path} ${answer.status}`);
  }
});

test("a person learns the parts of a page, but not of what a form did", async (t) => {
  const secret = newSecret();
  await sql(
    service.database,
    "insert into market.session (account_id, secret_hash) select account_id, $2 from market.agent where id = $1",
    [agent.id, hashSecret(secret)],
  );
  const headers = { cookie: `souk_session=${secret}`, ...ASK };
  // The first request makes the session known to the process.
  await call(service.url, "GET", "/settings", { headers });
  const page = await call(service.url, "GET", "/settings", { headers });
  t.is(page.status, 200);
  t.deepEqual(partsOf(page.headers["server-timing"]), ["turn", "db", "render", "total"]);
  const form = await call(service.url, "POST", "/settings", { headers, raw: "token=none" });
  t.is(form.headers["server-timing"], undefined);
});
