import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";

/**
 * Code is loaded from db/schema as a whole, in one transaction, whenever it has changed: functions, views, grants and
 * comments. What structure there is (tables, types, policies, indexes, triggers), only migrations change.
 */

const SCHEMA = fileURLToPath(new URL("../../db/schema", import.meta.url));

/** A file of structure begins with what migrations change; below this line stands what is loaded again. */
const RELOADED = /^-- Reloaded: .*$/m;

/** Files of nothing but structure. */
const STRUCTURE = /^(roles|logins|market\/(triggers|audit_triggers))\.sql$/;

/** The schemas that are ours. */
const SCHEMAS = ["market", "internal", "reading", "search", "api", "jobs", "admin", "inspect"];

/** Every role that grants are given to. */
const ROLES = ["souk_api", "souk_agent", "souk_person", "souk_moderator", "souk_worker", "souk_dba"];

/** A function or a view that cannot be replaced, since its arguments, result or columns became others. */
const NOT_REPLACEABLE = new Set(["42P13", "42P16"]);

type File = { name: string; sql: string };

/** The files of db/schema in the order of its table of contents, each with what of it is loaded again. */
const codeFiles = async (): Promise<File[]> => {
  const index = await readFile(join(SCHEMA, "index.sql"), "utf8");
  const names = [...index.matchAll(/^--!include (\S+)$/gm)].map(([, name]) => name ?? "");
  const files = await Promise.all(
    names
      .filter((name) => !STRUCTURE.test(name))
      .map(async (name) => {
        const text = await readFile(join(SCHEMA, name), "utf8");
        const line = RELOADED.exec(text);
        return { name, sql: line ? text.slice(line.index) : text };
      }),
  );
  return files.filter(({ sql }) => sql.trim() !== "");
};

const REVOKE = [
  `revoke all on schema ${SCHEMAS.join(", ")} from ${ROLES.join(", ")}`,
  `revoke all on all tables in schema ${SCHEMAS.join(", ")} from ${ROLES.join(", ")}`,
  `revoke all on all functions in schema ${SCHEMAS.join(", ")} from ${ROLES.join(", ")}`,
].join(";\n");

/** What of our functions and views this transaction has not written: no file makes it any more. */
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

/** Drops the functions and views that a file makes, whatever their arguments and columns are now. */
const dropWhatItMakes = async (client: pg.ClientBase, { sql }: File): Promise<void> => {
  const made = [...sql.matchAll(/^create or replace (function|view) (\w+\.\w+)/gm)];
  for (const [, kind, name] of made) {
    if (kind === "view") {
      await client.query(`drop view if exists ${name} cascade`);
      continue;
    }
    const { rows } = await client.query<{ signature: string }>(
      "select oid::regprocedure::text as signature from pg_proc where format('%s.%s', pronamespace::regnamespace, proname) = $1",
      [name],
    );
    // Functions that give a row of a view come after it, so they are made again. What a table needs stays, and is refused.
    for (const { signature } of rows) await client.query(`drop function ${signature}`);
  }
};

type Outcome = { dropped: string[] } | { notReplaceable: string };

/** One try, in a transaction of its own. @param again names of files whose objects are dropped before they are made. */
const loadOnce = async (
  client: pg.ClientBase,
  files: File[],
  hash: string,
  again: ReadonlySet<string>,
): Promise<Outcome> => {
  await client.query("begin");
  try {
    await client.query(`set local role souk_owner; set local check_function_bodies = off; ${REVOKE}`);
    // Functions name settings of pgvector, which there are once its library is loaded.
    await client.query("select '[1]'::public.halfvec");
    // What is written after this has its transaction's number: the rest is what no file makes.
    await client.query("savepoint code");
    const { rows } = await client.query<{ xmin: string }>(
      `insert into internal.loaded (name, hash) values ('code', $1)
       on conflict on constraint loaded_pkey do update set hash = excluded.hash, loaded_at = now()
       returning xmin::text`,
      [hash],
    );
    for (const file of files) {
      try {
        if (again.has(file.name)) await dropWhatItMakes(client, file);
        await client.query(file.sql);
      } catch (error) {
        const code = error instanceof pg.DatabaseError ? error.code : undefined;
        if (code !== undefined && NOT_REPLACEABLE.has(code) && !again.has(file.name)) {
          await client.query("rollback");
          return { notReplaceable: file.name };
        }
        throw new Error(
          `db/schema/${file.name} could not be loaded: ${error instanceof Error ? error.message : error}`,
          {
            cause: error,
          },
        );
      }
    }
    const orphans = await client.query<{ kind: string; name: string }>(ORPHANS, [SCHEMAS, rows[0]?.xmin]);
    const dropped: string[] = [];
    for (const { kind, name } of orphans.rows) {
      await client.query(`drop ${kind} ${name}`);
      dropped.push(`${kind} ${name}`);
    }
    await client.query("commit");
    return { dropped };
  } catch (error) {
    await client.query("rollback").catch(() => undefined);
    throw error;
  }
};

/**
 * Loads the code of db/schema when it differs from what the database holds. Callers that run meanwhile see the old code
 * until the end, then the new.
 * @param client a session that may become souk_owner
 * @returns the functions and views that were dropped because no file makes them any more; null when nothing had changed
 * @throws when a file cannot be loaded, or something dropped is still used by a table: then nothing has changed
 */
export const reloadCode = async (client: pg.ClientBase): Promise<string[] | null> => {
  const files = await codeFiles();
  const hash = createHash("sha256")
    .update(files.map(({ name, sql }) => `${name}\n${sql}`).join("\n"))
    .digest("hex");
  await client.query("begin; set local role souk_owner");
  const { rows } = await client.query<{ hash: string }>("select hash from internal.loaded where name = 'code'");
  await client.query("commit");
  if (rows[0]?.hash === hash) return null;
  const again = new Set<string>();
  for (;;) {
    const outcome = await loadOnce(client, files, hash, again);
    if ("dropped" in outcome) return outcome.dropped;
    again.add(outcome.notReplaceable);
  }
};
