import type pg from "pg";
import {
  CLASSIFIER_FILE,
  DATA,
  type DataFile,
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
 * The rows of a table are sent as one JSON array. COPY would be a fraction of a second faster on a server, but PGlite
 * cannot read COPY data from its socket.
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

/** The SQLSTATEs (foreign_key_violation, restrict_violation) of a delete that a reference prevents. */
const IS_REFERENCED: ReadonlySet<string | undefined> = new Set(["23503", "23001"]);

/** A column's properties, from pg_attribute. */
type Column = { type: string; nullable: boolean; initial: string | null };

type Loading = ShippedTable & DataFile & { column: (name: string) => Column };

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const isReferenced = (error: unknown): boolean =>
  error instanceof Error && "code" in error && IS_REFERENCED.has(String(error.code));

const quoted = (name: string): string => `"${name}"`;

const list = (names: readonly string[], prefix = ""): string =>
  names.map((name) => `${prefix}${quoted(name)}`).join(", ");

const readTable = async (client: pg.ClientBase, shipped: ShippedTable, text: string): Promise<Loading> => {
  const file = parseRows(shipped.file, text);
  const wanted = [...shipped.key, ...shipped.updated, ...shipped.initial];
  if (file.columns.toSorted().join() !== wanted.toSorted().join())
    throw new Error(`The first line of ${shipped.file} has to name the columns ${wanted.join(", ")}.`);
  const { rows } = await client.query<Column & { name: string }>(
    `select a.attname as name, format_type(a.atttypid, a.atttypmod) as type, not a.attnotnull as nullable,
       pg_get_expr(d.adbin, d.adrelid) as initial
     from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum and a.attgenerated = ''
     where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped`,
    [shipped.table],
  );
  const columns = new Map(rows.map(({ name, ...column }) => [name, column]));
  return {
    ...shipped,
    ...file,
    column: (name) => {
      const column = columns.get(name);
      if (column === undefined) throw new Error(`${shipped.table} has no column ${name}, which ${shipped.file} names.`);
      return column;
    },
  };
};

/** The SQL condition that a row `t` of the table and a shipped row `s` have the same key. */
const sameKey = ({ key, column }: Loading): string =>
  key
    // PostgreSQL cannot use a hash join for "is not distinct from", so only columns with nulls use it.
    .map((name) => `t.${quoted(name)} ${column(name).nullable ? "is not distinct from" : "="} s.${quoted(name)}`)
    .join(" and ");

/** The common table expression `shipped` with these columns. $1 is a JSON array of rows, which are arrays of texts. */
const shippedAs = ({ column }: Loading, columns: readonly string[]): string => {
  const valueAt = (name: string, at: number): string => {
    const { type, nullable, initial } = column(name);
    const value = `(r.fields ->> ${at})::${type}`;
    return `${nullable || initial === null ? value : `coalesce(${value}, ${initial})`} as ${quoted(name)}`;
  };
  return `shipped as materialized (
    select ${columns.map(valueAt).join(", ")} from json_array_elements($1::json) as r (fields))`;
};

type Key = (string | null)[];

/** For each table, the keys (as JSON) of the shipped rows that an upgrade must not insert. */
type Absent = ReadonlyMap<string, ReadonlySet<string>>;

const keyIn = ({ columns }: DataFile, row: Key, names: readonly string[]): Key =>
  names.map((name) => row[columns.indexOf(name)] ?? null);

/** Whether a row, or a row to which it refers, is absent. */
const isAbsent = (shipped: ShippedTable, file: DataFile, row: Key, absent: Absent): boolean =>
  [[shipped.table, ...shipped.key] as const, ...shipped.refersTo].some(([table, ...names]) =>
    absent.get(table)?.has(JSON.stringify(keyIn(file, row, names))),
  );

/** Finds the rows that an operator deleted, and the shipped rows that refer to them. */
const findAbsent = async (client: pg.ClientBase, texts: ReadonlyMap<string, string>): Promise<Absent> => {
  const { rows } = await client.query<{ name: string; key: string }>(
    "select d.table_name as name, d.key::text as key from internal.deleted_row d",
  );
  const absent = new Map<string, Set<string>>(SHIPPED_TABLES.map(({ table }) => [table, new Set()]));
  for (const { name, key } of rows) absent.get(name)?.add(JSON.stringify(JSON.parse(key)));
  if (rows.length === 0) return absent;
  const referredTo = new Set(SHIPPED_TABLES.flatMap(({ refersTo }) => refersTo.map(([table]) => table)));
  for (const shipped of SHIPPED_TABLES.filter(({ table }) => referredTo.has(table))) {
    const file = parseRows(shipped.file, texts.get(shipped.file) ?? "");
    for (const row of file.rows)
      if (isAbsent(shipped, file, row, absent))
        absent.get(shipped.table)?.add(JSON.stringify(keyIn(file, row, shipped.key)));
  }
  return absent;
};

/** Inserts and updates rows. @returns the counts, and the keys of shipped rows that the file no longer has */
const writeRows = async (
  client: pg.ClientBase,
  loading: Loading,
  absent: Absent,
): Promise<{ written: LoadedTable; gone: Key[] }> => {
  const { table, key, updated, columns, derived } = loading;
  const rows = loading.rows.filter((row) => !isAbsent(loading, loading, row, absent));
  const changes =
    updated.length === 0
      ? ""
      : `changed as (
          update ${table} as t set ${updated.map((name) => `${quoted(name)} = s.${quoted(name)}`).join(", ")}
          from shipped as s
          where ${sameKey(loading)} and t.origin = 'shipped'
            and (${list(updated, "t.")}) is distinct from (${list(updated, "s.")})
          returning 1),`;
  const { rows: results } = await client.query<{ inserted: number; updated: number; gone: Key[] }>(
    `with ${shippedAs(loading, columns)}, ${changes}
     added as (
       insert into ${table} (${list([...columns, ...Object.keys(derived)])}, origin)
       select ${[list(columns, "s."), ...Object.values(derived)].join(", ")}, 'shipped' from shipped as s
       where not exists (select from ${table} as t where ${sameKey(loading)})
       returning 1)
     select (select count(*)::integer from added) as inserted,
       ${changes === "" ? "0" : "(select count(*)::integer from changed)"} as updated,
       (select coalesce(jsonb_agg(jsonb_build_array(${list(key, "t.")})), '[]') from ${table} as t
         where t.origin = 'shipped' and not exists (select from shipped as s where ${sameKey(loading)})) as gone`,
    [JSON.stringify(rows)],
  );
  const { gone = [], ...counts } = results[0] ?? { inserted: 0, updated: 0 };
  return { written: { table, ...counts, deleted: 0, kept: [] }, gone };
};

/** Deletes rows by their keys, except rows to which other rows refer. @returns the keys of the rows that stay */
const deleteRows = async (client: pg.ClientBase, loading: Loading, gone: readonly Key[]): Promise<Key[]> => {
  let kept = await deleteParts(client, loading, gone);
  // The rows of a table may refer to each other, so one that stays may be free after others are gone.
  for (let before = gone.length; kept.length > 0 && kept.length < before; ) {
    before = kept.length;
    kept = await deleteParts(client, loading, kept);
  }
  return kept;
};

/** Deletes rows, or the halves of them, if some are referred to: most rows are then deleted by few statements. */
const deleteParts = async (client: pg.ClientBase, loading: Loading, gone: readonly Key[]): Promise<Key[]> => {
  if (gone.length === 0) return [];
  const { table, key } = loading;
  await client.query("savepoint deleting");
  try {
    await client.query(
      `with ${shippedAs(loading, key)} delete from ${table} as t using shipped as s where ${sameKey(loading)}`,
      [JSON.stringify(gone)],
    );
    await client.query("release savepoint deleting");
    return [];
  } catch (error) {
    await client.query("rollback to savepoint deleting");
    if (!isReferenced(error)) throw error;
    if (gone.length === 1) return [...gone];
  }
  const half = Math.ceil(gone.length / 2);
  return [
    ...(await deleteParts(client, loading, gone.slice(0, half))),
    ...(await deleteParts(client, loading, gone.slice(half))),
  ];
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
  const absent = await findAbsent(client, texts);
  const steps: { loading: Loading; written: LoadedTable; gone: Key[] }[] = [];
  for (const shipped of tables) {
    await about(shipped.file, async () => {
      const loading = await readTable(client, shipped, texts.get(shipped.file) ?? "");
      // Other transactions may read the table. Writers wait, so that rows do not change after they were compared.
      await client.query(`lock table ${shipped.table} in share row exclusive mode`);
      steps.push({ loading, ...(await writeRows(client, loading, absent)) });
    });
  }
  // In reverse order, so that rows are deleted before the rows to which they refer.
  for (const { loading, written, gone } of steps.toReversed()) {
    await about(loading.file, async () => {
      const kept = await deleteRows(client, loading, gone);
      written.deleted = gone.length - kept.length;
      written.kept = kept.map((key) => key.join(" "));
    });
  }
  return steps.map(({ written }) => written);
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
  const texts = await readFiles(folder, [...SHIPPED_TABLES.map(({ file }) => file), CLASSIFIER_FILE, MEANING_FILE]);
  await client.query("begin");
  try {
    await client.query("set local role souk_owner");
    const { rows } = await client.query<{ name: string; hash: string }>("select name, hash from internal.loaded");
    const known = new Map(rows.map(({ name, hash }) => [name, hash]));
    const changed = [...texts].map(([name, text]) => ({ name, hash: hashOf(text) }));
    const isChanged = new Set(changed.filter(({ name, hash }) => known.get(name) !== hash).map(({ name }) => name));
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
