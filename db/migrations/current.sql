-- What a DBA needs: the role souk_dba with the schema inspect, a login for migrations, and limits for every login.

do $$
declare
  wanted record;
begin
  begin
    -- Two databases of one cluster may be migrated at once; this is the one lock that they share.
    lock table pg_catalog.pg_authid in share row exclusive mode;
  exception when insufficient_privilege then
    null;
  end;
  for wanted in
    select * from (values ('souk_dba', 'login'), ('souk_migrator', 'login noinherit')) as r (name, options)
    where not exists (select from pg_roles where rolname = r.name)
  loop
    execute format('create role %I %s', wanted.name, wanted.options);
  end loop;
end
$$;
grant souk_owner, souk_queue to souk_migrator;
grant souk_migrator to current_user;

--!include logins.sql

create schema inspect authorization souk_owner;
comment on schema inspect is 'For whoever has to find out what is wrong: views that answer a question of an incident in one select, and inspect.check().';
grant usage on schema inspect, market to souk_dba;
grant usage on schema inspect to souk_api, souk_worker;

set local role souk_owner;

--!include market/call_cap.sql
--!include jobs/upkeep.sql
--!include inspect/rights.sql
--!include inspect/agents.sql
--!include inspect/queue.sql
--!include inspect/requests.sql
--!include inspect/embedding.sql
--!include inspect/tables.sql
--!include inspect/server.sql
--!include inspect/invariant.sql
--!include inspect/check.sql
--!include inspect/state.sql
--!include jobs/check_invariants.sql

reset role;
