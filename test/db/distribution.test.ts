import { readFile } from "node:fs/promises";
import test from "ava";
import { createDatabase, type Database } from "../support/database.ts";
import { sql } from "../support/sql.ts";

/**
 * The plan of db/SCALING.md for distributing the tables over nodes, held against the catalogue. The rules are those of
 * Citus: https://docs.citusdata.com/en/stable/develop/reference_ddl.html
 */

type Planned = { table: string; kind: string; by: string; colocated: string };

let database: Database;
let plan: Map<string, Planned>;
let exceptions: Set<string>;

/** Returns the rows of the table between the markers of db/SCALING.md, as cells. */
const rowsOf = (text: string, marker: string): string[][] => {
  const [, table = ""] = new RegExp(`<!-- ${marker} -->\n([\\s\\S]*?)<!-- /${marker} -->`).exec(text) ?? [];
  return table
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .slice(2)
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
};

test.before(async () => {
  database = await createDatabase();
  const text = await readFile(new URL("../../db/SCALING.md", import.meta.url), "utf8");
  const rows = rowsOf(text, "distribution").map(([table = "", kind = "", by = "", colocated = ""]) => ({
    table,
    kind,
    by,
    colocated,
  }));
  plan = new Map(rows.map((row) => [row.table, row]));
  exceptions = new Set(rowsOf(text, "exceptions").map(([key = ""]) => key));
});

test.after.always(() => database?.drop());

const planned = (table: string): Planned => {
  const found = plan.get(table);
  if (found === undefined) throw new Error(`db/SCALING.md does not say how ${table} is distributed.`);
  return found;
};

/** Returns the unique keys of distributed tables that lack the column by which the table is distributed. */
const unfitKeys = async (): Promise<string[]> => {
  const keys = await sql<{ key: string; table: string; columns: string[] }>(
    database.url,
    `select c.relname as key, i.indrelid::regclass::text as table,
       array(select a.attname::text from pg_attribute a
         where a.attrelid = i.indrelid and a.attnum = any (i.indkey::int2[])) as columns
     from pg_index i
     join pg_class c on c.oid = i.indexrelid
     join pg_class t on t.oid = i.indrelid
     where i.indisunique and not t.relispartition and t.relnamespace in ('market'::regnamespace, 'search'::regnamespace, 'internal'::regnamespace)`,
  );
  return keys
    .filter(({ table, columns }) => {
      const { kind, by } = planned(table);
      return kind === "distributed" && !columns.includes(by);
    })
    .map(({ key }) => key);
};

type ForeignKey = {
  name: string;
  table: string;
  target: string;
  columns: string[];
  target_columns: string[];
  on_delete: string;
};

/** Returns whether Citus can keep a foreign key. */
const isKept = ({ table, target, columns, target_columns, on_delete }: ForeignKey): boolean => {
  const [from, to] = [planned(table), planned(target)];
  if (from.kind !== "distributed") return to.kind !== "distributed";
  // Setting the column by which a row is distributed would move the row.
  if (on_delete !== "other" && columns.includes(from.by)) return false;
  if (to.kind === "reference") return true;
  return (
    to.kind === "distributed" &&
    from.colocated === to.colocated &&
    columns.some((column, i) => column === from.by && target_columns[i] === to.by)
  );
};

const unfitForeignKeys = async (): Promise<string[]> => {
  const keys = await sql<ForeignKey>(database.url)`select k.conname as name, k.conrelid::regclass::text as table,
    k.confrelid::regclass::text as target,
      array(select a.attname::text from unnest(k.conkey) with ordinality as c (number, place)
        join pg_attribute a on a.attrelid = k.conrelid and a.attnum = c.number order by c.place) as columns,
      array(select a.attname::text from unnest(k.confkey) with ordinality as c (number, place)
        join pg_attribute a on a.attrelid = k.confrelid and a.attnum = c.number order by c.place) as target_columns,
      case when k.confdeltype in ('n', 'd') then 'set' else 'other' end as on_delete
    from pg_constraint k
    where k.contype = 'f' and k.conparentid = 0
      and k.connamespace in ('market'::regnamespace, 'search'::regnamespace, 'internal'::regnamespace)`;
  return keys.filter((key) => !isKept(key)).map(({ name }) => name);
};

test("the plan names every table of schemas market, search and internal, and no other", async (t) => {
  const tables = await sql<{ table: string }>(database.url)`select oid::regclass::text as table from pg_class
    where relkind in ('r', 'p') and not relispartition
      and relnamespace in ('market'::regnamespace, 'search'::regnamespace, 'internal'::regnamespace)`;
  t.deepEqual([...plan.keys()].toSorted(), tables.map(({ table }) => table).toSorted());
});

test("distributed tables have a column, never null, and of the same type wherever they are colocated", async (t) => {
  const types = new Map<string, string>();
  for (const { table, kind, by, colocated } of plan.values()) {
    t.true(["distributed", "reference", "coordinator"].includes(kind), table);
    t.is(by !== "", kind === "distributed", table);
    if (kind !== "distributed") continue;
    const [column] = await sql<{ type: string; required: boolean }>(
      database.url,
      `select format_type(atttypid, atttypmod) as type, attnotnull as required from pg_attribute
       where attrelid = $1::regclass and attname = $2`,
      [table, by],
    );
    t.true(column?.required, `${table}.${by}`);
    t.is(types.get(colocated) ?? column?.type, column?.type, `${table} is colocated with ${colocated}`);
    types.set(colocated, column?.type ?? "");
  }
});

test("every unique key and foreign key allows the distribution, except those that the plan lists", async (t) => {
  const unfit = [...(await unfitKeys()), ...(await unfitForeignKeys())];
  t.deepEqual(unfit.toSorted(), [...exceptions].toSorted());
});
