import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import test from "ava";
import { SHIPPED_TABLES } from "../../src/database/data_files.ts";
import { migrate } from "../../src/database/migrate.ts";
import { withClient } from "../support/client.ts";
import { createEmptyDatabase, type Database } from "../support/database.ts";
import { currentMigration, DB, INCLUDE, isEmptyMigration, schemaFile } from "../support/sql_files.ts";

/**
 * People read db/schema, and deployments run db/migrations. Both must build the same database.
 *
 *   migrated  built by the committed migrations, as in a deployment
 *   declared  built by db/schema/index.sql and the files that it includes
 */

/** A dump of the schema has a few hundred kilobytes, and Node's default limit is one megabyte. */
const DUMP_BYTES = 64 * 1024 * 1024;

/** Twice as long as graphile-migrate keeps idle connections: 200 ms. */
const KEPT_MS = 400;

const run = promisify(execFile);

let migrated: Database;
let declared: Database;

test.before(async () => {
  [migrated, declared] = await Promise.all([createEmptyDatabase(), createEmptyDatabase()]);
  await migrate(migrated.url);
  const schema = await schemaFile("index.sql");
  await withClient(declared.url, (client) => client.query(`begin;\n${schema}\n;commit`));
});

test.after.always(async () => {
  // graphile-migrate keeps idle connections for later migrations, and ends the process if one of them breaks.
  await new Promise((resolve) => setTimeout(resolve, KEPT_MS));
  await migrated?.drop();
  await declared?.drop();
});

/**
 * The pg_dump beside the server's programs, or the one on the PATH. An older version than the server's refuses to dump.
 */
const dumpProgram = (url: string): Promise<string> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ folder: string }>(
      "select setting as folder from pg_config where name = 'BINDIR'",
    );
    const beside = join(rows[0]?.folder ?? "", "pg_dump");
    return existsSync(beside) ? beside : "pg_dump";
  });

const dump = async ({ url }: Database): Promise<string[]> => {
  const schemas = ["market", "internal", "reading", "search", "api", "jobs", "admin", "inspect"].map(
    (schema) => `--schema=${schema}`,
  );
  const { stdout } = await run(await dumpProgram(url), ["--schema-only", ...schemas, `--dbname=${url}`], {
    maxBuffer: DUMP_BYTES,
  });
  // Recent versions of pg_dump write a random key at the start and end of each dump.
  return (
    stdout
      .split("\n")
      .filter((line) => !/^\\(un)?restrict /.test(line))
      // From PostgreSQL 18 on, each NOT NULL has a name. It contains the column's original name, also after a renaming.
      .map((line) => line.replace(/ CONSTRAINT \w+_not_null NOT NULL/, " NOT NULL"))
  );
};

/** The number of rows and a hash of the sorted rows of each table. */
const contents = ({ url }: Database): Promise<Record<string, unknown>> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      "select oid::regclass::text as name from pg_class where relnamespace::regnamespace::text in ('market', 'reading') and relkind = 'r' and not relispartition order by 1",
    );
    const tables: Record<string, unknown> = {};
    for (const { name } of rows) {
      const { rows: found } = await client.query(
        // Generated ids and times depend on how a database was built, so they are left out.
        `select count(*)::integer as rows, md5(string_agg(row, E'\\n' order by row collate "C")) as hash
         from ${name} t, lateral (select (to_jsonb(t) - array['id', 'changed_at', 'learned_from', 'learned_at'])::text as row) as r`,
      );
      if (found[0].rows > 0) tables[name] = found[0];
    }
    return tables;
  });

test.serial("the committed migrations and db/schema build the same objects", async (t) => {
  const [one, other] = await Promise.all([dump(migrated), dump(declared)]);
  t.true(one.length > 1000);
  t.deepEqual(one, other);
});

test.serial("migrations and db/schema contain no rows; migrate() loads the shipped rows", async (t) => {
  t.deepEqual(Object.keys(await contents(declared)), ["reading.vocabulary_change"]);
  t.deepEqual(
    Object.keys(await contents(migrated)).toSorted(),
    [
      ...SHIPPED_TABLES.map(({ table }) => table),
      "reading.classifier",
      "reading.meaning",
      "reading.vocabulary_change",
    ].toSorted(),
  );
});

test.serial("a second migration changes nothing", async (t) => {
  const applied = () =>
    withClient(migrated.url, async (client) => {
      const { rows } = await client.query(
        `select (select jsonb_agg(m order by m) from graphile_migrate.migrations m) as ours,
           (select jsonb_agg(w order by w) from graphile_worker.migrations w) as queue`,
      );
      return rows[0];
    });
  const before = [await applied(), await dump(migrated), await contents(migrated)];
  await migrate(migrated.url);
  t.deepEqual([await applied(), await dump(migrated), await contents(migrated)], before);
});

test.serial("processes that start at the same time migrate a database once", async (t) => {
  const fresh = await createEmptyDatabase();
  const program = fileURLToPath(new URL("../../src/database/migrate.ts", import.meta.url));
  const script = `import { migrate } from ${JSON.stringify(program)}; await migrate(${JSON.stringify(fresh.url)});`;
  const migrateElsewhere = () => run(process.execPath, ["--input-type=module", "--eval", script]);
  try {
    await t.notThrowsAsync(Promise.all([migrateElsewhere(), migrateElsewhere(), migrateElsewhere()]));
    t.deepEqual(await contents(fresh), await contents(migrated));
  } finally {
    await fresh.drop();
  }
});

test.serial("current.sql contains no uncommitted change", async (t) => {
  t.true(isEmptyMigration(await currentMigration()));
});

test("index.sql includes every file of db/schema exactly once", async (t) => {
  const index = await readFile(join(DB, "schema", "index.sql"), "utf8");
  const included = [...index.matchAll(INCLUDE)].map(([, file]) => file);
  const files = (await readdir(join(DB, "schema"), { recursive: true })).filter(
    (file) => file.endsWith(".sql") && file !== "index.sql",
  );
  t.deepEqual(included.toSorted(), files.toSorted());
});
