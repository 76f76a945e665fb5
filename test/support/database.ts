import { randomBytes } from "node:crypto";
import type pg from "pg";
import { urlOf, withClient } from "./client.ts";
import { readyTemplate } from "./template.ts";

/**
 * Databases for tests.
 *
 *   template  a migrated database without connections; made once (template.ts), and named after a hash of its sources
 *   database  a copy of the template for one test or one test file, dropped at the end
 *   actor     a role with its claims, as the entry function sets them for a request
 *
 * Roles belong to the server and not to a database: tests that change a role's settings need a cluster of their own.
 */

/** A database for tests. */
export type Database = {
  /** The URL for a superuser. */
  url: string;
  name: string;
  /** Drops the database and ends its connections. A second call does nothing. */
  drop: () => Promise<void>;
};

/** A role and its claims. */
export type Actor = {
  /** The PostgreSQL role to act as. */
  role: string;
  /** Settings by their full names: `{"market.agent_id": id}`. */
  claims?: Record<string, string>;
};

/** The part of ava's `t` that registers a clean-up. Hooks have none: call `drop` in `test.after.always`. */
export type Teardown = { teardown: (clean: () => Promise<void>) => void };

/** A pg client, or anything that sends SQL over one connection. */
export type Connection = Pick<pg.ClientBase, "query">;

/** Creates a migrated database. With a test's `t`, it is dropped after that test. */
export async function createDatabase(t?: Teardown): Promise<Database> {
  templateOfThisProcess ??= findTemplate();
  return copy(await templateOfThisProcess, t);
}

/**
 * Creates an empty database, for tests of the migrations themselves. With a test's `t`, it is dropped after that test.
 * @param locale as `create database` takes it; usually the server's
 */
export async function createEmptyDatabase(t?: Teardown, locale = ""): Promise<Database> {
  return copy("template0", t, locale);
}

async function copy(template: string, t?: Teardown, locale = ""): Promise<Database> {
  const name = `souk_test_${process.env["TEST_RUN"] ?? "alone"}_${randomBytes(6).toString("hex")}`;
  await withClient(serverUrl(), (client) =>
    // Copying files is twice as fast as the default, which writes the copy through the WAL.
    client.query(`create database ${name} template ${template} strategy file_copy ${locale}`),
  );
  const drop = async () => {
    await withClient(serverUrl(), (client) => client.query(`drop database if exists ${name} with (force)`));
  };
  t?.teardown(drop);
  return { url: urlOf(serverUrl(), name), name, drop };
}

const depths = new WeakMap<Connection, number>();

/**
 * Runs `fn` in a transaction that is always rolled back. Inside such a transaction, it uses a savepoint.
 * @param client one connection, not a pool
 */
export async function rolledBack<C extends Connection, T>(client: C, fn: (client: C) => Promise<T>): Promise<T> {
  const depth = depths.get(client) ?? 0;
  depths.set(client, depth + 1);
  await client.query(depth === 0 ? "begin" : `savepoint test_${depth}`);
  try {
    return await fn(client);
  } finally {
    depths.set(client, depth);
    await client.query(
      depth === 0 ? "rollback" : `rollback to savepoint test_${depth}; release savepoint test_${depth}`,
    );
  }
}

/**
 * Runs `fn` with an actor's role and claims set for the transaction.
 *
 * Outside `rolledBack`, it is a transaction that is rolled back. Inside `rolledBack`, the changes of `fn` stay, so that
 * several actors can meet in one test; if `fn` throws, its changes are undone and the transaction goes on. Afterwards,
 * role and claims are restored.
 */
export async function as<C extends Connection, T>(client: C, actor: Actor, fn: (client: C) => Promise<T>): Promise<T> {
  const depth = depths.get(client) ?? 0;
  if (depth === 0) return rolledBack(client, () => as(client, actor, fn));
  const claims = Object.entries(actor.claims ?? {});
  const before = await client.query<{ role: string; claims: string[] }>(
    "select current_setting('role') as role, array(select coalesce(current_setting(name, true), '') " +
      "from unnest($1::text[]) with ordinality as claim (name, place) order by place) as claims",
    [claims.map(([name]) => name)],
  );
  const savepoint = `test_${depth}`;
  await client.query(`savepoint ${savepoint}`);
  depths.set(client, depth + 1);
  try {
    await become(client, actor.role, claims);
    const result = await fn(client);
    const [state] = before.rows;
    await become(
      client,
      state?.role ?? "none",
      claims.map(([name], place) => [name, state?.claims[place] ?? ""]),
    );
    await client.query(`release savepoint ${savepoint}`);
    return result;
  } catch (error) {
    await client.query(`rollback to savepoint ${savepoint}; release savepoint ${savepoint}`);
    throw error;
  } finally {
    depths.set(client, depth);
  }
}

async function become(client: Connection, role: string, claims: [string, string][]): Promise<void> {
  await client.query("select set_config('role', $1, true)", [role]);
  for (const [name, value] of claims) await client.query("select set_config($1, $2, true)", [name, value]);
}

let templateOfThisProcess: Promise<string> | undefined;

/**
 * Returns the template's name. The first test file of a run that needs the template makes it if it is missing, and
 * adds a comment to it with the run's name. Other test files find the template by this comment.
 */
async function findTemplate(): Promise<string> {
  const run = `template of run ${process.env["TEST_RUN"] ?? "alone"}`;
  const find = `select datname as name from pg_database where datistemplate and shobj_description(oid, 'pg_database') = $1`;
  const { rows } = await withClient(serverUrl(), (client) => client.query<{ name: string }>(find, [run]));
  if (rows[0]) return rows[0].name;
  const name = await readyTemplate(serverUrl());
  await withClient(serverUrl(), (client) => client.query(`comment on database ${name} is '${run}'`));
  return name;
}

function serverUrl(): string {
  const url = process.env["TEST_DATABASE_URL"];
  if (!url)
    throw new Error("There is no TEST_DATABASE_URL: run tests with `npm test -- <file>`, which starts a server.");
  return url;
}
