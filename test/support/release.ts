import { createHash } from "node:crypto";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SCHEMA } from "../../src/install/schema_files.ts";

/** The folders of a release: its schema, and the migrations that lead to it. */
export type Release = { schema: string; migrations: string };

/**
 * Writes a release into a folder: db/schema with a change, and its migrations as graphile-migrate commits them.
 * @param structure the change as a new database has it
 * @param bodies the change as migrations, in their order
 */
export const writeRelease = async (
  folder: string,
  { structure, bodies }: { structure: string; bodies: readonly string[] },
): Promise<Release> => {
  const [schema, migrations] = [join(folder, "schema"), join(folder, "migrations")];
  await cp(SCHEMA, schema, { recursive: true });
  await writeFile(join(schema, "market/triggers.sql"), structure, { flag: "a" });
  await mkdir(join(migrations, "committed"), { recursive: true });
  let previous = "-";
  for (const [n, body] of bodies.entries()) {
    const hashed = `${previous === "-" ? "" : `${previous}\n`}${body}`;
    const hash = `sha1:${createHash("sha1").update(hashed).digest("hex")}`;
    const file = `--! Previous: ${previous}\n--! Hash: ${hash}\n\n${body}`;
    await writeFile(join(migrations, `committed/00000${n + 1}.sql`), file);
    previous = hash;
  }
  return { schema, migrations };
};
