import { readFile, writeFile } from "node:fs/promises";
import test from "ava";
import { isObjectType } from "postgraphile/graphql";
import { createDatabase } from "../support/database.ts";
import { adminSchema } from "./admin_schema.ts";

/**
 * Compares the fields that moderators' GraphQL offers with a list, so that a reviewer sees it change. To accept a change,
 * run `UPDATE=fields npm test -- test/admin/schema.test.ts` and read the diff.
 */

const LIST = new URL("graphql_fields.txt", import.meta.url);

/** Types that PostGraphile makes for every view or function in the same way. */
const GENERATED = /(Connection|Edge|Payload)$|^(PageInfo|Subscription|__)/;

test("GraphQL offers moderators the fields of graphql_fields.txt", async (t) => {
  const schema = await adminSchema(t, (await createDatabase(t)).url);
  const fields = Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type))
    .filter(({ name }) => !GENERATED.test(name))
    .flatMap((type) => Object.values(type.getFields()).map((field) => `${type.name}.${field.name}: ${field.type}`))
    .sort();
  if (process.env["UPDATE"] === "fields") await writeFile(LIST, `${fields.join("\n")}\n`);
  t.deepEqual(fields, (await readFile(LIST, "utf8")).trimEnd().split("\n"));
});
