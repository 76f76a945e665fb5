import { Logger, runMigrations } from "graphile-worker";
import pg from "pg";

/**
 * Makes graphile-worker's schema, or brings it up to date. The worker owns nothing of it, so it cannot do this itself at
 * its start (db/schema/queue.sql).
 * @param connectionString a login that may become souk_owner
 * @throws if the schema cannot be changed
 */
export const migrateQueue = async (connectionString: string): Promise<void> => {
  const pool = new pg.Pool({ connectionString, max: 1 });
  // A lost connection makes the running query fail. Without these listeners, it would also end the process.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  try {
    await pool.query("set role souk_owner");
    await runMigrations({ pgPool: pool, logger: new Logger(() => () => undefined) });
  } finally {
    // In the embedded database, all connections are one session.
    await pool.query("reset role").catch(() => undefined);
    await pool.end();
  }
};
