import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The files of db/schema, from which a new database is made.
 *
 *   structure  roles, tables, types, policies, indexes, triggers, `do`: made once; from release 1.0.0 on, migrations change it
 *   code       functions, views, grants and comments: loaded again whenever a file changes (load_code.ts)
 */

/** The folder db/schema. */
export const SCHEMA = fileURLToPath(new URL("../../db/schema", import.meta.url));

/** Files that need a login that may create roles. They are structure only. The others run as souk_owner. */
const ADMINISTRATION = /^(roles|logins)\.sql$/;

/** The first statement of a file that is code. What stands above it is structure. */
const CODE = /^(comment on|grant|create or replace|select) /m;

/** A line of index.sql that names a file, or a folder: the files below it that no line names, in alphabetical order. */
const INCLUDE = /^--!include (\S+)$/gm;

/** A file of the schema, and its two parts, each of which may be empty. */
export type SchemaFile = { name: string; structure: string; code: string };

/**
 * A schema folder.
 * @property files in the order of index.sql
 * @property administration SQL that needs a login that may create roles
 * @property sql the rest: index.sql with each include replaced by its files
 */
export type Schema = { files: SchemaFile[]; administration: string; sql: string };

const split = (name: string, text: string): SchemaFile => {
  const at = ADMINISTRATION.test(name) ? -1 : text.search(CODE);
  return { name, structure: at < 0 ? text : text.slice(0, at), code: at < 0 ? "" : text.slice(at) };
};

/** Reads a schema folder. @throws if index.sql names a file or folder that does not exist */
export const readSchema = async (folder = SCHEMA): Promise<Schema> => {
  const index = await readFile(join(folder, "index.sql"), "utf8");
  const named = new Set([...index.matchAll(INCLUDE)].map(([, name = ""]) => name));
  const filesOf = async (name: string): Promise<SchemaFile[]> => {
    const names = name.endsWith(".sql")
      ? [name]
      : (await readdir(join(folder, name), { recursive: true }))
          .map((path) => `${name}/${path}`)
          .filter((path) => path.endsWith(".sql") && !named.has(path))
          .toSorted();
    return Promise.all(names.map(async (path) => split(path, await readFile(join(folder, path), "utf8"))));
  };
  const included = new Map(await Promise.all([...named].map(async (name) => [name, await filesOf(name)] as const)));
  const files = [...included.values()].flat();
  return {
    files,
    administration: files.map(({ name, structure }) => (ADMINISTRATION.test(name) ? structure : "")).join("\n"),
    sql: index.replaceAll(INCLUDE, (_, name: string) =>
      (ADMINISTRATION.test(name) ? [] : (included.get(name) ?? []))
        .map(({ structure, code }) => structure + code)
        .join("\n"),
    ),
  };
};

const hashOf = (texts: readonly string[]): string => createHash("sha256").update(texts.join("\n")).digest("hex");

/** A hash of the code of a schema. */
export const codeHash = ({ files }: Schema): string => hashOf(files.map(({ name, code }) => `${name}\n${code}`));

/** A hash of the structure of a schema. Comments, line breaks, the order of the files and code do not change it. */
export const structureHash = ({ files }: Schema): string => {
  const parts = files.map(({ structure }) => structure.replaceAll(/--.*$/gm, "").replaceAll(/\s+/g, " ").trim());
  return hashOf(parts.filter((part) => part !== "").sort());
};
