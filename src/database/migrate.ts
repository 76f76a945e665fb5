import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Logger, migrate as runCommitted } from "graphile-migrate";
import { runMigrations, Logger as WorkerLogger } from "graphile-worker";
import pg from "pg";
import { loadCode } from "./load_code.ts";
import { loadData } from "./load_data.ts";

const MIGRATIONS = fileURLToPath(new URL("../../db/migrations", import.meta.url));

/** Any number that nobody else locks, so that processes which start together migrate one after another: "soukmigr". */
const MIGRATION_LOCK = "8317996141034170226";

/** A migration that cannot have its lock gives up, rather than queueing every request behind it. */
const LOCK_TIMEOUT = "5s";

/** Waiting for one's turn keeps nobody waiting: as long as a first migration takes on a machine that is busy. */
const TURN_MS = 60_000;

/** A migration takes seconds. */
const TURN_POLL_MS = 200;

/** @throws when another process does not finish in time, or this one is to stop */
const untilTurn = async (turn: pg.Client, stopping?: AbortSignal): Promise<void> => {
  const end = performance.now() + TURN_MS;
  for (;;) {
    const { rows } = await turn.query<{ mine: boolean }>("select pg_try_advisory_lock($1) as mine", [MIGRATION_LOCK]);
    if (rows[0]?.mine) return;
    if (performance.now() > end) throw new Error("Another process has been migrating this database for a minute.");
    await sleep(TURN_POLL_MS, undefined, { signal: stopping });
  }
};

const withLockTimeout = (url: string): string => {
  const parsed = new URL(url);
  const given = parsed.searchParams.get("options");
  parsed.searchParams.set("options", `${given ? `${given} ` : ""}-c lock_timeout=${LOCK_TIMEOUT}`);
  return parsed.href;
};

/**
 * Brings a database up to date: the committed migrations, the code, graphile-worker's own schema, and the rows that ship. Runs nothing when there is
 * nothing to do, and may run in several processes at once.
 * @param url a login that may create roles and schemas, and the extension vector if it is not there yet.
 * @param stopping ends waiting for another process that migrates.
 * @throws when a migration failed or could not get its lock in time; nothing of it is then applied.
 */
export const migrate = async (url: string, embedded = false, stopping?: AbortSignal): Promise<void> => {
  // An embedded database has one process and one session.
  if (embedded) return apply(url);
  const connectionString = withLockTimeout(url);
  const turn = new pg.Client({ connectionString });
  turn.on("error", () => undefined);
  await turn.connect();
  try {
    // graphile-migrate does not wait for its own lock, but gives up.
    await untilTurn(turn, stopping);
    await apply(connectionString);
  } finally {
    await turn.end();
  }
};

/** Gives a step a connection of its own. */
const connected = async <T>(connectionString: string, step: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ connectionString });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return await step(client);
  } finally {
    await client.end();
  }
};

const apply = async (connectionString: string): Promise<void> => {
  await runCommitted({
    connectionString,
    migrationsFolder: MIGRATIONS,
    logger: new Logger(() => () => undefined),
  });
  const dropped = (await connected(connectionString, loadCode)) ?? [];
  if (dropped.length > 0)
    process.stdout.write(`No file of db/schema makes these any more, so they were dropped: ${dropped.join(", ")}\n`);
  const pool = new pg.Pool({ connectionString, max: 1 });
  // The query in flight reports what befell its connection; without listeners the process would end of it as well.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  try {
    const { rows } = await pool.query<{ installed: boolean; database: string }>(
      `select exists (select from pg_namespace where nspname = 'graphile_worker') as installed,
         quote_ident(current_database()) as database`,
    );
    const { installed, database } = rows[0] ?? { installed: false, database: "" };
    // souk_queue owns the queue, so that the worker works it without owning the market.
    if (!installed) await pool.query(`grant create on database ${database} to souk_queue`);
    try {
      await pool.query("set role souk_queue");
      await runMigrations({ pgPool: pool, logger: new WorkerLogger(() => () => undefined) });
    } finally {
      await pool.query("reset role");
      if (!installed) await pool.query(`revoke create on database ${database} from souk_queue`);
    }
  } finally {
    await pool.end();
  }
  // After the queue is there, since a change of synonyms has offers filed again by a job.
  for (const { table, kept } of await connected(connectionString, (client) => loadData(client)))
    if (kept.length > 0)
      process.stdout.write(
        `These rows of ${table} no longer ship, and stay because others refer to them: ${kept.join(", ")}\n`,
      );
};
