import { setTimeout as sleep } from "node:timers/promises";
import test from "ava";
import pg from "pg";
import { hashSecret } from "../../src/base/tokens.ts";
import { allowed } from "../support/busy.ts";
import { withClient } from "../support/client.ts";
import { type Agent, type Answer, type Body, call, eventually, sessionOf } from "../support/market.ts";
import { type Market, OFFER, openMarket, settled, telling } from "./contract.ts";

/**
 * The feed of events: what it tells, that it misses nothing and repeats nothing, and how agents wait for it. Tests that
 * measure times run one after the other.
 */

let market: Market;
test.before(async () => {
  market = await openMarket();
});
test.after.always(() => market?.stop());

const WANTED = "Wanted: sofa in Berlin, up to 250 EUR";

const read = (agent: Agent, query = ""): Promise<Answer> => agent.call("GET", `/v1/events${query}`);
const typesOf = (answer: Answer): string[] => answer.body.events.map(({ type }: Body) => type);
const cursorOf = async (agent: Agent): Promise<string> => (await read(agent, "?after=now")).body.cursor;

const heldBy = (cursor: string): Body => JSON.parse(Buffer.from(cursor, "base64url").toString());
const cursorWith = (held: Body): string => Buffer.from(JSON.stringify(held)).toString("base64url");

const created = async (agent: Agent, path: string, body: Body): Promise<Body> => {
  const answer = await agent.call("POST", path, body);
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body;
};

/** Writes an event of an agent's account. */
const write = (client: Pick<pg.Client, "query">, agent: Agent, data: object, type = "ask.read") =>
  client.query(
    "insert into market.event (account_id, type, data) select account_id, $2, $3 from market.agent where id = $1",
    [agent.id, type, data],
  );

/** Writes an event in a transaction that stays open. */
const openEvent = async (agent: Agent) => {
  const client = new pg.Client({ connectionString: market.databaseUrl });
  await client.connect();
  await client.query("begin");
  await write(client, agent, { of: "the open transaction" });
  return async (how: "commit" | "rollback") => {
    await client.query(how);
    await client.end();
  };
};

test("the feed tells of the account's own events, oldest first, each once", async (t) => {
  const [owner, seeker] = [await market.agent(), await market.agent()];
  const first = await read(seeker);
  t.deepEqual(
    { status: first.status, headers: telling(first), body: settled(first.body) },
    {
      status: 200,
      headers: { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" },
      body: {
        events: [{ id: "<id>", type: "agent.connected", occurred_at: "<time>", data: { agent_id: "<id>" } }],
        cursor: "<cursor>",
        has_more: false,
      },
    },
  );
  t.is(first.body.events[0].data.agent_id, seeker.id);
  t.deepEqual((await read(seeker, `?after=${first.body.cursor}`)).body.events, []);
  const ask = await created(seeker, "/v1/asks", { text: WANTED.replace("Berlin", "Ulm") });
  const offer = (await created(owner, "/v1/offers", { text: OFFER.replace("Berlin", "Ulm") })).offer_id;
  const second = await eventually(
    () => read(seeker, `?after=${first.body.cursor}`),
    (answer) => answer.body.events.some(({ data }: Body) => data.offer_id === offer),
  );
  t.is(typesOf(second)[0], "ask.read");
  const match = second.body.events.find(({ data }: Body) => data.offer_id === offer);
  t.deepEqual([match.type, match.data.ask_id, typeof match.data.score], ["match.created", ask.id, "number"]);
  t.deepEqual(typesOf(await read(owner)), ["agent.connected"], "others' events are not told");
  await owner.call("POST", `/v1/offers/${offer}/archive`);
  const third = await read(seeker, `?after=${second.body.cursor}`);
  t.deepEqual(
    third.body.events.map(({ type, data }: Body) => [type, data]),
    [["match.withdrawn", { ask_id: ask.id, offer_id: offer }]],
  );
  t.deepEqual(typesOf(await read(owner)), ["agent.connected", "offer.archived"]);
  await seeker.call("PATCH", `/v1/asks/${ask.id}`, { watch_enabled: false });
  await owner.call("POST", `/v1/offers/${offer}/republish`);
  t.deepEqual((await read(seeker, `?after=${third.body.cursor}`)).body.events, [], "an ask that does not watch");
});

test("pages of the feed go on where the last one ended, also when events come in between", async (t) => {
  const agent = await market.agent();
  const writeNumber = (n: number) => withClient(market.databaseUrl, (client) => write(client, agent, { n }));
  let { cursor } = (await read(agent, "?after=now")).body;
  const late = await openEvent(agent);
  for (let n = 0; n < 5; n += 1) await writeNumber(n);
  const seen: Body[] = [];
  for (let page = 0; page < 5; page += 1) {
    const { body } = await read(agent, `?after=${cursor}&limit=2`);
    seen.push(...body.events.map(({ data }: Body) => data.n ?? data.of));
    if (page === 0) {
      t.true(body.has_more);
      await late("commit");
      await writeNumber(5);
    }
    cursor = body.cursor;
  }
  t.deepEqual(seen, [0, 1, 2, 3, 4, "the open transaction", 5]);
});

test.serial("an event whose transaction is held open is told when it commits, and delays no other", async (t) => {
  const agent = await market.agent();
  const before = await cursorOf(agent);
  const end = await openEvent(agent);
  await created(agent, "/v1/asks", { text: WANTED, watch_enabled: false });
  const first = await read(agent, `?after=${before}`);
  t.deepEqual(typesOf(first), ["ask.read"]);
  const next = read(agent, `?after=${first.body.cursor}&wait=25`);
  await sleep(300);
  const start = performance.now();
  await end("commit");
  t.deepEqual(
    (await next).body.events.map(({ data }: Body) => data),
    [{ of: "the open transaction" }],
  );
  t.true(performance.now() - start < allowed(1000));
  const cursor = (await next).body.cursor;
  await (await openEvent(agent))("rollback");
  t.deepEqual((await read(agent, `?after=${cursor}`)).body.events, [], "what did not happen is not told");
});

test("with many writers at once, a reader sees every event exactly once", async (t) => {
  const agent = await market.agent();
  let cursor = await cursorOf(agent);
  let done = false;
  const writers = Array.from({ length: 6 }, async (_, writer) => {
    const client = new pg.Client({ connectionString: market.databaseUrl });
    await client.connect();
    for (let n = 0; n < 40; n += 1) {
      await client.query("begin");
      await write(client, agent, { n: `${writer} ${n}` });
      await sleep(Math.random() * 8);
      await client.query(n % 5 === 4 ? "rollback" : "commit");
    }
    await client.end();
  });
  const all = Promise.all(writers).then(() => {
    done = true;
  });
  const seen: string[] = [];
  for (let last = false; ; last = done) {
    const { body } = await read(agent, `?after=${cursor}&limit=7`);
    seen.push(...body.events.map(({ data }: Body) => data.n));
    cursor = body.cursor;
    if (last && !body.has_more && body.events.length === 0) break;
  }
  await all;
  t.is(new Set(seen).size, seen.length, "none twice");
  t.is(seen.length, 6 * 32);
});

test.serial("a match reaches a waiting agent within a second of the 201", async (t) => {
  const [owner, seeker] = [await market.agent(), await market.agent()];
  const ask = await created(seeker, "/v1/asks", { text: "Wanted: hammock in Ulm, up to 250 EUR" });
  const times: number[] = [];
  let after = await cursorOf(seeker);
  for (let n = 0; n < 2; n += 1) {
    const waiting = read(seeker, `?after=${after}&wait=25`);
    await sleep(200);
    const text = "Green hammock, as good as new. 90 EUR, pick up in Ulm. Write to lena@example.com";
    const offer = await created(owner, "/v1/offers", { text });
    const start = performance.now();
    const { body } = await waiting;
    times.push(performance.now() - start);
    t.deepEqual([body.events[0].type, body.events[0].data.ask_id], ["match.created", ask.id]);
    t.is(body.events[0].data.offer_id, offer.offer_id);
    after = body.cursor;
  }
  t.true(Math.min(...times) < allowed(1000), times.map(Math.round).join(", "));
});

test.serial("an agent that waits for its approval is told of it", async (t) => {
  // Of a person who has an account already, so that the agent moves there while it waits.
  const [agent, other] = [await market.stranger(), await market.agent()];
  const waiting = read(agent, "?after=now&wait=25");
  await sleep(300);
  await market.sql("select api.approve_connection($1, $2, null, picked => $3)", [
    hashSecret(agent.link.split("/").at(-1) ?? ""),
    sessionOf(other.link),
    agent.code,
  ]);
  const start = performance.now();
  t.deepEqual(typesOf(await waiting), ["agent.connected"]);
  t.true(performance.now() - start < allowed(1000));
});

test.serial("a wait without an event ends in time with an empty answer, and takes no turn", async (t) => {
  const agent = await market.agent();
  const after = await cursorOf(agent);
  const start = performance.now();
  // Not by agent.call, which sends few requests at once.
  const headers = { authorization: `Bearer ${agent.token}` };
  const waits = Array.from({ length: 9 }, () =>
    call(market.url, "GET", `/v1/events?after=${after}&wait=5`, { headers }),
  );
  const ninth = await Promise.race(waits);
  t.deepEqual([ninth.status, ninth.body.code, ninth.headers["retry-after"]], [429, "rate_limited", "1"]);
  t.is((await agent.call("GET", "/v1/me")).status, 200, "eight waiting calls leave room for others");
  const ended = (await Promise.all(waits)).filter((answer) => answer !== ninth);
  for (const { status, body } of ended) t.deepEqual([status, body.events, body.has_more], [200, [], false]);
  const took = performance.now() - start;
  t.true(took >= 4_900 && took < allowed(8_000), `${took}`);
});

test("a removed agent is refused, and one that is disconnected reads nothing", async (t) => {
  const [removed, disconnected] = [await market.agent(), await market.agent()];
  const waiting = read(removed, "?after=now&wait=25");
  await sleep(300);
  await removed.call("DELETE", "/v1/me/agent");
  t.is((await waiting).status, 401);
  await market.sql("update market.agent set connected_at = null, disconnected_at = now() where id = $1", [
    disconnected.id,
  ]);
  t.deepEqual((await read(disconnected)).body.events, []);
});

/** Writes events of an agent's account with a number that every cursor has seen: after a crash, numbers are given again. */
const writeReused = (agent: Agent, ...types: string[]) =>
  market.sql(
    `insert into market.event (account_id, xid, type, data)
     select account_id, '3', unnest($2::text[]), '{}' from market.agent where id = $1`,
    [agent.id, types],
  );

/** Reads on from a cursor, one event a page, to the end. */
const readOn = async (agent: Agent, cursor: string): Promise<{ types: string[]; cursor: string }> => {
  const types: string[] = [];
  for (let at = cursor; ; ) {
    const page = await read(agent, `?after=${at}&limit=1`);
    types.push(...typesOf(page));
    at = page.body.cursor;
    // Events of one transaction that were written in one millisecond come in any order.
    if (!page.body.has_more) return { types: types.sort(), cursor: at };
  }
};

test("events whose transactions have numbers that were given again after a crash are told once", async (t) => {
  const agent = await market.agent();
  for (const after of ["", "?after=now"]) {
    const from = (await read(agent, after)).body.cursor;
    await writeReused(agent, "offer.stale", "offer.archived", "offer.removed");
    const told = await readOn(agent, from);
    t.deepEqual(told.types, ["offer.archived", "offer.removed", "offer.stale"]);
    t.deepEqual((await readOn(agent, told.cursor)).types, []);
  }
});

test("after a crash between two pages, what happened since comes once, in the next reading", async (t) => {
  const agent = await market.agent();
  await writeReused(agent, "offer.stale", "offer.stale");
  const first = await read(agent, "?limit=1");
  t.true(first.body.has_more);
  await writeReused(agent, "offer.archived");
  const rest = await readOn(agent, first.body.cursor);
  t.deepEqual([...typesOf(first), ...rest.types].sort(), ["agent.connected", "offer.stale", "offer.stale"]);
  const next = await readOn(agent, rest.cursor);
  t.deepEqual(next.types, ["offer.archived"]);
  t.deepEqual((await readOn(agent, next.cursor)).types, []);
});

test("a cursor from before a crash, which is from the future then, tells only what happened after it", async (t) => {
  const agent = await market.agent();
  const future = "900000000000";
  const cursor = cursorWith({ ...heldBy((await read(agent)).body.cursor), seen: future });
  t.deepEqual((await readOn(agent, cursor)).types, []);
  await writeReused(agent, "offer.stale");
  t.deepEqual((await readOn(agent, cursor)).types, ["offer.stale"]);
});

test("after the server's clock was set back, what was told is not told again", async (t) => {
  const agent = await market.agent();
  const held = heldBy((await read(agent)).body.cursor);
  const ahead = new Date(Date.now() + 60_000).toISOString();
  const { types, cursor } = await readOn(agent, cursorWith({ ...held, seen_at: ahead }));
  t.deepEqual(types, []);
  t.is(new Date(heldBy(cursor)["seen_at"]).toISOString(), ahead);
});

test("a page is in the order of what happened, whichever transaction began first", async (t) => {
  const agent = await market.agent();
  const from = (await read(agent)).body.cursor;
  await withClient(market.databaseUrl, async (early) => {
    await early.query("begin");
    await early.query("select pg_current_xact_id()");
    await withClient(market.databaseUrl, (late) => write(late, agent, {}, "match.created"));
    await write(early, agent, {}, "match.withdrawn");
    await early.query("commit");
  });
  t.deepEqual(typesOf(await read(agent, `?after=${from}`)), ["match.created", "match.withdrawn"]);
});

test("a forged cursor is refused", async (t) => {
  const agent = await market.agent();
  const held = heldBy((await read(agent)).body.cursor);
  for (const broken of [{ seen: "x" }, { seen_at: "x" }, { until: "x" }, { as_of: "x" }, { id: "x" }])
    t.is((await read(agent, `?after=${cursorWith({ ...held, ...broken })}`)).status, 400, JSON.stringify(broken));
});

test("events older than 30 days are not told", async (t) => {
  const agent = await market.agent();
  await market.sql(
    `insert into market.event (account_id, type, data, occurred_at)
     select account_id, 'ask.read', '{}', now() - interval '31 days' from market.agent where id = $1`,
    [agent.id],
  );
  t.deepEqual(typesOf(await read(agent)), ["agent.connected"]);
});
