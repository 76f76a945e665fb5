import test from "ava";
import { eventually } from "../support/market.ts";
import { market } from "./one_market.ts";

/** What keeps tables and indexes small: when autovacuum comes, and which changes touch no index. */

/** Tables in which an operator, a moderator or a person changes a row now and then. */
const CHANGE_RARELY = [
  "internal.deleted_row",
  "internal.loaded",
  "market.appeal",
  "market.cap_override",
  "market.decision",
  "market.hash_key",
  "market.kept_record",
  "market.moderator",
  "market.moderator_link",
  "market.offer_change",
  "market.profile",
  "market.proved_method",
  "market.reembedding",
];

test("autovacuum has a share of its own for each table that changes much", async (t) => {
  const rows = await market.sql`select c.oid::regclass::text as name from pg_class c
    where c.relnamespace = any ('{market,internal}'::regnamespace[]) and c.relkind = 'r' and not c.relispartition
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
