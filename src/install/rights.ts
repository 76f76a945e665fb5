import type pg from "pg";

/**
 * The grants and the comments of tables in db/schema. A load of the code writes only those that differ from what the
 * database has, because a grant makes every session plan its statements again, and a comment on a table waits for the
 * vacuum or the new index of that table.
 */

/** Every role to which the files grant something. */
const ROLES = [
  "souk_api",
  "souk_agent",
  "souk_person",
  "souk_moderator",
  "souk_worker",
  "souk_dba",
  "souk_migrator",
] as const;

/** One right that a file gives. */
type Right = { kind: string; object: string; privilege: string; column: string | null; role: string };

const GRANT = /^grant ([^;']*);\n?/gm;
const FORM = /^(.+?) on (schema |function |all functions in schema |)(.+) to (.+)$/;
const PRIVILEGE = /(\w+)(?: \(([^)]*)\))?/g;
/** The names of functions may be followed by arguments, with commas. */
const OBJECT = /[\w.]+(?:\([^)]*\))?/g;

const rightsOf = (grant: string): Right[] => {
  const [, privileges = "", kind = "", objects = "", roles = ""] = FORM.exec(grant) ?? [];
  if (privileges === "") throw new Error(`This grant has another form than all others: ${grant}`);
  return [...privileges.matchAll(PRIVILEGE)].flatMap(([, privilege = "", columns]) =>
    [...objects.matchAll(OBJECT)].flatMap(([object]) =>
      (columns?.split(", ") ?? [null]).flatMap((column) =>
        roles.split(", ").map((role) => ({ kind: kind.trim() || "table", object, privilege, column, role })),
      ),
    ),
  );
};

/** Takes the grants out of a file's code. @throws if one cannot be read */
export const takeGrants = (code: string): { rest: string; rights: Right[] } => {
  const rights = [...code.matchAll(GRANT)].flatMap(([, grant = ""]) =>
    rightsOf(grant.replaceAll(/--.*$/gm, "").replaceAll(/\s+/g, " ").trim()),
  );
  return { rest: code.replaceAll(GRANT, ""), rights };
};

/**
 * The statements that give and take what differs. Functions that no file makes any more keep their rights until they
 * are dropped.
 */
const DIFFERENCES = `
  with wanted as (
    select case when w.kind = 'all functions in schema' then 'function' else w.kind end as kind, o.oid, w."column",
      upper(w.privilege) as privilege, w.role
    from jsonb_to_recordset($1) as w (kind text, object text, privilege text, "column" text, role text)
    cross join lateral (
      select w.object::regnamespace::oid where w.kind = 'schema'
      union all
      select w.object::regclass::oid where w.kind = 'table'
      union all
      select case when w.object like '%(%' then w.object::regprocedure::oid else w.object::regproc::oid end
      where w.kind = 'function'
      union all
      select p.oid from pg_proc p where w.kind = 'all functions in schema' and p.prokind = 'f'
        and p.pronamespace = to_regnamespace(w.object) and p.oid <> all ($3)) as o (oid)
  ), ours as (
    select n.oid from pg_namespace n where n.oid = any ($2::regnamespace[])
  ), given as (
    select 'schema' as kind, n.oid, null as "column", n.nspacl as acl
    from pg_namespace n where n.oid in (select oid from ours)
    union all
    select 'function', p.oid, null, p.proacl
    from pg_proc p where p.pronamespace in (select oid from ours) and p.oid <> all ($3)
    union all
    select 'table', c.oid, null, c.relacl from pg_class c where c.relnamespace in (select oid from ours)
    union all
    select 'table', c.oid, a.attname::text, a.attacl
    from pg_class c join pg_attribute a on a.attrelid = c.oid where c.relnamespace in (select oid from ours)
  ), present as (
    select g.kind, g.oid, g."column", a.privilege_type as privilege, r.rolname::text as role
    from given g cross join lateral aclexplode(g.acl) as a join pg_roles r on r.oid = a.grantee
    where r.rolname = any ($4)
  ), different as (
    (select 'grant' as verb, 'to' as way, * from wanted except select 'grant', 'to', * from present)
    union all
    (select 'revoke', 'from', * from present except select 'revoke', 'from', * from wanted)
  )
  select format('%s %s%s on %s %s %s %I', d.verb, d.privilege, ' (' || quote_ident(d."column") || ')', d.kind,
    case d.kind when 'schema' then d.oid::regnamespace::text when 'function' then d.oid::regprocedure::text
      else d.oid::regclass::text end, d.way, d.role) as statement
  from different d order by 1`;

/**
 * Gives the roles what the files grant, and takes what they do not grant any more.
 * @param schemas the schemas in which the roles have rights
 * @param orphans the OIDs of functions that no file makes any more
 */
export const setRights = async (
  client: pg.ClientBase,
  rights: readonly Right[],
  schemas: readonly string[],
  orphans: readonly number[],
): Promise<void> => {
  const { rows } = await client.query<{ statement: string }>(DIFFERENCES, [
    JSON.stringify(rights),
    schemas,
    orphans,
    ROLES,
  ]);
  if (rows.length > 0) await client.query(rows.map(({ statement }) => statement).join(";\n"));
};

const COMMENT = /^comment on (?:table (\w+\.\w+)|column (\w+\.\w+)\.(\w+)) is\s+((?:'(?:[^']|'')*'\s*)+);\n?/gm;

/** Which of the comments on tables and their columns stand in the catalogue already. */
const isThere = (comments: readonly string[]): string => `
  select s.n from (values ${comments.join(", ")}) as s (n, relation, "column", comment)
  join pg_class c on c.oid = to_regclass(s.relation) and c.relkind in ('r', 'p')
  left join pg_attribute a on a.attrelid = c.oid and a.attname = s."column"
  where s.comment = case when s."column" = '' then obj_description(c.oid, 'pg_class')
    else col_description(c.oid, a.attnum) end`;

/** Leaves out the comments on tables and their columns that the database has already. */
export const withoutKnownComments = async (client: pg.ClientBase, codes: readonly string[]): Promise<string[]> => {
  const found = codes.flatMap((code) => [...code.matchAll(COMMENT)]);
  const values = found.map(
    ([, table, relation, column = "", text], n) => `(${n}, '${table ?? relation}', '${column}', ${text})`,
  );
  const { rows } = await client.query<{ n: number }>(isThere(values));
  const known = new Set(rows.map(({ n }) => found[n]?.[0]));
  return codes.map((code) => code.replaceAll(COMMENT, (comment) => (known.has(comment) ? "" : comment)));
};
