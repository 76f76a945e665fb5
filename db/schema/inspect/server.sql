-- The server: who is connected, who waits for whom, what takes its time, and how far replicas are. States and
-- statements of other roles' sessions are seen only with pg_read_all_stats (logins.sql).

create or replace view inspect.connections with (security_invoker = true) as
select a.usename as role, a.application_name, a.state, count(*) as connections,
  nullif(r.rolconnlimit, -1) as "limit", max(now() - a.xact_start) as longest_transaction,
  max(now() - a.state_change) filter (where a.state like 'idle in%') as longest_idle_in_transaction,
  count(*) filter (where a.wait_event_type = 'Lock') as waiting_for_locks
from pg_catalog.pg_stat_activity a left join pg_catalog.pg_roles r on r.oid = a.usesysid
where a.backend_type = 'client backend' or a.backend_type is null and a.usesysid is not null
group by a.usename, a.application_name, a.state, r.rolconnlimit;
comment on view inspect.connections is
  'When connections run out ("too many connections", 503), or vacuum does not keep up: who is connected and what they '
  'do. A role at its limit: too many processes or pools. Idle in transaction for minutes: somebody forgot a commit.';
comment on column inspect.connections.role is 'Who logged in.';
comment on column inspect.connections.application_name is
  'What it calls itself: souk_api, souk_api read, souk_worker, psql.';
comment on column inspect.connections.state is
  'active, idle, idle in transaction; null where pg_read_all_stats is missing.';
comment on column inspect.connections.connections is 'How many.';
comment on column inspect.connections."limit" is
  'How many the role may have in all, null for as many as the server has.';
comment on column inspect.connections.longest_transaction is 'Age of the oldest transaction.';
comment on column inspect.connections.longest_idle_in_transaction is
  'How long one has done nothing in the middle of one.';
comment on column inspect.connections.waiting_for_locks is 'How many wait: see inspect.blocked.';
grant select on inspect.connections to souk_dba;

create or replace view inspect.blocked with (security_invoker = true) as
select w.pid, w.usename as role, now() - w.query_start as waits_for, left(w.query, 200) as query,
  b.pid as blocked_by, b.usename as blocking_role, b.application_name as blocking_application,
  b.state as blocking_state,
  now() - b.xact_start as blocking_since, left(b.query, 200) as blocking_query
from pg_catalog.pg_stat_activity w
cross join lateral unnest(pg_catalog.pg_blocking_pids(w.pid)) as blocker (pid)
join pg_catalog.pg_stat_activity b on b.pid = blocker.pid
where w.wait_event_type = 'Lock';
comment on view inspect.blocked is
  'When requests answer 503 after two seconds: who waits for a lock, and who has it. The one to end is a blocked_by '
  'that is not itself in pid: select pg_terminate_backend(blocked_by), as a superuser or in that role.';
comment on column inspect.blocked.pid is 'Who waits.';
comment on column inspect.blocked.role is 'In which role.';
comment on column inspect.blocked.waits_for is 'For how long.';
comment on column inspect.blocked.query is 'With what statement; those of the service hold no values.';
comment on column inspect.blocked.blocked_by is 'Who has the lock, or stands before in the line.';
comment on column inspect.blocked.blocking_role is 'In which role.';
comment on column inspect.blocked.blocking_application is 'What it calls itself.';
comment on column inspect.blocked.blocking_state is 'idle in transaction: it has forgotten that it holds it.';
comment on column inspect.blocked.blocking_since is 'How long its transaction has lasted.';
comment on column inspect.blocked.blocking_query is 'Its present or last statement.';
grant select on inspect.blocked to souk_dba;

create or replace view inspect.slow_functions with (security_invoker = true) as
select f.schemaname as schema, f.funcname as function, f.calls, round(f.total_time::numeric) as total_ms,
  round(f.self_time::numeric) as self_ms,
  round((f.total_time / nullif(f.calls, 0))::numeric, 2) as ms_a_call,
  round((100 * f.self_time / nullif(sum(f.self_time) over (), 0))::numeric, 1) as percent
from pg_catalog.pg_stat_user_functions f;
comment on view inspect.slow_functions is
  'When the service is slow: which functions the time goes to. The worst first: order by self_ms desc. Empty until a '
  'superuser has run: alter database souk set track_functions = ''pl'' (for sessions that start afterwards).';
comment on column inspect.slow_functions.schema is
  'api for endpoints, jobs for the worker, market for what they share.';
comment on column inspect.slow_functions.function is 'The function.';
comment on column inspect.slow_functions.calls is 'Calls since the statistics were reset.';
comment on column inspect.slow_functions.total_ms is 'Time in it and in what it called.';
comment on column inspect.slow_functions.self_ms is 'Time in itself with its statements.';
comment on column inspect.slow_functions.ms_a_call is 'Total time of an average call.';
comment on column inspect.slow_functions.percent is 'Its share of all self times.';
grant select on inspect.slow_functions to souk_dba;

create or replace function inspect.read_statements()
  returns table (role text, calls bigint, total_ms numeric, ms_a_call numeric, slowest_ms numeric, rows bigint,
    statement text)
  language plpgsql stable
as $$
declare
  -- The extension may be in any schema, or in none.
  home text := (select n.nspname::text from pg_catalog.pg_extension e
    join pg_catalog.pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_stat_statements');
begin
  if home is null then
    return;
  end if;
  for role, calls, total_ms, ms_a_call, slowest_ms, rows, statement in execute format(
    'select r.rolname::text, s.calls, round(s.total_exec_time::numeric), round(s.mean_exec_time::numeric, 2),
       round(s.max_exec_time::numeric), s.rows, left(s.query, 500)
     from %I.pg_stat_statements s join pg_catalog.pg_roles r on r.oid = s.userid
     join pg_catalog.pg_database d on d.oid = s.dbid and d.datname = current_database()', home)
  loop
    return next;
  end loop;
exception when object_not_in_prerequisite_state then
  -- Made, but not in shared_preload_libraries.
  return;
end
$$;
comment on function inspect.read_statements() is
  'What inspect.slow_statements shows: nothing where pg_stat_statements is not installed.';
grant execute on function inspect.read_statements() to souk_dba;

create or replace view inspect.slow_statements with (security_invoker = true) as
select s.role, s.calls, s.total_ms, s.ms_a_call, s.slowest_ms, s.rows, s.statement from inspect.read_statements() as s;
comment on view inspect.slow_statements is
  'When the service is slow and no function stands out: which statements the time goes to. The worst first: order by '
  'total_ms desc. Empty until pg_stat_statements is in shared_preload_libraries and a superuser has made the '
  'extension.';
comment on column inspect.slow_statements.role is 'Who ran it.';
comment on column inspect.slow_statements.calls is 'How often.';
comment on column inspect.slow_statements.total_ms is 'Time in all.';
comment on column inspect.slow_statements.ms_a_call is 'Time of an average run.';
comment on column inspect.slow_statements.slowest_ms is 'Time of the slowest.';
comment on column inspect.slow_statements.rows is 'Rows that it gave or changed in all.';
comment on column inspect.slow_statements.statement is 'The statement, with $1 for its values.';
grant select on inspect.slow_statements to souk_dba;

create or replace view inspect.replication with (security_invoker = true) as
select r.application_name as replica, r.state, r.sync_state,
  pg_catalog.pg_wal_lsn_diff(
    case when pg_catalog.pg_is_in_recovery() then pg_catalog.pg_last_wal_replay_lsn()
      else pg_catalog.pg_current_wal_lsn() end,
    r.replay_lsn)::bigint as bytes_behind,
  r.replay_lag as behind
from pg_catalog.pg_stat_replication r
union all
select 'this server', 'replays', case when pg_catalog.pg_is_wal_replay_paused() then 'paused' end,
  pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_last_wal_receive_lsn(), pg_catalog.pg_last_wal_replay_lsn())::bigint,
  case when pg_catalog.pg_last_wal_receive_lsn() = pg_catalog.pg_last_wal_replay_lsn() then interval '0'
    else now() - pg_catalog.pg_last_xact_replay_timestamp() end
-- Of no use on a primary, where asking whether replay is paused is an error.
where pg_catalog.pg_is_in_recovery()
union all
select s.slot_name, 'slot, not connected', null,
  pg_catalog.pg_wal_lsn_diff(
    case when pg_catalog.pg_is_in_recovery() then pg_catalog.pg_last_wal_replay_lsn()
      else pg_catalog.pg_current_wal_lsn() end,
    s.restart_lsn)::bigint, null
from pg_catalog.pg_replication_slots s where not s.active;
comment on view inspect.replication is
  'When what was written is not found, DELETE /v1/me/agent hangs, or the disk fills with WAL: how far each replica is '
  'behind; on a replica, how far it is itself. A slot that nobody uses keeps WAL until the disk is full: drop it.';
comment on column inspect.replication.replica is 'Its application_name, as in synchronous_standby_names.';
comment on column inspect.replication.state is 'streaming when all is well.';
comment on column inspect.replication.sync_state is
  'async, sync or quorum: a removal of an agent waits for the latter two.';
comment on column inspect.replication.bytes_behind is 'WAL that it has not replayed, or that a slot keeps.';
comment on column inspect.replication.behind is 'The same in time, null when nothing is written.';
grant select on inspect.replication to souk_dba;
