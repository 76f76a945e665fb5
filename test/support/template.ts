import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { migrate } from "../../src/database/migrate.ts";
import { urlOf, withClient } from "./client.ts";
import { currentMigration, isEmptyMigration } from "./sql_files.ts";

/**
 * The template that test databases are copied from. database.ts imports this file only when there is no template yet:
 * migrating loads a hundred files, which each of eighty test files would wait for.
 */

/** Any number, as long as nobody else on a shared server locks it: "souk" in ASCII. */
const TEMPLATE_LOCK = 0x736f756b;

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** What a template is made from: the SQL and the rows, the code that loads them, and graphile-worker, which brings a schema. */
const SOURCES = ["db", "src/database", "node_modules/graphile-worker/sql"];

/**
 * Makes the template on a server unless it is there, and gives its name, which says what it was made from. Processes that
 * start together wait for the first of them.
 */
export async function readyTemplate(server: string): Promise<string> {
  const name = `souk_template_${await fingerprint()}`;
  const url = urlOf(server, name);
  await withClient(server, async (client) => {
    // Held until the connection ends.
    await client.query("select pg_advisory_lock($1)", [TEMPLATE_LOCK]);
    const { rows } = await client.query<{ ready: boolean }>(
      "select datistemplate as ready from pg_database where datname = $1",
      [name],
    );
    if (rows[0]?.ready) return;
    // What is there and not marked as a template was left by a migration that failed or was killed.
    await client.query(`drop database if exists ${name} with (force)`);
    await client.query(`create database ${name} template template0`);
    await migrate(url);
    // The change in progress is tested before it is committed.
    const current = await currentMigration();
    if (!isEmptyMigration(current)) await withClient(url, (db) => db.query(`begin;\n${current}\n;commit`));
    // Nobody may connect: CREATE DATABASE refuses to copy a database that is in use.
    await client.query(`alter database ${name} is_template true allow_connections false`);
  });
  return name;
}

async function fingerprint(): Promise<string> {
  const hash = createHash("sha256");
  const files: string[] = [];
  for (const source of SOURCES) {
    for (const entry of await readdir(join(ROOT, source), { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) files.push(join(entry.parentPath, entry.name).slice(ROOT.length));
    }
  }
  for (const file of files.sort()) hash.update(`${file}\0`).update(await readFile(join(ROOT, file)));
  return hash.digest("hex").slice(0, 16);
}
