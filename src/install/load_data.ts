import type pg from "pg";
import {
  CLASSIFIER_FILE,
  DATA,
  hashOf,
  MEANING_FILE,
  parseClassifiers,
  parseRows,
  readFiles,
  SHIPPED_TABLES,
  type ShippedTable,
  TRAINING_FILES,
  trainingSetHash,
} from "./data_files.ts";

/**
 * Loads the shipped rows of db/data into the database.
 *
 *   shipped row     comes from db/data, and no operator has changed it: an upgrade may change or delete it
 *   operator's row  an operator added or changed it (column `origin`): an upgrade never changes it
 *   tombstone       the key of a shipped row that an operator deleted (internal.deleted_row): an upgrade does not
 *                   insert the row again, nor rows that refer to it
 *
 * One statement for each table loads its rows, which are sent as one JSON array. COPY would be a fraction of a second
 * faster on a server, but PGlite cannot read COPY data from its socket.
 */

/** The numbers of rows of one table that loading changed. */
export type LoadedTable = {
  table: string;
  inserted: number;
  updated: number;
  deleted: number;
  /** The keys of rows that are no longer in the file, but stay because rows of other tables refer to them. */
  kept: string[];
};

/** The columns that an upgrade updates, by table: the second argument of the trigger that watches them. */
const UPDATED = `
  select g.tgrelid::regclass::text as table,
    string_to_array(split_part(encode(g.tgargs, 'escape'), '\\000', 2), ',') as updated
  from pg_trigger g where g.tgname = 'keep_origin'`;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const list = (names: readonly string[], prefix = ""): string => names.map((name) => `${prefix}${name}`).join(", ");

/** The rows of a file as JSON objects without the fields that are empty. */
const rowsOf = ({ file, key, initial }: ShippedTable, updated: readonly string[], text: string): string => {
  const { columns, rows } = parseRows(file, text);
  const expected = [...key, ...updated, ...initial];
  if (columns.toSorted().join() !== expected.toSorted().join())
    throw new Error(`The first line of ${file} has to name the columns ${expected.join(", ")}.`);
  const objectOf = (row: (string | null)[]) =>
    Object.fromEntries(columns.flatMap((name, at) => (row[at] === null ? [] : [[name, row[at]]])));
  return JSON.stringify(rows.map(objectOf));
};

/** The SQL condition that an operator deleted the row of a table with the key that these columns of `s` hold. */
const isDeleted = (table: string, columns: readonly string[]): string =>
  `exists (select from internal.deleted_row as d
     where d.table_name = '${table}' and d.key_md5 = md5(jsonb_build_array(${list(columns, "s.")})::text))`;

/** The SQL condition that a row `s` refers to a row that is not there, because an operator deleted it. */
const lacksReference = (shipped: ShippedTable, [table, ...columns]: ShippedTable["refersTo"][number]): string => {
  const { key } = SHIPPED_TABLES.find((one) => one.table === table) as ShippedTable;
  // Other rows of the same table are loaded by the same statement. Where nothing was deleted, a reference to nothing is a
  // fault of the file, which its foreign key refuses.
  return table === shipped.table
    ? isDeleted(table, columns)
    : `exists (select from internal.deleted_row)
         and ${columns.map((name) => `s.${name} is not null`).join(" and ")} and not exists (
         select from ${table} as r where ${columns.map((name, at) => `r.${key[at]} = s.${name}`).join(" and ")})`;
};

/** Loads the rows of a file, and deletes shipped rows that it does not have. $1 is a JSON array of rows. */
const statementFor = (shipped: ShippedTable, updated: readonly string[]): string => {
  const { table, key, initial, refersTo, derived, conflict } = shipped;
  const columns = [...new Set([...key, ...updated, ...initial, ...Object.keys(derived)])];
  const change =
    updated.length === 0
      ? "do nothing"
      : `do update set ${updated.map((name) => `${name} = excluded.${name}`).join(", ")}
         where t.origin = 'shipped' and (${list(updated, "t.")}) is distinct from (${list(updated, "excluded.")})`;
  // PostgreSQL can use a hash join for arrays, even of nulls, but not for "is not distinct from".
  const keyOf = (row: string) => `jsonb_build_array(${list(key, `${row}.`)})`;
  return `
    with s as materialized (select * from json_populate_recordset(null::${table}, $1)),
    loaded as materialized (
      select ${columns.map((name) => `${derived[name] ?? `s.${name}`} as ${name}`).join(", ")} from s
      where not (${[isDeleted(table, key), ...refersTo.map((one) => lacksReference(shipped, one))].join(" or ")})),
    written as (
      insert into ${table} as t (${list(columns)}, origin) select *, 'shipped' from loaded
      on conflict (${conflict}) ${change}
      returning xmax = 0 as is_new)
    select count(*) filter (where is_new)::integer as inserted, count(*) filter (where not is_new)::integer as updated,
      (select coalesce(jsonb_agg(${keyOf("t")}), '[]') from ${table} as t
        where t.origin = 'shipped' and not exists (select from loaded as s where ${keyOf("s")} = ${keyOf("t")})) as gone
    from written`;
};

/** Runs a step for a file. @throws the step's error, with the name of the file added */
const about = async <T>(file: string, step: () => Promise<T>): Promise<T> => {
  try {
    return await step();
  } catch (error) {
    throw new Error(`db/data/${file} could not be loaded: ${messageOf(error)}`, { cause: error });
  }
};

const loadTables = async (
  client: pg.ClientBase,
  tables: readonly ShippedTable[],
  texts: ReadonlyMap<string, string>,
): Promise<LoadedTable[]> => {
  const { rows: triggers } = await client.query<{ table: string; updated: string[] }>(UPDATED);
  const steps: { shipped: ShippedTable; loaded: LoadedTable; gone: string[][] }[] = [];
  for (const shipped of tables) {
    await about(shipped.file, async () => {
      const updated = triggers.find(({ table }) => table === shipped.table)?.updated ?? [];
      const rows = rowsOf(shipped, updated, texts.get(shipped.file) ?? "");
      // Other transactions may read the table. Writers wait, so that rows do not change after they were compared.
      await client.query(`lock table ${shipped.table} in share row exclusive mode`);
      const { gone, ...counts } = (await client.query(statementFor(shipped, updated), [rows])).rows[0];
      steps.push({ shipped, loaded: { table: shipped.table, ...counts, deleted: 0, kept: [] }, gone });
    });
  }
  // In reverse order, so that rows are deleted before the rows to which they refer.
  for (const { shipped, loaded, gone } of steps.toReversed().filter(({ gone }) => gone.length > 0)) {
    await about(shipped.file, async () => {
      const { rows } = await client.query<{ kept: string[] }>(
        "select internal.delete_shipped($1, $2, $3::jsonb) as kept",
        [shipped.table, shipped.key, JSON.stringify(gone)],
      );
      loaded.kept = rows[0]?.kept ?? [];
      loaded.deleted = gone.length - loaded.kept.length;
    });
  }
  return steps.map(({ loaded }) => loaded);
};

/**
 * Loads the shipped classifiers and meanings of words, which were trained on the shipped lexicon and examples. The database uses them if
 * it has exactly these, or if it has no classifier yet (reading.load_classifiers).
 */
const loadClassifier = async (client: pg.ClientBase, texts: ReadonlyMap<string, string>): Promise<void> => {
  const { header, classifiers } = parseClassifiers(texts.get(CLASSIFIER_FILE) ?? "");
  const meaning = parseClassifiers(texts.get(MEANING_FILE) ?? "");
  const hash = trainingSetHash((file) => texts.get(file) ?? "", header.learning);
  const isOfThese = header.training_set === hash && meaning.header.training_set === hash;
  const counts = SHIPPED_TABLES.filter(({ file }) => (TRAINING_FILES as readonly string[]).includes(file)).map(
    ({ table, file }) =>
      `(select count(*) = ${parseRows(file, texts.get(file) ?? "").rows.length} and bool_and(origin = 'shipped') from ${table})`,
  );
  await client.query(`select reading.load_classifiers($1, $2, $3::boolean and ${counts.join(" and ")})`, [
    header.learning,
    JSON.stringify({ ...classifiers, ...meaning.classifiers }),
    isOfThese,
  ]);
};

/**
 * Loads the files of shipped rows that have changed since they were last loaded, in one transaction. If no file has
 * changed, it reads no table of shipped rows and writes nothing.
 * @param client must not be in a transaction, and must be able to become souk_owner
 * @param folder the folder of the files
 * @returns the counts of each table whose file has changed
 * @throws if a file is malformed or a row violates a constraint; the database is then unchanged
 */
export const loadData = async (client: pg.ClientBase, folder = DATA): Promise<LoadedTable[]> => {
  const files = [...SHIPPED_TABLES.map(({ file }) => file), ...TRAINING_FILES, CLASSIFIER_FILE, MEANING_FILE];
  const texts = await readFiles(folder, [...new Set(files)]);
  await client.query("begin");
  try {
    await client.query("set local role souk_owner");
    const { rows } = await client.query<{ name: string; hash: string }>("select name, hash from internal.loaded");
    const loadedHashes = new Map(rows.map(({ name, hash }) => [name, hash]));
    const changed = [...texts].map(([name, text]) => ({ name, hash: hashOf(text) }));
    const isChanged = new Set(
      changed.filter(({ name, hash }) => loadedHashes.get(name) !== hash).map(({ name }) => name),
    );
    // This setting tells triggers that the loader writes, and not an operator. It ends with the transaction.
    await client.query("select set_config('market.loading', 'on', true)");
    const loaded = await loadTables(
      client,
      SHIPPED_TABLES.filter(({ file }) => isChanged.has(file)),
      texts,
    );
    if ([...TRAINING_FILES, CLASSIFIER_FILE, MEANING_FILE].some((file) => isChanged.has(file)))
      await about(CLASSIFIER_FILE, () => loadClassifier(client, texts));
    for (const { name, hash } of changed.filter(({ name }) => isChanged.has(name)))
      await client.query(
        `insert into internal.loaded (name, hash) values ($1, $2)
         on conflict (name) do update set hash = excluded.hash, loaded_at = excluded.loaded_at`,
        [name, hash],
      );
    await client.query("commit");
    return loaded;
  } catch (error) {
    await client.query("rollback").catch(() => undefined);
    throw error;
  }
};
