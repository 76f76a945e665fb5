import test from "ava";
import { migrate } from "../../src/install/migrate.ts";
import { withClient } from "../support/client.ts";
import { type Cluster, startCluster } from "../support/postgres.ts";
import { sql } from "../support/sql.ts";

/**
 * Which privileges the login that runs migrations needs.
 *
 *   first      may create roles and owns the database, but is no superuser
 *   migrator   souk_migrator, which the first migration creates
 */

let server: Cluster;
const url = { superuser: "", first: "", migrator: "" };

test.before(async () => {
  server = await startCluster();
  await sql(server.url, "create role first login createrole");
  await sql(server.url, "create database market owner first");
  const of = (role: string) => {
    const given = new URL(server.url);
    given.username = role;
    given.pathname = "/market";
    return given.href;
  };
  Object.assign(url, { superuser: of("postgres"), first: of("first"), migrator: of("souk_migrator") });
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
    await client.query("alter table market.report add column seen_at timestamptz");
    await client.query("create index report_seen_at_idx on market.report (seen_at)");
    await client.query(
      "create or replace function internal.one() returns integer language sql immutable as 'select 1'",
    );
    await client.query("reset role");
    // graphile-migrate records in this table which migrations it has run.
    await client.query("insert into graphile_migrate.migrations (hash, filename) values ('sha1:0', '999999.sql')");
    await client.query("set local role souk_queue");
    await client.query("alter table graphile_worker._private_jobs add column tried boolean");
    await client.query("rollback");
  });
  await t.notThrowsAsync(migrated);
});
