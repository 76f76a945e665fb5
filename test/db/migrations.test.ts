import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import test from "ava";
import { SHIPPED_TABLES } from "../../src/install/data_files.ts";
import { loadCode } from "../../src/install/load_code.ts";
import { migrate } from "../../src/install/migrate.ts";
import { codeHash, readSchema, SCHEMA, structureHash } from "../../src/install/schema_files.ts";
import { applyStructure } from "../../src/install/structure.ts";
import { allowed } from "../support/busy.ts";
import { withClient } from "../support/client.ts";
import { createDatabase, createEmptyDatabase, type Database } from "../support/database.ts";
import { writeRelease } from "../support/release.ts";
import { sql } from "../support/sql.ts";
import { openMarket } from "./market.ts";

/** How a database is made from db/schema and db/data, and what happens to one that another state of them made. */

/** A dump of the schema has a few hundred kilobytes, and Node's default limit is one megabyte. */
const DUMP_BYTES = 64 * 1024 * 1024;

/** Twice as long as graphile-migrate keeps idle connections: 200 ms. A connection that breaks would end the process. */
const KEPT_MS = 400;

/** How long a transaction keeps a table: longer than a migration waits for its lock before it tries again. */
const HELD_MS = 1_500;
/** A migration waits for a second, and calls behind it as long. */
const LONGEST_WAIT_MS = 1_800;

const run = promisify(execFile);

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
  return stdout.split("\n").filter((line) => !/^\\(un)?restrict /.test(line));
};

/** The number of rows and a hash of the sorted rows of each table that has some. */
const contents = ({ url }: Database): Promise<Record<string, unknown>> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      "select oid::regclass::text as name from pg_class where relnamespace::regnamespace::text in ('market', 'reading') and relkind = 'r' and not relispartition order by 1",
    );
    const tables: Record<string, unknown> = {};
    for (const { name } of rows) {
      const { rows: found } = await client.query(
        // Generated ids and times differ from database to database.
        `select count(*)::integer as rows, md5(string_agg(row, E'\\n' order by row collate "C")) as hash
         from ${name} t, lateral (select (to_jsonb(t) - array['id', 'changed_at', 'learned_from', 'learned_at'])::text as row) as r`,
      );
      if (found[0].rows > 0) tables[name] = found[0];
    }
    return tables;
  });

const make = (database: Database, folders?: { schema?: string; migrations?: string }): Promise<void> =>
  withClient(database.url, (client) => applyStructure(client, database.url, folders));

test("db/schema contains no rows; migrate() loads the shipped rows", async (t) => {
  const [declared, migrated] = await Promise.all([createEmptyDatabase(t), createDatabase(t)]);
  await make(declared);
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

test("neither a second migration nor loading the code again changes anything", async (t) => {
  const migrated = await createDatabase(t);
  const before = [await dump(migrated), await contents(migrated)];
  t.true((before[0] as string[]).length > 1000);
  await migrate(migrated.url);
  await sql(migrated.url, "update internal.loaded set hash = repeat('0', 64) where name = 'code'");
  t.deepEqual(await withClient(migrated.url, loadCode), []);
  t.deepEqual([await dump(migrated), await contents(migrated)], before);
});

test("processes that start at the same time make a database once", async (t) => {
  const fresh = await createEmptyDatabase(t);
  const program = fileURLToPath(new URL("../../src/install/migrate.ts", import.meta.url));
  const script = `import { migrate } from ${JSON.stringify(program)}; await migrate(${JSON.stringify(fresh.url)});`;
  const migrateElsewhere = () => run(process.execPath, ["--input-type=module", "--eval", script]);
  await t.notThrowsAsync(Promise.all([migrateElsewhere(), migrateElsewhere(), migrateElsewhere()]));
  t.deepEqual(await contents(fresh), await contents(await createDatabase(t)));
});

test("a database with another structure is refused, and left as it is", async (t) => {
  const [other, older] = await Promise.all([createDatabase(t), createEmptyDatabase(t)]);
  await sql(other.url, "update internal.loaded set hash = repeat('0', 64) where name = 'structure'");
  await sql(older.url, "create schema market authorization souk_owner");
  for (const { url } of [other, older])
    await t.throwsAsync(migrate(url), { message: /^Another state of Souk made this database, .* delete the folder/ });
});

test("a new file of code changes the code, but not the structure", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "souk-schema-"));
  t.teardown(() => rm(folder, { recursive: true }));
  await cp(SCHEMA, folder, { recursive: true });
  await writeFile(join(folder, "internal/platform/added.sql"), "comment on schema internal is 'Another comment.';\n");
  const [before, after] = [await readSchema(), await readSchema(folder)];
  t.not(codeHash(after), codeHash(before));
  t.is(structureHash(after), structureHash(before));
});

/** A release that adds a column, an index and a constraint to a table. Each is a file in the order of the bodies. */
const RELEASE = [
  "set local role souk_owner;\nalter table market.report add column seen_at timestamptz;\n",
  "--! no-transaction\ncreate index concurrently if not exists report_seen_at_idx on market.report (seen_at);\n",
  "alter table market.report add constraint report_seen_later check (seen_at >= created_at) not valid;\n",
  "alter table market.report validate constraint report_seen_later;\n",
];
/** The same, in the structure of a new database. */
const RELEASED = `
alter table market.report add column seen_at timestamptz;
create index report_seen_at_idx on market.report (seen_at);
alter table market.report add constraint report_seen_later check (seen_at >= created_at);
`;

const nextRelease = async (t: { teardown: (clean: () => Promise<void>) => void }) => {
  const folder = await mkdtemp(join(tmpdir(), "souk-release-"));
  t.teardown(() => rm(folder, { recursive: true }));
  return writeRelease(folder, { structure: RELEASED, bodies: RELEASE });
};

test("migrations bring an older database to the structure of a new one, and callers wait for a moment only", async (t) => {
  const release = await nextRelease(t);
  const fresh = await createEmptyDatabase(t);
  const market = await openMarket(t);
  t.teardown(() => new Promise((resolve) => setTimeout(resolve, KEPT_MS)));
  await make(fresh, release);

  // An index whose build broke off, and a transaction that keeps the table for longer than a migration waits at a time.
  await market.sql("create index report_seen_at_idx on market.report (created_at)");
  await market.sql("alter index market.report_seen_at_idx owner to souk_owner");
  await market.sql("update pg_index set indisvalid = false where indexrelid = 'market.report_seen_at_idx'::regclass");
  const [seller, reader] = [await market.approved(), await market.approved()];
  const id = await market.offer(seller);
  await withClient(market.url, async (holder) => {
    await holder.query("begin; select from market.report");
    let isMigrating = true;
    const waits: number[] = [];
    const calls = (async () => {
      while (isMigrating) {
        await market.sql("delete from market.rate_limit_hit");
        const start = performance.now();
        await market.call(reader, "report_offer", { id, reason: "scam", comment: null });
        waits.push(performance.now() - start);
      }
    })();
    const migrating = make({ url: market.url } as Database, release);
    setTimeout(() => holder.query("commit").catch(() => undefined), HELD_MS);
    await migrating.finally(() => {
      isMigrating = false;
    });
    await calls;
    t.true(waits.length > 10, `${waits.length} calls`);
    t.true(Math.max(...waits) < allowed(LONGEST_WAIT_MS), `the longest took ${Math.round(Math.max(...waits))} ms`);
  });
  await make({ url: market.url } as Database, release);
  t.deepEqual(await dump({ url: market.url } as Database), await dump(fresh));
});
