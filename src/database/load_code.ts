import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";

/**
 * Code is loaded from db/schema as a whole, in one transaction, whenever it has changed: functions, views, grants and
 * comments. Structure (tables, types, policies, indexes, triggers) is changed only by migrations.
 */

const SCHEMA = fileURLToPath(new URL("../../db/schema", import.meta.url));

/** A file of structure begins with what migrations change; what is loaded again stands below this line. */
const RELOADED = /^-- Reloaded: .*$/m;

/** Files of nothing but structure. */
const STRUCTURE = /^(roles|logins|market\/(triggers|audit_triggers))\.sql$/;

/** The schemas that are ours. */
const SCHEMAS = ["market", "internal", "reading", "search", "api", "jobs", "admin", "inspect"];

/** Every role that grants are given to. */
const ROLES = ["souk_api", "souk_agent", "souk_person", "souk_moderator", "souk_worker", "souk_dba"];

/** By SQLSTATE: what has to be dropped before a file can be loaded; undefined where PostgreSQL does not name it. */
const IN_THE_WAY: Readonly<Record<string, (error: pg.DatabaseError) => string | undefined>> = {
  // invalid_function_definition: other names of arguments, or another result. The hint is the statement that drops it.
  "42P13": (error) => /DROP FUNCTION (.+\))/.exec(error.hint ?? "")?.[1],
  // ambiguous_function: a view calls the new function, and the old one of this name, which no file makes, fits as well.
  "42725": (error) => /\w+\.\w+(?=\()/.exec(error.message)?.[0],
  // invalid_table_definition: a view with other columns.
  "42P16": () => "views",
};

type File = { name: string; sql: string };

/** The files of a schema folder in the order of its table of contents, each with what of it is loaded again. */
const codeFiles = async (folder: string): Promise<File[]> => {
  const index = await readFile(join(folder, "index.sql"), "utf8");
  const names = [...index.matchAll(/^--!include (\S+)$/gm)].map(([, name]) => name ?? "");
  const files = await Promise.all(
    names
      .filter((name) => !STRUCTURE.test(name))
      .map(async (name) => {
        const text = await readFile(join(folder, name), "utf8");
        const line = RELOADED.exec(text);
        return { name, sql: line ? text.slice(line.index) : text };
      }),
  );
  return files.filter(({ sql }) => sql.trim() !== "");
};

const REVOKE = `
  revoke all on schema ${SCHEMAS.join(", ")} from ${ROLES.join(", ")};
  revoke all on all tables in schema ${SCHEMAS.join(", ")} from ${ROLES.join(", ")};
  revoke all on all functions in schema ${SCHEMAS.join(", ")} from ${ROLES.join(", ")}`;

/** Our functions and views that this transaction has not written: no file makes them any more. */
const ORPHANS = `
  select 'function' as kind, p.oid::regprocedure::text as name
  from pg_proc p
  where p.pronamespace = any ($1::regnamespace[]) and p.xmin::text <> $2 and p.prokind = 'f'
    and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
  union all
  select 'view', c.oid::regclass::text
  from pg_class c join pg_rewrite r on r.ev_class = c.oid and r.rulename = '_RETURN'
  where c.relnamespace = any ($1::regnamespace[]) and c.relkind = 'v' and r.xmin::text <> $2
  order by 1 desc, 2`;

const VIEWS = `
  select c.oid::regclass::text as name from pg_class c
  where c.relnamespace = any ($1::regnamespace[]) and c.relkind = 'v'`;

/** Functions by their names, or by names and arguments. */
const FUNCTIONS = `
  select p.oid::regprocedure::text as name from pg_proc p
  where format('%s.%s', p.pronamespace::regnamespace, p.proname) = any ($1) or p.oid::regprocedure::text = any ($1)`;

/**
 * Drops the named functions, and all views, since views may use them. Every one is made again afterwards.
 * @throws when a table needs one of the functions: in a default, a policy, a trigger, an index or a constraint
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
 * One try, in a transaction of its own.
 * @param names functions that are dropped, with all views, before files are loaded
 * @returns what was dropped as no file makes it any more; or, with nothing changed, what else has to be dropped first
 */
const loadOnce = async (
  client: pg.ClientBase,
  files: File[],
  hash: string,
  names: ReadonlySet<string>,
): Promise<{ dropped: string[] } | { inTheWay: string }> => {
  await client.query("begin");
  try {
    await client.query(`set local role souk_owner; set local check_function_bodies = off; ${REVOKE}`);
    // Functions name settings of pgvector, which exist once its library is loaded.
    await client.query("select '[1]'::public.halfvec");
    if (names.size > 0) await dropInTheWay(client, [...names]);
    // What is written after this has the number of its transaction; whatever has another number, no file makes.
    await client.query("savepoint code");
    const { rows } = await client.query<{ xmin: string }>(
      `insert into internal.loaded (name, hash) values ('code', $1)
       on conflict on constraint loaded_pkey do update set hash = excluded.hash, loaded_at = now()
       returning xmin::text`,
      [hash],
    );
    for (const file of files) {
      try {
        await client.query(file.sql);
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
    const orphans = await client.query<{ kind: string; name: string }>(ORPHANS, [SCHEMAS, rows[0]?.xmin]);
    for (const { kind, name } of orphans.rows) await client.query(`drop ${kind} ${name}`);
    await client.query("commit");
    return { dropped: orphans.rows.map(({ kind, name }) => `${kind} ${name}`) };
  } catch (error) {
    await client.query("rollback").catch(() => undefined);
    throw error;
  }
};

/**
 * Loads the code of db/schema when it differs from what the database holds. Callers that run meanwhile see the old code
 * until the end, then the new.
 * @param client a session that may become souk_owner
 * @param folder another folder of the same form, for tests
 * @returns the functions and views that were dropped because no file makes them any more; null when nothing had changed
 * @throws when a file cannot be loaded, or something dropped is still used by a table: then nothing has changed
 */
export const loadCode = async (client: pg.ClientBase, folder = SCHEMA): Promise<string[] | null> => {
  const files = await codeFiles(folder);
  const hash = createHash("sha256")
    .update(files.map(({ name, sql }) => `${name}\n${sql}`).join("\n"))
    .digest("hex");
  await client.query("begin; set local role souk_owner");
  const { rows } = await client.query<{ hash: string }>("select hash from internal.loaded where name = 'code'");
  await client.query("commit");
  if (rows[0]?.hash === hash) return null;
  const names = new Set<string>();
  for (;;) {
    const outcome = await loadOnce(client, files, hash, names);
    if ("dropped" in outcome) return outcome.dropped;
    names.add(outcome.inTheWay);
  }
};
