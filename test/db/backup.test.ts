import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import test from "ava";
import { withClient } from "../support/client.ts";
import { assertInvariants } from "../support/invariants.ts";
import { type Cluster, startCluster } from "../support/postgres.ts";
import { programsFor } from "../support/programs.ts";
import { sql, sqlValue } from "../support/sql.ts";
import { blockOf, OUTPUT_BYTES, runCommands } from "./backup_commands.ts";
import { openMarket } from "./market.ts";

/**
 * Runs the commands of the guide to backups: from the tests' server to a new, empty one.
 *
 *   original   a database with rows in every table, also in the queue, and with sequences in use
 *   restored   the restored database on the new server
 */

const run = promisify(execFile);

let market: Awaited<ReturnType<typeof openMarket>>;
let server: Cluster;
let folder: string;
let restored: string;
let environments: { original: NodeJS.ProcessEnv; restored: NodeJS.ProcessEnv };

test.before(async () => {
  [market, server, folder] = await Promise.all([openMarket(), startCluster(), mkdtemp(join(tmpdir(), "souk-backup-"))]);
  const [seller, buyer] = [await market.approved(), await market.approved()];
  await market.connect();
  const offer = await market.offer(seller);
  const other = await market.approved();
  await market.call(other, "archive_offer", { id: await market.offer(other, { title: "Old chair" }) });
  await market.ask(buyer, { max: "200 EUR" });
  await market.call(buyer, "report_offer", { id: offer, reason: "spam", comment: 'A tab \t and a "quote"' });
  await market.call(buyer, "publish_offer", {
    body: { text: "Still to be read" },
    idempotency_key: "in flight",
    request_hash: Buffer.alloc(32, 7),
  });
  await market.sql("update market.sign_in_method set available = true");
  await market.call(seller, "start_verification", { method: "email" });

  // A database created from a template does not inherit the template's privileges.
  await market.sql(`grant create on database ${new URL(market.url).pathname.slice(1)} to souk_owner`);

  // The old server has counted further than the new one will have.
  await market.sql("update market.event set xid = '900000000'");
  await market.sql("update market.match set xid = '900000000'");
  await market.sql`insert into market.digest (account_id, enabled, seen, mail_id, mail_until, mail_at)
    values (${buyer.account}, true, '900000000:900000001:', internal.uuid_v7(), '900000000:900000001:', now())`;

  const url = new URL(server.url);
  url.pathname = new URL(market.url).pathname;
  restored = url.href;
  environments = { original: await programsFor(market.url), restored: await programsFor(server.url) };
  await runCommands("dump", { cwd: folder, env: environments.original });
  environments.restored["PGDATABASE"] = url.pathname.slice(1);
  await runCommands("restore", { cwd: folder, env: environments.restored });
});

test.after.always(async () => {
  await market?.close();
  await server?.destroy();
  if (folder) await rm(folder, { recursive: true, force: true });
});

/**
 * The number of rows and a hash of the sorted rows of each table. The numbers of transactions are left out: those of a
 * server that has counted further are given another number, and its notes of writes are deleted (jobs.renumber).
 */
const contents = (url: string): Promise<Record<string, { rows: number; hash: string }>> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname in ('market', 'internal', 'reading', 'search', 'graphile_worker', 'graphile_migrate') and c.relkind in ('r', 'p')
         and c.oid not in ('internal.numbering'::regclass, 'internal.recent_write'::regclass) order by 1`,
    );
    const tables: Record<string, { rows: number; hash: string }> = {};
    for (const { name } of rows) {
      const row = "(to_jsonb(t) - '{xid,seen,mail_id,mail_until,mail_at}'::text[])::text";
      const found = await client.query(
        `select count(*)::integer as rows, md5(string_agg(${row}, E'\\n' order by ${row} collate "C")) as hash from ${name} t`,
      );
      tables[name] = found.rows[0];
    }
    return tables;
  });

const sequences = (url: string) =>
  sql(url, "select schemaname, sequencename, last_value from pg_sequences order by 1, 2");

const roles = (url: string) =>
  sql(url)`select r.rolname, r.rolcanlogin, r.rolinherit, r.rolconnlimit, r.rolsuper, r.rolbypassrls, r.rolcreaterole,
      (select array_agg(s.setconfig::text order by 1) from pg_db_role_setting s
        where s.setrole = r.oid and s.setdatabase = 0) as settings,
      array(select m.roleid::regrole::text from pg_auth_members m where m.member = r.oid order by 1) as member_of
    from pg_roles r where r.rolname ~ '^souk_' order by 1`;

const dump = async (args: string[], env: NodeJS.ProcessEnv): Promise<string[]> => {
  const { stdout } = await run("pg_dump", args, { env, maxBuffer: OUTPUT_BYTES });
  // Recent versions of pg_dump write a random key at the start and end of each dump.
  return stdout.split("\n").filter((line) => !/^\\(un)?restrict /.test(line));
};

test.serial("a dump restored into an empty server has the same rows", async (t) => {
  const original = await contents(market.url);
  t.true(Object.keys(original).length > 25);
  for (const table of [
    "market.offer",
    "market.match",
    "market.rate_limit_hit",
    "market.idempotency_key",
    "graphile_worker._private_jobs",
  ])
    t.true((original[table]?.rows ?? 0) > 0, table);
  t.deepEqual(await contents(restored), original);
});

test.serial("the restored sequences are the same, so new ids do not collide with old ones", async (t) => {
  const original = await sequences(market.url);
  t.true(
    original.some(({ sequencename, last_value }) => sequencename === "rate_limit_hit_id_seq" && Number(last_value) > 0),
  );
  t.deepEqual(await sequences(restored), original);
});

test.serial("no row of the dump has a number of a transaction that is still to come", async (t) => {
  const columns = await sql<{ found: string }>(
    market.url,
    `select format('select count(*)::int from %s where %s >= pg_snapshot_xmax(pg_current_snapshot())', c.oid::regclass,
       case a.atttypid when 'pg_snapshot'::regtype then format('pg_snapshot_xmax(%I)', a.attname) else a.attname end)
       as found
     from pg_attribute a join pg_class c on c.oid = a.attrelid
     where c.relkind in ('r', 'p') and a.atttypid in ('xid8'::regtype, 'pg_snapshot'::regtype)
       and c.relnamespace in ('market'::regnamespace, 'internal'::regnamespace) and not c.relispartition`,
  );
  t.true(columns.length >= 5);
  for (const { found } of columns) {
    if (!found.includes("recent_write")) t.not(await sqlValue(market.url, found), 0, found);
    t.is(await sqlValue(restored, found), 0, found);
  }
  t.is(await sqlValue(restored, "select jobs.renumber()"), 0, "once");
});

test.serial("the restored tables, policies, functions, comments and privileges are the same", async (t) => {
  const [one, other] = await Promise.all([
    dump(["--schema-only"], environments.original),
    dump(["--schema-only"], environments.restored),
  ]);
  t.true(one.some((line) => line.startsWith("CREATE POLICY")) && one.some((line) => line.startsWith("GRANT SELECT")));
  // PostgreSQL prints "a and (b and c)" with other parentheses after a restore.
  const comparable = (lines: string[]) =>
    lines.map((line) => (/CHECK \(|WHEN \(/.test(line) ? line.replaceAll(/[()]/g, "") : line));
  t.deepEqual(comparable(other), comparable(one));
});

test.serial("the restored roles have the same memberships, limits and timeouts", async (t) => {
  const original = await roles(market.url);
  t.true(original.length >= 8);
  t.deepEqual(await roles(restored), original);
  t.true(await sqlValue(restored, "select has_database_privilege('souk_owner', current_database(), 'create')"));
});

test.serial("the restored market breaks no invariant and accepts an agent's token", async (t) => {
  await assertInvariants(t, restored);
  const id = await sqlValue<string>(restored, "select id from market.agent where connected_at is not null limit 1");
  const { rows } = await withClient(restored, async (client) => {
    await client.query("set session authorization souk_api");
    return client.query(
      "with actor as materialized (select internal.enter_agent($1) as entered) select api.get_me('', '\\x00') -> 'agent' ->> 'id' as id from actor where entered",
      [await sqlValue<Buffer>(restored)`select token_hash from market.agent where id = ${id}`],
    );
  });
  t.is(rows[0].id, id);
});

test.serial("without BYPASSRLS a dump is refused, and with --enable-row-security it is incomplete", async (t) => {
  await t.throwsAsync(dump(["--role=souk_owner", "--table=market.offer"], environments.restored), {
    message: /query would be affected by row-level security policy/,
  });
  const insisting = await dump(
    ["--role=souk_agent", "--enable-row-security", "--data-only", "--inserts", "--table=market.offer"],
    environments.restored,
  );
  const count = insisting.filter((line) => line.startsWith("INSERT INTO market.offer")).length;
  t.is(count, 1, "the archived offer is missing");
  t.is(await sqlValue(restored, "select count(*)::int from market.offer"), 2);
});

test.serial("a backup role that is not a superuser dumps everything", async (t) => {
  await sql(restored, await blockOf("sql", "backup role"));
  const args = [
    "--data-only",
    "--inserts",
    "--rows-per-insert=1",
    "--schema=market",
    "--schema=reading",
    "--schema=graphile_migrate",
  ];
  const [one, other] = await Promise.all([
    dump(args, environments.restored),
    dump(args, { ...environments.restored, PGUSER: "backup" }),
  ]);
  t.true(one.length > 1000);
  t.deepEqual(other, one);
});
