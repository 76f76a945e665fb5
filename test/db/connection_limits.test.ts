import { readFile } from "node:fs/promises";
import test from "ava";
import { readConfig } from "../../src/config.ts";
import { ADMIN_POOL_SIZE } from "../../src/database/database.ts";
import { WORKER_POOL_SIZE } from "../../worker/main.ts";
import { createDatabase } from "../support/database.ts";
import { sql } from "../support/sql.ts";

/** How many connections each process opens, each login may open, and a server allows. */

/** PostgreSQL's default max_connections, less superuser_reserved_connections. */
const OF_A_SERVER = 100 - 3;
/** The connection of src/database/notifications.ts. */
const LISTENER = 1;
/** The connection that asks whose reads may use replicas. */
const REPLICAS = 1;

const limits = async (url: string): Promise<Record<string, number>> => {
  const rows = await sql<{ role: string; limit: number }>(
    url,
    "select rolname as role, rolconnlimit as \"limit\" from pg_roles where rolconnlimit > 0 and rolname like 'souk%'",
  );
  return Object.fromEntries(rows.map(({ role, limit }) => [role, limit]));
};

test("every login has a connection limit and timeouts", async (t) => {
  const { url } = await createDatabase(t);
  const logins = await sql<{ role: string; limit: number; settings: string }>(
    url,
    `select rolname as role, rolconnlimit as "limit", array_to_string(setconfig, ' ') as settings
     from pg_roles r left join pg_db_role_setting s on s.setrole = r.oid where rolname ~ '^souk_' and rolcanlogin`,
  );
  t.true(logins.length >= 4);
  for (const { role, limit, settings } of logins) {
    t.true(limit > 0, role);
    t.regex(settings, /lock_timeout=/, role);
    t.regex(settings, /idle_in_transaction_session_timeout=/, role);
    if (role !== "souk_migrator") t.regex(settings, /statement_timeout=/, role);
  }
});

test("two processes of each kind fit the connection limits, which together fit PostgreSQL's default", async (t) => {
  const { url } = await createDatabase(t);
  const { souk_api: api = 0, souk_worker: worker = 0, ...others } = await limits(url);
  const pool = readConfig({}).databasePoolSize;
  t.true(2 * (2 * pool + ADMIN_POOL_SIZE + LISTENER + REPLICAS) <= api, `${api} for souk_api`);
  t.is(2 * WORKER_POOL_SIZE, worker);
  t.deepEqual(Object.keys(others).toSorted(), ["souk_dba", "souk_migrator"]);
  t.true(Object.values(others).reduce((sum, limit) => sum + limit, api + worker) <= OF_A_SERVER);
  const guide = (await readFile(new URL("../../db/README.md", import.meta.url), "utf8")).replaceAll(/\s+/g, " ");
  t.true(
    guide.includes(`2 x \`DATABASE_POOL_SIZE\` (${pool}) + 4 connections: three for moderators, and one that listens.`),
  );
  t.is(ADMIN_POOL_SIZE + LISTENER, 4);
  t.true(guide.includes(`A worker takes ${WORKER_POOL_SIZE}.`));
  const example = (await readFile(new URL("../../.env.example", import.meta.url), "utf8")).replaceAll("\n# ", " ");
  t.regex(example, new RegExp(`^DATABASE_POOL_SIZE=${pool}$`, "m"));
  t.true(example.includes(`With ${pool}, two API processes fit the connection limit of souk_api, which is ${api} `));
});
