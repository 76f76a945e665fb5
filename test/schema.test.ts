import test from "ava";
import pg from "pg";
import { createDatabase, type Database } from "./support/database.ts";

/**
 * Rules that every object of the database keeps, checked in the catalogue. Each query lists the objects that break a
 * rule.
 *
 *   ours  every schema except those of PostgreSQL and of libraries, so that the rules apply to a new schema at once
 */

/**
 * The API functions that run as their owner: their caller has no role yet, they touch rows of no account, or they move a deal,
 * whose rows are of two accounts. Each must itself refuse what its caller may not do, so a new entry here needs a careful review.
 */
const RUN_AS_OWNER = [
  "api.accept_moderator_link(bytea,bytea,bytea)",
  "api.accept_proposal(uuid,uuid,jsonb,jsonb)",
  "api.approve_connection(bytea,bytea,bytea,text,bytea,text,jsonb)",
  "api.block_conversation(uuid)",
  "api.cancel_sign_in(bytea,text,bytea)",
  "api.cancel_verification(bytea,bytea)",
  "api.check_client(text,jsonb,text)",
  "api.close_conversation(uuid)",
  "api.connect_agent(text,bytea,bytea,text,text,integer,boolean,text)",
  "api.continue_conversation(uuid,jsonb,text,bytea,jsonb)",
  "api.continue_verification(bytea)",
  "api.count_client_document(text,integer,text)",
  "api.decide_confirmation(uuid,text,text)",
  "api.decline_connection(bytea,bytea,text)",
  "api.decline_proposal(uuid,uuid)",
  "api.exchange_code(bytea,text,text,text,bytea,bytea,bytea,jsonb)",
  "api.find_grant(text,bytea,bytea,bytea)",
  "api.finish_mail_sign_in(bytea,bytea,bytea,bytea,bytea,text,bytea,bytea,bytea)",
  "api.finish_sign_in(bytea,text,text,text,text,bytea,bytea,bytea)",
  "api.get_connection(bytea,bytea)",
  "api.get_digest_link(uuid,bytea)",
  "api.get_mail_link(bytea,bytea)",
  "api.get_market_overview()",
  "api.get_moderator_link(bytea)",
  "api.get_offer_page(uuid,bytea)",
  "api.get_sign_in(bytea)",
  "api.get_taxonomy()",
  "api.get_verification_page(bytea,bytea)",
  "api.get_viewer(bytea)",
  "api.get_vocabulary()",
  "api.list_event_readers(text)",
  "api.note_uses(jsonb)",
  "api.offer_methods(jsonb)",
  "api.open_conversation(uuid,jsonb,text,bytea,jsonb)",
  "api.propose(uuid,jsonb,text,bytea,jsonb)",
  "api.read_conversation(uuid,uuid)",
  "api.refresh_token(bytea,bytea,text,bytea,bytea,jsonb)",
  "api.register_client(text,jsonb,text,integer)",
  "api.report_conversation(uuid,text,text)",
  "api.revoke_token(bytea,bytea,text,jsonb)",
  "api.send_message(uuid,jsonb,text,bytea,jsonb)",
  "api.set_powers(uuid,jsonb)",
  "api.start_authorization(text,jsonb,text,text,text,bytea,text,text,integer)",
  "api.start_sign_in(bytea,text,text,bytea,bytea,text,bytea,jsonb,text,jsonb,boolean,bytea)",
  "api.stop_digest(uuid,bytea)",
  "api.unblock(uuid)",
  "api.vocabulary_changed_at()",
  "api.withdraw_proposal(uuid,uuid)",
  "api.withdraw_submission(uuid)",
];

let database: Database;
let client: pg.Client;

test.before(async () => {
  database = await createDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(`
    create temporary view ours as
    select oid, nspname as name, nspowner, nspacl from pg_namespace
    where nspname !~ '^pg_' and nspname not in ('information_schema', 'public', 'graphile_worker', 'graphile_migrate');

    create temporary view relation as
    select r.oid, r.relname, r.relkind, r.relowner, r.relacl, r.relrowsecurity, r.relforcerowsecurity,
      r.relispartition, format('%I.%I', ours.name, r.relname) as name
    from pg_class r join ours on ours.oid = r.relnamespace
    where not exists (select from pg_depend d where d.objid = r.oid and d.deptype = 'e');

    create temporary view routine as
    select f.oid, f.proowner, f.proacl, f.prosecdef, f.proconfig, f.prorettype, ours.name as schema, l.lanname as language,
      f.oid::regprocedure::text as name
    from pg_proc f join ours on ours.oid = f.pronamespace join pg_language l on l.oid = f.prolang
    where not exists (select from pg_depend d where d.objid = f.oid and d.deptype = 'e');

    create temporary view text_column as
    select relation.oid, a.attnum, a.atttypid, format('%s.%I', relation.name, a.attname) as name
    from relation join pg_attribute a on a.attrelid = relation.oid join pg_type ty on ty.oid = a.atttypid
    where relation.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      and case when ty.typtype = 'd' then ty.typbasetype else ty.oid end in ('text'::regtype, 'varchar'::regtype);
  `);
});

test.after.always(async () => {
  await client?.end();
  await database?.drop();
});

/** The only column of a query's result, sorted. */
async function names(query: string): Promise<string[]> {
  const { rows } = await client.query<[string]>({ text: query, rowMode: "array" });
  return rows.map(([name]) => name).sort();
}

test.serial("the catalogue lists tables and functions", async (t) => {
  t.true((await names("select name from relation where relkind = 'r'")).length > 0);
  t.true((await names("select name from routine")).length > 0);
});

test.serial("every table has row-level security, which binds its owner too", async (t) => {
  const offenders = await names(`
    select name from relation where relkind in ('r', 'p') and not (relrowsecurity and relforcerowsecurity)
  `);
  t.deepEqual(offenders, []);
});

/** Columns whose names say everything. db/README.md says what some of them mean in every table. */
const SAYS_IT = [
  ...["id", "origin", "position", "method", "model", "name", "value", "summary", "comment", "reason", "question"],
  ...[
    "action",
    "domain",
    "category",
    "offer_kind",
    "ask_kind",
    "language",
    "price_currency",
    "suspension_reason",
    "concept",
    "place",
  ],
  ...["schema", "table", "index", "function", "task", "jobs", "role", "connections", "inserted", "updated", "deleted"],
];

test.serial(
  "every schema, table, view and function has a comment, and every column whose name does not say it",
  async (t) => {
    const offenders = await names(`
    select 'schema ' || name from ours where obj_description(oid, 'pg_namespace') is null
    union all
    select 'table ' || name from relation
    where relkind in ('r', 'p', 'v', 'm') and obj_description(oid, 'pg_class') is null
    union all
    select 'column ' || relation.name || '.' || a.attname
    from relation join pg_attribute a on a.attrelid = relation.oid
    where relation.relkind in ('r', 'p', 'v', 'm')
      and a.attnum > 0 and not a.attisdropped and col_description(relation.oid, a.attnum) is null
      and a.attname !~ '(^|_)(at|id)$' and a.attname <> relation.relname
      and a.attname not in (${SAYS_IT.map((name) => `'${name}'`).join(", ")})
    union all
    select 'function ' || name from routine where obj_description(oid, 'pg_proc') is null
  `);
    t.deepEqual(offenders, []);
  },
);

test.serial("the search path of a security definer function is pg_catalog, pg_temp", async (t) => {
  const offenders = await names(`
    select name from routine where prosecdef and not ('search_path=pg_catalog, pg_temp' = any (coalesce(proconfig, '{}')))
  `);
  t.deepEqual(offenders, []);
});

test.serial("the role public has no privilege in our schemas", async (t) => {
  const offenders = await names(`
    select 'schema ' || name || ': ' || privilege_type
    from ours, aclexplode(coalesce(nspacl, acldefault('n', nspowner))) where grantee = 0
    union all
    select name || ': ' || privilege_type
    from relation, aclexplode(coalesce(relacl, acldefault(case relkind when 'S' then 's' else 'r' end::"char", relowner)))
    where grantee = 0 and relkind in ('r', 'p', 'v', 'm', 'S')
    union all
    select name || '.' || attname || ': ' || privilege_type
    from relation join pg_attribute on attrelid = relation.oid, aclexplode(attacl) where grantee = 0
    union all
    select name || ': ' || privilege_type
    from routine, aclexplode(coalesce(proacl, acldefault('f', proowner))) where grantee = 0
  `);
  t.deepEqual(offenders, []);
});

test.serial("the role public may create objects in no schema", async (t) => {
  const offenders = await names(`
    select nspname::text from pg_namespace where nspname !~ '^pg_(temp|toast_temp)' and has_schema_privilege('public', oid, 'create')
  `);
  t.deepEqual(offenders, []);
});

test.serial("only its owner may create objects in a schema", async (t) => {
  const offenders = await names(`
    select r.rolname || ' in ' || n.nspname from pg_roles r, pg_namespace n
    where r.rolname ~ '^souk_' and n.nspname !~ '^pg_' and has_schema_privilege(r.oid, n.oid, 'create')
      and not pg_has_role(r.oid, n.nspowner, 'usage')
  `);
  t.deepEqual(offenders, []);
});

test.serial("no role of the service has an attribute that puts it above the rules, such as superuser", async (t) => {
  const offenders = await names(`
    select rolname::text from pg_roles
    where rolname ~ '^souk_' and (rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolreplication)
  `);
  t.deepEqual(offenders, []);
});

test.serial("the login role of the API has no privilege on any table before it takes a caller's role", async (t) => {
  const offenders = await names(`
    select name from relation
    where relkind in ('r', 'p', 'v', 'm') and (
      has_table_privilege('souk_api', oid, 'select, insert, update, delete, truncate, references, trigger')
      or has_any_column_privilege('souk_api', oid, 'select, insert, update, references'))
  `);
  t.deepEqual(offenders, []);
});

test.serial("every foreign key has an index that begins with its columns", async (t) => {
  // A partial index on the rows whose value is not null is enough, because a foreign key never looks for null.
  const offenders = await names(`
    select relation.name || ': ' || k.conname
    from pg_constraint k join relation on relation.oid = k.conrelid
    where k.contype = 'f' and not exists (
      select from pg_index i
      where i.indrelid = k.conrelid and i.indisvalid
        and (select array_agg(column_number order by column_number)
             from unnest((i.indkey::int2[])[0:cardinality(k.conkey) - 1]) column_number)
          = (select array_agg(column_number order by column_number) from unnest(k.conkey) column_number)
        and (i.indpred is null or pg_get_expr(i.indpred, i.indrelid) = (
          select format('(%I IS NOT NULL)', a.attname) from pg_attribute a
          where a.attrelid = k.conrelid and a.attnum = k.conkey[1] and cardinality(k.conkey) = 1))
    )
  `);
  t.deepEqual(offenders, []);
});

test.serial("every text column has a limit on its length", async (t) => {
  // A list of values and a pattern are limits, too. A foreign key has the limit of the column that it references.
  const offenders = await names(`
    select name from text_column
    -- search.document has copies of what offers have.
    where name not like 'search.%' and not exists (
      select from pg_constraint k
      where (k.conrelid = text_column.oid and text_column.attnum = any (k.conkey) or k.contypid = text_column.atttypid)
        and (k.contype = 'f'
          or k.contype = 'c' and pg_get_constraintdef(k.oid) ~* '\\m(char_length|length|octet_length)\\M\\(|= ANY|~')
    )
  `);
  t.deepEqual(offenders, []);
});

test.serial(
  "functions of API and pages are PL/pgSQL, which PostgreSQL never inlines into a query of another role",
  async (t) => {
    t.deepEqual(await names("select name from routine where schema in ('api', 'admin') and language <> 'plpgsql'"), []);
  },
);

test.serial("API functions run as their caller, except for those listed", async (t) => {
  t.deepEqual(await names("select name from routine where schema = 'api' and prosecdef"), RUN_AS_OWNER);
});
