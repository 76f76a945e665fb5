import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { urlOf, withClient } from "./client.ts";

/** Makes the template from which test databases are copied. */

/** The key of an advisory lock: "souk" in ASCII, which no other user of a shared server is likely to use. */
const TEMPLATE_LOCK = 0x736f756b;

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The sources of a template: SQL and data, the code that loads them, and graphile-worker, which creates a schema. */
const SOURCES = ["db", "src/install", "node_modules/graphile-worker/sql"];

/**
 * Makes the template on a server if it is missing. Processes that start together wait for the first of them.
 * @returns the template's name, which contains a hash of its sources
 */
export async function readyTemplate(server: string): Promise<string> {
  const name = `souk_template_${await fingerprint()}`;
  const url = urlOf(server, name);
  await withClient(server, async (client) => {
    // The lock is held until the connection ends.
    await client.query("select pg_advisory_lock($1)", [TEMPLATE_LOCK]);
    const { rows } = await client.query<{ ready: boolean }>(
      "select datistemplate as ready from pg_database where datname = $1",
      [name],
    );
    if (rows[0]?.ready) return;
    // A database of this name that is not a template was left by a migration that failed or was killed.
    await client.query(`drop database if exists ${name} with (force)`);
    await client.query(`create database ${name} template template0`);
    // Loads a hundred modules, which most test files would not use.
    const { migrate } = await import("../../src/install/migrate.ts");
    await migrate(url);
    // No connections are allowed, because CREATE DATABASE cannot copy a database that is in use.
    await client.query(`alter database ${name} is_template true allow_connections false`);
  });
  return name;
}

/** Returns a hash of the sources of a template. */
export async function fingerprint(): Promise<string> {
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
