import { readFile, writeFile } from "node:fs/promises";
import test from "ava";
import { lexicographicSortSchema, printSchema } from "postgraphile/graphql";
import { openAdminSchema } from "../../src/admin/graphql.ts";
import { openPool } from "../../src/database/database.ts";
import { createDatabase } from "../support/database.ts";

/**
 * Compares the moderators' GraphQL schema with a file, so that a reviewer sees it change. To accept a change, run
 * `UPDATE=schema npm test -- test/admin/schema.test.ts` and read the diff.
 */

const PRINTED = new URL("../../src/admin/schema.graphql", import.meta.url);

test("the GraphQL schema equals schema.graphql", async (t) => {
  const database = await createDatabase(t);
  const pool = openPool(
    { url: database.url, poolSize: 2, role: "souk_api", embedded: false, onError: () => {} },
    database.url,
  );
  t.teardown(() => pool.end());
  const { schema } = await openAdminSchema(
    pool,
    (_lane, work) => work(),
    () => {},
  );
  const printed = `${printSchema(lexicographicSortSchema(schema))}\n`;
  if (process.env["UPDATE"] === "schema") await writeFile(PRINTED, printed);
  t.deepEqual(printed.split("\n"), (await readFile(PRINTED, "utf8")).split("\n"));
});
