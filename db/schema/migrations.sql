-- Where graphile-migrate keeps which migrations it has run. Its tables are made here, so that the login that runs
-- migrations (souk_migrator) needs no right to create a schema.

create table graphile_migrate.migrations (
  hash text constraint migrations_pkey primary key,
  previous_hash text
    constraint migrations_previous_hash_fkey references graphile_migrate.migrations on delete restrict,
  filename text not null,
  date timestamptz not null default now()
);

-- The migration in progress, while somebody changes the schema with `graphile-migrate watch`.
create table graphile_migrate.current (
  filename text constraint current_pkey primary key default 'current.sql',
  content text not null,
  date timestamptz not null default now()
);

grant usage on schema graphile_migrate to souk_migrator;
grant select, insert on graphile_migrate.migrations to souk_migrator;
grant select on graphile_migrate.current to souk_migrator;
