import test from "ava";
import pg from "pg";
import { type Caller, openMarket } from "./market.ts";

/** Who may read the audit log, and that no caller can change it. */

let market: Awaited<ReturnType<typeof openMarket>>;

test.before(async () => {
  market = await openMarket();
});

test.after.always(() => market?.close());

const ROLES = ["souk_api", "souk_agent", "souk_person", "souk_moderator", "souk_worker", "souk_dba", "souk_migrator"];
const CHANGES = [
  "insert into market.audit_event (actor_type, sql_role, action, table_name, row_id) values ('dba', 'x', 'x', 'x', 'x')",
  "update market.audit_event set action = 'x'",
  "delete from market.audit_event",
  "truncate market.audit_event",
  "update market.audit_event_default set action = 'x'",
  "delete from market.audit_event_default",
  "drop table market.audit_event",
  "alter table market.audit_event detach partition market.audit_event_default",
  "alter table market.offer disable trigger audit",
  "drop trigger audit on market.offer",
  "create or replace function internal.audit() returns trigger language plpgsql as 'begin return null; end'",
];

const as = async (role: string, caller: Caller, text: string): Promise<string | number> => {
  const client = new pg.Client({ connectionString: market.url });
  await client.connect();
  try {
    await client.query("select set_config('market.account_id', $1, false)", [caller.account]);
    await client.query(`set session authorization ${role}`);
    return (await client.query(text)).rowCount ?? 0;
  } catch (error) {
    if (error instanceof pg.DatabaseError) return error.code ?? "";
    throw error;
  } finally {
    await client.end();
  }
};

test("only the owner can write to the log, change it or stop it", async (t) => {
  const caller = await market.approved();
  const log = () =>
    market.sql("select count(*)::int as n from market.audit_event where subject_account_id = $1", [caller.account]);
  const before = await log();
  const months = await market.sql(
    "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'market.audit_event'::regclass",
  );
  t.is(months.length, 3);
  for (const role of ROLES) {
    for (const change of CHANGES) t.is(await as(role, caller, change), "42501", `${role}: ${change}`);
    for (const { name } of months) {
      for (const change of [`select from ${name}`, `delete from ${name}`, `update ${name} set action = 'x'`])
        t.is(await as(role, caller, change), "42501", `${role}: ${change}`);
    }
  }
  t.deepEqual(await log(), before);
});

test("a person can read the log of their own account, without values, and no other role can read it", async (t) => {
  const [caller, other] = [await market.approved(), await market.approved()];
  t.true(Number(await as("souk_person", caller, "select action from market.audit_event")) > 0);
  t.is(
    await as(
      "souk_person",
      caller,
      `select action from market.audit_event where subject_account_id = '${other.account}'`,
    ),
    0,
  );
  for (const column of ["before", "after", "account_id", "request_id", "sql_role"])
    t.is(await as("souk_person", caller, `select ${column} from market.audit_event`), "42501", column);
  for (const role of ["souk_api", "souk_agent", "souk_worker"])
    t.is(await as(role, caller, "select action from market.audit_event"), "42501", role);
});
