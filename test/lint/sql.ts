import { readdir, readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { readMigrations } from "../../src/install/migrations.ts";
import { migrationProblems } from "./migrations.ts";
import { formatSql } from "./sql_format.ts";
import { styleProblems } from "./sql_style.ts";

/**
 * Checks the layout of the SQL that people write in db/schema, that a folder holds objects of its own schema only, and that
 * no migration closes the market. With `--write` (`npm run format`) the files are laid out first.
 */

/** The statement that makes an object, up to the name of its schema. */
const MADE =
  /^create (?:or replace )?(?:unlogged )?(?:function|procedure|aggregate|table|view|type|domain|sequence) (\w+)\./gm;

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const isWriting = process.argv.includes("--write");
const problems: string[] = [];
for (const path of await sqlFiles()) {
  const text = await readFile(path, "utf8");
  const formatted = formatSql(text);
  const name = relative(ROOT, path);
  if (formatted !== text && isWriting) await writeFile(path, formatted);
  if (formatted !== text && !isWriting)
    problems.push(`${name}:${firstDifference(text, formatted)}: run \`npm run format\`.`);
  problems.push(...styleProblems(formatted).map((problem) => `${name}:${problem}`));
  const [, folder = ""] = /^db\/schema\/(\w+)\//.exec(name) ?? [];
  const foreign = [...formatted.matchAll(MADE)].flatMap(([, schema = ""]) => (schema === folder ? [] : [schema]));
  if (folder !== "" && foreign.length > 0)
    problems.push(`${name}: makes objects of the schema ${foreign[0]}. Move them to its folder.`);
}
for (const { name, text } of await readMigrations(join(ROOT, "db/migrations")))
  problems.push(...migrationProblems(text).map((problem) => `db/migrations/committed/${name}: ${problem}`));
for (const problem of problems) process.stdout.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;

async function sqlFiles(): Promise<string[]> {
  const entries = await readdir(join(ROOT, "db/schema"), { recursive: true, withFileTypes: true });
  const files = entries.filter(({ name }) => name.endsWith(".sql"));
  return files.map((entry) => join(entry.parentPath, entry.name)).sort();
}

/** The number, from 1, of the first line in which two texts differ. */
function firstDifference(text: string, other: string): number {
  const lines = other.split("\n");
  const index = text.split("\n").findIndex((line, at) => line !== lines[at]);
  return index < 0 ? lines.length : index + 1;
}
