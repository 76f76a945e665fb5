import test from "ava";
import { withClient } from "../support/client.ts";
import { type Caller, column, refused } from "./market.ts";
import { buyer, market, matches, matching, seller } from "./two_sides.ts";

/**
 * An account whose offers many asks match is suspended, reinstated or deleted: everything is hidden at once, and the rows
 * follow in steps of a bounded size.
 */

const MATCHES_OF_A_STEP = 5000;

test.beforeEach(() => market.sql("delete from market.ask"));

/** Runs a measure as a moderator, as the moderators' GraphQL API does. */
const asModerator = async (measure: string): Promise<void> => {
  const moderator = await market.approved();
  await withClient(market.url, async (client) => {
    await client.query("begin");
    await client.query(
      "select set_config('market.moderator_id', $1, true), set_config('role', 'souk_moderator', true)",
      [moderator.account],
    );
    await client.query(measure, [seller.account]);
    await client.query("commit");
  });
};

const suspend = () => asModerator("select admin.suspend_account($1, 'scam')");
const reinstate = () => asModerator("select admin.reinstate_account($1)");

/** Offers of the seller, each of which so many asks of the buyer match. */
const matchedOffers = async (offers: number, asks: number): Promise<string[]> => {
  const ids: string[] = [];
  for (let n = 0; n < offers; n++) ids.push(await market.offer(seller));
  await market.sql`with off as materialized (select set_config('session_replication_role', 'replica', true)),
    watching as (
      insert into market.ask (account_id, text, read_at, domain, ask_kind, watch_enabled)
      select ${buyer.account}, 'Looking for a sofa', now(), 'home_garden', 'buy', false
      from off, generate_series(1, ${asks}::integer) returning id)
    insert into market.match (ask_id, offer_id, score, reasons)
    select w.id, o.id, 0.5, '[]' from watching w, unnest(${ids}::uuid[]) as o (id)`;
  return ids;
};

const statuses = async (): Promise<string[]> =>
  column(await market.sql`select status from market.offer where account_id = ${seller.account} order by id`, "status");

/** Lets the worker take one step. Returns the offer after which the next one begins. */
const step = (after: string | null = null): Promise<string | null> =>
  market.work("apply_standing", seller.account, after);

const get = (caller: Caller, id: string) => market.call(caller, "get_offer", { id });

test.serial("a suspension only marks the account: its offers are hidden, and archived in bounded steps", async (t) => {
  const [first, second, third] = (await matchedOffers(3, 0.5 * MATCHES_OF_A_STEP)) as [string, string, string];
  await suspend();
  t.deepEqual(await statuses(), ["published", "published", "published"]);
  for (const id of [first, third]) t.is(await refused(get(buyer, id)), "404 not_found");
  t.is((await get(seller, first)).status, "published");
  t.is(await step(), second);
  t.deepEqual(await statuses(), ["archived", "archived", "published"]);
  t.is(await refused(get(buyer, third)), "404 not_found");
  // A worker that dies begins again.
  t.is(await step(), third);
  t.is(await step(third), null);
  t.deepEqual(await market.sql`select from market.match where offer_id = any (${[first, second, third]})`, []);
  t.false(await market.value`select hiding from market.account where id = ${seller.account}`);
});

test.serial(
  "an account that is reinstated before its offers are archived is shown, and matched, as it was",
  async (t) => {
    const [first, second] = [await market.offer(seller), await market.offer(seller)];
    await matchedOffers(1, MATCHES_OF_A_STEP + 1);
    await suspend();
    await step();
    t.deepEqual(await statuses(), ["archived", "archived", "published"]);
    const [, , third] = column(
      await market.sql`select id from market.offer where account_id = ${seller.account} order by id`,
      "id",
    );
    const ask = await market.ask(buyer);
    await market.embed("offer", third);
    t.deepEqual((await matches(ask)).results, [], "what is hidden is not matched");
    await reinstate();
    t.is((await get(buyer, third)).status, "published");
    await market.sql("delete from graphile_worker._private_jobs");
    t.is(await step(), third);
    t.is(await step(third), null);
    t.deepEqual(await statuses(), ["published", "published", "published"]);
    const jobs = await market.sql`select key from graphile_worker.jobs where key like 'embed_offer:%' order by key`;
    t.deepEqual(column(jobs, "key"), [first, second, third].map((id) => `embed_offer:${id}`).sort());
    for (const id of [first, second, third]) await market.embed("offer", id);
    t.deepEqual(await matching(ask), [first, second, third].sort());
  },
);

test.serial(
  "an account is deleted in steps of a bounded number of matches, and its offers are hidden from the first on",
  async (t) => {
    const [, , third] = await matchedOffers(3, 0.5 * MATCHES_OF_A_STEP);
    t.deepEqual(await market.callAsPerson(seller, "delete_account"), { done: false });
    t.deepEqual(await statuses(), ["published"]);
    t.is(await refused(get(buyer, third ?? "")), "404 not_found");
    t.deepEqual(await market.callAsPerson(seller, "delete_account"), { done: true });

    await market.sql`with off as materialized (select set_config('session_replication_role', 'replica', true)),
    offers as (insert into market.offer (status, text, title, published_at) select 'published', 'Sofa', 'Sofa', now()
      from off, generate_series(1, ${0.5 * MATCHES_OF_A_STEP}::integer) returning id)
    insert into market.match (ask_id, offer_id, score, reasons)
    select a.id, o.id, 0.5, '[]' from offers o, (
      select k.id from market.ask k where k.account_id = ${buyer.account} order by k.id limit 3) as a`;
    const asks = () => market.value`select count(*)::integer from market.ask where account_id = ${buyer.account}`;
    const before = await asks();
    t.deepEqual(await market.callAsPerson(buyer, "delete_account"), { done: false });
    t.is(await asks(), before - 2);
  },
);
