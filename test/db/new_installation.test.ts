import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "ava";
import { CLASSIFIER_FILE, DATA, formatRows, parseRows, SHIPPED_TABLES } from "../../src/install/data_files.ts";
import { loadData } from "../../src/install/load_data.ts";
import { LEARNING } from "../../src/reader/training/classifiers.ts";
import { withClient } from "../support/client.ts";
import { createDatabase } from "../support/database.ts";
import { sql, sqlValue } from "../support/sql.ts";

/** A new installation has the shipped rows, and classifiers that fit them. */

test("a new installation has exactly the shipped rows", async (t) => {
  const fresh = await createDatabase(t);
  for (const shipped of SHIPPED_TABLES) {
    const { columns, rows } = parseRows(shipped.file, await readFile(join(DATA, shipped.file), "utf8"));
    const there = await sqlValue<(string | null)[][]>(
      fresh.url,
      `select json_agg(json_build_array(${columns.map((name) => `${name}::text`).join(", ")}))
       from ${shipped.table} where origin = 'shipped'`,
    );
    const written = (some: (string | null)[][]) =>
      formatRows({
        columns,
        // An empty field of a column that cannot be null has the default.
        rows: some.map((row) => row.map((field, at) => (columns[at] === "is_prefix" ? (field ?? "false") : field))),
      })
        .split("\n")
        .toSorted();
    const expected = written(rows);
    t.deepEqual(
      written(there).filter((line, at) => line !== expected[at]),
      [],
      shipped.file,
    );
    t.is(there.length, rows.length, shipped.file);
    t.is(await sqlValue(fresh.url, `select count(*)::integer from ${shipped.table} where origin <> 'shipped'`), 0);
  }
});

test("a new installation needs training only after an operator changes a word", async (t) => {
  const fresh = await createDatabase(t);
  const isDue = () => sqlValue<boolean>(fresh.url, `select jobs.get_training_set(${LEARNING}) is not null`);
  const weights = () =>
    sqlValue<string>(fresh.url)`select md5(string_agg(weights::text || learned_from, ' ' order by name))
      from reading.classifier`;
  t.false(await isDue());
  await sql(fresh.url)`update reading.label set weight = 2.5 where form = 'sofa' and language = 'de'
    and type = 'category'`;
  t.true(await isDue());
  // An upgrade does not replace weights that were trained in this installation.
  const learned = await weights();
  await sql(fresh.url, `update internal.loaded set hash = repeat('0', 64) where name = '${CLASSIFIER_FILE}'`);
  await withClient(fresh.url, (other) => loadData(other));
  t.is(await weights(), learned);
  t.true(await isDue());
  // An installation that lost its weights gets the shipped ones, until a worker has trained new ones.
  await sql(fresh.url, "delete from reading.classifier; delete from reading.meaning");
  await sql(fresh.url, `update internal.loaded set hash = repeat('0', 64) where name = '${CLASSIFIER_FILE}'`);
  await withClient(fresh.url, (other) => loadData(other));
  t.true((await sqlValue<number>(fresh.url, "select count(*)::integer from reading.classifier")) > 0);
  t.is(await sqlValue<number>(fresh.url, "select count(*)::integer from reading.meaning"), 1);
  t.true(await isDue());
});
