import test from "ava";
import type pg from "pg";
import { withClient } from "../support/client.ts";
import { createDatabase, rolledBack } from "../support/database.ts";
import { plpgsqlFindings } from "./plpgsql.ts";
import { unusedColumns, unusedFunctions } from "./unused_sql.ts";

/** Adds `sql` to the schema and returns what `check` finds. */
const findingsAfter = async (
  t: Parameters<typeof createDatabase>[0],
  sql: string,
  check: (client: pg.ClientBase) => Promise<string[]>,
): Promise<string[]> => {
  const { url } = await createDatabase(t);
  return withClient(url, (client) =>
    rolledBack(client, async () => {
      await client.query(`set local role souk_owner; ${sql}; reset role`);
      return check(client);
    }),
  );
};

const FUNCTION = "language plpgsql volatile as $$";

test("a function that nothing calls is found, and so is a function that only an unused function calls", async (t) => {
  const sql = `
    create function internal.nobody_calls() returns void ${FUNCTION} begin perform internal.called_by_it(); end $$;
    create function internal.called_by_it() returns void ${FUNCTION} begin -- internal.nobody_calls()
    end $$;
    create function admin.show_nothing() returns void ${FUNCTION} begin end $$;
    comment on function admin.show_nothing() is '@behavior -*';
    create function internal.fires() returns trigger ${FUNCTION} begin perform internal.called_when_it_fires(); end $$;
    create function internal.called_when_it_fires() returns void ${FUNCTION} begin end $$;
    create trigger fires after update on market.offer for each row execute function internal.fires()`;
  t.deepEqual(await findingsAfter(t, sql, unusedFunctions), [
    "admin.show_nothing: nothing calls this function. Delete it.",
    "internal.called_by_it: nothing calls this function. Delete it.",
    "internal.nobody_calls: nothing calls this function. Delete it.",
  ]);
});

test("a column that nothing uses is found", async (t) => {
  const sql = `
    alter table market.offer add column named_by_nothing text, add column named_by_an_index text;
    create index offer_named_idx on market.offer (named_by_an_index)`;
  t.deepEqual(await findingsAfter(t, sql, unusedColumns), [
    "market.offer.named_by_nothing: nothing names this column. Delete it.",
  ]);
});

test("an implicit cast, a reserved parameter name, an unused variable and a needless volatile are found", async (t) => {
  const { url } = await createDatabase(t);
  const { rowCount } = await withClient(url, (client) =>
    client.query("select from pg_available_extensions where name = 'plpgsql_check'"),
  );
  if (rowCount === 0 && !process.env["CI"]) {
    t.log("This PostgreSQL has no plpgsql_check. CI has it.");
    t.is(rowCount, 0);
    return;
  }
  const sql = `
    create function internal.doubtful("limit" integer) returns integer ${FUNCTION}
    declare
      never_read text;
      cast_silently integer;
    begin
      select count(*) into cast_silently from market.offer;
      return cast_silently + doubtful.limit;
    end $$`;
  const findings = await findingsAfter(t, sql, plpgsqlFindings);
  t.is(findings.length, 4, findings.join("\n"));
  t.true(findings.every((finding) => finding.startsWith("internal.doubtful(integer)")));
  for (const says of [
    /cast "bigint" value to "integer" type/,
    /"limit" is reserved keyword/,
    /unused variable "never_read"/,
    /marked as VOLATILE, should be STABLE/,
  ])
    t.true(findings.some((finding) => says.test(finding)));
});
