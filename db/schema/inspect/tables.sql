-- Table sizes, growth, and the use of indexes.

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
  'When the disk fills, or everything became slower: the tables with their sizes and dead rows. To see the largest '
  'first, add order by total_bytes desc. If a table has many dead rows and an old vacuumed_at, look in '
  'inspect.connections for a transaction that blocks vacuum, then run vacuum (analyze) on the table.';
comment on column inspect.table_sizes.schema is
  'The schema: market, reading and internal belong to this service, graphile_worker is the job queue, and '
  'graphile_migrate has the migrations.';
comment on column inspect.table_sizes.rows is 'The estimated number of rows, from the last vacuum or analyze.';
comment on column inspect.table_sizes.dead_rows is 'Rows that vacuum has not removed yet.';
comment on column inspect.table_sizes.dead_percent is
  'The percentage of dead rows. Above 20, autovacuum does not keep up.';
comment on column inspect.table_sizes.total is 'The size of the table with its indexes.';
comment on column inspect.table_sizes.data is 'The size of its rows, including values stored out of line.';
comment on column inspect.table_sizes.indexes is 'The size of its indexes.';
comment on column inspect.table_sizes.total_bytes is 'The total size in bytes, to sort by.';
comment on column inspect.table_sizes.whole_scans is
  'The number of sequential scans. If it grows on a large table, a query lacks an index.';
comment on column inspect.table_sizes.vacuumed_at is 'The last vacuum, by hand or by autovacuum.';
comment on column inspect.table_sizes.analyzed_at is
  'The last analyze. If it was long ago and much has changed since, plans become wrong.';
grant select on inspect.table_sizes to souk_dba;

create or replace view inspect.growth with (security_invoker = true) as
select n.what, count(*) filter (where n.id >= internal.first_uuid_v7(now() - interval '1 hour')) as last_hour,
  count(*) filter (where n.id >= internal.first_uuid_v7(now() - interval '1 day')) as last_day, count(*) as last_week
from (
  select 'accounts' as what, i.id from market.account i
  union all
  select 'agents' as what, i.id from market.agent i
  union all
  select 'offers' as what, i.id from market.offer i
  union all
  select 'asks' as what, i.id from market.ask i
  union all
  select 'reports' as what, i.id from market.report i
) as n
where n.id >= internal.first_uuid_v7(now() - interval '7 days')
group by n.what;
comment on view inspect.growth is
  'When the load is unusual, or you plan a disk: how many rows were created in the last hour, day and week, by the '
  'times in their ids. For totals see inspect.table_sizes.';
comment on column inspect.growth.what is 'accounts, agents, offers, asks or reports.';
comment on column inspect.growth.last_hour is 'Created in the last hour.';
comment on column inspect.growth.last_day is 'Created in the last day.';
comment on column inspect.growth.last_week is 'Created in the last week.';
grant select on inspect.growth to souk_dba;

create or replace view inspect.index_use with (security_invoker = true) as
select s.schemaname as schema, s.relname as table, s.indexrelname as index, s.idx_scan as scans,
  pg_size_pretty(pg_relation_size(s.indexrelid)) as size, pg_relation_size(s.indexrelid) as bytes,
  i.indisunique or exists (
    select from pg_catalog.pg_constraint k
    where k.conrelid = i.indrelid and k.contype = 'f' and (i.indkey::int2[])[0] = k.conkey[1]) as needed_without_scans,
  case when w.widths_known and c.reltuples > 0 and m.amname = 'btree'
    -- The expected size: an entry has its key (in multiples of 8 bytes), a header of 8 bytes and a pointer of 4. A page
    -- has 8,192 bytes, 40 of them for itself, and is 90 % full.
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
  'When writes are slow or the disk fills: the size of each index and whether queries use it. An index can be dropped '
  'where scans = 0 and not needed_without_scans, if this holds on the primary and on every replica weeks after the '
  'statistics were reset.';
comment on column inspect.index_use.scans is 'How often it was used since the statistics were reset.';
comment on column inspect.index_use.size is 'Its size.';
comment on column inspect.index_use.bytes is 'Its size in bytes, to sort by.';
comment on column inspect.index_use.needed_without_scans is
  'Whether the index is needed even without scans, because it enforces uniqueness or serves a foreign key.';
comment on column inspect.index_use.bloat is
  'The size of the index divided by its expected size after a rebuild; null when its keys vary in width. If it is '
  'above 2 on a large index after a vacuum, run reindex index concurrently.';
grant select on inspect.index_use to souk_dba;
