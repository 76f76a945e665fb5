import test from "ava";
import pg from "pg";
import { createDatabase, type Database } from "../support/database.ts";

/**
 * Tests that every sort order and filter of the moderators' GraphQL on a growing table uses an index. The queries run
 * with a moderator's rights.
 */

let database: Database;
let client: pg.Client;
test.before(async () => {
  database = await createDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  // On small tables a sequential scan is cheapest. It is off here, so the plan shows whether an index can be used at
  // all.
  await client.query("set enable_seqscan = off; set enable_sort = off; set role souk_moderator");
});
test.after.always(async () => {
  await client?.end();
  await database?.drop();
});

const ID = "'01979e5b-1c2d-7a3b-8c4d-5e6f7a8b9c0e'";

const QUERIES: Record<string, string> = {
  "the queue": "select * from admin.review_case order by reports desc, opened_at, offer_id limit 25",
  "one part of the queue":
    "select * from admin.review_case where queue = 'reported' order by reports desc, opened_at, offer_id limit 25",
  "the number of waiting cases": "select * from admin.queue",
  offers: "select * from admin.offer order by id desc limit 25",
  "offers of an account": `select * from admin.offer where account_id = ${ID} order by id desc limit 25`,
  "agents of an account": `select * from admin.agent where account_id = ${ID}`,
  "asks of an account": `select * from admin.ask where account_id = ${ID} order by id desc limit 25`,
  accounts: "select * from admin.account order by id desc limit 25",
  "reports of an offer": `select * from admin.report where offer_id = ${ID}`,
  "reports by an account": `select * from admin.report where account_id = ${ID}`,
  "decisions on an offer": `select * from admin.decision where offer_id = ${ID} order by id desc limit 25`,
  "decisions on an account": `select * from admin.decision where account_id = ${ID} order by id desc limit 25`,
  "decisions of a moderator": `select * from admin.decision where moderator_id = ${ID} order by id desc limit 25`,
  "appeals of an offer": `select * from admin.appeal where offer_id = ${ID}`,
  "the log": "select * from admin.audit_event order by id desc limit 50",
  "the log of a row": `select * from admin.audit_event where row_id = ${ID}`,
  "the log by an account": `select * from admin.audit_event where account_id = ${ID} order by id desc limit 50`,
  "the log by a kind of actor":
    "select * from admin.audit_event where actor_type = 'moderator' order by id desc limit 50",
  "the log of an action": "select * from admin.audit_event where action = 'offer.removed' order by id desc limit 50",
  "the log of some days": `select * from admin.audit_event
    where id >= internal.first_uuid_v7('2026-05-01') and id < internal.first_uuid_v7('2026-05-03') order by id desc limit 50`,
  "the log about an account": `select * from admin.audit_event where subject_account_id = ${ID}::uuid`,
  "words of offers":
    "select id from market.offer where to_tsvector('simple', reading.plain_words(text)) @@ 'sofa' order by id desc limit 20",
  "words of asks":
    "select id from market.ask where to_tsvector('simple', reading.plain_words(text)) @@ 'sofa' order by id desc limit 20",
  "an agent's name": "select id from market.agent where lower(name) = 'zebra' order by id desc limit 20",
  "a person's name": "select id from market.account where lower(display_name) = 'zebra' order by id desc limit 20",
  "the beginning of an agent's name":
    "select id from market.agent where lower(name) like 'ze%' order by id desc limit 20",
  "the beginning of a person's name":
    "select id from market.account where lower(display_name) like 'ze%' order by id desc limit 20",
};

for (const [what, query] of Object.entries(QUERIES)) {
  test.serial(`an index serves ${what}`, async (t) => {
    const { rows } = await client.query<{ "QUERY PLAN": string }>(`explain (costs off) ${query}`);
    const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
    t.regex(plan, /Index|Bitmap/);
    t.notRegex(plan, /Seq Scan/, plan);
  });
}
