import { setTimeout as sleep } from "node:timers/promises";
import test from "ava";
import pg from "pg";
import { openClient } from "../support/client.ts";
import { clockOff } from "../support/clock.ts";
import { createDatabase, type Database } from "../support/database.ts";
import { assertInvariants } from "../support/invariants.ts";
import {
  type Agent,
  type Answer,
  call,
  connectAgent,
  connectedAgent,
  eventually,
  patiently,
  SOFA,
} from "../support/market.ts";
import { newPerson } from "../support/person.ts";
import { type Service, startPart, startService } from "../support/service.ts";
import { sql, sqlValue } from "../support/sql.ts";

/**
 * Concurrent calls that exclude each other, on several processes and with clocks that differ, and rate limits in rolling
 * windows.
 *
 *   figures  the limit, remaining and reset that a response's RateLimit headers state
 */

let database: Database;
let services: [Service, Service];
let pool: pg.Pool;

let behindProxy: Promise<Service> | undefined;

/** An API with the default limit for an address, which believes a proxy on this machine. */
const proxied = (): Promise<Service> => {
  behindProxy ??= startPart("api", { database: database.url, env: { TRUST_PROXY: "loopback" } });
  return behindProxy;
};

test.before(async () => {
  database = await createDatabase();
  const options = { database: database.url, env: { CONNECTIONS_PER_HOUR: "100000", EXTRACTION_DEADLINE_MS: "60000" } };
  // The first runs migrations and the worker, too. The second is a replica of the API.
  services = [await startService(options), await startPart("api", options)];
  pool = new pg.Pool({ connectionString: database.url, max: 8 });
});
test.after.always(async () => {
  await pool?.end();
  await Promise.all([...(services ?? []).map((service) => service.stop()), behindProxy?.then(({ stop }) => stop())]);
  await database?.drop();
});
test.afterEach("every invariant holds", (t) => assertInvariants(t, database.url));

const statusOf = async (agent: Agent, url: string, path = "/v1/me"): Promise<number> =>
  (await call(url, "GET", path, { headers: { authorization: `Bearer ${agent.token}` } })).status;

test.serial("if two people press Approve at once, one gets the agent, and one reads that it was used", async (t) => {
  for (let round = 0; round < 5; round++) {
    const agent = await connectAgent(services[0].url);
    const people = [newPerson(), newPerson()];
    const elsewhere = agent.link.replace(services[0].url, services[1].url);
    await Promise.all([people[0]?.open(agent.link), people[1]?.open(elsewhere)]);
    const answers = await Promise.all(people.map((person) => person.press(agent.code)));
    t.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409]);
    t.is((await agent.call("GET", "/v1/me")).body.account.connected, true);
    t.is((await newPerson().open(agent.link)).status, 409);
  }
});

/** A call's status, and the time at which the call began. */
type Call = { begun: number; status: number };

const keepCalling = async (agent: Agent, url: string, calls: Call[], over: () => boolean): Promise<void> => {
  while (!over()) {
    const begun = performance.now();
    calls.push({ begun, status: await statusOf(agent, url) });
  }
};

test.serial("an agent that is removed while it calls is refused from then on, by every process", async (t) => {
  const agent = await connectedAgent(services[0].url, database.url);
  let over = false;
  const calls: Call[] = [];
  const calling = services.flatMap(({ url }) => [1, 2].map(() => keepCalling(agent, url, calls, () => over)));
  // Enough calls before and after the removal to prove something, however long a busy machine takes.
  await eventually(
    async () => calls.length,
    (made) => made > 20,
  );
  await agent.call("DELETE", "/v1/me/agent");
  const removed = performance.now();
  const begunAfter = () => calls.filter(({ begun }) => begun > removed);
  await eventually(
    async () => begunAfter().length,
    (made) => made > 20,
  );
  over = true;
  await Promise.all(calling);
  const after = begunAfter().map(({ status }) => status);
  t.deepEqual([...new Set(after)], [401]);
  t.true(calls.every(({ status }) => status === 200 || status === 401));
  for (const { url } of services) {
    const publishing = await call(url, "POST", "/v1/offers", {
      body: { text: SOFA },
      headers: { authorization: `Bearer ${agent.token}` },
    });
    t.is(publishing.status, 401);
  }
});

test.serial("an agent that is removed after its text was admitted publishes nothing", async (t) => {
  const agent = await connectedAgent(services[0].url, database.url);
  // The call has entered as the agent, and waits to insert its submission.
  const holder = await pool.connect();
  await holder.query("begin; lock table market.submission in share row exclusive mode");
  const publishing = agent.call("POST", "/v1/offers", { text: SOFA });
  await eventually(
    () =>
      sqlValue<number>(database.url)`select count(*)::int from pg_stat_activity
        where wait_event_type = 'Lock' and query like '%publish_offer%' and datname = current_database()`,
    (waiting) => waiting === 1,
  );
  t.is((await agent.call("DELETE", "/v1/me/agent")).status, 204);
  await holder.query("commit");
  holder.release();
  t.is((await publishing).status, 401);
  await eventually(
    () => sqlValue<number>(database.url, "select count(*)::int from market.submission where completed_at is null"),
    (open) => open === 0,
  );
  t.is(await sqlValue(database.url)`select count(*)::int from market.offer where agent_id = ${agent.id}`, 0);
});

const textOf = (kind: string, title: string): string =>
  kind === "asks" ? `Wanted: ${title} sofa up to 250 EUR` : `${title} sofa, 180 EUR, Berlin. Write to lena@example.com`;

/** Creates an ask or publishes an offer. Returns its id and path. */
const make = async (agent: Agent, kind: "asks" | "offers"): Promise<{ id: string; path: string }> => {
  const { body } = await agent.call("POST", `/v1/${kind}`, { text: textOf(kind, "First") });
  const id: string = body.offer_id ?? body.id;
  return { id, path: `/v1/${kind}/${id}` };
};

const textNow = async (agent: Agent, path: string): Promise<string> => {
  const { body } = await agent.call("GET", path);
  return body.text ?? body.description ?? body.document.description;
};

test.serial("of two changes the later stays, also if the earlier one waits for a connection", async (t) => {
  const env = { DATABASE_POOL_SIZE: "1" };
  const slow = await startPart("api", { database: database.url, env }, t);
  const agent = await connectedAgent(services[0].url, database.url);
  const other = await connectedAgent(services[0].url, database.url);
  const { path } = await make(agent, "asks");
  const text = textOf("asks", "Later");
  const holder = await openClient(database.url, t);
  await holder.query("begin");
  await holder.query("select internal.lock_window('agent:' || $1::text, 'create_ask')", [other.id]);
  // The only connection of the slow process waits for this lock, and the earlier change for the connection.
  const holding = other.at(slow.url)("POST", "/v1/asks", { text: textOf("asks", "Another") });
  await eventually(
    () => sqlValue<number>(database.url, "select count(*)::integer from pg_locks where not granted"),
    (waits) => waits > 0,
  );
  const earlier = agent.at(slow.url)("PATCH", path, { text: textOf("asks", "Earlier and longer") });
  await sleep(100);
  const later = await agent.at(services[0].url)("PATCH", path, { text });
  t.is(later.status, 200, later.text);
  await holder.query("rollback");
  t.is((await holding).status, 201);
  const { status, body } = await earlier;
  t.deepEqual([status, body.code], [409, "invalid_state"]);
  t.is(await textNow(agent, path), text);
});

test.serial("of a change of the text and one of the images at once, both are published and answered", async (t) => {
  const agent = await connectedAgent(services[0].url, database.url);
  for (let round = 0; round < 12; round += 1) {
    const { path } = await make(agent, "offers");
    const text = textOf("offers", `Round ${round}`);
    const images = [`https://images.example/${round}.jpg`];
    const bodies = round % 2 === 0 ? [{ text }, { images }] : [{ images }, { text }];
    const answers = await Promise.all(
      bodies.map((body, n) => agent.at(services[n % 2 === 0 ? 0 : 1].url)("PATCH", path, body)),
    );
    t.deepEqual(
      answers.map(({ status }) => status),
      [200, 200],
      answers.map((answer) => answer.text).join("\n"),
    );
    const { body } = await agent.call("GET", path);
    t.is(body.document.description, text);
    t.deepEqual(body.content.images, [{ url: images[0] }]);
  }
});

for (const hours of [2, -2]) {
  test.serial(`on a host whose clock is ${hours} hours off, limits, windows and expiry are correct`, async (t) => {
    const service = await startService(
      {
        database: database.url,
        env: { CONNECTIONS_PER_HOUR: "100000", NODE_OPTIONS: clockOff(hours) },
      },
      t,
    );
    const [, logged] = /"time":"([^"]+)"/.exec(service.logs()) ?? [];
    const difference = (Date.parse(logged ?? "") - Date.now()) / 3_600_000;
    t.true(Math.abs(difference - hours) < 0.1, `its clock is really off: ${difference}`);

    const connected = await call(service.url, "POST", "/v1/connect", { body: { name: "Late" } });
    t.is(connected.body.connection.expires_in, 1800);
    const agent = await connectAgent(service.url);
    const person = newPerson();
    const page = await person.open(agent.link);
    t.is(page.status, 200);
    t.true(page.text.includes("less than a minute ago"), page.text);
    t.is((await person.press(agent.code)).status, 200);
    const published = await agent.call("POST", "/v1/offers", { text: SOFA }, { "idempotency-key": "a key" });
    t.is(published.status, 201, published.text);
    t.is(published.headers["ratelimit-remaining"], "59");
    t.true(Number(published.headers["ratelimit-reset"]) > 3_590, published.headers["ratelimit-reset"]);
    t.true(Number(published.headers["ratelimit-reset"]) <= 3_600);

    // The same window, read through a host whose clock is right.
    const elsewhere = async (): Promise<Answer> =>
      call(services[1].url, "GET", "/v1/me", { headers: { authorization: `Bearer ${agent.token}` } });
    const { used, remaining, resets_in } = (await elsewhere()).body.limits.publish_offer;
    t.deepEqual([used, remaining], [1, 59]);
    t.true(resets_in > 3_580 && resets_in <= 3_600);
    const replayed = await agent.call("POST", "/v1/offers", { text: SOFA }, { "idempotency-key": "a key" });
    t.is(replayed.headers["idempotency-replayed"], "true");
    const today = await sqlValue<string>(database.url, "select to_char(now() at time zone 'utc', 'YYYY-MM-DD')");
    t.is((await agent.call("GET", `/v1/offers/${published.body.offer_id}`)).body.posted, today);

    const late = await connectAgent(service.url);
    const expire = (left: string) =>
      sql(database.url)`update market.connection set expires_at = now() + ${left}::interval
        where agent_id = ${late.id}`;
    await expire("1 minute");
    t.is((await newPerson().open(late.link)).status, 200);
    await expire("-1 second");
    t.is((await newPerson().open(late.link)).status, 410);
    await sql(database.url)`update market.rate_limit_hit set called_at = called_at - interval '1 hour'
      where scope = ${`agent:${agent.id}`}`;
    t.is((await agent.call("GET", "/v1/me")).body.limits.publish_offer.used, 0);
  });
}

type Figures = { limit: number; remaining: number; reset: number };

const figuresOf = ({ headers }: Answer): Figures => ({
  limit: Number(headers["ratelimit-limit"]),
  remaining: Number(headers["ratelimit-remaining"]),
  reset: Number(headers["ratelimit-reset"]),
});

const windowOf = async (agent: Agent, action = "publish_offer") =>
  (await agent.call("GET", "/v1/me")).body.limits[action];

const publish = (agent: Agent, headers: Record<string, string> = {}, text = SOFA) =>
  agent.call("POST", "/v1/offers", { text }, headers);

test.serial("of two hundred calls at once at a cap of sixty, sixty publish, and the headers agree", async (t) => {
  const agent = await connectedAgent(services[0].url, database.url);
  const send = () =>
    call(services[0].url, "POST", "/v1/offers", {
      body: { text: SOFA },
      headers: { authorization: `Bearer ${agent.token}` },
    });
  const answers = await Promise.all(Array.from({ length: 200 }, () => patiently(send)));
  const published = answers.filter(({ status }) => status === 201);
  const refused = answers.filter(({ status }) => status === 429);
  t.is(published.length, 60);
  t.is(refused.length, 140);

  t.deepEqual(
    published.map((answer) => figuresOf(answer).remaining).sort((one, other) => one - other),
    Array.from({ length: 60 }, (_, remaining) => remaining),
  );
  for (const answer of answers) {
    const { limit, reset } = figuresOf(answer);
    t.is(limit, 60);
    t.true(reset > 3400 && reset <= 3600, `RateLimit-Reset: ${reset}`);
  }
  for (const answer of refused) {
    const { remaining, reset } = figuresOf(answer);
    t.is(remaining, 0);
    t.is(answer.headers["retry-after"], String(reset));
    t.is(answer.body.code, "rate_limited");
    t.is(answer.body.retry_after, reset);
  }
  const { resets_in, ...rest } = await windowOf(agent);
  t.deepEqual(rest, { limit: 60, used: 60, remaining: 0 });
  t.true(resets_in > 3400 && resets_in <= Math.min(...answers.map((answer) => figuresOf(answer).reset)));
  t.is(new Set(published.map(({ body }) => body.offer_id)).size, 60);
  t.is(await sqlValue(database.url)`select count(*)::int from market.offer where agent_id = ${agent.id}`, 60);
});

test.serial("replays and refused requests do not count", async (t) => {
  const agent = await connectedAgent(services[0].url, database.url);
  const key = { "idempotency-key": "once" };
  t.is((await publish(agent, key)).status, 201);

  const replayed = await publish(agent, key);
  t.is(replayed.status, 201);
  const uncounted: [number, Answer][] = [
    [201, replayed],
    [409, await publish(agent, key, `${SOFA} or call`)],
    [400, await publish(agent, {}, "  ")],
    [400, await publish(agent, {}, "x".repeat(4001))],
    [400, await agent.call("POST", "/v1/offers", { text: 7 })],
    [400, await agent.call("POST", "/v1/offers", { text: SOFA, origin_ask_id: agent.id })],
    [400, await publish(agent, { "idempotency-key": "" })],
    [
      400,
      await call(services[0].url, "POST", "/v1/offers", {
        raw: '{"text"',
        headers: { authorization: `Bearer ${agent.token}` },
      }),
    ],
    [413, await publish(agent, {}, "x".repeat(300_000))],
  ];
  for (const [status, answer] of uncounted) {
    t.is(answer.status, status, answer.text);
    const { limit, remaining, reset } = figuresOf(answer);
    t.deepEqual([limit, remaining], [60, 59], answer.text);
    t.true(reset > 3500 && reset <= 3600);
  }
  t.is((await windowOf(agent)).used, 1);

  const unconnected = await connectAgent(services[0].url);
  const forbidden = await publish(unconnected);
  t.is(forbidden.status, 403);
  t.deepEqual(figuresOf(forbidden), { limit: 60, remaining: 60, reset: 0 });
  t.is((await windowOf(unconnected)).used, 0);
});

test.serial("offers, asks and previews have separate windows", async (t) => {
  const agent = await connectedAgent(services[0].url, database.url);
  const asked = await agent.call("POST", "/v1/asks", { text: "Wanted: a sofa up to 250 EUR" });
  t.is(asked.status, 201, asked.text);
  t.deepEqual([figuresOf(asked).limit, figuresOf(asked).remaining], [120, 119]);
  const previewed = await agent.call("POST", "/v1/offers/preview", { text: SOFA });
  t.is(previewed.status, 200, previewed.text);
  t.is((await windowOf(agent)).used, 0);
  t.is((await windowOf(agent, "create_ask")).used, 1);
  t.is((await windowOf(agent, "preview_offer")).used, 1);
});

test.serial("changes of status and reports at once pass exactly up to their caps", async (t) => {
  const [agent, neighbour] = [
    await connectedAgent(services[0].url, database.url),
    await connectedAgent(services[0].url, database.url),
  ];
  const { offer_id: own } = (await publish(agent)).body;
  const { id: ask } = (await agent.call("POST", "/v1/asks", { text: "Wanted: a sofa up to 250 EUR" })).body;
  const theirs = (await Promise.all(Array.from({ length: 20 }, () => publish(neighbour)))).map(
    ({ body }) => body.offer_id,
  );
  const fill = (action: string, count: number) =>
    sql(database.url)`insert into market.rate_limit_hit (scope, action) select 'agent:' || ${agent.id}::text, ${action}
      from generate_series(1, ${count})`;
  await fill("manage", 588);
  await fill("report_offer", 18);
  const changes = Array.from({ length: 40 }, (_, n) => (): Promise<Answer> => {
    if (n % 4 === 0) return agent.call("POST", `/v1/offers/${own}/archive`);
    if (n % 4 === 1) return agent.call("POST", `/v1/asks/${ask}/archive`);
    if (n % 4 === 2) return agent.call("PATCH", `/v1/asks/${ask}`, { watch_enabled: n % 8 === 2 });
    return agent.call("POST", `/v1/offers/${own}/archive`);
  });
  const reports = theirs.map((id) => () => agent.call("POST", `/v1/offers/${id}/report`, { reason: "spam" }));
  const statuses = async (calls: (() => Promise<Answer>)[]) =>
    (await Promise.all(calls.map((send) => patiently(send)))).map(({ status }) => status).toSorted();
  const [changed, reported] = await Promise.all([statuses(changes), statuses(reports)]);
  t.deepEqual(changed, [...Array(12).fill(200), ...Array(28).fill(429)]);
  t.deepEqual(reported, [...Array(12).fill(200), ...Array(8).fill(429)]);
  t.like(await windowOf(agent, "manage"), { limit: 600, used: 600, remaining: 0 });
  t.like(await windowOf(agent, "report_offer"), { limit: 30, used: 30, remaining: 0 });
  t.is(
    await sqlValue(database.url)`select count(*)::int from market.report where agent_id = ${agent.id}`,
    12,
    "a refused report left nothing",
  );
});

const connectFrom = (url: string, address?: string) =>
  call(url, "POST", "/v1/connect", {
    body: { name: "From somewhere" },
    headers: address === undefined ? {} : { "x-forwarded-for": address },
  });

test.serial("X-Forwarded-For counts only from a trusted proxy", async (t) => {
  const other = { database: database.url, env: { TRUST_PROXY: "203.0.113.1" } };
  const processes = [await proxied(), services[0], await startPart("api", other, t)];
  for (const { url } of processes) t.is((await connectFrom(url, "192.0.2.101")).status, 201);
  const counted = (addresses: string) =>
    sqlValue<number>(database.url)`select count(*)::int from market.rate_limit_hit
      where scope like 'address:' || ${addresses}`;
  t.is(await counted("192.0.2.101"), 1);
  t.true((await counted("127.%")) >= 2, "tests connect from addresses of this machine");
});
