import type pg from "pg";
import { OURS } from "./unused_sql.ts";

/**
 * Findings of plpgsql_check that we accept, each with its reason. The key is the function and the message. An exception
 * that matches no finding is reported as a finding.
 */
const EXCEPTIONS: Record<string, string> = {
  "inspect.check_references(double precision,double precision): text type variable is not sanitized":
    "Its texts are names of the catalogue, and format('%I') has quoted each of them.",
  "internal.delete_shipped(regclass,text[],jsonb): routine is marked as VOLATILE, should be STABLE":
    "Its dynamic statements delete rows.",
  "internal.lock_good_standing(uuid): routine is marked as VOLATILE, should be STABLE":
    "`for share` waits for a suspension that is under way, and then has to see it: a stable function would not.",
};

type Finding = { function: string; line: number | null; message: string; more: string | null };

/**
 * Returns the findings of plpgsql_check in our functions, with all warnings on, as one line of text each. A trigger
 * function is checked once for each table that uses it. A trigger function that no table uses is a finding.
 * @param client a superuser's connection to a database with the schema; the extension is created in it
 */
export async function plpgsqlFindings(client: pg.ClientBase): Promise<string[]> {
  await client.query("create extension plpgsql_check");
  const { rows } = await client.query<Finding>(`
    with subject as (
      select p.oid, p.oid::regprocedure::text as name, coalesce(tg.tgrelid, 0) as relation, tg.tgoldtable, tg.tgnewtable,
        p.prorettype = 'trigger'::regtype and tg.oid is null as idle
      from pg_proc p
      join pg_language l on l.oid = p.prolang and l.lanname = 'plpgsql'
      join pg_namespace n on n.oid = p.pronamespace and ${OURS}
      left join pg_trigger tg on tg.tgfoid = p.oid and tg.tgparentid = 0
      where not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
    )
    select name as function, null::integer as line, 'a trigger function that no table fires' as message, null as more
    from subject where idle
    union
    select name, lineno, message, coalesce(detail, hint)
    from (
      select subject.name, finding.*, level = 'error' as is_error,
        bool_or(level = 'error') over (partition by subject.oid, subject.relation) as has_error
      from subject, plpgsql_check_function_tb(
        subject.oid, subject.relation, fatal_errors => false, all_warnings => true,
        oldtable => subject.tgoldtable, newtable => subject.tgnewtable) finding
      where not idle
    ) finding
    -- If a function has errors, only they are reported: a variable in a statement with an error counts as never read.
    where is_error = has_error
    order by 1, 2, 3, 4`);
  const unused = new Set(Object.keys(EXCEPTIONS));
  const findings = rows.flatMap(({ function: name, line, message, more }) => {
    const exception = `${name}: ${message}`;
    unused.delete(exception);
    if (EXCEPTIONS[exception] !== undefined) return [];
    return [
      `${name}${line === null ? "" : `, line ${line} of its body`}: ${message}${more === null ? "" : ` (${more.trim()})`}`,
    ];
  });
  return [
    ...findings,
    ...[...unused].map((exception) => `Nothing needs this exception in test/lint/plpgsql.ts: ${exception}`),
  ];
}
