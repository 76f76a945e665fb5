import type pg from "pg";
import {
  CLASSIFIER_FILE,
  DATA,
  type DataFile,
  hashOf,
  LESSON_FILES,
  parseClassifiers,
  parseRows,
  readFiles,
  SHIPPED_TABLES,
  type ShippedTable,
  trainingSetHash,
} from "./data_files.ts";

/**
 * Loads the shipped rows of db/data into the database.
 *
 *   shipped row    one that the last loaded file has and that no operator changed: an upgrade may change or delete it
 *   operator's row one that an operator added or changed (column `origin`): an upgrade never touches it
 *   tombstone      the key of a row that an operator deleted (internal.deleted_row): an upgrade does not insert it again
 *
 * Rows travel as one JSON array. COPY would be faster on a server, but PGlite fails when it has to read COPY data from its
 * socket, and one way for both is worth more than a fraction of a second at an upgrade.
 */

/** What loading did to one table, in rows. */
export type LoadedTable = {
  table: string;
  inserted: number;
  updated: number;
  deleted: number;
  /** The keys of rows that no longer ship and stay, because rows of other tables refer to them. */
  kept: string[];
};

/** PostgreSQL's code for a row that cannot go because another one refers to it. */
const IS_REFERENCED: ReadonlySet<string | undefined> = new Set(["23503", "23001"]);

/** A column as the catalogue describes it. */
type Column = { type: string; nullable: boolean };

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
    `select a.attname as name, format_type(a.atttypid, a.atttypmod) as type, not a.attnotnull as nullable
     from pg_attribute a where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped`,
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

/** The condition that a row `t` of the table and a row `s` that ships have the same key. */
const sameKey = ({ key, column }: Loading): string =>
  key
    // "is not distinct from" cannot be hashed, so it is used only where it is needed.
    .map((name) => `t.${quoted(name)} ${column(name).nullable ? "is not distinct from" : "="} s.${quoted(name)}`)
    .join(" and ");

/** A common table expression `shipped` with some columns, given in $1 as a JSON array of rows, which are arrays of text. */
const shippedAs = ({ column }: Loading, columns: readonly string[]): string =>
  `shipped as materialized (
    select ${columns.map((name, at) => `(r.fields ->> ${at})::${column(name).type} as ${quoted(name)}`).join(", ")}
    from json_array_elements($1::json) as r (fields))`;

type Key = (string | null)[];

/** Inserts and updates. @returns what it did, and the keys of shipped rows that ship no more */
const writeRows = async (client: pg.ClientBase, loading: Loading): Promise<{ written: LoadedTable; gone: Key[] }> => {
  const { table, key, updated, columns } = loading;
  const places = key.map((name) => columns.indexOf(name));
  const { rows: tombstones } = await client.query<{ key: string }>(
    "select d.key::text as key from internal.deleted_row d where d.table_name = $1",
    [table],
  );
  const deleted = new Set(tombstones.map((tombstone) => JSON.stringify(JSON.parse(tombstone.key))));
  const rows = loading.rows.filter((row) => !deleted.has(JSON.stringify(places.map((place) => row[place] ?? null))));
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
       insert into ${table} (${list(columns)}, origin)
       select ${list(columns, "s.")}, 'shipped' from shipped as s
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

/** Deletes rows by their keys, except those that others refer to. @returns the keys of these */
const deleteRows = async (client: pg.ClientBase, loading: Loading, gone: readonly Key[]): Promise<Key[]> => {
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
  const kept: Key[] = [];
  for (const row of gone) kept.push(...(await deleteRows(client, loading, [row])));
  return kept;
};

/** Runs a step about a file, so that what it throws names the file. */
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
  const steps: { loading: Loading; written: LoadedTable; gone: Key[] }[] = [];
  for (const shipped of tables) {
    await about(shipped.file, async () => {
      const loading = await readTable(client, shipped, texts.get(shipped.file) ?? "");
      // Readers go on; who edits the same table waits, so that what was compared is what is written.
      await client.query(`lock table ${shipped.table} in share row exclusive mode`);
      steps.push({ loading, ...(await writeRows(client, loading)) });
    });
  }
  // What refers to a row goes before the row.
  for (const { loading, written, gone } of steps.toReversed()) {
    await about(loading.file, async () => {
      const kept = await deleteRows(client, loading, gone);
      written.deleted = gone.length - kept.length;
      written.kept = kept.map((key) => key.join(" "));
    });
  }
  return steps.map(({ written }) => written);
};

/** Loads the weights that ship, when they were made from the words and examples that the database now has. */
const loadClassifier = async (client: pg.ClientBase, texts: ReadonlyMap<string, string>): Promise<void> => {
  const { header, classifiers } = parseClassifiers(texts.get(CLASSIFIER_FILE) ?? "");
  const isOfThese = header.training_set === trainingSetHash((file) => texts.get(file) ?? "", header.learning);
  const counts = SHIPPED_TABLES.filter(({ file }) => (LESSON_FILES as readonly string[]).includes(file)).map(
    ({ table, file }) =>
      `(select count(*) = ${parseRows(file, texts.get(file) ?? "").rows.length} and bool_and(origin = 'shipped') from ${table})`,
  );
  await client.query(`select reading.load_classifiers($1, $2, $3::boolean and ${counts.join(" and ")})`, [
    header.learning,
    JSON.stringify(classifiers),
    isOfThese,
  ]);
};

/**
 * Loads what changed of the shipped rows since they were last loaded, in one transaction. Nothing is read of the tables and
 * nothing is written when no file changed.
 * @param client becomes souk_owner for the transaction, and must not be in a transaction
 * @param folder where the files are
 * @returns what happened to each table of which the file changed
 * @throws when a file is not as it must be, or a row breaks a rule of its table; the database is then as it was
 */
export const loadData = async (client: pg.ClientBase, folder = DATA): Promise<LoadedTable[]> => {
  const texts = await readFiles(folder, [...SHIPPED_TABLES.map(({ file }) => file), CLASSIFIER_FILE]);
  await client.query("begin");
  try {
    await client.query("set local role souk_owner");
    const { rows } = await client.query<{ name: string; hash: string }>("select name, hash from internal.loaded");
    const known = new Map(rows.map(({ name, hash }) => [name, hash]));
    const changed = [...texts].map(([name, text]) => ({ name, hash: hashOf(text) }));
    const isChanged = new Set(changed.filter(({ name, hash }) => known.get(name) !== hash).map(({ name }) => name));
    // By this, triggers tell the loader from an operator. It ends with the transaction.
    await client.query("select set_config('market.loading', 'on', true)");
    const loaded = await loadTables(
      client,
      SHIPPED_TABLES.filter(({ file }) => isChanged.has(file)),
      texts,
    );
    if ([...LESSON_FILES, CLASSIFIER_FILE].some((file) => isChanged.has(file)))
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
