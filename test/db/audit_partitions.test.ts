import test from "ava";
import pg from "pg";
import { allowed } from "../support/busy.ts";
import { openMarket } from "./market.ts";
import { market } from "./one_market.ts";

/** The partitions of the audit log: one for each month, made ahead and dropped after a year. */

test("this month and the next have partitions, and events of other months go to the default one", async (t) => {
  const names = await market.value`select array['audit_event_' || to_char(now() at time zone 'UTC', 'YYYY_MM'),
    'audit_event_' || to_char(date_trunc('month', now() at time zone 'UTC') + interval '1 month', 'YYYY_MM')] as names`;
  const partitions = await market.sql`select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'market.audit_event'::regclass`;
  for (const name of [...names, "audit_event_default"])
    t.true(
      partitions.some((one) => one.name === name),
      name,
    );
  await market.sql`insert into market.audit_event (at, actor_type, sql_role, action, table_name, row_id)
    values ('2031-05-05', 'dba', 'x', 'x', 'x', 'in no month')`;
  t.is((await market.sql("select from market.audit_event_default where row_id = 'in no month'")).length, 1);
});

test("keep_audit_partitions creates coming months, fills them, and drops months over a year old", async (t) => {
  const own = await openMarket(t);
  t.is(await own.work("keep_audit_partitions"), 0);
  const month = (n: number) => `date_trunc('month', now() at time zone 'UTC') + interval '${n} months'`;
  const nameOf = async (n: number): Promise<string> =>
    (await own.sql(`select 'audit_event_' || to_char(${month(n)}, 'YYYY_MM') as name`))[0].name;
  const log = (n: number, row: string) =>
    own.sql(
      `insert into market.audit_event (at, actor_type, sql_role, action, table_name, row_id)
       values ((${month(n)} + interval '1 day') at time zone 'UTC', 'dba', 'x', 'x', 'x', $1)`,
      [row],
    );
  const where = async (row: string): Promise<string | undefined> =>
    (await own.sql`select tableoid::regclass::text as name from market.audit_event where row_id = ${row}`)[0]?.name;

  // Simulates a month without a worker: the partition of the next month is missing.
  await own.sql(`drop table market.${await nameOf(1)}`);
  await log(1, "next");
  t.is(await where("next"), "market.audit_event_default");
  t.is(await own.work("keep_audit_partitions"), 1);
  t.is(await where("next"), `market.${await nameOf(1)}`);

  for (const n of [-12, -13, -14]) {
    const name = await nameOf(n);
    await own.sql(
      `do $$ begin execute format('create table market.${name} partition of market.audit_event for values from (%L) to (%L)',
         (${month(n)}) at time zone 'UTC', (${month(n + 1)}) at time zone 'UTC'); end $$`,
    );
    await own.sql(`alter table market.${name} owner to souk_owner`);
    await log(n, `${n}`);
  }
  await log(-20, "in the net");
  t.is(await own.work("keep_audit_partitions"), 2);
  t.is(await where("-12"), `market.${await nameOf(-12)}`);
  for (const gone of ["-13", "-14", "in the net"]) t.is(await where(gone), undefined, gone);
  const made = await own.sql`select c.relname as name, c.relrowsecurity and c.relforcerowsecurity as guarded,
      (select count(*)::int from pg_index x where x.indrelid = c.oid) as indexes,
      obj_description(c.oid, 'pg_class') as comment,
      (select count(*)::int from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0
           and col_description(c.oid, a.attnum) is distinct from col_description(i.inhparent, a.attnum)) as bare_columns
    from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'market.audit_event'::regclass
      and c.relname = ${await nameOf(1)}`;
  const name = await nameOf(1);
  const comment = `The events of ${name.slice(-7).replace("_", "-")} (UTC), a part of market.audit_event.`;
  t.deepEqual(made, [{ name, guarded: true, indexes: 6, comment, bare_columns: 0 }]);
});

test("creating a partition waits for a lock for at most a second", async (t) => {
  const own = await openMarket(t);
  const name = await own.value`select 'audit_event_' || to_char(date_trunc('month', now() at time zone 'UTC')
    + interval '1 month', 'YYYY_MM') as name`;
  await own.sql(`drop table market.${name}`);
  const reader = new pg.Client({ connectionString: own.url });
  await reader.connect();
  await reader.query("begin; select from market.audit_event");
  const start = Date.now();
  await t.throwsAsync(own.work("keep_audit_partitions"), { code: "55P03" });
  t.true(Date.now() - start < allowed(5000));
  await reader.query("commit");
  await reader.end();
  t.is(await own.work("keep_audit_partitions"), 1);
});
