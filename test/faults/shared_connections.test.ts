import test from "ava";
import pg from "pg";
import { shareConnections } from "../../src/database/shared_connections.ts";
import { openClient } from "../support/client.ts";
import { createDatabase } from "../support/database.ts";

/** Quick reads share connections: what one of them does must not harm the others. */

const MOST = 2;

const isRefusal = (error: unknown): boolean => error instanceof pg.DatabaseError && (error.code ?? "").startsWith("PT");

const open = async (t: Parameters<typeof createDatabase>[0] & object) => {
  const database = await createDatabase(t);
  const pool = new pg.Pool({ connectionString: database.url, max: 4, pipeline: true });
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  t.teardown(() => pool.end());
  const run = shareConnections(pool, MOST, isRefusal);
  const one = async (text: string, values: unknown[] = []): Promise<unknown> =>
    (await run<{ value: unknown }>({ text, values, name: text })).rows[0]?.value;
  return { pool, one, url: database.url };
};

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "done",
    (error: { code?: string }) => error.code ?? "lost",
  );

test("many statements at once use few connections, and each gets its own answer", async (t) => {
  const { pool, one } = await open(t);
  const numbers = Array.from({ length: 200 }, (_, n) => n);
  t.deepEqual(await Promise.all(numbers.map((n) => one("select $1::integer as value", [n]))), numbers);
  t.true(pool.totalCount <= MOST);
  t.is(pool.idleCount, pool.totalCount, "the connections are back in the pool");
});

test("a refusal or an error ends only its own statement, and only a refusal keeps the connection", async (t) => {
  const { pool, one } = await open(t);
  const refuse = "do $$ begin raise exception 'no' using errcode = 'PT404'; end $$";
  t.deepEqual(
    await Promise.all([codeOf(one("select 1 as value")), codeOf(one(refuse)), codeOf(one("select 2 as value"))]),
    ["done", "PT404", "done"],
  );
  const before = pool.totalCount;
  const statements = ["select 1 as value", "select 1 / 0 as value", "select 2 as value", "select 3 as value"];
  t.deepEqual(await Promise.all(statements.map((text) => codeOf(one(text)))), ["done", "22012", "done", "done"]);
  t.true(pool.totalCount < before, "the connection of the error was closed");
});

test("a statement timeout ends only its own statement: those behind it have their whole time", async (t) => {
  const { pool, one } = await open(t);
  pool.on("connect", (client) => void client.query("set statement_timeout = '400ms'"));
  const slow = Array.from({ length: MOST }, () => codeOf(one("select pg_sleep(2)::text as value")));
  const behind = Array.from({ length: 6 }, () => codeOf(one("select pg_sleep(0.1)::text as value")));
  t.deepEqual(await Promise.all(slow), Array(MOST).fill("57014"));
  t.deepEqual(await Promise.all(behind), Array(6).fill("done"));
});

test("a lost connection fails the statements on it, and the next ones get another connection", async (t) => {
  const { one, url } = await open(t);
  const waiting = Array.from({ length: 6 }, () => codeOf(one("select pg_sleep(5)::text as value")));
  const operator = await openClient(url, t);
  let ended = 0;
  while (ended === 0) {
    const { rows } = await operator.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where query like 'select pg_sleep(5)%' and state = 'active'",
    );
    ended += rows.length;
  }
  for (const code of await Promise.all(waiting)) t.true(["57P01", "lost"].includes(code), code);
  t.is(await one("select 7 as value"), 7);
});

test("a long statement on a connection of its own delays no shared one", async (t) => {
  const { pool, one } = await open(t);
  const own = await pool.connect();
  const long = own.query("select pg_sleep(1)").then(() => "long");
  const quick = Promise.all(Array.from({ length: 50 }, () => one("select 1 as value"))).then(() => "quick");
  t.is(await Promise.race([long, quick]), "quick");
  await long;
  own.release();
});

test("a statement fails for its own reason, and not because the one before it could not be prepared", async (t) => {
  const { one } = await open(t);
  const text = "select count(*)::integer as value from things_that_are_not";
  t.deepEqual(await Promise.all([codeOf(one(text)), codeOf(one(text)), codeOf(one(text))]), [
    "42P01",
    "42P01",
    "42P01",
  ]);
});
