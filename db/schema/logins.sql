-- How much each login may take: connections, and time. An operator with a larger server raises the limits
-- (`alter role souk_api connection limit 200`); later migrations leave them as they are.

-- PostgreSQL's default of 100 connections, less the 3 it keeps for superusers, is shared out whole, so that a pool that
-- runs wild leaves room for those who have to look. Two API processes: 14 reads, 14 writes, 3 for moderators and a
-- listener each, with two to spare. Two workers with pools of 11. Two people with two psql each. One migration: its
-- turn, its statements and graphile-worker's, with a spare.
alter role souk_api connection limit 66;
alter role souk_worker connection limit 22;
alter role souk_dba connection limit 4;
alter role souk_migrator connection limit 5;

-- No statement of a request takes seconds; one that does must not hold others up. lock_timeout is the shorter, so that
-- a locked table is told apart from a slow statement.
alter role souk_api set statement_timeout = '5s';
alter role souk_api set lock_timeout = '2s';
alter role souk_api set idle_in_transaction_session_timeout = '5s';
-- Holding one offer against all asks may take seconds, and the nightly check of everything half a minute.
alter role souk_worker set statement_timeout = '60s';
alter role souk_worker set lock_timeout = '10s';
alter role souk_worker set idle_in_transaction_session_timeout = '60s';
-- A question of an incident that takes longer is the wrong question; a transaction that somebody forgot keeps vacuum
-- from its work. Not security, since a session may change it: that the role has no right to write is.
alter role souk_dba set statement_timeout = '60s';
alter role souk_dba set lock_timeout = '2s';
alter role souk_dba set idle_in_transaction_session_timeout = '60s';
alter role souk_dba set default_transaction_read_only = on;
-- No statement_timeout: an index over a million rows takes as long as it takes. But it may not queue others behind it.
alter role souk_migrator set lock_timeout = '5s';
alter role souk_migrator set idle_in_transaction_session_timeout = '60s';

do $$
begin
  -- Every statement of a request or a job takes milliseconds. PostgreSQL expects far more rows of the functions in them
  -- than there are, and would spend more on compiling them than on running them: publishing an offer takes 19 ms of a
  -- processor with it and 5 without.
  alter role souk_api set jit = off;
  alter role souk_worker set jit = off;
exception when insufficient_privilege then
  raise notice 'souk_api and souk_worker are slow until a superuser runs: alter role souk_api set jit = off; alter '
    'role souk_worker set jit = off';
end
$$;

do $$
begin
  -- States, waits and statements of other roles' sessions, and pg_stat_statements; no rows of any table.
  grant pg_read_all_stats to souk_dba;
exception when insufficient_privilege then
  raise notice 'souk_dba sees no states of sessions until a superuser runs: grant pg_read_all_stats to souk_dba';
end
$$;

do $$
begin
  -- graphile-migrate makes its schema before the first migration, as whoever runs that. Later ones are souk_migrator's.
  execute format('grant create on database %I to souk_migrator', current_database());
  if to_regclass('graphile_migrate.migrations') is not null then
    alter schema graphile_migrate owner to souk_migrator;
    alter table graphile_migrate.migrations owner to souk_migrator;
    alter table graphile_migrate.current owner to souk_migrator;
  end if;
end
$$;
