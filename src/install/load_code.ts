import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { setRights, takeGrants, withoutKnownComments } from "./rights.ts";
import { codeHash, readSchema, SCHEMA, type SchemaFile } from "./schema_files.ts";

/**
 * Loads the code of db/schema (functions, views, grants and comments) as a whole, in one transaction, whenever it has
 * changed.
 */

/** The schemas that db/schema creates. */
const SCHEMAS = ["market", "internal", "reading", "search", "api", "jobs", "admin", "inspect"];

/** The schemas in which our roles have rights: also the queue's, and that of the list of migrations. */
const GRANTED = [...SCHEMAS, "graphile_worker", "graphile_migrate"];

/** For each SQLSTATE: what must be dropped before a file can be loaded; undefined if PostgreSQL does not name it. */
const IN_THE_WAY: Readonly<Record<string, (error: pg.DatabaseError) => string | undefined>> = {
  // invalid_function_definition: the function's argument names or result changed. The hint has the drop statement.
  "42P13": (error) => /DROP FUNCTION (.+\))/.exec(error.hint ?? "")?.[1],
  // ambiguous_function: a view calls a new function, but an old function of this name, now in no file, also fits.
  "42725": (error) => /\w+\.\w+(?=\()/.exec(error.message)?.[0],
  // invalid_table_definition: the columns of a view changed.
  "42P16": () => "views",
};

/**
 * A function or view that no file creates any more.
 * @property clashes a call with fewer arguments fits both this function and a new one with defaults
 */
type Orphan = { kind: "function" | "view"; oid: number; name: string; clashes: boolean };

/** The functions and views of our schemas that this transaction has not written, so no file creates them any more. */
const ORPHANS = `
  select 'function' as kind, p.oid, p.oid::regprocedure::text as name, exists (
      select from pg_proc n
      cross join lateral greatest(n.pronargs - n.pronargdefaults, p.pronargs - p.pronargdefaults) as given
      where n.pronamespace = p.pronamespace and n.proname = p.proname and n.xmin::text = $2
        and given <= least(n.pronargs, p.pronargs)
        and (n.proargtypes::oid[])[0:given - 1] = (p.proargtypes::oid[])[0:given - 1]) as clashes
  from pg_proc p
  where p.pronamespace = any ($1::regnamespace[]) and p.xmin::text <> $2 and p.prokind = 'f'
    and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
  union all
  select 'view', c.oid, c.oid::regclass::text, false
  from pg_class c join pg_rewrite r on r.ev_class = c.oid and r.rulename = '_RETURN'
  where c.relnamespace = any ($1::regnamespace[]) and c.relkind = 'v' and r.xmin::text <> $2
  order by 1 desc, 3`;

const NAMES = "select string_agg(oid::regprocedure::text, ', ') as names from pg_proc where oid = any ($1)";

/** The other transactions under way in this database. */
const UNDER_WAY = `
  select l.virtualtransaction as id from pg_locks l join pg_stat_activity a on a.pid = l.pid
  where l.locktype = 'virtualxid' and l.mode = 'ExclusiveLock' and l.granted and a.datname = current_database()
    and a.usename is not null and a.pid <> pg_backend_pid()`;

/**
 * The longest wait for transactions that began with the old code. The statement timeout of the login roles is five
 * seconds; a transaction that takes longer is not a request's.
 */
const UNDER_WAY_MS = 6_000;
/** The interval between two looks at them. Most requests take a few milliseconds. */
const UNDER_WAY_POLL_MS = 20;

const VIEWS = `
  select c.oid::regclass::text as name from pg_class c
  where c.relnamespace = any ($1::regnamespace[]) and c.relkind = 'v'`;

/** Functions, given by name, or by name and arguments. */
const FUNCTIONS = `
  select p.oid::regprocedure::text as name from pg_proc p
  where format('%s.%s', p.pronamespace::regnamespace, p.proname) = any ($1) or p.oid::regprocedure::text = any ($1)`;

/**
 * Drops the named functions, and all views, because views may use the functions. All are created again afterwards.
 * @throws if a table needs one of the functions in a default, a policy, a trigger, an index or a constraint
 */
const dropInTheWay = async (client: pg.ClientBase, names: string[]): Promise<void> => {
  const views = await client.query<{ name: string }>(VIEWS, [SCHEMAS]);
  for (const { name } of views.rows) await client.query(`drop view if exists ${name} cascade`);
  const functions = await client.query<{ name: string }>(FUNCTIONS, [names]);
  for (const { name } of functions.rows) {
    await client.query(`drop function ${name}`).catch((error: unknown) => {
      const users = error instanceof pg.DatabaseError ? error.detail : error;
      throw new Error(
        `The function ${name} has other arguments or another result now, but a table needs it: a migration has to drop and make it. ${users}`,
        { cause: error },
      );
    });
  }
};

/**
 * Tries to load the files in one transaction.
 * @param names functions to drop before the files are loaded (with all views)
 * @returns the functions and views that no file creates any more. The views were dropped. If something must be dropped
 *   before the files can be loaded, returns its name instead and changes nothing
 */
const loadOnce = async (
  client: pg.ClientBase,
  files: readonly SchemaFile[],
  hash: string,
  names: ReadonlySet<string>,
): Promise<{ orphans: Orphan[] } | { inTheWay: string }> => {
  await client.query("begin");
  try {
    await client.query("set local role souk_owner; set local check_function_bodies = off");
    // Functions set parameters of pgvector, which exist only after its library has been loaded.
    await client.query("select '[1]'::public.halfvec");
    if (names.size > 0) await dropInTheWay(client, [...names]);
    // All rows written from here on have the same xmin. A function or view with another xmin is not in any file.
    await client.query("savepoint code");
    const { rows } = await client.query<{ xmin: string }>(
      `insert into internal.loaded (name, hash) values ('code', $1)
       on conflict on constraint loaded_pkey do update set hash = excluded.hash, loaded_at = now()
       returning xmin::text`,
      [hash],
    );
    const parts = files.map((file) => takeGrants(file.code));
    const codes = await withoutKnownComments(
      client,
      parts.map(({ rest }) => rest),
    );
    for (const [n, file] of files.entries()) {
      try {
        const code = codes[n] ?? "";
        if (code.trim() !== "") await client.query(code);
      } catch (error) {
        const inTheWay = error instanceof pg.DatabaseError ? IN_THE_WAY[error.code ?? ""]?.(error) : undefined;
        if (inTheWay !== undefined && !names.has(inTheWay)) {
          await client.query("rollback");
          return { inTheWay };
        }
        throw new Error(
          `db/schema/${file.name} could not be loaded: ${error instanceof Error ? error.message : error}`,
          { cause: error },
        );
      }
    }
    const { rows: orphans } = await client.query<Orphan>(ORPHANS, [SCHEMAS, rows[0]?.xmin]);
    await setRights(
      client,
      parts.flatMap(({ rights }) => rights),
      GRANTED,
      orphans.map(({ oid }) => oid),
    );
    for (const { kind, oid, name, clashes } of orphans) {
      if (kind === "view") await client.query(`drop view ${name}`);
      // A statement that has already found it calls it by its OID. One that looks for it finds the new one.
      if (clashes) await client.query(`alter function ${name} rename to outdated_${oid}`);
    }
    await client.query("commit");
    return { orphans };
  } catch (error) {
    await client.query("rollback").catch(() => undefined);
    throw error;
  }
};

/** Waits until the transactions that are under way have ended, or for the longest time. */
const untilTheyEnd = async (client: pg.ClientBase): Promise<void> => {
  const underWay = async () => new Set((await client.query<{ id: string }>(UNDER_WAY)).rows.map(({ id }) => id));
  const began = await underWay();
  for (const end = performance.now() + UNDER_WAY_MS; began.size > 0 && performance.now() < end; ) {
    await sleep(UNDER_WAY_POLL_MS);
    const still = await underWay();
    for (const id of began) if (!still.has(id)) began.delete(id);
  }
};

/**
 * Drops functions that the new code does not call. Earlier statements go on with the old code, and find them until they
 * end.
 */
const dropFunctions = async (client: pg.ClientBase, oids: number[]): Promise<void> => {
  if (oids.length === 0) return;
  await untilTheyEnd(client);
  await client.query("begin; set local role souk_owner");
  try {
    const { rows } = await client.query<{ names: string }>(NAMES, [oids]);
    await client.query(`drop function ${rows[0]?.names}`);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => undefined);
    throw error;
  }
};

/**
 * Loads the code of db/schema if it differs from the code in the database. Other sessions see the old code until the
 * commit.
 * @param client a session that may become souk_owner
 * @param folder another folder of the same form, for tests
 * @returns the functions and views that were dropped because no file creates them any more; null if nothing had
 *   changed
 * @throws if a file cannot be loaded, or if a table uses something that must be dropped; then nothing has changed
 */
export const loadCode = async (client: pg.ClientBase, folder = SCHEMA): Promise<string[] | null> => {
  const schema = await readSchema(folder);
  const hash = codeHash(schema);
  await client.query("begin; set local role souk_owner");
  const { rows } = await client.query<{ hash: string }>("select hash from internal.loaded where name = 'code'");
  await client.query("commit");
  if (rows[0]?.hash === hash) return null;
  const names = new Set<string>();
  for (;;) {
    const outcome = await loadOnce(client, schema.files, hash, names);
    if ("inTheWay" in outcome) {
      names.add(outcome.inTheWay);
      continue;
    }
    const { orphans } = outcome;
    await dropFunctions(
      client,
      orphans.filter(({ kind }) => kind === "function").map(({ oid }) => oid),
    );
    return orphans.map(({ kind, name }) => `${kind} ${name}`);
  }
};
