import { cp, mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Logger, migrate as runCommitted } from "graphile-migrate";
import pg from "pg";
import { connected, withSetting } from "./connection.ts";

/**
 * Runs the migrations of db/migrations, so that the market stays open meanwhile (db/README.md says how to write one).
 *
 *   in a transaction       short changes of the catalogue. They wait for their locks a moment only, because all calls
 *                          queue behind them, and then try again
 *   without a transaction  one index, built concurrently: it keeps nobody waiting, and waits for others as long as it takes
 */

/** A committed migration: its file's name, its text, and the two hashes in the file's first lines. */
export type Migration = { name: string; text: string; hash: string; previous: string | null };

/** Half of what the API waits for a lock (db/schema/logins.sql), so that the calls in the queue succeed. */
const LOCK_TIMEOUT = "1s";
/** The longest transaction for which the build of an index waits, such as that of a backup. */
const PATIENT_LOCK_TIMEOUT = "2h";
/** A table that is never free for a moment in ten minutes has a transaction that somebody should look at. */
const MAX_TRIES = 200;
/** Calls that waited behind a try are served before the next one. */
const PAUSE_MS = 2_000;
/** The SQLSTATE lock_not_available. */
const NO_LOCK = "55P03";

const WITHOUT_TRANSACTION = /^--! no-transaction$/m;
const INDEX = /^create (?:unique )?index concurrently if not exists (\w+) on (\w+)\./m;

/** Reads the committed migrations of a folder in the layout of graphile-migrate, in their order. */
export const readMigrations = async (folder: string): Promise<Migration[]> => {
  const names = await readdir(join(folder, "committed")).catch(() => []);
  return Promise.all(
    names
      .filter((name) => name.endsWith(".sql"))
      .sort()
      .map(async (name) => {
        const text = await readFile(join(folder, "committed", name), "utf8");
        const header = (key: string) => new RegExp(`^--! ${key}: (\\S+)$`, "m").exec(text)?.[1] ?? "";
        const previous = header("Previous");
        return { name, text, hash: header("Hash"), previous: previous === "-" ? null : previous };
      }),
  );
};

/** An index whose build broke off is there, but not valid: it costs each write and serves no query. */
const dropInvalidIndex = (connectionString: string, { text }: Migration): Promise<void> =>
  connected(connectionString, async (client) => {
    const [, index = "", schema = ""] = INDEX.exec(text) ?? [];
    const { rows } = await client.query<{ name: string }>(
      "select i.indexrelid::regclass::text as name from pg_index i where i.indexrelid = to_regclass($1) and not i.indisvalid",
      [`${schema}.${index}`],
    );
    for (const { name } of rows) await client.query(`drop index concurrently ${name}`);
  });

const runOne = async (connectionString: string, folder: string, migration: Migration): Promise<void> => {
  const isPatient = WITHOUT_TRANSACTION.test(migration.text);
  // A migration without a transaction has no statement that enters the role, so the session does.
  const session = ["role=souk_owner", `lock_timeout=${isPatient ? PATIENT_LOCK_TIMEOUT : LOCK_TIMEOUT}`].reduce(
    withSetting,
    connectionString,
  );
  for (let tries = 1; ; tries++) {
    if (isPatient) await dropInvalidIndex(session, migration);
    try {
      return await runCommitted({
        connectionString: session,
        migrationsFolder: folder,
        // db/schema/migrations.sql makes its tables.
        manageGraphileMigrateSchema: false,
        logger: new Logger(() => () => undefined),
      });
    } catch (error) {
      if (!(error instanceof pg.DatabaseError && error.code === NO_LOCK) || tries === MAX_TRIES) throw error;
      await sleep(PAUSE_MS);
    }
  }
};

/**
 * Runs the migrations that the database does not have yet, each in a session with the settings of its kind. What has
 * been done stays done if a later one fails.
 * @param connectionString a login that may become souk_owner
 * @param applied the names of those that it has
 */
export const runMigrations = async (
  connectionString: string,
  folder: string,
  migrations: readonly Migration[],
  applied: readonly string[],
): Promise<void> => {
  // graphile-migrate runs all files that it sees, so it sees one more each time.
  const seen = await mkdtemp(join(tmpdir(), "souk-migrations-"));
  try {
    await mkdir(join(seen, "committed"));
    for (const migration of migrations) {
      await cp(join(folder, "committed", migration.name), join(seen, "committed", migration.name));
      if (!applied.includes(migration.name)) await runOne(connectionString, seen, migration);
    }
  } finally {
    await rm(seen, { recursive: true });
  }
};
