import { randomBytes } from "node:crypto";
import type pg from "pg";
import { applyStructure } from "../../src/install/structure.ts";
import { urlOf, withClient } from "../support/client.ts";
import { findServer } from "../support/postgres.ts";
import { preparedData } from "../support/prepared.ts";
import { plpgsqlFindings } from "./plpgsql.ts";
import { unusedColumns, unusedFunctions } from "./unused_sql.ts";

/**
 * Checks the functions of the database with plpgsql_check, and lists functions that nothing calls and columns that
 * nothing uses. It needs a PostgreSQL server, as the tests do, and builds an empty database from db/schema.
 */

const run = `lint_${randomBytes(4).toString("hex")}`;
const server = await findServer(run, preparedData);
try {
  const problems = await withDatabase(server.url, async (client, url) => {
    // The shipped rows are left out: loading them takes longest, and no function's definition depends on them.
    await applyStructure(client, url);
    const { rowCount } = await client.query("select from pg_available_extensions where name = 'plpgsql_check'");
    const missing = "This PostgreSQL has no plpgsql_check, so the functions were not checked. CI checks them.";
    if (rowCount === 0) say(missing);
    const found = rowCount === 0 ? [] : await plpgsqlFindings(client);
    // In CI, a check that is skipped counts as a failure.
    return [
      ...(rowCount === 0 && process.env["CI"] ? [missing] : found),
      ...(await unusedFunctions(client)),
      ...(await unusedColumns(client)),
    ];
  });
  for (const problem of problems) say(problem);
  if (problems.length > 0) process.exitCode = 1;
} finally {
  await server.release();
}

async function withDatabase<T>(url: string, fn: (client: pg.Client, url: string) => Promise<T>): Promise<T> {
  const name = `souk_test_${run}_schema`;
  await withClient(url, (client) => client.query(`create database ${name} template template0`));
  return withClient(urlOf(url, name), (client) => fn(client, urlOf(url, name)));
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
