-- The server: connections, sessions that wait for locks, slow functions and statements, and replication lag. Only a
-- role with pg_read_all_stats (logins.sql) sees the states and statements of other roles' sessions.

create or replace view inspect.connections with (security_invoker = true) as
select a.usename as role, a.application_name, a.state, count(*) as connections,
  nullif(r.rolconnlimit, -1) as "limit", max(now() - a.xact_start) as longest_transaction,
  max(now() - a.state_change) filter (where a.state like 'idle in%') as longest_idle_in_transaction,
  count(*) filter (where a.wait_event_type = 'Lock') as waiting_for_locks
from pg_catalog.pg_stat_activity a left join pg_catalog.pg_roles r on r.oid = a.usesysid
where a.backend_type = 'client backend' or a.backend_type is null and a.usesysid is not null
group by a.usename, a.application_name, a.state, r.rolconnlimit;
comment on view inspect.connections is
  'When connections run out ("too many connections", 503), or vacuum does not keep up: connections by role and state. '
  'A role at its limit has too many processes or pools. If a session is idle in transaction for minutes, its client '
  'has not committed.';
comment on column inspect.connections.application_name is
  'The name that the client gives: souk_api, souk_api read, souk_worker, psql.';
comment on column inspect.connections.state is 'active, idle, idle in transaction; null without pg_read_all_stats.';
comment on column inspect.connections."limit" is 'The connection limit of the role; null when it has none.';
comment on column inspect.connections.longest_transaction is 'The age of the oldest transaction.';
comment on column inspect.connections.longest_idle_in_transaction is
  'The longest time that one of these connections has been idle in a transaction.';
comment on column inspect.connections.waiting_for_locks is
  'The number of connections that wait for a lock: see inspect.blocked.';
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
  'When requests answer 503 after two seconds: which session waits for a lock, and which one holds it. Find the '
  'blocked_by that is not also a pid: that session holds the lock and does not wait itself. End it with select '
  'pg_terminate_backend(blocked_by), as a superuser or as blocking_role.';
comment on column inspect.blocked.pid is 'The process that waits.';
comment on column inspect.blocked.role is 'The role that waits.';
comment on column inspect.blocked.waits_for is 'How long it has waited.';
comment on column inspect.blocked.query is 'The statement that waits. Statements of the service contain no values.';
comment on column inspect.blocked.blocked_by is 'The process that holds the lock, or waits for it ahead of pid.';
comment on column inspect.blocked.blocking_role is 'The role of blocked_by.';
comment on column inspect.blocked.blocking_application is 'The application name of blocked_by.';
comment on column inspect.blocked.blocking_state is
  'The state of blocked_by. In state idle in transaction, its client has not committed.';
comment on column inspect.blocked.blocking_since is 'How long the transaction of blocked_by has lasted.';
comment on column inspect.blocked.blocking_query is 'The current or last statement of blocked_by.';
grant select on inspect.blocked to souk_dba;

create or replace view inspect.slow_functions with (security_invoker = true) as
select f.schemaname as schema, f.funcname as function, f.calls, round(f.total_time::numeric) as total_ms,
  round(f.self_time::numeric) as self_ms,
  round((f.total_time / nullif(f.calls, 0))::numeric, 2) as ms_a_call,
  round((100 * f.self_time / nullif(sum(f.self_time) over (), 0))::numeric, 1) as percent
from pg_catalog.pg_stat_user_functions f;
comment on view inspect.slow_functions is
  'When the service is slow: the functions that take the time. To see the slowest first, add order by self_ms desc. '
  'Empty until a superuser has run: alter database souk set track_functions = ''pl'' (for sessions that start '
  'afterwards).';
comment on column inspect.slow_functions.schema is
  'The schema. Endpoints call functions in api, and the worker those in jobs. Both use search, reading and internal.';
comment on column inspect.slow_functions.calls is 'Calls since the statistics were reset.';
comment on column inspect.slow_functions.total_ms is 'Time in the function and in the functions that it called.';
comment on column inspect.slow_functions.self_ms is 'Time in the function itself and its statements.';
comment on column inspect.slow_functions.ms_a_call is 'Total time of an average call.';
comment on column inspect.slow_functions.percent is 'The function''s share of all self times.';
grant select on inspect.slow_functions to souk_dba;

create or replace function inspect.read_statements()
  returns table (role text, calls bigint, total_ms numeric, ms_a_call numeric, slowest_ms numeric, rows bigint,
    statement text)
  language plpgsql stable
as $$
declare
  -- The extension may be installed in any schema, or not at all.
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
  -- The extension exists, but is not in shared_preload_libraries.
  return;
end
$$;
comment on function inspect.read_statements() is
  'Returns the rows of inspect.slow_statements; none where pg_stat_statements is not installed.';
grant execute on function inspect.read_statements() to souk_dba;

create or replace view inspect.slow_statements with (security_invoker = true) as
select s.role, s.calls, s.total_ms, s.ms_a_call, s.slowest_ms, s.rows, s.statement from inspect.read_statements() as s;
comment on view inspect.slow_statements is
  'When the service is slow and no function stands out: the statements that take the time. To see the slowest first, '
  'add order by total_ms desc. Empty until pg_stat_statements is in shared_preload_libraries and a superuser has '
  'created the extension.';
comment on column inspect.slow_statements.calls is 'The number of runs.';
comment on column inspect.slow_statements.total_ms is 'The total time.';
comment on column inspect.slow_statements.ms_a_call is 'The time of an average run.';
comment on column inspect.slow_statements.slowest_ms is 'The time of the slowest run.';
comment on column inspect.slow_statements.rows is 'The number of rows that all runs returned or changed.';
comment on column inspect.slow_statements.statement is 'The statement, with $1 for its values.';
grant select on inspect.slow_statements to souk_dba;

create or replace view inspect.most_expensive with (security_invoker = true) as
with measured as (
  select 'function' as kind, f.schema || '.' || f.function as what, sum(f.calls)::bigint as calls, sum(f.self_ms) as ms
  from inspect.slow_functions f group by f.schema, f.function
  union all
  select 'statement' as kind, s.statement as what, sum(s.calls)::bigint as calls, sum(s.total_ms) as ms
  from inspect.slow_statements s
  group by s.statement
), ranked as (
  select m.kind, row_number() over (partition by m.kind order by m.ms desc, m.what)::integer as place, m.what, m.calls,
    m.ms, round(m.ms / nullif(m.calls, 0), 2) as ms_a_call,
    round(100 * m.ms / nullif(sum(m.ms) over (partition by m.kind), 0), 1) as percent
  from measured m
)
select r.kind, r.place, r.what, r.calls, r.ms, r.ms_a_call, r.percent from ranked r where r.place <= 10
union all
select n.kind, null, n.what, null, null, null, null
from (values
  ('function', 'Nothing is measured. As a superuser: alter database ' || quote_ident(current_database())
    || ' set track_functions = ''pl''; sessions that start afterwards are measured.'),
  ('statement', 'Nothing is measured. Add pg_stat_statements to shared_preload_libraries, restart the server, and as a '
    || 'superuser: create extension pg_stat_statements;')) as n (kind, what)
where not exists (select from measured m where m.kind = n.kind);
comment on view inspect.most_expensive is
  'When the service is slow: the ten functions and the ten statements that take the most time, each ranked by itself. '
  'Where nothing is measured, one row says what a superuser has to switch on.';
comment on column inspect.most_expensive.kind is 'function or statement.';
comment on column inspect.most_expensive.place is '1 is the most expensive; null if nothing is measured.';
comment on column inspect.most_expensive.what is
  'The function, the statement with $1 for its values, or what to switch on.';
comment on column inspect.most_expensive.calls is 'Calls since the statistics were reset.';
comment on column inspect.most_expensive.ms is
  'Time in the function itself and its statements, or the total time of the statement.';
comment on column inspect.most_expensive.ms_a_call is 'The same for an average call.';
comment on column inspect.most_expensive.percent is 'The share of the times of all functions, or of all statements.';
grant select on inspect.most_expensive to souk_dba;

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
-- Only on a replica, because pg_is_wal_replay_paused raises an error on a primary.
where pg_catalog.pg_is_in_recovery()
union all
select s.slot_name, 'slot, not connected', null,
  pg_catalog.pg_wal_lsn_diff(
    case when pg_catalog.pg_is_in_recovery() then pg_catalog.pg_last_wal_replay_lsn()
      else pg_catalog.pg_current_wal_lsn() end,
    s.restart_lsn)::bigint, null
from pg_catalog.pg_replication_slots s where not s.active;
comment on view inspect.replication is
  'When written data is not found, DELETE /v1/me/agent hangs, or the disk fills with WAL: how far each replica is '
  'behind. On a replica, one row says how far this server is behind. An unused slot keeps WAL until the disk is full: '
  'drop it.';
comment on column inspect.replication.replica is
  'The replica''s application_name, as in synchronous_standby_names; "this server" on a replica; or the name of an '
  'unused slot.';
comment on column inspect.replication.state is 'streaming when all is well.';
comment on column inspect.replication.sync_state is
  'async, sync or quorum; paused on a replica whose replay is paused. The removal of an agent waits for replicas with '
  'sync or quorum.';
comment on column inspect.replication.bytes_behind is
  'Bytes of WAL that the replica has not replayed, or that the slot keeps.';
comment on column inspect.replication.behind is 'How far the replica is behind in time; null when nothing is written.';
grant select on inspect.replication to souk_dba;
