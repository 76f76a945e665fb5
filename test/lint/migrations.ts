import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify, stripVTControlCharacters } from "node:util";
import { currentMigration, DB, isEmptyMigration } from "../support/sql_files.ts";

/**
 * Checks migrations with squawk (.squawk.toml), which finds statements that lock a table for long or lose data.
 * The baseline is not checked, because it runs on an empty database. If a statement is safe although squawk reports it,
 * write `-- squawk-ignore <rule>` above it, with the reason.
 */

/** squawk reads plain SQL, so graphile-migrate's placeholders (":DATABASE_NAME") are replaced by values in copies. */
const PLACEHOLDER = /(?<!:):[A-Z][A-Z0-9_]*\b/g;

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const RENDERED = join(ROOT, "node_modules/.cache/souk/migrations");

const [, ...committed] = (await readdir(join(DB, "migrations/committed")))
  .filter((name) => name.endsWith(".sql"))
  .sort();
const migrations = await Promise.all(
  committed.map(async (name) => ({ name, sql: await readFile(join(DB, "migrations/committed", name), "utf8") })),
);
const current = await currentMigration();
if (!isEmptyMigration(current)) migrations.push({ name: "current.sql", sql: current });

await rm(RENDERED, { recursive: true, force: true });
await mkdir(RENDERED, { recursive: true });
for (const { name, sql } of migrations) {
  await writeFile(
    join(RENDERED, name),
    sql.replaceAll(PLACEHOLDER, (placeholder) => placeholder.slice(1).toLowerCase()),
  );
}
if (migrations.length > 0) {
  const squawk = promisify(execFile)(
    join(ROOT, "node_modules/.bin/squawk"),
    ["--config", join(ROOT, ".squawk.toml"), ...migrations.map(({ name }) => name)],
    { cwd: RENDERED },
  );
  const { stdout } = await squawk.catch((error: { stdout?: string }) => {
    process.exitCode = 1;
    return { stdout: error.stdout ?? String(error) };
  });
  if (process.exitCode === 1) process.stdout.write(stripVTControlCharacters(stdout));
}
