import test from "ava";
import type pg from "pg";
import { hashSecret } from "../../src/base/tokens.ts";
import { withClient } from "../support/client.ts";
import { createDatabase, type Database, rolledBack } from "../support/database.ts";
import { assertInvariants } from "../support/invariants.ts";
import { type Agent, type Answer, call, connectAgent, connectedAgent, patiently, SOFA } from "../support/market.ts";
import { newPerson, type Person } from "../support/person.ts";
import { type Service, startPart, startService } from "../support/service.ts";
import { sql, sqlValue } from "../support/sql.ts";

/**
 * Rate limits in rolling windows: calls per agent and hour, and new agents per address and hour.
 *
 *   figures  the limit, remaining and reset that a response's RateLimit headers state
 */

let database: Database;
let service: Service;
let behindProxy: Promise<Service> | undefined;

/** An API with the default limit for an address, which believes a proxy on this machine. */
const proxied = (): Promise<Service> => {
  behindProxy ??= startPart("api", { database: database.url, env: { TRUST_PROXY: "loopback" } });
  return behindProxy;
};

test.before(async () => {
  database = await createDatabase();
  service = await startService({
    database: database.url,
    // All tests create agents from one address, and reading two hundred texts takes a while on a small machine.
    env: { CONNECTIONS_PER_HOUR: "1000", EXTRACTION_DEADLINE_MS: "60000" },
  });
});
test.after.always(async () => {
  await Promise.all([service?.stop(), behindProxy?.then(({ stop }) => stop())]);
  await database?.drop();
});
test.afterEach("every invariant holds", (t) => assertInvariants(t, database.url));

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

/** Moves an agent's counted calls into the past. */
const letPass = (agent: Agent, interval: string) =>
  sql(
    database.url,
    "update market.rate_limit_hit set called_at = called_at - $2::interval where scope = 'agent:' || $1::text",
    [agent.id, interval],
  );

test.serial(
  "if two hundred calls are made at once at a cap of sixty, exactly sixty publish, and the headers agree",
  async (t) => {
    const agent = await connectedAgent(service.url, database.url);
    const send = () =>
      call(service.url, "POST", "/v1/offers", {
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
    t.is(await sqlValue(database.url, "select count(*)::int from market.offer where agent_id = $1", [agent.id]), 60);
  },
);

test.serial("each call leaves the window an hour later, and a caller that waits Retry-After is admitted", async (t) => {
  const agent = await connectedAgent(service.url, database.url);
  const fill = (count: number, ago: string) =>
    sql(
      database.url,
      `insert into market.rate_limit_hit (scope, action, called_at)
       select 'agent:' || $1::text, 'publish_offer', clock_timestamp() - $3::interval from generate_series(1, $2)`,
      [agent.id, count, ago],
    );
  await fill(10, "59 minutes 50 seconds");
  await fill(50, "20 minutes");
  const refused = await publish(agent);
  t.is(refused.status, 429);
  const wait = Number(refused.headers["retry-after"]);
  t.true(wait >= 1 && wait <= 10, `Retry-After: ${wait}`);

  await new Promise((resolve) => setTimeout(resolve, wait * 1000));
  const published = await publish(agent);
  t.is(published.status, 201);
  t.is(figuresOf(published).remaining, 9);
  const { reset } = figuresOf(published);
  t.true(reset > 39 * 60 && reset <= 40 * 60, `RateLimit-Reset is the time until the oldest call leaves: ${reset}`);

  await letPass(agent, "1 hour");
  t.deepEqual(await windowOf(agent), { limit: 60, used: 0, remaining: 60, resets_in: 0 });
});

test.serial("replays and refused requests do not count", async (t) => {
  const agent = await connectedAgent(service.url, database.url);
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
      await call(service.url, "POST", "/v1/offers", {
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

  const unconnected = await connectAgent(service.url);
  const forbidden = await publish(unconnected);
  t.is(forbidden.status, 403);
  t.deepEqual(figuresOf(forbidden), { limit: 60, remaining: 60, reset: 0 });
  t.is((await windowOf(unconnected)).used, 0);
});

test.serial("a text without a contact counts, because it was read", async (t) => {
  const agent = await connectedAgent(service.url, database.url);
  const refused = await publish(agent, {}, "Grey three-seat sofa for sale. 180 EUR, pick up in Berlin.");
  t.is(refused.status, 400);
  t.is(refused.body.code, "missing_contact");
  t.is(figuresOf(refused).remaining, 59);
  t.is((await windowOf(agent)).used, 1);
});

test.serial("offers, asks and previews have separate windows", async (t) => {
  const agent = await connectedAgent(service.url, database.url);
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
    await connectedAgent(service.url, database.url),
    await connectedAgent(service.url, database.url),
  ];
  const { offer_id: own } = (await publish(agent)).body;
  const { id: ask } = (await agent.call("POST", "/v1/asks", { text: "Wanted: a sofa up to 250 EUR" })).body;
  const theirs = (await Promise.all(Array.from({ length: 20 }, () => publish(neighbour)))).map(
    ({ body }) => body.offer_id,
  );
  const fill = (action: string, count: number) =>
    sql(
      database.url,
      `insert into market.rate_limit_hit (scope, action) select 'agent:' || $1::text, $2 from generate_series(1, $3)`,
      [agent.id, action, count],
    );
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
    await sqlValue(database.url, "select count(*)::int from market.report where agent_id = $1", [agent.id]),
    12,
    "a refused report left nothing",
  );
});

type Deeds = {
  settled?: number;
  fresh?: number;
  proved?: number;
  days?: number;
  removed?: number;
  removedLongAgo?: number;
};

/** The caps of an account with these account stats. */
const capsWith = (client: pg.Client, deeds: Deeds): Promise<{ offers: number; asks: number }> =>
  rolledBack(client, async () => {
    const { settled = 0, fresh = 0, proved = 0, days = 0, removed = 0, removedLongAgo = 0 } = deeds;
    const made = await client.query<{ id: string }>(
      "insert into market.account (created_at) values (now() - $1 * interval '1 day') returning id",
      [days],
    );
    const account = made.rows[0]?.id;
    await client.query(
      `insert into market.offer (account_id, status, text, title, published_at, removed_at)
       select $1::uuid, status, 'A sofa', 'A sofa', now() - published, now() - removed
       from (values
         ($2::int, 'published', interval '72 hours', null),
         ($3, 'published', interval '71 hours', null),
         ($4, 'removed', interval '90 days', interval '29 days'),
         ($5, 'removed', interval '90 days', interval '31 days')) as wanted (count, status, published, removed),
       generate_series(1, wanted.count)`,
      [account, settled, fresh, removed, removedLongAgo],
    );
    await client.query(
      `insert into market.proved_method (account_id, method, subject_hash)
       select $1::uuid, method, sha256(convert_to($1::text || method, 'utf8'))
       from (select method from market.sign_in_method order by position limit $2) as methods`,
      [account, proved],
    );
    const { rows } = await client.query<{ offers: number; asks: number }>(
      "select internal.rate_limit($1, 'publish_offer') as offers, internal.rate_limit($1, 'create_ask') as asks",
      [account],
    );
    return rows[0] ?? { offers: 0, asks: 0 };
  });

test.serial("caps rise with an account's offers, proved methods and age, and fall with removed offers", async (t) => {
  const cases: [Deeds, offers: number, asks: number][] = [
    [{}, 60, 120],
    [{ settled: 1 }, 64, 128],
    [{ fresh: 5 }, 60, 120],
    [{ settled: 60 }, 300, 600],
    [{ settled: 75 }, 300, 600],
    [{ proved: 1 }, 90, 180],
    [{ proved: 3 }, 150, 300],
    [{ days: 29 }, 60, 120],
    [{ days: 30 }, 120, 240],
    [{ settled: 60, proved: 3, days: 30 }, 450, 900],
    [{ removedLongAgo: 4 }, 60, 120],
    [{ removed: 1 }, 30, 60],
    [{ removed: 2 }, 15, 30],
    [{ removed: 12 }, 15, 30],
    [{ settled: 60, proved: 3, days: 30, removed: 1 }, 225, 450],
    [{ settled: 60, proved: 3, days: 30, removed: 12 }, 15, 30],
  ];
  await withClient(database.url, async (client) => {
    for (const [deeds, offers, asks] of cases) {
      t.deepEqual(await capsWith(client, deeds), { offers, asks }, JSON.stringify(deeds));
    }
  });
});

test.serial("a raised cap is in the next response and in GET /v1/me", async (t) => {
  const agent = await connectedAgent(service.url, database.url);
  const first = await publish(agent);
  t.is(figuresOf(first).limit, 60);
  await withClient(database.url, async (client) => {
    // A trigger protects published_at, so it is switched off to move the offer into the past. The document names the day.
    await client.query("set session_replication_role = replica");
    await client.query(
      "update market.offer set published_at = now() - interval '72 hours', document = null where agent_id = $1",
      [agent.id],
    );
  });
  const second = await publish(agent);
  t.deepEqual([figuresOf(second).limit, figuresOf(second).remaining], [64, 62]);
  t.is((await windowOf(agent)).limit, 64);
});

const connectFrom = (url: string, address?: string) =>
  call(url, "POST", "/v1/connect", {
    body: { name: "From somewhere" },
    headers: address === undefined ? {} : { "x-forwarded-for": address },
  });

const forget = () => sql(database.url, "delete from market.rate_limit_hit where scope like 'address:%'");

test.serial(
  "if forty agents connect at once from one address, thirty are created, and the others get 429 with Retry-After",
  async (t) => {
    const api = await proxied();
    const answers = await Promise.all(Array.from({ length: 40 }, () => connectFrom(api.url, "192.0.2.7")));
    t.is(answers.filter(({ status }) => status === 201).length, 30);
    const refused = answers.filter(({ status }) => status === 429);
    t.is(refused.length, 10);
    for (const { headers, body } of refused) {
      const wait = Number(headers["retry-after"]);
      t.true(wait > 3500 && wait <= 3600, `Retry-After: ${wait}`);
      t.is(body.code, "rate_limited");
    }
    t.is((await connectFrom(api.url, "192.0.2.8")).status, 201);
  },
);

test.serial("addresses of one IPv6 /64 network count as one, and an IPv4-mapped address counts as IPv4", async (t) => {
  const env = { TRUST_PROXY: "loopback", CONNECTIONS_PER_HOUR: "2" };
  const api = await startPart("api", { database: database.url, env }, t);
  const statuses = async (...addresses: string[]) => {
    const found: number[] = [];
    for (const address of addresses) found.push((await connectFrom(api.url, address)).status);
    return found;
  };
  t.deepEqual(await statuses("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff"), [201, 201]);
  t.deepEqual(await statuses("2001:db8:1:2:8000::5", "2001:db8:1:3::1"), [429, 201]);
  t.deepEqual(
    await statuses("198.51.100.4", "::ffff:198.51.100.4", "198.51.100.4", "198.51.100.5"),
    [201, 201, 429, 201],
  );
});

test.serial("the networks of one IPv6 site together connect ten times as many agents as an address", async (t) => {
  const env = { TRUST_PROXY: "loopback", CONNECTIONS_PER_HOUR: "2" };
  const api = await startPart("api", { database: database.url, env }, t);
  const statuses = await Promise.all(
    Array.from({ length: 23 }, (_, n) => connectFrom(api.url, `2001:db8:77:${n}::1`).then(({ status }) => status)),
  );
  t.deepEqual(
    [201, 429].map((wanted) => statuses.filter((status) => status === wanted).length),
    [20, 3],
  );
  t.is((await connectFrom(api.url, "2001:db8:78::1")).status, 201);
});

test.serial("X-Forwarded-For counts only from a trusted proxy", async (t) => {
  await forget();
  const env = { CONNECTIONS_PER_HOUR: "2" };
  const untrusting = await startPart("api", { database: database.url, env }, t);
  const elsewhere = await startPart("api", { database: database.url, env: { ...env, TRUST_PROXY: "203.0.113.1" } }, t);
  const statuses = [
    (await connectFrom(untrusting.url, "192.0.2.101")).status,
    (await connectFrom(elsewhere.url, "192.0.2.102")).status,
    (await connectFrom(untrusting.url, "192.0.2.103")).status,
    (await connectFrom(elsewhere.url, "192.0.2.104")).status,
  ];
  t.deepEqual(statuses, [201, 201, 429, 429]);
  await forget();
});

/** Makes the links of an address ten seconds older, so that a refusal counts. */
const ripen = (address: string) =>
  sql(database.url, "update market.connection set created_at = created_at - interval '10 seconds' where address = $1", [
    address,
  ]);

test.serial('six people who choose "Not mine" in a day block the address for a day, and no other', async (t) => {
  const api = await proxied();
  const spammer = "203.0.113.66";
  for (let round = 1; round <= 6; round++) {
    const connected = await connectFrom(api.url, spammer);
    t.is(connected.status, 201, `connecting before the sixth "Not mine" (${round})`);
    await ripen(spammer);
    // The people have other addresses. The address of the agents is what counts.
    const declined = await newPerson({ "x-forwarded-for": `198.51.${round}.1` }).decide(
      connected.body.connection.url,
      "decline",
    );
    t.is(declined.status, 200, declined.text);
    const me = await call(api.url, "GET", "/v1/me", {
      headers: { authorization: `Bearer ${connected.body.agent_token}` },
    });
    t.is(me.status, 401);
  }
  const refused = await connectFrom(api.url, spammer);
  t.is(refused.status, 429);
  const wait = Number(refused.headers["retry-after"]);
  t.true(wait > 86_000 && wait <= 86_400, `Retry-After: ${wait}`);
  t.is((await connectFrom(api.url, "203.0.113.67")).status, 201);
  t.is((await connectFrom(api.url, "198.51.1.1")).status, 201);

  await sql(
    database.url,
    "update market.rate_limit_hit set called_at = called_at - interval '23 hours' where scope = $1",
    [`address:${spammer}`],
  );
  t.is((await connectFrom(api.url, spammer)).status, 429);
  await sql(
    database.url,
    "update market.rate_limit_hit set called_at = called_at - interval '1 hour' where scope = $1",
    [`address:${spammer}`],
  );
  t.is((await connectFrom(api.url, spammer)).status, 201);
});

test.serial("one hostile refuser, a hasty program or the agent's operator cannot block a hosted address", async (t) => {
  const api = await proxied();
  const hosted = "203.0.113.80";
  const refuse = async (person: Person, isRipe = true): Promise<number> => {
    const connected = await connectFrom(api.url, hosted);
    if (connected.status !== 201) return connected.status;
    if (isRipe) await ripen(hosted);
    return (await person.decide(connected.body.connection.url, "decline")).status;
  };
  for (let n = 1; n <= 6; n++) {
    // A fresh browser each time, from one network.
    t.is(await refuse(newPerson({ "x-forwarded-for": `198.51.100.${n}` })), 200);
    // The operator's own network, which also hosts the agent.
    t.is(await refuse(newPerson({ "x-forwarded-for": `203.0.113.${80 + n}` })), 200);
    // A program that refuses as soon as it has the link, from a new network each time.
    t.is(await refuse(newPerson({ "x-forwarded-for": `192.0.${n}.7` }), false), 200);
  }
  const counted = await sqlValue(
    database.url,
    "select count(*)::integer from market.rate_limit_hit where scope = $1 and action = 'decline'",
    [`address:${hosted}`],
  );
  t.is(counted, 1, "only the first of them counted");
  t.is((await connectFrom(api.url, hosted)).status, 201);
});

test.serial("a link that one person declined cannot be approved by another", async (t) => {
  const agent = await connectAgent(service.url);
  t.is((await newPerson().decide(agent.link, "decline")).status, 200);
  t.is((await newPerson().decide(agent.link, "approve")).status, 410);
  const error = await t.throwsAsync(() =>
    sql(database.url, "select api.approve_connection($1, null, $2)", [
      hashSecret(agent.link.split("/").at(-1) ?? ""),
      hashSecret("another session"),
    ]),
  );
  t.is(error?.message, "connection_expired");
});
