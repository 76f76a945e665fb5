import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { connected, withSetting } from "./connection.ts";
import { loadCode } from "./load_code.ts";
import { loadData } from "./load_data.ts";
import { migrateQueue } from "./queue.ts";
import { applyStructure } from "./structure.ts";

/** The key of the advisory lock that makes processes migrate one after another: the bytes of "soukmigr". */
const MIGRATION_LOCK = "8317996141034170226";

/** A migration that cannot get a lock gives up after this time, because all later requests queue behind it. */
const LOCK_TIMEOUT = "5s";

/** The wait for another process that migrates. A first migration on a busy machine takes this long. */
const TURN_MS = 60_000;

/** The interval of tries to get the advisory lock. A migration takes seconds. */
const TURN_POLL_MS = 200;

/** Waits for the advisory lock. @throws if another process does not finish in time, or if this one has to stop */
const untilTurn = async (turn: pg.Client, stopping?: AbortSignal): Promise<void> => {
  const end = performance.now() + TURN_MS;
  for (;;) {
    const { rows } = await turn.query<{ mine: boolean }>("select pg_try_advisory_lock($1) as mine", [MIGRATION_LOCK]);
    if (rows[0]?.mine) return;
    if (performance.now() > end) throw new Error("Another process has been migrating this database for a minute.");
    await sleep(TURN_POLL_MS, undefined, { signal: stopping });
  }
};

/** The SQLSTATE (read_only_sql_transaction) of a change in a read-only session. */
const READ_ONLY = "25006";

const isReadOnly = (error: unknown): boolean =>
  error instanceof Error && (("code" in error && error.code === READ_ONLY) || isReadOnly(error.cause));

/**
 * Why a superuser does not change an existing database: another role's trigger, for example, would run with the rights
 * of the session's login. Setting a role does not help, because a trigger can reset it.
 */
const refusal = (login: string): Error =>
  new Error(
    `This database exists already, and ${login} is a superuser: another role's trigger, for example, would run with a ` +
      "superuser's rights. Run `npm run migrate` as souk_migrator, which has a password after `alter role souk_migrator " +
      "password '...'`.",
  );

/** The name of the session's login if it is a superuser and the database exists already; else null. */
const superuserOfMarket = async (session: pg.Client): Promise<string | null> => {
  const { rows } = await session.query<{ login: string }>(
    `select session_user::text as login from pg_roles
     where rolname = session_user and rolsuper and to_regnamespace('market') is not null`,
  );
  return rows[0]?.login ?? null;
};

/**
 * Makes a database, or brings it up to date: the structure, the code, graphile-worker's own schema, and the shipped
 * rows. Several processes may call it at once.
 * @param url a login that may become souk_owner (souk_migrator); for a new database also one that owns it and may create
 *   roles, and the extension vector if it does not exist yet
 * @param options.embedded the embedded database: only its own process uses it, so its superuser's login may migrate it
 * @param options.refuseSuperuser a superuser's login is refused if the database exists; otherwise only if something
 * would change
 * @param options.stopping ends the wait for another process that migrates
 * @throws if a step fails or cannot get a lock in time, if another state of the sources made the database, or if a
 *   superuser's login would change a database that exists; the step has then changed nothing
 */
export const migrate = async (
  url: string,
  {
    embedded = false,
    refuseSuperuser = false,
    stopping,
  }: { embedded?: boolean; refuseSuperuser?: boolean; stopping?: AbortSignal } = {},
): Promise<void> => {
  // An embedded database has one process and one session.
  if (embedded) return apply(url);
  const connectionString = withSetting(url, `lock_timeout=${LOCK_TIMEOUT}`);
  const turn = new pg.Client({ connectionString });
  turn.on("error", () => undefined);
  await turn.connect();
  try {
    // graphile-migrate has a lock of its own, but fails at once instead of waiting for it.
    await untilTurn(turn, stopping);
    const superuser = await superuserOfMarket(turn);
    if (superuser === null) return await apply(connectionString);
    if (refuseSuperuser) throw refusal(superuser);
    await apply(withSetting(connectionString, "default_transaction_read_only=on")).catch((error: unknown) => {
      throw isReadOnly(error) ? refusal(superuser) : error;
    });
  } finally {
    await turn.end();
  }
};

const apply = async (connectionString: string): Promise<void> => {
  await connected(connectionString, (client) => applyStructure(client, connectionString));
  // Before the code, which grants rights on the queue, and before the rows, because a change of synonyms enqueues a job.
  await migrateQueue(connectionString);
  const dropped = (await connected(connectionString, loadCode)) ?? [];
  if (dropped.length > 0)
    process.stdout.write(`No file of db/schema makes these any more, so they were dropped: ${dropped.join(", ")}\n`);
  for (const { table, kept } of await connected(connectionString, (client) => loadData(client)))
    if (kept.length > 0)
      process.stdout.write(
        `These rows of ${table} no longer ship, and stay because others refer to them: ${kept.join(", ")}\n`,
      );
};
