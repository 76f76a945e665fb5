import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import pg from "pg";
import {
  CLASSIFIER_FILE,
  DATA,
  formatRows,
  MEANING_FILE,
  parseRows,
  SHIPPED_TABLES,
  type ShippedTable,
  TRAINING_FILES,
} from "../../src/install/data_files.ts";
import { type LoadedTable, loadData } from "../../src/install/load_data.ts";
import { withClient } from "../support/client.ts";
import { createDatabase, type Database } from "../support/database.ts";
import { sqlValue as sqlValueAt } from "../support/sql.ts";

/**
 * Shipped rows: an upgrade loads what has changed, and an operator's rows, changes and deletions stay.
 *
 *   release   a folder with the same files as db/data, but few rows
 *   sample    the row of each table that releases and operators change in different ways
 */

/** A row as text, by column. */
type Row = Record<string, string | null>;
type Release = Record<string, Row[]>;

/** Enough rows for every foreign key, and few enough to load quickly. */
const ROWS_OF_A_RELEASE = 100;

/** For each table that upgrades change: a column, an operator's value and an upgrade's value. */
const DISAGREEMENTS: Readonly<Record<string, readonly [column: string, ours: string, theirs: string]>> = {
  "market.offer_kind": ["position", "90", "91"],
  "market.domain": ["kinds", "{rental}", "{dating,friendship}"],
  "market.category": ["position", "90", "91"],
  "market.ask_kind": ["answered_by", "{rental}", "{dating}"],
  "market.permission": ["detail", "Ours.", "Theirs."],
  "market.reason": ["sentence", "Ours.", "Theirs."],
  "market.sentence": ["words", "Ours.", "Theirs."],
  "market.setting": ["summary", "Ours.", "Theirs."],
  "market.sign_in_method": ["position", "90", "91"],
  "market.embedding_model": ["match_min_similarity", "0.125", "0.25"],
  "market.ranking": ["density", "0.125", "0.25"],
  "market.invariant": ["remedy", "Ours.", "Theirs."],
  "market.move": ["condition", "Ours.", "Theirs."],
  "reading.place": ["population", "90", "91"],
  "reading.place_name": ["form", "word", "beside"],
  "reading.concept": ["type", "feature", "cue"],
  "reading.label": ["weight", "4", "5"],
  "reading.example": ["language", "de", "fr"],
  "reading.question": ["question", "Ours?", "Theirs?"],
};

/** Samples for tables whose shipped rows are all referenced. For other tables the sample is the release's last row. */
const UNREFERENCED: Release = {
  "market.offer_kind": [{ offer_kind: "zorb", position: "99" }],
  "market.domain": [{ domain: "zorbing", kinds: "{sale}", position: "99" }],
  "market.category": [{ domain: "hobbies", category: "zorbing", position: "99" }],
  "market.ask_kind": [{ ask_kind: "zorb", answered_by: "{sale}" }],
  "reading.place": [
    {
      place: "BE/zorbing",
      kind: "city",
      name: "Zorbing",
      country: "BE",
      region: null,
      city: null,
      population: "92",
      latitude: "50.125",
      longitude: "4.5",
    },
  ],
  "reading.concept": [
    {
      concept: "zorbing",
      type: "thing",
      domain: null,
      category: null,
      offer_kind: null,
      ask_kind: null,
      condition: null,
    },
  ],
};

let database: Database;
let folder: string;
let base: Release;
let client: pg.Client;

test.before(async () => {
  database = await createDatabase();
  folder = await mkdtemp(join(tmpdir(), "souk-data-"));
  // The files that belong to the training set and to no table.
  for (const file of TRAINING_FILES) await copyFile(join(DATA, file), join(folder, file));
  // Of the learned weights the first line and one more: megabytes that every load would read, and no release changes.
  for (const learned of [CLASSIFIER_FILE, MEANING_FILE])
    await writeFile(
      join(folder, learned),
      (await readFile(join(DATA, learned), "utf8")).replace(/(.*\n.*\n)[\s\S]*/, "$1"),
    );
  base = {};
  for (const { table, file, refersTo } of SHIPPED_TABLES) {
    const { columns, rows } = parseRows(file, await readFile(join(DATA, file), "utf8"));
    headers[table] = columns;
    const isWhole = (row: Row) =>
      refersTo.every(
        ([referred, ...names]) =>
          names.some((name) => row[name] === null) ||
          // A country is in itself.
          (referred === table && keyNames(referred).every((name, at) => row[name] === row[names[at] ?? ""])) ||
          base[referred]?.some((one) => keyNames(referred).every((name, at) => one[name] === row[names[at] ?? ""])),
      );
    base[table] = rows
      .map((row) => Object.fromEntries(columns.map((name, at) => [name, row[at] ?? null])))
      // Parts of the world come last in the file, and countries refer to nothing else.
      .filter(({ kind }) => table !== "reading.place" || kind === "world" || kind === "country")
      .sort((a, b) => Number(b["kind"] === "world") - Number(a["kind"] === "world"))
      .filter(isWhole)
      // An empty field of a column that cannot be null has the default.
      .map((row) => ("is_prefix" in row ? { ...row, is_prefix: row["is_prefix"] ?? "false" } : row))
      .slice(0, ROWS_OF_A_RELEASE);
  }
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
test.after.always(async () => {
  await client?.end();
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

/** Run a statement as an operator. `sqlValue` returns the first value of the first row. */
const sql = async <R extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<R[]> =>
  (await client.query<R>(text, values)).rows;
const sqlValue = async <T>(text: string): Promise<T> => Object.values((await sql(text))[0] ?? {})[0] as T;

const keyNames = (table: string): readonly string[] => SHIPPED_TABLES.find((one) => one.table === table)?.key ?? [];

/** The columns of each table's file. */
const headers: Record<string, string[]> = {};

const columnsOf = ({ table }: ShippedTable): string[] => headers[table] ?? [];

const updatedOf = (shipped: ShippedTable): string[] =>
  columnsOf(shipped).filter((name) => !shipped.key.includes(name) && !shipped.initial.includes(name));

const write = async (release: Release): Promise<void> => {
  for (const shipped of SHIPPED_TABLES) {
    const columns = columnsOf(shipped);
    const rows = (release[shipped.table] ?? []).map((row) => columns.map((name) => row[name] ?? null));
    await writeFile(join(folder, shipped.file), formatRows({ columns, rows }));
  }
};

const load = async (release: Release): Promise<LoadedTable[]> => {
  await write(release);
  return loadData(client, folder);
};

const isSame = ({ key }: ShippedTable, a: Row, b: Row): boolean => key.every((name) => a[name] === b[name]);

const sampleOf = ({ table }: ShippedTable): Row => {
  const sample = UNREFERENCED[table]?.[0] ?? base[table]?.at(-1);
  if (!sample) throw new Error(`db/data has no row of ${table}`);
  return sample;
};

/** A release with the given samples. A table for which `sampleIn` returns null has no sample. */
const releaseWith = (sampleIn: (shipped: ShippedTable) => Row | null): Release =>
  Object.fromEntries(
    SHIPPED_TABLES.map((shipped) => {
      const others = (base[shipped.table] ?? []).filter((row) => !isSame(shipped, row, sampleOf(shipped)));
      const sample = sampleIn(shipped);
      return [shipped.table, sample ? [...others, sample] : others];
    }),
  );

const keyIs = ({ key }: ShippedTable): string =>
  key.map((name, at) => `t.${name} is not distinct from $${at + 1}`).join(" and ");

const keyOf = ({ key }: ShippedTable, row: Row): (string | null)[] => key.map((name) => row[name] ?? null);

const operator = {
  insert: async (shipped: ShippedTable, row: Row) => {
    const columns = columnsOf(shipped);
    await sql(
      `insert into ${shipped.table} (${columns.join(", ")}) values (${columns.map((_, at) => `$${at + 1}`).join(", ")})`,
      columns.map((name) => row[name] ?? null),
    );
  },
  update: (shipped: ShippedTable, row: Row, column: string, value: string) =>
    sql(`update ${shipped.table} as t set ${column} = $${shipped.key.length + 1} where ${keyIs(shipped)}`, [
      ...keyOf(shipped, row),
      value,
    ]),
  delete: (shipped: ShippedTable, row: Row) =>
    sql(`delete from ${shipped.table} as t where ${keyIs(shipped)}`, keyOf(shipped, row)),
};

/** A row of the database, as text, with its origin; null if it does not exist. */
const found = async (shipped: ShippedTable, row: Row): Promise<Row | null> => {
  const columns = [...columnsOf(shipped), "origin"];
  const [there] = await sql<Row>(
    `select ${columns.map((name) => `t.${name}::text`).join(", ")} from ${shipped.table} as t where ${keyIs(shipped)}`,
    keyOf(shipped, row),
  );
  return there ?? null;
};

/** Removes the samples of all tables, and the records of deleted rows. */
const reset = async (): Promise<void> => {
  await load(releaseWith(() => null));
  for (const shipped of SHIPPED_TABLES.toReversed()) await operator.delete(shipped, sampleOf(shipped));
  await sql("truncate internal.deleted_row");
};

const disagreementOf = ({ table }: ShippedTable) => DISAGREEMENTS[table];

const theirsOf = (shipped: ShippedTable): Row => {
  const [column, , theirs] = disagreementOf(shipped) ?? [];
  return column && theirs ? { ...sampleOf(shipped), [column]: theirs } : sampleOf(shipped);
};

const oursOf = (shipped: ShippedTable): Row => {
  const [column, ours] = disagreementOf(shipped) ?? [];
  return column && ours ? { ...sampleOf(shipped), [column]: ours } : sampleOf(shipped);
};

const OPERATOR = {
  adds: async (shipped: ShippedTable, isThere: boolean) => {
    if (isThere) await operator.delete(shipped, sampleOf(shipped));
    await operator.insert(shipped, oursOf(shipped));
  },
  changes: async (shipped: ShippedTable, isThere: boolean) => {
    if (!isThere) await operator.insert(shipped, sampleOf(shipped));
    const [column, ours] = disagreementOf(shipped) ?? [];
    if (column && ours) return operator.update(shipped, sampleOf(shipped), column, ours);
    // If all columns belong to the key, a change is a deletion and an insertion.
    await operator.delete(shipped, sampleOf(shipped));
    return operator.insert(shipped, sampleOf(shipped));
  },
  deletes: async (shipped: ShippedTable, isThere: boolean) => {
    if (!isThere) await operator.insert(shipped, sampleOf(shipped));
    await operator.delete(shipped, sampleOf(shipped));
  },
} as const;

const UPGRADE = {
  adds: { before: () => null, after: sampleOf },
  changes: { before: sampleOf, after: theirsOf },
  removes: { before: sampleOf, after: () => null },
} as const;

for (const upgrade of ["adds", "changes", "removes"] as const) {
  const { before, after } = UPGRADE[upgrade];

  test.serial(`an upgrade that ${upgrade} a row does so in every table if no operator touched the row`, async (t) => {
    await reset();
    await load(releaseWith(before));
    await load(releaseWith(after));
    for (const shipped of SHIPPED_TABLES) {
      const expected = after(shipped);
      t.deepEqual(
        await found(shipped, sampleOf(shipped)),
        expected && { ...expected, origin: "shipped" },
        shipped.table,
      );
    }
  });

  for (const act of ["adds", "changes", "deletes"] as const) {
    test.serial(`what an operator ${act} stays when an upgrade ${upgrade} the same row, in every table`, async (t) => {
      await reset();
      await load(releaseWith(before));
      // Foreign keys decide the order: referencing rows are deleted first, and referenced rows are inserted first.
      for (const shipped of act === "deletes" ? SHIPPED_TABLES.toReversed() : SHIPPED_TABLES)
        await OPERATOR[act](shipped, before(shipped) !== null);
      await load(releaseWith(after));
      for (const shipped of SHIPPED_TABLES) {
        const expected = act === "deletes" ? null : { ...oursOf(shipped), origin: "operator" };
        t.deepEqual(await found(shipped, sampleOf(shipped)), expected, shipped.table);
      }
    });
  }
}

test.serial("DISAGREEMENTS names every table whose rows upgrades change", (t) => {
  t.deepEqual(
    Object.keys(DISAGREEMENTS).toSorted(),
    SHIPPED_TABLES.filter((shipped) => updatedOf(shipped).length > 0)
      .map(({ table }) => table)
      .toSorted(),
  );
});

test.serial("a change of a row's key by an operator counts as a deletion and an insertion", async (t) => {
  await reset();
  await load(base);
  await sql("update market.reason set code = 'zorbing' where code = 'other'");
  await load(releaseWith(theirsOf));
  t.deepEqual(await sql("select code, origin from market.reason where code in ('other', 'zorbing')"), [
    { code: "zorbing", origin: "operator" },
  ]);
});

test.serial("after the SQL in db/data/README.md, rows that an operator changed are loaded as shipped", async (t) => {
  await reset();
  await load(base);
  const before = await sql("select code, rank, summary, sentence, origin from market.reason order by code");
  await sql("update market.reason set sentence = 'Ours.' where code = 'other'");
  await sql("delete from market.reason where code = 'spam'");
  const [, handBack = ""] = /```sql\n(begin;[\s\S]*?)```/.exec(await readFile(join(DATA, "README.md"), "utf8")) ?? [];
  await sql(handBack);
  await load(base);
  t.deepEqual(await sql("select code, rank, summary, sentence, origin from market.reason order by code"), before);
});

test.serial("a table that an operator emptied gets only rows that are new in a release", async (t) => {
  await reset();
  await load(releaseWith((shipped) => (shipped.table === "reading.label" ? null : sampleOf(shipped))));
  await sql("truncate reading.label");
  await load(base);
  t.is(await sqlValue("select count(*)::integer from reading.label"), 1);
});

test.serial("values that the service writes are not an operator's change, and upgrades keep them", async (t) => {
  await reset();
  await load(base);
  await sql("update market.setting set value = '7' where name = 'first_offers_to_review'");
  await sql("update market.sign_in_method set available = true where method = 'email'");
  await sql(
    "update market.invariant set broken = 3, example = 'one', checked_at = now() where invariant = 'offer_has_contact'",
  );
  const changed = structuredClone(base);
  for (const row of changed["market.setting"] ?? []) row["summary"] = "Another sentence.";
  for (const row of changed["market.sign_in_method"] ?? []) row["position"] = "77";
  for (const row of changed["market.invariant"] ?? []) row["remedy"] = "Another remedy.";
  await load(changed);
  t.deepEqual(
    await sql(`select s.origin as s, s.value, s.summary, m.origin as m, m.available, m.position, i.origin as i, i.broken, i.remedy
       from market.setting s, market.sign_in_method m, market.invariant i
       where s.name = 'first_offers_to_review' and m.method = 'email' and i.invariant = 'offer_has_contact'`),
    [
      {
        s: "shipped",
        value: 7,
        summary: "Another sentence.",
        m: "shipped",
        available: true,
        position: 77,
        i: "shipped",
        broken: 3,
        remedy: "Another remedy.",
      },
    ],
  );
});

test.serial("a row that is no longer shipped stays while another row refers to it, and is reported", async (t) => {
  await reset();
  await load(base);
  await sql(
    "insert into reading.example (ask_kind, text) values ('lease_out', 'The barn is empty, make me an offer by the month')",
  );
  const without = (...tables: string[]): Release => ({
    ...base,
    ...Object.fromEntries(
      tables.map((table) => [table, (base[table] ?? []).filter((row) => row["ask_kind"] !== "lease_out")]),
    ),
  });
  const release = without("market.ask_kind", "reading.concept", "reading.example");
  const [first] = await load(release);
  t.like(first, { table: "market.ask_kind", inserted: 0, updated: 0, deleted: 0, kept: ["lease_out"] });
  t.is(await sqlValue("select origin from market.ask_kind where ask_kind = 'lease_out'"), "shipped");
  await sql("delete from reading.example where ask_kind = 'lease_out'");
  await load(base);
  const [second] = await load(release);
  t.like(second, { table: "market.ask_kind", deleted: 1, kept: [] });
});

test.serial("rows that refer to a row that an operator deleted are not loaded", async (t) => {
  await reset();
  await load(base);
  const name = { concept: "zorb_cue", language: null, form: "zorb", is_prefix: "true", weight: "1" };
  const sample = sampleOf(SHIPPED_TABLES.find(({ table }) => table === "reading.concept") as ShippedTable);
  const category = { ...sample, concept: "hobbies/zorbing", type: "category", domain: "hobbies", category: "zorbing" };
  const more = (table: string, ...rows: Row[]): Row[] => [...(base[table] ?? []), ...rows];
  const release: Release = {
    ...base,
    "market.category": more("market.category", { domain: "hobbies", category: "zorbing", position: "99" }),
    "reading.concept": more("reading.concept", { ...sample, concept: "zorb_cue", type: "cue" }),
  };
  await load(release);
  await sql("delete from market.category where category = 'zorbing'");
  await sql("delete from reading.concept where concept = 'zorb_cue'");
  const text = "A zorb for you";
  await load({
    ...release,
    "reading.concept": [...(release["reading.concept"] ?? []), category],
    "reading.label": more("reading.label", name, { ...name, concept: "hobbies/zorbing", is_prefix: null }),
    "reading.broader": more("reading.broader", { concept: "hobbies/zorbing", broader: "bicycle" }),
    "reading.example": more("reading.example", {
      text,
      offer_kind: "sale",
      ask_kind: null,
      domain: "hobbies",
      category: "zorbing",
      language: "en",
    }),
  });
  t.is(await sqlValue("select count(*)::integer from reading.concept where concept ~ 'zorb'"), 0);
  t.is(await sqlValue("select count(*)::integer from reading.label where form = 'zorb'"), 0);
  t.is(await sqlValue(`select count(*)::integer from reading.example where text = '${text}'`), 0);
});

test.serial("a text with line breaks, tabs and backslashes is loaded as it is", async (t) => {
  await reset();
  const text = "A zorb\n\tfor 5 \\ 6 € \\n [[title|zorb]]";
  const row = { text, offer_kind: "sale", ask_kind: null, domain: null, category: null, language: "en" };
  await load({ ...base, "reading.example": [...(base["reading.example"] ?? []), row] });
  t.is(await sqlValue("select text from reading.example where text like 'A zorb%'"), text);
});

/** The versions of all shipped rows. The text differs after any write. */
const versions = (): Promise<string> =>
  sqlValue(
    `select string_agg(v.version, E'\\n' order by v.version) from (${SHIPPED_TABLES.map(
      ({ table }) =>
        `select '${table}' || md5(string_agg(t.ctid || ' ' || t.xmin, ' ' order by t.ctid)) as version from ${table} t`,
    ).join(" union all ")}) as v`,
  );

test.serial("loading the same files again writes nothing", async (t) => {
  await reset();
  await load(base);
  const loadedAt = () => sqlValue<string>("select string_agg(loaded_at::text, ' ' order by name) from internal.loaded");
  const before = [await versions(), await loadedAt()];
  t.deepEqual(await load(base), []);
  t.deepEqual([await versions(), await loadedAt()], before);
});

test.serial("only the rows that differ are written when a file has changed", async (t) => {
  await reset();
  await load(base);
  const before = await versions();
  await sql("update internal.loaded set hash = repeat('0', 64) where name <> 'code'");
  const loaded = await load(base);
  t.is(loaded.length, SHIPPED_TABLES.length);
  for (const { table, ...counts } of loaded)
    t.deepEqual(counts, { inserted: 0, updated: 0, deleted: 0, kept: [] }, table);
  t.is(await versions(), before);
});

for (const [what, line, message] of [
  ["a line with too few fields", "location\tde\n", /question\.tsv, line \d+: 2 fields, and the first line has 3/],
  [
    "a row that its table refuses",
    `location\txx\t${"?".repeat(301)}\n`,
    /question\.tsv could not be loaded: .*question_question_length/,
  ],
  ["an unknown escape", "location\txx\tWh\\ere?\n", /question\.tsv, line \d+: "\\e" is not an escape/],
  ["an incomplete last line", "location\txx\tWhe", /question\.tsv: the last line has no end/],
  ["a duplicate key", "price\txx\tWhat?\nprice\txx\tHow much?\n", /question\.tsv could not be loaded: .*a second time/],
] as const) {
  test.serial(`a file with ${what} changes no table`, async (t) => {
    await reset();
    await load(base);
    const before = await versions();
    await write(releaseWith(theirsOf));
    const file = join(folder, "question.tsv");
    await writeFile(file, (await readFile(file, "utf8")) + line);
    await t.throwsAsync(loadData(client, folder), { message });
    t.is(await versions(), before);
    const { rows } = await client.query(
      "select current_setting('market.loading', true) as loading, current_user = session_user as own",
    );
    t.deepEqual(rows, [{ loading: "", own: true }], "the settings of the loader's session are unchanged");
  });
}

test.serial("during an upgrade readers do not wait and see all of it or nothing, and writers wait", async (t) => {
  await reset();
  await load(base);
  await write(releaseWith(theirsOf));
  const read = "select count(*)::integer from reading.label where weight = 5 and origin = 'shipped'";
  const before = await sqlValueAt<number>(database.url, read);
  let asked = false;
  const query: pg.Client["query"] = client.query.bind(client);
  const pausing = {
    query: async (...given: Parameters<typeof query>) => {
      if ((given[0] as unknown) === "commit") {
        asked = true;
        t.is(await sqlValueAt(database.url, read), before);
        await t.throwsAsync(
          withClient(database.url, async (other) => {
            await other.query("set lock_timeout = '100ms'");
            await other.query("update reading.label set weight = 1");
          }),
          { code: "55P03" },
        );
      }
      return query(...given);
    },
  };
  await loadData(pausing as unknown as pg.Client, folder);
  t.true(asked);
  t.is(await sqlValueAt(database.url, read), before + 1);
});

test("the triggers of each table watch its key and the other columns that an upgrade changes", async (t) => {
  const triggers = await sql<{ name: string; tgname: string; key: string; updated: string }>(
    `select g.tgrelid::regclass::text as name, g.tgname, a.given[1] as key, a.given[2] as updated
     from pg_trigger g, lateral (select string_to_array(encode(g.tgargs, 'escape'), '\\000') as given) as a
     where g.tgname in ('keep_origin', 'remember_truncate') and g.tgenabled = 'O'
     order by g.tgrelid::regclass::text collate "C", g.tgname`,
  );
  const sorted = (columns: readonly string[]) => columns.toSorted().join();
  t.deepEqual(
    triggers.map((trigger) => ({ ...trigger, updated: sorted(trigger.updated.split(",")) })),
    SHIPPED_TABLES.toSorted((a, b) => (a.table < b.table ? -1 : 1)).flatMap((shipped) => [
      { name: shipped.table, tgname: "keep_origin", key: shipped.key.join(), updated: sorted(updatedOf(shipped)) },
      { name: shipped.table, tgname: "remember_truncate", key: shipped.key.join(), updated: "" },
    ]),
  );
});
