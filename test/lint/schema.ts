import { Logger, runMigrations } from "graphile-worker";
import pg from "pg";
import { readSchema } from "../../src/install/schema_files.ts";

/**
 * Creates the schema in an empty database: the files of db/schema in their order, and graphile-worker's schema. The
 * shipped rows are left out: loading them takes longest, and no function's definition depends on them.
 * @param client a superuser's connection to the database at `url`
 */
export async function declareSchema(client: pg.Client, url: string): Promise<void> {
  const { sql } = await readSchema();
  await client.query(`begin;\n${sql}\n;commit`);
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  pool.on("error", () => undefined);
  pool.on("connect", (connection) => connection.on("error", () => undefined));
  try {
    const { rows } = await pool.query<{ name: string }>("select quote_ident(current_database()) as name");
    await pool.query(`grant create on database ${rows[0]?.name} to souk_queue; set role souk_queue`);
    await runMigrations({ pgPool: pool, logger: new Logger(() => () => undefined) });
    await pool.query("reset role");
  } finally {
    await pool.end();
  }
}
