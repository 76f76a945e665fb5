-- The partitions of the audit log: one for each month, dropped when all its events are more than 12 months old.

create or replace function jobs.keep_audit_partitions() returns integer
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  -- Every writer to the log waits behind this lock, so give up early. The crontab tries again in an hour.
  set lock_timeout = '1s'
as $$
declare
  this_month timestamp := date_trunc('month', now() at time zone 'UTC');
  month timestamp;
  name text;
  changed integer := 0;
begin
  for ahead in 0..1 loop
    month := this_month + make_interval(months => ahead);
    name := 'audit_event_' || to_char(month, 'YYYY_MM');
    continue when to_regclass('market.' || name) is not null;
    -- Created as a table and then attached: unlike "partition of", this lets others write to the log meanwhile.
    execute format(
      'create table market.%I (like market.audit_event including defaults including constraints including comments)',
      name);
    execute format('comment on table market.%I is %L', name,
      'The events of ' || to_char(month, 'YYYY-MM') || ' (UTC), a part of market.audit_event.');
    execute format('alter table market.%I enable row level security', name);
    execute format('alter table market.%I force row level security', name);
    execute format('create policy "the owner sees all" on market.%I to souk_owner using (true) with check (true)',
      name);
    execute format('with moved as (delete from market.audit_event_default where at >= %1$L and at < %2$L returning *)
      insert into market.%3$I select * from moved',
      month at time zone 'UTC', (month + interval '1 month') at time zone 'UTC', name);
    execute format('alter table market.audit_event attach partition market.%I for values from (%L) to (%L)',
      name, month at time zone 'UTC', (month + interval '1 month') at time zone 'UTC');
    changed := changed + 1;
  end loop;
  for name in
    select c.relname::text from pg_catalog.pg_inherits i join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'market.audit_event'::regclass and c.relname ~ '^audit_event_\d{4}_\d{2}$'
      and to_date(right(c.relname, 7), 'YYYY_MM') + interval '13 months' <= this_month
  loop
    execute format('drop table market.%I', name);
    changed := changed + 1;
  end loop;
  delete from market.audit_event_default d where d.at < now() - interval '12 months';
  return changed;
end
$$;
comment on function jobs.keep_audit_partitions() is
  'Creates the partitions of this and the next month, and drops those whose events are all more than 12 months old; '
  'returns how many it created and dropped.';
grant execute on function jobs.keep_audit_partitions() to souk_worker;
