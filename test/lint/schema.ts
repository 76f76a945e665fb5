import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Logger, runMigrations } from "graphile-worker";
import pg from "pg";
import { DB, INCLUDE } from "../support/sql_files.ts";

/**
 * Creates the schema in an empty database: the files of db/schema in their order, and graphile-worker's schema. The
 * shipped rows are left out: loading them takes longest, and no function's definition depends on them.
 * @param client a superuser's connection to the database at `url`
 */
export async function declareSchema(client: pg.Client, url: string): Promise<void> {
  const index = await readFile(join(DB, "schema/index.sql"), "utf8");
  const names = [...index.matchAll(INCLUDE)].map(([, name]) => name ?? "");
  const texts = new Map<string, string>();
  for (const name of names) texts.set(name, await readFile(join(DB, "schema", name), "utf8"));
  const sql = index.replaceAll(INCLUDE, (_, name: string) =>
    name.endsWith("_data.sql") ? "" : (texts.get(name) ?? ""),
  );
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
