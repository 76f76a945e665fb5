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
  -- A dump restored on another server has numbers of transactions that are still to come there, and no reader would see
  -- these events until then. So they become events of long ago, in the order of their ids.
  update market.event e set xid = '3' where e.xid >= pg_snapshot_xmax(pg_current_snapshot());
  return internal.keep_partitions('event', 'occurred_at', 'week', 'YYYY_MM_DD', '30 days', ' and the six days after');
end
$$;
comment on function jobs.keep_event_partitions() is
  'Creates the partitions of this and the next week, and drops those whose events are all more than 30 days old; '
  'returns how many it created and dropped. After a dump was restored, makes its events readable.';
