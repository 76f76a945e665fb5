import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The files of db/schema, from which a new database is made.
 *
 *   structure  roles, tables, types, policies, indexes, triggers: made once; from release 1.0.0 on, migrations change it
 *   code       functions, views, grants and comments: loaded again whenever a file changes (load_code.ts)
 */

/** The folder db/schema. */
export const SCHEMA = fileURLToPath(new URL("../../db/schema", import.meta.url));

/** The line in a file that separates structure, above, from code. */
const RELOADED = /^-- Reloaded: .*$/m;

/** Files that contain only structure. Those that match neither this nor RELOADED contain only code. */
const STRUCTURE = /^(roles|logins|migrations|market\/(triggers|audit_triggers|origin_triggers|row_security))\.sql$/;

/** Files that need a login that may create roles. The others run as souk_owner. */
const ADMINISTRATION = /^(roles|logins)\.sql$/;

/** A line of index.sql that names a file. */
const INCLUDE = /^--!include (\S+)$/gm;

/** A file of the schema, and its two parts, each of which may be empty. */
export type SchemaFile = { name: string; structure: string; code: string };

/**
 * A schema folder.
 * @property files in the order of index.sql
 * @property administration SQL that needs a login that may create roles
 * @property sql the rest: index.sql with each include replaced by its file
 */
export type Schema = { files: SchemaFile[]; administration: string; sql: string };

const split = (name: string, text: string): SchemaFile => {
  const at = STRUCTURE.test(name) ? text.length : (RELOADED.exec(text)?.index ?? 0);
  return { name, structure: text.slice(0, at), code: text.slice(at) };
};

/** Reads a schema folder. @throws if index.sql names a file that does not exist */
export const readSchema = async (folder = SCHEMA): Promise<Schema> => {
  const index = await readFile(join(folder, "index.sql"), "utf8");
  const names = [...index.matchAll(INCLUDE)].map(([, name]) => name ?? "");
  const files = await Promise.all(names.map(async (name) => split(name, await readFile(join(folder, name), "utf8"))));
  const isRest = ({ name }: SchemaFile) => !ADMINISTRATION.test(name);
  const texts = new Map(files.filter(isRest).map(({ name, structure, code }) => [name, structure + code]));
  return {
    files,
    administration: files.flatMap((file) => (isRest(file) ? [] : [file.structure])).join("\n"),
    sql: index.replaceAll(INCLUDE, (_, name: string) => texts.get(name) ?? ""),
  };
};

const hashOf = (texts: readonly string[]): string => createHash("sha256").update(texts.join("\n")).digest("hex");

/** A hash of the code of a schema. */
export const codeHash = ({ files }: Schema): string => hashOf(files.map(({ name, code }) => `${name}\n${code}`));

/** A hash of the structure of a schema. Comments, line breaks and the order of the files do not change it. */
export const structureHash = ({ files }: Schema): string =>
  hashOf(files.map(({ structure }) => structure.replaceAll(/--.*$/gm, "").replaceAll(/\s+/g, " ").trim()).sort());
