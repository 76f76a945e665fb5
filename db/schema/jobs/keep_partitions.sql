-- The partitions of the audit log (one for each month, dropped when all its events are more than 12 months old) and of
-- the events of accounts (one for each week, dropped when all are more than 30 days old).

create or replace function jobs.keep_audit_partitions() returns integer
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  -- Every writer to the log waits behind this lock, so give up early. The crontab tries again in an hour.
  set lock_timeout = '1s'
as $$
begin
  return internal.keep_partitions('audit_event', 'at', 'month', 'YYYY_MM', '12 months', '');
end
$$;
comment on function jobs.keep_audit_partitions() is
  'Creates the partitions of this and the next month, and drops those whose events are all more than 12 months old; '
  'returns how many it created and dropped.';

create or replace function jobs.keep_event_partitions() returns integer
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  -- As above.
  set lock_timeout = '1s'
as $$
begin
  return internal.keep_partitions('event', 'occurred_at', 'week', 'YYYY_MM_DD', '30 days', ' and the six days after');
end
$$;
comment on function jobs.keep_event_partitions() is
  'Creates the partitions of this and the next week, and drops those whose events are all more than 30 days old; '
  'returns how many it created and dropped. After a dump was restored, makes its events readable.';

create or replace function jobs.renumber() returns integer
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from internal.numbering n join pg_control_system() as c on c.system_identifier = n.server) then
    return 0;
  end if;
  return internal.renumber();
end
$$;
comment on function jobs.renumber() is
  'On another server than before, makes what is stored there readable (internal/platform/renumber.sql). Returns the '
  'number of rows, 0 on the same server.';
