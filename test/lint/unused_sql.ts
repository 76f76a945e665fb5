import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type pg from "pg";
import { tokensOf } from "./sql_tokens.ts";

/**
 * Finds functions and columns of the database that nothing uses.
 *
 *   root  a function that is used by something other than our functions: TypeScript, a table, a view, a trigger, a
 *         policy
 */

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Folders whose code calls functions of the database. Calls from tests do not count. */
const CALLERS = ["src", "worker", "test/bench"];

/**
 * The list of endpoints with their functions, which a test compares with the code. The code builds some of these names
 * from parts, so a search for the names in the code would miss them.
 */
const ENDPOINTS = "endpoints.txt";

/** People call the functions of this schema from psql, with the queries of the file below. */
const FOR_PEOPLE = "inspect";
const QUERIES_FOR_PEOPLE = "db/RUNBOOK.md";

/**
 * PostGraphile offers the functions of this schema to moderators, as test/admin/graphql_fields.txt lists, except for those
 * of pages.
 */
const FOR_GRAPHQL = "admin";

/** The condition that a schema `n` is ours. souk_owner also owns those that libraries make. */
export const OURS = "n.nspowner = 'souk_owner'::regrole and n.nspname !~ '^graphile_'";

/** Columns that nothing uses and that stay, each with its reason. */
const KEPT_COLUMNS: Record<string, string> = {};

type Routine = { schema: string; name: string; body: string; isUsedByObject: boolean; isInGraphql: boolean };

/**
 * Returns one sentence for each of our functions that no root calls, directly or through other functions.
 * @param client a connection, which may read the catalogue, to a database with the schema
 */
export async function unusedFunctions(client: pg.ClientBase): Promise<string[]> {
  const { rows: routines } = await client.query<Routine>(`
    select n.nspname as schema, p.proname as name, p.prosrc as body,
      n.nspname = '${FOR_GRAPHQL}' and obj_description(p.oid) not like '@behavior -*%' as "isInGraphql",
      exists (
        select from pg_depend d
        where d.refclassid = 'pg_proc'::regclass and d.refobjid = p.oid and d.deptype in ('n', 'a', 'i')
          and d.classid <> 'pg_proc'::regclass) as "isUsedByObject"
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace and ${OURS}
    where not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
    order by 1, 2`);
  const callers = await callersText();
  const calledBy = new Map(routines.map((routine) => [routine, namesIn(routine.body)]));
  const used = new Set(routines.filter((routine) => routine.isUsedByObject || isCalledOutside(routine, callers)));
  for (const user of used) {
    const called = calledBy.get(user);
    for (const routine of routines) if (called?.has(`${routine.schema}.${routine.name}`)) used.add(routine);
  }
  return routines
    .filter((routine) => !used.has(routine))
    .map(({ schema, name }) => `${schema}.${name}: nothing calls this function. Delete it.`);
}

function isCalledOutside({ schema, name, isInGraphql }: Routine, callers: string): boolean {
  if (schema === FOR_PEOPLE || isInGraphql) return true;
  // The API, the worker and moderators' pages name functions of their own schema without the schema.
  if (["api", "jobs", FOR_GRAPHQL].includes(schema)) return new RegExp(`\\b${name}\\b`).test(callers);
  return callers.includes(`${schema}.${name}`);
}

/**
 * Returns one sentence for each column of our tables that is named in no function, view, policy, default, index,
 * trigger, TypeScript file, page template or db/RUNBOOK.md. If anything else has the same name as a column, the column
 * counts as used, so some unused columns are not found.
 * @param client a connection, which may read the catalogue, to a database with the schema
 */
export async function unusedColumns(client: pg.ClientBase): Promise<string[]> {
  const { rows: columns } = await client.query<{ table: string; column: string }>(`
    select c.oid::regclass::text as table, a.attname as column
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    join pg_namespace n on n.oid = c.relnamespace and ${OURS}
    where c.relkind in ('r', 'p') and not c.relispartition and a.attnum > 0 and not a.attisdropped
    order by c.oid::regclass::text, a.attnum`);
  const { rows: uses } = await client.query<{ text: string }>(`
    select p.prosrc as text from pg_proc p join pg_namespace n on n.oid = p.pronamespace and ${OURS}
    union all select pg_get_viewdef(c.oid) from pg_class c
      join pg_namespace n on n.oid = c.relnamespace and ${OURS} where c.relkind = 'v'
    union all select coalesce(qual, '') || ' ' || coalesce(with_check, '') from pg_policies
    union all select pg_get_expr(adbin, adrelid) from pg_attrdef
    union all select pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
    union all select pg_get_indexdef(i.indexrelid) from pg_index i
      join pg_class c on c.oid = i.indrelid join pg_namespace n on n.oid = c.relnamespace and ${OURS}
      where not i.indisunique`);
  const named = new Set(uses.flatMap(({ text }) => wordsIn(text)));
  const texts = [await callersText(), await readFile(join(ROOT, QUERIES_FOR_PEOPLE), "utf8")];
  for (const word of texts.join("\n").match(/\w+/g) ?? []) named.add(word);
  return columns
    .filter(({ table, column }) => !named.has(column) && KEPT_COLUMNS[`${table}.${column}`] === undefined)
    .map(({ table, column }) => `${table}.${column}: nothing names this column. Delete it.`);
}

/**
 * The qualified names (schema.name) in a function's body. Strings count, because dynamic SQL is in them; comments do
 * not.
 */
function namesIn(body: string): Set<string> {
  const code = tokensOf(body)
    .filter(({ kind }) => kind !== "comment")
    .map(({ text }) => text)
    .join("");
  return new Set(code.match(/\b[a-z_]+\.[a-z_0-9]+\b/g));
}

function wordsIn(sql: string): string[] {
  return tokensOf(sql).flatMap(({ kind, text }) => (kind === "comment" ? [] : (text.match(/\w+/g) ?? [])));
}

async function callersText(): Promise<string> {
  const texts: string[] = [];
  for (const folder of CALLERS) {
    for (const entry of await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true })) {
      if (entry.isFile() && /\.(ts|eta)$/.test(entry.name))
        texts.push(await readFile(join(entry.parentPath, entry.name), "utf8"));
    }
  }
  for (const entry of await readdir(join(ROOT, "test"), { recursive: true, withFileTypes: true })) {
    if (entry.name === ENDPOINTS) texts.push(await readFile(join(entry.parentPath, entry.name), "utf8"));
  }
  // Statements that run while the schema is loaded.
  for (const entry of await readdir(join(ROOT, "db/schema"), { recursive: true, withFileTypes: true })) {
    if (entry.isFile())
      texts.push(...((await readFile(join(entry.parentPath, entry.name), "utf8")).match(/^select .*$/gm) ?? []));
  }
  return texts.join("\n");
}
