-- The roles, and what they may do with the database as a whole. Only this file and logins.sql need a superuser, or a
-- login that may create roles and owns the database. All other files run as souk_owner. Roles belong to the whole
-- cluster, so they may exist already; this file can run again at any time.
--
--   souk_owner     owns every object, those of the job queue too; nobody logs in as it
--   souk_api       login of the HTTP layer: may call functions of schema api, and reads no table
--   souk_agent     souk_api becomes it for the one statement of an agent's request
--   souk_person    souk_api becomes it for the one statement of a person's request
--   souk_moderator souk_api becomes it for one operation of a moderator
--   souk_worker    login of the worker: may call functions of schema jobs, and change rows of the job queue
--   souk_dba       login of a person in psql: reads schema inspect, and the tables except texts and
--                  secrets; writes nothing
--   souk_migrator  login of migrations: becomes souk_owner, and cannot create roles
--
-- No other login can create an object anywhere. Who owns a table, or may create triggers on it, has a function of their
-- own run by the next role that writes to it, which may be the owner or a superuser.
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
      ('souk_owner', 'nologin'), ('souk_agent', 'nologin'), ('souk_person', 'nologin'), ('souk_moderator', 'nologin'),
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
grant souk_owner to souk_migrator;
-- The login that runs this file may make the database, and may be the only address of a service: its processes set
-- these roles themselves.
grant souk_owner, souk_api, souk_worker to current_user;

create extension if not exists vector;

revoke create on schema public from public;
-- No role needs temporary objects here, and without them no temporary object can shadow another object. Only the owner
-- of the database can change these rights.
do $$
begin
  execute format('revoke temporary on database %I from public', current_database());
  execute format('grant create on database %I to souk_owner', current_database());
end
$$;
-- Nor large objects, which any login could fill the disk with. Only a superuser can change this.
do $$
declare
  maker regprocedure;
begin
  for maker in
    select p.oid::regprocedure from pg_proc p
    where p.pronamespace = 'pg_catalog'::regnamespace and p.proname in ('lo_creat', 'lo_create', 'lo_from_bytea')
  loop
    if (select r.rolsuper from pg_roles r where r.rolname = current_user) then
      execute format('revoke execute on function %s from public', maker);
    elsif has_function_privilege('souk_dba', maker, 'execute') then
      raise notice 'each login can create large objects until a superuser runs: revoke execute on function % from '
        'public',
        maker;
    end if;
  end loop;
end
$$;
alter default privileges for role souk_owner revoke execute on functions from public;
