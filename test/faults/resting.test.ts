import test from "ava";
import { listEvents } from "../../src/api/handlers/list_events.ts";
import { openDatabase } from "../../src/database/database.ts";
import { listenForNotifications } from "../../src/database/notifications.ts";
import type { Caller } from "../db/market.ts";
import { market } from "../db/one_market.ts";
import { withClient } from "../support/client.ts";
import { eventually } from "../support/market.ts";

/** An agent that waits for events again and again: what its waits cost the database, and what ends its rest. */

type Feed = { events: { type: string }[]; cursor: string };

/** A process that counts how often it reads the feed. */
const openProcess = (t: { teardown: (close: () => Promise<void>) => void }) => {
  const database = openDatabase({
    url: market.url,
    poolSize: 2,
    role: "souk_api",
    embedded: false,
    onError: () => {},
  });
  const stopping = new AbortController();
  const notifications = listenForNotifications({
    url: market.url,
    readersSince: async (snapshot) =>
      JSON.parse(await database.call("visitor", "list_event_readers", { snapshot }, "write")),
    stopping: stopping.signal,
    log: { debug: () => {} } as never,
  });
  t.teardown(async () => {
    stopping.abort();
    await notifications.close();
    await database.close();
  });
  let reads = 0;
  const call: typeof database.call = (...args) => {
    reads += 1;
    return database.call(...args);
  };
  /** Waits for events, and returns the answer and how often the feed was read. */
  const wait = async (caller: Caller, after: string, seconds = 2): Promise<Feed & { reads: number }> => {
    const before = reads;
    const answer = await listEvents(
      { database: { ...database, call }, notifications } as never,
      { actor: { agent: caller.token }, endpoint: {}, parameters: { after, page_size: 50, wait: seconds } } as never,
    );
    return { ...JSON.parse(String(answer.body)), reads: reads - before };
  };
  /** Lets a caller rest, and returns the cursor at which it does. */
  const rest = async (caller: Caller): Promise<string> => {
    await eventually(
      async () => notifications.listens(),
      (listens) => listens,
    );
    const { cursor } = await wait(caller, "now");
    return cursor;
  };
  return { wait, rest };
};

const write = (account: string) =>
  market.sql`insert into market.event (account_id, type, data) values (${account}, 'ask.read', '{}')`;

test("a wait after a wait without an event is not read, and keeps its cursor in every process", async (t) => {
  const [one, other] = [openProcess(t), openProcess(t)];
  const caller = await market.approved();
  const cursor = await one.rest(caller);
  for (let n = 0; n < 2; n += 1)
    t.deepEqual(await one.wait(caller, cursor), { events: [], cursor, has_more: false, reads: 0 } as never);
  t.like(await other.wait(caller, cursor), { cursor, reads: 1 });
  t.like(await other.wait(caller, cursor), { cursor, reads: 0 });
  t.like(await one.wait(caller, cursor, 0), { events: [], reads: 1 }, "without a wait, it is read");
  t.like(await one.wait(caller, (await one.wait(caller, "now", 0)).cursor), { events: [], reads: 1 }, "another cursor");
});

test("whoever rests is told of what happens, also between two waits, once", async (t) => {
  const { wait, rest } = openProcess(t);
  const caller = await market.approved();
  const cursor = await rest(caller);
  await write(caller.account);
  const between = await wait(caller, cursor, 20);
  t.is(between.events.length, 1);
  t.deepEqual((await wait(caller, between.cursor)).events, []);
  const waiting = wait(caller, between.cursor, 20);
  await write(caller.account);
  const next = await waiting;
  t.is(next.events.length, 1);
  t.deepEqual((await wait(caller, next.cursor)).events, []);
});

test("whoever rests is refused once it is removed, its account is deleted, or its token is another or has ended", async (t) => {
  const { wait, rest } = openProcess(t);
  const change: Record<string, (caller: Caller) => Promise<unknown>> = {
    removed: (caller) => market.call(caller, "remove_own_agent"),
    deleted: ({ agent }) => market.sql`delete from market.agent where id = ${agent}`,
    "another token": ({ agent }) => market.sql`update market.agent set token_hash = sha256(uuid_send(id))
      where id = ${agent}`,
  };
  await Promise.all(
    Object.entries(change).map(async ([how, make]) => {
      const caller = await market.approved();
      const cursor = await rest(caller);
      await make(caller);
      await t.throwsAsync(wait(caller, cursor, 20), { code: "PT401" }, how);
    }),
  );
  const ending = await market.approved();
  await market.sql`update market.agent set token_expires_at = now() + interval '4 seconds' where id = ${ending.agent}`;
  const cursor = await rest(ending);
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  await t.throwsAsync(wait(ending, cursor, 20), { code: "PT401" }, "a token that has ended");
});

// By itself, because it ends the connections of all processes.
test.serial("while its process hears nothing, whoever rests reads", async (t) => {
  const { wait, rest } = openProcess(t);
  const caller = await market.approved();
  const cursor = await rest(caller);
  t.is((await wait(caller, cursor)).reads, 0);
  const waiting = wait(caller, cursor, 20);
  await withClient(market.url, (client) =>
    client.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'souk_api listen'",
    ),
  );
  await write(caller.account);
  t.is((await waiting).events.length, 1);
});
