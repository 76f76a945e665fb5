-- Limits of each login: connections and time. An operator with a larger server raises them (`alter role souk_api
-- connection limit 200`); later migrations do not change them.

-- The limits divide up PostgreSQL's default of 100 connections, less the 3 that it reserves for superusers. So a pool
-- that takes too many connections leaves some for the other roles, and a DBA can still log in. souk_api: two API
-- processes, each with 14 connections for reads, 14 for writes, 3 for moderators, one listener, and one that asks whose
-- reads may use replicas. souk_worker: two workers with pools of 11. souk_dba: two people with two psql sessions each.
-- souk_migrator: one migration needs a connection that holds the lock of migrations, one for its statements and one for
-- graphile-worker's; the others are spare.
alter role souk_api connection limit 66;
alter role souk_worker connection limit 22;
alter role souk_dba connection limit 4;
alter role souk_migrator connection limit 5;

-- No statement of a request should take seconds, and a slow one must not hold up others. lock_timeout is shorter than
-- statement_timeout, so that a locked table can be distinguished from a slow statement.
alter role souk_api set statement_timeout = '5s';
alter role souk_api set lock_timeout = '2s';
alter role souk_api set idle_in_transaction_session_timeout = '5s';
-- Matching one offer against all asks may take seconds, and so may a part of the nightly check of all invariants.
alter role souk_worker set statement_timeout = '60s';
alter role souk_worker set lock_timeout = '10s';
alter role souk_worker set idle_in_transaction_session_timeout = '60s';
-- A job whose end was lost in a crash of the server runs again, and what it had done before is there once. So the
-- worker does not wait until the disk has its commits. What somebody is told is flushed
-- before (internal/platform/make_durable.sql).
alter role souk_worker set synchronous_commit = off;
-- A query of an incident that takes longer is the wrong query, and a forgotten open transaction keeps vacuum from
-- removing dead rows. These settings are not a security boundary, because a session may change them. The boundary is
-- that the role has no right to write.
-- A check of everything takes a minute or two in a market of a million offers.
alter role souk_dba set statement_timeout = '5min';
alter role souk_dba set lock_timeout = '2s';
alter role souk_dba set idle_in_transaction_session_timeout = '60s';
alter role souk_dba set default_transaction_read_only = on;
-- No statement_timeout: building an index over a million rows may take long. lock_timeout keeps other statements from
-- queueing behind a migration that waits for a lock.
alter role souk_migrator set lock_timeout = '5s';
alter role souk_migrator set idle_in_transaction_session_timeout = '60s';

do $$
begin
  -- Every statement of a request or a job takes milliseconds. PostgreSQL overestimates how many rows the functions in
  -- them return, and JIT compilation would take longer than the statement: publishing an offer takes 19 ms of CPU time
  -- with JIT and 5 ms without.
  alter role souk_api set jit = off;
  alter role souk_worker set jit = off;
exception when insufficient_privilege then
  raise notice 'souk_api and souk_worker are slow until a superuser runs: alter role souk_api set jit = off; alter '
    'role souk_worker set jit = off';
end
$$;

do $$
begin
  -- pg_read_all_stats shows states, waits and statements of other roles' sessions, and pg_stat_statements. It shows no
  -- rows of any table.
  grant pg_read_all_stats to souk_dba;
exception when insufficient_privilege then
  raise notice 'souk_dba sees no states of sessions until a superuser runs: grant pg_read_all_stats to souk_dba';
end
$$;

do $$
begin
  -- A refusal is the caller's mistake, and not one for the server's log (internal/platform/raise_problem.sql).
  grant set on parameter log_min_messages to souk_owner;
  -- Of a failure the server logs the message and the statement, which contains no values. It does not log the detail,
  -- which may quote a row with a text or an e-mail address. The service logs where in the functions it happened.
  alter role souk_api set log_error_verbosity = terse;
  alter role souk_worker set log_error_verbosity = terse;
exception when insufficient_privilege then
  raise notice 'the log of the server has every refusal, and of failures also details, until a superuser runs: grant '
    'set on parameter log_min_messages to souk_owner; alter role souk_api set log_error_verbosity = terse; alter role '
    'souk_worker set log_error_verbosity = terse';
end
$$;
