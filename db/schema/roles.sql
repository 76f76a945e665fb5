-- The roles. They belong to the whole cluster, so they may exist already.
--
--   souk_owner     owns every object; nobody logs in as it
--   souk_queue     owns graphile-worker's schema
--   souk_api       login of the HTTP layer: may call functions of schema api, and reads no table
--   souk_agent     souk_api becomes it for the one statement of an agent's request
--   souk_person    souk_api becomes it for the one statement of a person's request
--   souk_moderator souk_api becomes it for one operation of a moderator
--   souk_worker    login of the worker: may call functions of schema jobs, and work the job queue
--   souk_dba       login of a person in psql: reads schema inspect, and the tables except texts and
--                  secrets; writes nothing
--   souk_migrator  login of later migrations: becomes souk_owner and souk_queue, and cannot create roles
--
-- The login roles get no password here. The operator sets the passwords (`alter role souk_api password ...`).

do $$
declare
  wanted record;
begin
  begin
    -- Two databases of one cluster may be migrated at the same time. This lock is the only one that they share.
    lock table pg_catalog.pg_authid in share row exclusive mode;
  exception when insufficient_privilege then
    null;
  end;
  for wanted in
    select * from (values
      ('souk_owner', 'nologin'), ('souk_queue', 'nologin'), ('souk_agent', 'nologin'), ('souk_person', 'nologin'),
      ('souk_moderator', 'nologin'),
      -- noinherit: a role that is a member of others has none of their rights until it sets one of these roles.
      ('souk_api', 'login noinherit'),
      ('souk_worker', 'login'),
      ('souk_dba', 'login'),
      ('souk_migrator', 'login noinherit')) as r (name, options)
    where not exists (select from pg_roles where rolname = r.name)
  loop
    execute format('create role %I %s', wanted.name, wanted.options);
  end loop;
end
$$;

grant souk_agent, souk_person, souk_moderator to souk_api;
grant souk_queue to souk_owner, souk_worker;
grant souk_owner, souk_queue to souk_migrator;
-- The migrating role transfers objects to souk_owner. A process that is started with the address of the migrating role
-- sets these roles itself.
grant souk_owner, souk_queue, souk_api, souk_worker, souk_migrator to current_user;

create extension if not exists vector;

create schema market authorization souk_owner;
create schema internal authorization souk_owner;
create schema reading authorization souk_owner;
create schema search authorization souk_owner;
create schema api authorization souk_owner;
create schema jobs authorization souk_owner;
create schema admin authorization souk_owner;
create schema inspect authorization souk_owner;
-- Its tables: migrations.sql.
create schema graphile_migrate authorization souk_owner;

revoke create on schema public from public;
-- No role needs temporary objects here, and without them no temporary object can shadow another object. Only the owner
-- of the database can revoke this right.
do $$
begin
  execute format('revoke temporary on database %I from public', current_database());
end
$$;
alter default privileges for role souk_owner revoke execute on functions from public;
