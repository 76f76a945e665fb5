import { readdir, readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Checks that no import in src runs upwards: a folder may import those before it in this list, and itself. Files that
 * stand in src itself, and the worker, put the folders together and may import all of them.
 */
const ROOMS = [
  "base",
  "database",
  "install",
  "reader",
  "webhooks",
  "mail",
  "sign_in",
  "metrics",
  "web",
  "api",
  "docs",
  "pages",
  "assistants",
  "admin",
  "client",
];

const SRC = fileURLToPath(new URL("../../src", import.meta.url));
const IMPORT = /(?:from|import\()\s*"(\.[^"]+)"/g;

/** The folder of src in which a file is; "" for a file in src itself. */
const roomOf = (path: string): string => (path.includes("/") ? (path.split("/")[0] ?? "") : "");

for (const entry of await readdir(SRC, { recursive: true, withFileTypes: true })) {
  const path = relative(SRC, join(entry.parentPath, entry.name));
  const room = roomOf(path);
  if (!entry.isFile() || !path.endsWith(".ts") || room === "") continue;
  const place = ROOMS.indexOf(room);
  if (place < 0) problem(path, `its folder is not in the list of test/lint/rooms.ts`);
  for (const [, target = ""] of (await readFile(join(SRC, path), "utf8")).matchAll(IMPORT)) {
    const imported = relative(SRC, join(SRC, dirname(path), target));
    const isAbove = ROOMS.indexOf(roomOf(imported)) > place || (roomOf(imported) === "" && !imported.startsWith(".."));
    if (isAbove) problem(path, `imports ${imported}, which is above it`);
  }
}

function problem(path: string, what: string): void {
  process.stdout.write(`src/${path}: ${what}.\n`);
  process.exitCode = 1;
}
