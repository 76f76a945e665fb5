import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The files of db as SQL that PostgreSQL can run: graphile-migrate's include lines are replaced by the files they name.
 */

/** The folder db. */
export const DB = fileURLToPath(new URL("../../db", import.meta.url));
/** An include line of graphile-migrate, with the included file. */
export const INCLUDE = /^--!include (\S+)$/gm;

const flatten = async (text: string): Promise<string> => {
  const parts = await Promise.all([...text.matchAll(INCLUDE)].map(([, included]) => schemaFile(included ?? "")));
  return text.replaceAll(INCLUDE, () => parts.shift() ?? "");
};

/** Returns a file of db/schema with all its includes. */
export const schemaFile = async (file: string): Promise<string> =>
  flatten(await readFile(join(DB, "schema", file), "utf8"));

/** Returns the migration in progress with all its includes. It has only comments if everything is committed. */
export const currentMigration = async (): Promise<string> =>
  flatten(await readFile(join(DB, "migrations", "current.sql"), "utf8"));

/** Whether a migration contains nothing to run. */
export const isEmptyMigration = (sql: string): boolean =>
  sql
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll(/--.*$/gm, "")
    .trim() === "";
