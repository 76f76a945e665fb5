import test from "ava";
import { readSchema } from "../../src/install/schema_files.ts";
import { eventually } from "../support/market.ts";
import { market } from "./one_market.ts";

/** What keeps tables and indexes small: when autovacuum comes, and which changes touch no index. */

/** Tables in which an operator, a moderator or a person changes a row now and then. */
const CHANGE_RARELY = [
  "internal.deleted_row",
  "internal.loaded",
  "internal.numbering",
  "market.appeal",
  "market.block",
  "market.cap_override",
  "market.conversation_report",
  "market.decision",
  "market.hash_key",
  "market.kept_record",
  "market.message",
  "market.moderator",
  "market.moderator_link",
  "market.offer_change",
  "market.power",
  "market.profile",
  "market.proved_method",
  "market.reembedding",
];

test("autovacuum has a share of its own for each table that changes much", async (t) => {
  const rows = await market.sql`select c.oid::regclass::text as name from pg_class c
    where c.relnamespace = any ('{market,internal,search}'::regnamespace[]) and c.relkind = 'r' and not c.relispartition
      and coalesce(c.reloptions::text, '') not like '%autovacuum_vacuum_scale_factor=0.0%'
      and not exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'origin')
    order by 1`;
  t.deepEqual(
    rows.map(({ name }) => name),
    CHANGE_RARELY,
    "a new table has a line in db/schema/market/autovacuum.sql, or here",
  );
});

test("counting an account's offers and a worker's heartbeat touch no index", async (t) => {
  const seller = await market.approved();
  for (let n = 0; n < 20; n++) {
    await market.offer(seller);
    await market.work("heartbeat", "upkeep", false);
  }
  // A session tells its counts a second after it became idle.
  const changes = await eventually(
    () => market.sql<{ all: number; hot: number }>`select n_tup_upd::integer as all, n_tup_hot_upd::integer as hot
      from pg_stat_user_tables where relid = any ('{market.account_stats,market.worker_heartbeat}'::regclass[])`,
    (tables) => tables.every(({ all }) => all >= 19),
  );
  for (const { all, hot } of changes) t.true(hot >= 0.9 * all, `${hot} of ${all}`);
});

test("no index is the beginning of another one with the same condition", async (t) => {
  const overlapping = await market.sql`with i as (
      select x.indrelid, x.indexrelid::regclass::text as name, x.indisunique, m.amname,
        coalesce(pg_get_expr(x.indpred, x.indrelid), '') as condition,
        array(select concat_ws(' ', pg_get_indexdef(x.indexrelid, k, true), x.indoption[k - 1], x.indclass[k - 1])
          from generate_series(1, x.indnkeyatts) as k) as keys
      from pg_index x join pg_class c on c.oid = x.indexrelid join pg_am m on m.oid = c.relam
      where c.relnamespace = any ('{market,internal,reading,search}'::regnamespace[]) and not c.relispartition)
    select a.name, b.name as longer from i a join i b using (indrelid, amname, condition)
    where a.name <> b.name and a.amname = 'btree' and not a.indisunique and a.keys = b.keys[1:cardinality(a.keys)]`;
  t.deepEqual(overlapping, []);
});

test("every index says in db/schema what uses it, or is that of a foreign key", async (t) => {
  const { files } = await readSchema();
  // A comment is above an index, or above others that follow one another.
  const told = files.flatMap(({ structure }) =>
    [...structure.matchAll(/^--[^\n]*\n(?:create (?:unique )?index [^;]*;\n)+/gm)].flatMap(([group]) =>
      [...group.matchAll(/^create (?:unique )?index (\w+)/gm)].map(([, name]) => name),
    ),
  );
  const rows = await market.sql`select c.relname as name from pg_index x join pg_class c on c.oid = x.indexrelid
    where c.relnamespace = any ('{market,internal,reading,search}'::regnamespace[]) and not c.relispartition
      and not exists (select from pg_constraint k where k.conindid = x.indexrelid and k.conrelid = x.indrelid)
      and not exists (select from pg_constraint k where k.contype = 'f' and k.conrelid = x.indrelid
        and (x.indkey::smallint[])[0:cardinality(k.conkey) - 1] = k.conkey)
      and c.relname <> all (${told}) order by 1`;
  t.deepEqual(
    rows.map(({ name }) => name),
    [],
  );
});
