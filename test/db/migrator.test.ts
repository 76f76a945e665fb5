import test from "ava";
import { migrate } from "../../src/install/migrate.ts";
import { readSchema } from "../../src/install/schema_files.ts";
import { withClient } from "../support/client.ts";
import { type Cluster, startCluster } from "../support/postgres.ts";
import { sql } from "../support/sql.ts";

/**
 * Which privileges the login that runs migrations needs, and that no other login can leave something for it to run.
 *
 *   first      may create roles and owns the database, but is no superuser
 *   migrator   souk_migrator, which the first migration creates
 */

let server: Cluster;
const url = { superuser: "", first: "", migrator: "", worker: "" };

const urlOf = (role: string, database: string): string => {
  const given = new URL(server.url);
  given.username = role;
  given.pathname = `/${database}`;
  return given.href;
};

test.before(async () => {
  server = await startCluster();
  await sql(server.url, "create role first login createrole");
  await sql(server.url, "create database market owner first");
  Object.assign(url, {
    superuser: urlOf("postgres", "market"),
    first: urlOf("first", "market"),
    migrator: urlOf("souk_migrator", "market"),
    worker: urlOf("souk_worker", "market"),
  });
  await sql(url.superuser, "create extension vector");
});
test.after.always(async () => {
  await server?.destroy();
});

test.serial("a login that may create roles and owns the database can make the database", async (t) => {
  await t.notThrowsAsync(migrate(url.first));
});

test.serial("souk_migrator can run later migrations, but cannot create roles or read tables by itself", async (t) => {
  await sql(url.superuser, "alter role first nologin");
  await t.notThrowsAsync(migrate(url.migrator));
  // Simulates an upgrade with changed rows: all files are loaded again, and one stored row differs from its file.
  await sql(url.superuser, "update internal.loaded set hash = repeat('0', 64) where name not in ('structure', 'code')");
  await sql(
    url.superuser,
    "set market.loading = 'on'; update market.reason set rank = 99 where code = 'other'; reset market.loading",
  );
  await t.notThrowsAsync(migrate(url.migrator));
  t.deepEqual(await sql(url.superuser, "select rank from market.reason where code = 'other'"), [{ rank: 12 }]);
  const migrated = withClient(url.migrator, async (client) => {
    await t.throwsAsync(client.query("create role another"), { code: "42501" });
    await t.throwsAsync(client.query("select from market.account"), { code: "42501" });
    await client.query("begin");
    await client.query("set local role souk_owner");
    await client.query("create schema another");
    await client.query("alter table graphile_worker._private_jobs add column tried boolean");
    await client.query("alter table market.report add column seen_at timestamptz");
    await client.query("create index report_seen_at_idx on market.report (seen_at)");
    await client.query(
      "create or replace function internal.one() returns integer language sql immutable as 'select 1'",
    );
    await client.query("reset role");
    // graphile-migrate records in this table which migrations it has run.
    await client.query("insert into graphile_migrate.migrations (hash, filename) values ('sha1:0', '999999.sql')");
    await client.query("rollback");
  });
  await t.notThrowsAsync(migrated);
});

test.serial("souk_migrator makes a database that a superuser has prepared, and no other", async (t) => {
  await sql(server.url, "create database prepared");
  const migrator = urlOf("souk_migrator", "prepared");
  await t.throwsAsync(migrate(migrator), { message: /^This database has not been prepared .* as a superuser/ });
  // As psql does, and the container of the database. It does no harm again.
  const { administration } = await readSchema();
  for (const _ of [1, 2]) await sql(urlOf("postgres", "prepared"), administration);
  await t.notThrowsAsync(migrate(migrator));
});

test.serial("a superuser changes no database that exists, but may look whether there is something to do", async (t) => {
  const refused = { message: /^This database exists already, and postgres is a superuser: .* as souk_migrator/ };
  await t.throwsAsync(migrate(url.superuser, { refuseSuperuser: true }), refused);
  await t.notThrowsAsync(migrate(url.superuser));
  for (const behind of [
    "update internal.loaded set hash = repeat('0', 64) where name = 'code'",
    "update internal.loaded set hash = repeat('0', 64) where name = 'reason.tsv'",
    "delete from graphile_worker.migrations where id = (select max(id) from graphile_worker.migrations)",
  ]) {
    await sql(url.superuser, behind);
    await t.throwsAsync(migrate(url.superuser), refused, behind);
    await t.notThrowsAsync(migrate(url.migrator), behind);
  }
});

/** A login may become these roles, and no others. pg_read_all_stats reads figures only, and only a superuser can grant it. */
const MEMBERSHIPS = {
  souk_api: ["souk_agent", "souk_moderator", "souk_person"],
  souk_dba: [],
  souk_migrator: ["souk_owner"],
  souk_worker: [],
};

/**
 * What each login, and each role that it may become, can create, change or own. Without the right to create in a schema
 * nobody creates a table, an index, a function, a type or an operator, and rules and policies need ownership.
 */
const CREATIONS = `
  with role as (
    select l.rolname as login, r.*
    from pg_roles l join pg_roles r on pg_has_role(l.oid, r.oid, 'member')
    where l.rolname ~ '^souk_' and l.rolcanlogin and r.rolname <> 'souk_owner'
  )
  select distinct format('%s as %s: %s', role.login, role.rolname, may.what) as line
  from role, lateral (
    select 'create in schema ' || n.nspname from pg_namespace n where has_schema_privilege(role.oid, n.oid, 'create')
    union all
    select format('%s in database %s', o.operation, d.datname)
    from pg_database d, unnest(array['create', 'temporary']) as o (operation)
    where d.datname = current_database() and has_database_privilege(role.oid, d.oid, o.operation)
    union all
    select 'create in tablespace ' || s.spcname from pg_tablespace s
    where has_tablespace_privilege(role.oid, s.oid, 'create')
    union all
    select format('%s on %s', o.operation, c.oid::regclass)
    from pg_class c, unnest(array['trigger', 'references', 'truncate']) as o (operation)
    where c.relkind in ('r', 'p', 'v', 'm', 'f') and has_table_privilege(role.oid, c.oid, o.operation)
    union all
    select format('own %s %s', d.classid::regclass, d.objid) from pg_shdepend d
    where d.refclassid = 'pg_authid'::regclass and d.refobjid = role.oid and d.deptype = 'o'
    union all
    select 'be more than a login'
    where role.rolsuper or role.rolcreaterole or role.rolcreatedb or role.rolreplication or role.rolbypassrls
  ) as may (what)
  order by 1`;

test.serial("no login can create an object anywhere, except souk_migrator as souk_owner", async (t) => {
  const members = await sql<{ login: string; roles: string[] }>(
    url.superuser,
    `select l.rolname as login, array(
       select r.rolname::text from pg_roles r
       where pg_has_role(l.oid, r.oid, 'member') and r.oid <> l.oid and r.rolname <> 'pg_read_all_stats' order by 1) as roles
     from pg_roles l where l.rolname ~ '^souk_' and l.rolcanlogin`,
  );
  t.deepEqual(Object.fromEntries(members.map(({ login, roles }) => [login, roles])), MEMBERSHIPS);
  t.deepEqual(await sql(url.superuser, CREATIONS), []);
});

test.serial("the worker's login cannot plant a trigger in the queue", async (t) => {
  await withClient(url.worker, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      "select oid::regclass::text as name from pg_class where relnamespace = 'graphile_worker'::regnamespace and relkind = 'r'",
    );
    t.true(rows.length > 4);
    for (const { name } of rows) {
      const plant = `create trigger planted before insert or update on ${name}
        for each row execute function pg_catalog.suppress_redundant_updates_trigger()`;
      await t.throwsAsync(client.query(plant), { code: "42501" }, name);
    }
  });
});
