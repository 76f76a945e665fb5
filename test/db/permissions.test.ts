import { readFile, writeFile } from "node:fs/promises";
import test from "ava";
import { client } from "./operator.ts";
import { MATRIX, SUMMARY } from "./rights.ts";

/**
 * Who may do what: compares the grants and policies in the catalogue with a file, so that a review sees every change.
 *
 * To accept a change of the catalogue, run `UPDATE=permissions npm test -- test/db/permissions.test.ts` and read the
 * diff.
 */

const GOLDEN = new URL("permissions.txt", import.meta.url);
const README = new URL("../../db/README.md", import.meta.url);

test.serial("permissions.txt lists all grants and policies", async (t) => {
  const [{ matrix }] = (await client.query<{ matrix: string }>(MATRIX)).rows as [{ matrix: string }];
  if (process.env["UPDATE"] === "permissions") await writeFile(GOLDEN, matrix);
  t.deepEqual(matrix.split("\n"), (await readFile(GOLDEN, "utf8")).split("\n"));
});

test.serial("the table of rights in db/README.md is correct", async (t) => {
  const [{ table }] = (await client.query<{ table: string }>(SUMMARY)).rows as [{ table: string }];
  const readme = await readFile(README, "utf8");
  const [, before = "", , after = ""] =
    /^([\s\S]*<!-- rights -->\n)([\s\S]*?)(<!-- \/rights -->[\s\S]*)$/.exec(readme) ?? [];
  t.not(after, "", "db/README.md has both markers of the table");
  const current = `${before}\n${table}\n\n${after}`;
  if (process.env["UPDATE"] === "permissions") await writeFile(README, current);
  t.deepEqual((await readFile(README, "utf8")).split("\n"), current.split("\n"));
});
