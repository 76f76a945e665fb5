-- Sizes, growth, and what indexes are worth.

create or replace view inspect.table_sizes with (security_invoker = true) as
select n.nspname as schema, c.relname as table, greatest(c.reltuples, 0)::bigint as rows, s.n_dead_tup as dead_rows,
  round(100.0 * s.n_dead_tup / nullif(s.n_live_tup + s.n_dead_tup, 0), 1) as dead_percent,
  pg_size_pretty(pg_total_relation_size(c.oid)) as total, pg_size_pretty(pg_table_size(c.oid)) as data,
  pg_size_pretty(pg_indexes_size(c.oid)) as indexes, pg_total_relation_size(c.oid) as total_bytes,
  s.n_tup_ins as inserted, s.n_tup_upd as updated, s.n_tup_del as deleted, s.seq_scan as whole_scans,
  greatest(s.last_vacuum, s.last_autovacuum) as vacuumed_at, greatest(s.last_analyze, s.last_autoanalyze) as analyzed_at
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
join pg_catalog.pg_stat_user_tables s on s.relid = c.oid
where c.relkind = 'r';
comment on view inspect.table_sizes is
  'When the disk fills, or everything became slower: the tables with their sizes and their dead rows. The largest '
  'first: order by total_bytes desc. Many dead rows and an old vacuumed_at: see inspect.connections for a transaction '
  'that holds vacuum up, then vacuum (analyze) the table.';
comment on column inspect.table_sizes.schema is 'market, graphile_worker (the queue) or graphile_migrate.';
comment on column inspect.table_sizes.table is 'The table.';
comment on column inspect.table_sizes.rows is 'About how many, as of the last vacuum or analyze.';
comment on column inspect.table_sizes.dead_rows is 'Rows that vacuum has yet to take away.';
comment on column inspect.table_sizes.dead_percent is 'Their share. Above 20 autovacuum does not keep up.';
comment on column inspect.table_sizes.total is 'All of it.';
comment on column inspect.table_sizes.data is 'Rows with their long values.';
comment on column inspect.table_sizes.indexes is 'Indexes.';
comment on column inspect.table_sizes.total_bytes is 'All of it, to sort by.';
comment on column inspect.table_sizes.inserted is 'Rows since the statistics were reset.';
comment on column inspect.table_sizes.updated is 'Rows since the statistics were reset.';
comment on column inspect.table_sizes.deleted is 'Rows since the statistics were reset.';
comment on column inspect.table_sizes.whole_scans is
  'How often it was read from end to end. Growing on a large table: a query lacks its index.';
comment on column inspect.table_sizes.vacuumed_at is 'When it was last vacuumed, by hand or by itself.';
comment on column inspect.table_sizes.analyzed_at is
  'When its statistics were last made. Long ago after much change: plans go wrong.';
grant select on inspect.table_sizes to souk_dba;

create or replace function inspect.first_uuid(made_after timestamptz) returns uuid
  language sql immutable parallel safe
as $$
  select (lpad(to_hex((extract(epoch from first_uuid.made_after) * 1000)::bigint), 12, '0')
    || '00000000000000000000')::uuid
$$;
comment on function inspect.first_uuid(timestamptz) is
  'The lowest id of a time, so that "where id >= inspect.first_uuid(now() - interval ''1 hour'')" finds what is new by '
  'the primary key.';
grant execute on function inspect.first_uuid(timestamptz) to souk_dba;

create or replace view inspect.growth with (security_invoker = true) as
select n.what, sum(n.hour) as last_hour, sum(n.day) as last_day, sum(n.week) as last_week
from (
  select 'accounts' as what, (i.id >= inspect.first_uuid(now() - interval '1 hour'))::integer as hour,
    (i.id >= inspect.first_uuid(now() - interval '1 day'))::integer as day, 1 as week
  from market.account i where i.id >= inspect.first_uuid(now() - interval '7 days')
  union all
  select 'agents' as what, (i.id >= inspect.first_uuid(now() - interval '1 hour'))::integer as hour,
    (i.id >= inspect.first_uuid(now() - interval '1 day'))::integer as day, 1 as week
  from market.agent i where i.id >= inspect.first_uuid(now() - interval '7 days')
  union all
  select 'offers' as what, (i.id >= inspect.first_uuid(now() - interval '1 hour'))::integer as hour,
    (i.id >= inspect.first_uuid(now() - interval '1 day'))::integer as day, 1 as week
  from market.offer i where i.id >= inspect.first_uuid(now() - interval '7 days')
  union all
  select 'asks' as what, (i.id >= inspect.first_uuid(now() - interval '1 hour'))::integer as hour,
    (i.id >= inspect.first_uuid(now() - interval '1 day'))::integer as day, 1 as week
  from market.ask i where i.id >= inspect.first_uuid(now() - interval '7 days')
  union all
  select 'reports' as what, (i.id >= inspect.first_uuid(now() - interval '1 hour'))::integer as hour,
    (i.id >= inspect.first_uuid(now() - interval '1 day'))::integer as day, 1 as week
  from market.report i where i.id >= inspect.first_uuid(now() - interval '7 days')
) as n
group by n.what;
comment on view inspect.growth is
  'When the load is unusual, or a disk is planned: what came in within an hour, a day and a week, by the times in the '
  'ids. For totals see inspect.table_sizes.';
comment on column inspect.growth.what is 'accounts, agents, offers, asks or reports.';
comment on column inspect.growth.last_hour is 'New within an hour.';
comment on column inspect.growth.last_day is 'New within a day.';
comment on column inspect.growth.last_week is 'New within a week.';
grant select on inspect.growth to souk_dba;

create or replace view inspect.index_use with (security_invoker = true) as
select s.schemaname as schema, s.relname as table, s.indexrelname as index, s.idx_scan as scans,
  pg_size_pretty(pg_relation_size(s.indexrelid)) as size, pg_relation_size(s.indexrelid) as bytes,
  i.indisunique or exists (
    select from pg_catalog.pg_constraint k
    where k.conrelid = i.indrelid and k.contype = 'f' and (i.indkey::int2[])[0] = k.conkey[1]) as needed_without_scans,
  case when w.widths_known and c.reltuples > 0 and m.amname = 'btree'
    -- A row takes its key (in eighths), its header of 8 bytes and a pointer of 4; a page has 8,192 bytes of which 40
    -- are its own, and is nine tenths full.
    then round(
      (pg_relation_size(s.indexrelid) / (8192 * ceil(c.reltuples * (12 + w.bytes) / (8152 * 0.9)) + 8192))::numeric, 1)
  end as bloat
from pg_catalog.pg_stat_user_indexes s
join pg_catalog.pg_index i on i.indexrelid = s.indexrelid
join pg_catalog.pg_class c on c.oid = s.indexrelid
join pg_catalog.pg_am m on m.oid = c.relam
cross join lateral (
  select bool_and(a.attlen > 0) as widths_known, (sum(greatest(a.attlen, 0)) + 7)::integer / 8 * 8 as bytes
  from pg_catalog.pg_attribute a where a.attrelid = s.indexrelid and a.attnum > 0) as w;
comment on view inspect.index_use is
  'When writes are slow or the disk fills: what each index takes and whether anything uses it. Worth dropping: where '
  'scans = 0 and not needed_without_scans, on the primary and on every replica, weeks after the statistics were reset.';
comment on column inspect.index_use.schema is 'Of its table.';
comment on column inspect.index_use.table is 'Of what.';
comment on column inspect.index_use.index is 'The index.';
comment on column inspect.index_use.scans is 'How often it was used since the statistics were reset.';
comment on column inspect.index_use.size is 'What it takes.';
comment on column inspect.index_use.bytes is 'The same, to sort by.';
comment on column inspect.index_use.needed_without_scans is
  'Whether it holds a uniqueness or serves a foreign key, which is not counted as a scan.';
comment on column inspect.index_use.bloat is
  'How many times as large it is as it would be if made anew; null where keys differ in width. Above 2 on a large '
  'index, after a vacuum: reindex index concurrently.';
grant select on inspect.index_use to souk_dba;
