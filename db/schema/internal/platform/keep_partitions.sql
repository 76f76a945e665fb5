-- Tables that are partitioned by time: one partition for each month or week, created ahead, and dropped when all its
-- rows are older than the table keeps them. Each table has a default partition.

create or replace function internal.keep_partitions(
  name text, time_column text, step text, form text, kept interval, of_what text
) returns integer
  language plpgsql volatile
as $$
declare
  present constant timestamp := now() at time zone 'UTC';
  period constant interval := ('1 ' || keep_partitions.step)::interval;
  parent constant regclass := ('market.' || keep_partitions.name)::regclass;
  starts timestamp;
  part text;
  changed integer := 0;
begin
  for ahead in 0..1 loop
    starts := date_trunc(keep_partitions.step, present) + ahead * period;
    part := keep_partitions.name || '_' || to_char(starts, keep_partitions.form);
    continue when to_regclass('market.' || part) is not null;
    -- Created as a table and then attached: unlike "partition of", this lets others write to the table meanwhile.
    execute format(
      'create table market.%I (like %s including defaults including constraints including comments)', part, parent);
    execute format('comment on table market.%I is %L', part,
      format('The events of %s (UTC), a part of %s.',
        replace(to_char(starts, keep_partitions.form), '_', '-') || keep_partitions.of_what, parent));
    perform internal.guard_table(('market.' || part)::regclass);
    execute format('with moved as (delete from market.%1$I where %2$I >= %3$L and %2$I < %4$L returning *)
      insert into market.%5$I select * from moved',
      keep_partitions.name || '_default', keep_partitions.time_column,
      starts at time zone 'UTC', (starts + period) at time zone 'UTC', part);
    execute format('alter table %s attach partition market.%I for values from (%L) to (%L)',
      parent, part, starts at time zone 'UTC', (starts + period) at time zone 'UTC');
    changed := changed + 1;
  end loop;
  for part in
    select c.relname::text from pg_catalog.pg_inherits i join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = parent and c.relname ~ '_\d{4}(_\d{2})+$'
      and to_date(substr(c.relname, length(keep_partitions.name) + 2), keep_partitions.form) + period
        + keep_partitions.kept <= present
  loop
    execute format('drop table market.%I', part);
    changed := changed + 1;
  end loop;
  execute format('delete from market.%I where %I < $1', keep_partitions.name || '_default', keep_partitions.time_column)
    using now() - keep_partitions.kept;
  return changed;
end
$$;
comment on function internal.keep_partitions(text, text, text, text, interval, text) is
  'Creates the partitions of this and the next `step` (month or week) of a table of schema market, and drops those '
  'whose rows are all older than `kept`; returns how many it created and dropped. `form`: how a partition''s name '
  'shows its beginning. `of_what`: how its comment goes on after that.';
