import test from "ava";
import { withClient } from "../support/client.ts";
import type { Caller } from "./market.ts";
import { market } from "./one_market.ts";
import { readsOf } from "./reads.ts";

/**
 * What is read one page or one batch at a time costs a page or a batch, whatever PostgreSQL knows of its tables: nothing
 * (after a restore or an upgrade), what was there before a flood, or everything.
 */

const FLOOD = 20_000;

/** Adds rows without triggers, by an insert that selects from the numbers n. */
const flood = (statement: string, ...values: unknown[]) =>
  withClient(market.url, async (client) => {
    await client.query("set session_replication_role = replica");
    await client.query(`${statement} from generate_series(1, ${FLOOD}) as n`, values);
  });

/** Makes PostgreSQL forget what it knows of a table and its partitions. */
const forget = (table: string) =>
  withClient(market.url, async (client) => {
    const parts = "select relid from pg_partition_tree($1::regclass) union select $1::regclass";
    await client.query(`delete from pg_statistic where starelid in (${parts})`, [table]);
    await client.query(`update pg_class set reltuples = -1, relpages = 0 where oid in (${parts})`, [table]);
  });

/**
 * A list or batch.
 * @property tables whose rows are counted. The first is flooded
 * @property fill adds many rows of the account, and of another one
 * @property most rows that one call may read of each table
 */
type Bounded = {
  title: string;
  tables: [string, ...string[]];
  fill: (account: string, ask: string, offer: string) => Promise<unknown>;
  run: { name: string; args: (account: string) => (string | number)[] };
  most: number;
};

const BOUNDED: Bounded[] = [
  {
    title: "the first page of the feed",
    tables: ["market.event"],
    fill: (account) =>
      flood(
        `insert into market.event (account_id, type, data, xid, occurred_at)
         select case n % 2 when 0 then $1::uuid else internal.uuid_v7() end, 'ask.read', '{}', '3',
           now() - n * interval '1 minute'`,
        account,
      ),
    run: { name: "api.list_events", args: () => ["null::text", 50, 0] },
    most: 200,
  },
  {
    title: "a page of asks",
    tables: ["market.ask"],
    fill: (account) =>
      flood("insert into market.ask (account_id, text, status) select $1::uuid, 'Sofa', 'archived'", account),
    run: { name: "api.list_asks", args: () => ["'archived'", 50, "null"] },
    // Fifty are found and then shown.
    most: 110,
  },
  {
    title: "a page of what an account did",
    tables: ["market.audit_event"],
    fill: (account) =>
      flood(
        `insert into market.audit_event (actor_type, sql_role, action, table_name, row_id, subject_account_id)
         select 'job', 'x', 'ask.created', 'ask', internal.uuid_v7(), $1::uuid`,
        account,
      ),
    run: { name: "api.list_activity", args: () => [20, "null"] },
    most: 100,
  },
  {
    title: "the digest of a person with many events, of whom many others have matches, too",
    tables: ["market.match", "market.event", "market.offer"],
    fill: async (account, ask, offer) => {
      await flood(
        `insert into market.event (account_id, type, data)
         select $1::uuid, 'match.created', jsonb_build_object('ask_id', $2::text, 'offer_id', internal.uuid_v7())`,
        account,
        ask,
      );
      await flood(
        `insert into market.match (ask_id, offer_id, score, reasons) select internal.uuid_v7(), $1::uuid, 0.5, '[]'`,
        offer,
      );
    },
    run: {
      name: "internal.new_matches",
      args: (account) => [`(select d from market.digest d where d.account_id = '${account}')`, "pg_current_snapshot()"],
    },
    most: 100,
  },
  ...["null, null::uuid", "'closed', null::uuid"].map(
    (of): Bounded => ({
      title: `a page of conversations (${of})`,
      tables: ["market.conversation"],
      fill: (account) =>
        // A tenth is of the account, on both sides, and of these nearly all are open.
        flood(
          `insert into market.conversation (offer_id, publisher_id, inquirer_id, status, closed_by, active_at)
           select internal.uuid_v7(), case when n % 20 = 0 then $1::uuid else internal.uuid_v7() end,
             case when n % 20 = 10 then $1::uuid else internal.uuid_v7() end,
             case when n % 1000 = 0 then 'closed' else 'open' end, case when n % 1000 = 0 then 'market' end,
             now() - n * interval '1 minute'`,
          account,
        ),
      run: { name: "api.list_conversations", args: () => [of, 50, "null"] },
      // Fifty and one of each side and status are found, and those of the page are then shown.
      most: 300,
    }),
  ),
  {
    title: "a page of the conversations about an offer",
    tables: ["market.conversation"],
    fill: async (account) => {
      const [{ id }] = await market.sql`insert into market.offer (account_id, text, title, status)
        values (${account}, 'Sofa', 'Sofa', 'archived') returning id`;
      await market.sql`update market.account set display_name = ${id} where id = ${account}`;
      await flood(
        `insert into market.conversation (offer_id, publisher_id, inquirer_id, active_at)
         select case n % 2 when 0 then $2::uuid else internal.uuid_v7() end, $1::uuid, internal.uuid_v7(),
           now() - n * interval '1 minute'`,
        account,
        id,
      );
    },
    run: {
      name: "api.list_conversations",
      args: (account) => [`null, (select display_name::uuid from market.account where id = '${account}')`, 50, "null"],
    },
    most: 250,
  },
  {
    title: "a page of messages",
    tables: ["market.message"],
    fill: async (account, _ask, offer) => {
      await market.sql`with off as materialized (select set_config('session_replication_role', 'replica', true))
        insert into market.conversation (id, offer_id, publisher_id) select ${account}, ${offer}, ${account} from off`;
      await flood(
        `insert into market.message (conversation_id, sender, text)
         select case n % 2 when 0 then $1::uuid else internal.uuid_v7() end, 'inquirer', 'Hello'`,
        account,
      );
    },
    run: { name: "api.list_messages", args: (account) => [`'${account}'::uuid`, "null::uuid", 50] },
    most: 110,
  },
  {
    title: "what is due to a webhook",
    tables: ["market.webhook_delivery"],
    fill: async (account) => {
      await market.sql`insert into market.webhook (id, account_id, url, encrypted_secret, verified_at)
        values (${account}, ${account}, 'https://example.com', ${`00000000.${"A".repeat(90)}`}, now())
        on conflict do nothing`;
      await flood(
        `insert into market.webhook_delivery (webhook_id, events, next_attempt_at)
         select case n % 2 when 0 then $1::uuid else internal.uuid_v7() end, '[{}]', now() - n * interval '1 second'`,
        account,
      );
    },
    run: { name: "jobs.claim_deliveries", args: (account) => [`'${account}'::uuid`, 4, 4] },
    // A hundred leave together.
    most: 500,
  },
];

for (const { title, tables, fill, run, most } of BOUNDED)
  test.serial(`${title} is bounded whatever the statistics are`, async (t) => {
    const [buyer, seller]: [Caller, Caller] = [await market.approved(), await market.approved()];
    const ask = await market.ask(buyer);
    await market.sql`insert into market.digest (account_id, enabled, changed_at) values (${buyer.account}, true, now())`;
    const offer = await market.offer(seller);
    const check = async (known: string): Promise<void> => {
      const args = run.args(buyer.account);
      for (const table of tables) {
        const { rows } = await readsOf(market.url, table, buyer.account, (client) =>
          client.query(`select * from ${run.name}(${args.join(", ")})`),
        );
        t.true(rows <= most, `${known}: ${rows} rows of ${table}`);
      }
    };
    await market.sql(`analyze ${tables.join(", ")}`);
    await fill(buyer.account, ask, offer);
    await check("what was there before");
    for (const table of tables) await forget(table);
    await check("nothing");
    await market.sql(`analyze ${tables.join(", ")}`);
    await check("everything");
  });
