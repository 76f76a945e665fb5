import test from "ava";
import { createDatabase } from "../support/database.ts";
import { sql } from "../support/sql.ts";
import { column } from "./market.ts";

/** Tables with an account_id whose changes are not noted, and why reads on replicas need no note of them. */
const UNNOTED = {
  account_stats: "They change with the offers of the account, in the same transaction.",
  audit_event: "An event is written with the change that it is about.",
  conversation_report: "No caller reads reports of conversations.",
  decision: "A decision changes the offer, agent or account that it is about.",
  digest: "Only pages read it, on the primary.",
  event: "The feed is read on the primary.",
  kept_record: "A record is kept with the removal of a sign-in method, in the same transaction.",
  sign_in: "Only pages read attempts to sign in, on the primary.",
};

test("changes of every table with an account are noted for reads on replicas", async (t) => {
  const { url } = await createDatabase(t);
  const tables = await sql<{ name: string }>(url)`select c.relname::text as name from pg_class c
    join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'market'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and a.attname = 'account_id' and not a.attisdropped
      and not exists (select from pg_trigger g where g.tgrelid = c.oid and g.tgname = 'note_write')
    order by 1`;
  t.deepEqual(column(tables, "name"), Object.keys(UNNOTED));
});
