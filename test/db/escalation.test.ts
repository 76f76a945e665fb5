import test from "ava";
import { openClient } from "../support/client.ts";
import { createDatabase, type Database } from "../support/database.ts";

/**
 * A function that runs as its owner must not run code of its caller. PostgreSQL looks for types in the caller's
 * temporary schema before all others, unless search_path names that schema at another position. An empty search_path
 * does not name it.
 */

/** Types that function bodies name without a schema. For each, the test creates a domain that reports its use. */
const SHADOWED = ["uuid", "text", "bytea", "jsonb", "int4", "timestamptz", "interval", "bool", "regclass"];

/** Logins, each with a call that it may make and that runs as the owner. */
const CALLS = [
  ["souk_api", "select api.accept_moderator_link('\\x00', '\\x00', '\\x00')"],
  ["souk_worker", "select jobs.keep_audit_partitions()"],
  ["souk_dba", "select count(*) from inspect.check(10)"],
] as const;

let database: Database;
test.before(async () => {
  database = await createDatabase();
});
test.after.always(() => database?.drop());

for (const [login, call] of CALLS) {
  test(`functions that run as the owner use nothing from the temporary schema of ${login}`, async (t) => {
    const client = await openClient(database.url, t);
    const ran: string[] = [];
    client.on("notice", ({ message }) => ran.push(message ?? ""));
    await client.query(`set default_transaction_read_only = off; set session authorization ${login}`);
    await client.query(
      "create function pg_temp.tell() returns boolean language plpgsql as $$ begin raise notice 'ran as %', current_user; return true; end $$",
    );
    for (const name of SHADOWED) {
      await client.query(`create domain pg_temp.${name} as pg_catalog.${name} check (pg_temp.tell())`);
    }
    await client.query("select null::pg_temp.uuid");
    t.true(ran.includes(`ran as ${login}`), "the test's domains report their use");
    await client.query(call).catch(() => undefined);
    t.deepEqual(
      ran.filter((message) => message === "ran as souk_owner"),
      [],
    );
  });
}
