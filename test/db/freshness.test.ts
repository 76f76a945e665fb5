import test from "ava";
import { openClient } from "../support/client.ts";
import { type Caller, column, outcomeOf } from "./market.ts";
import { market } from "./one_market.ts";

/** Offers that nobody confirms: they become stale, rank behind fresh ones, and are archived after a warning. */

let owner: Caller;

test.beforeEach(async () => {
  await market.sql("update market.setting set value = '90' where name = 'offer_lifetime_days'");
  owner = await market.approved();
});

/** Sets the ages of offers in days, past the triggers: since the last confirmation, and since the warning. */
const age = (ids: string | string[], confirmed: number, stale: number | null = null) =>
  market.sql`with off as materialized (select set_config('session_replication_role', 'replica', true))
    update market.offer set confirmed_at = now() - make_interval(days => ${confirmed}),
      stale_at = now() - make_interval(days => ${stale})
    from off where id = any (${[ids].flat()})`;

/** Runs the job as the worker does, until nothing is left. Returns how often it found something. */
const ageOffers = async (): Promise<number> => {
  let runs = 0;
  while ((await market.work("age_offers")) > 0) runs += 1;
  return runs;
};

const stateOf = async (id: string): Promise<{ status: string; stale: boolean; expired: boolean; audits: number }> => {
  const [row] = await market.sql`select status, stale_at is not null as stale, expired_at is not null as expired,
      (select count(*)::integer from market.audit_event where row_id = ${id}) as audits
    from market.offer where id = ${id}::uuid`;
  return row;
};

const eventsOf = async (of: Caller): Promise<string[]> =>
  (await market.call(of, "list_events", { after: null, page_size: 50, wait: 0 })).events
    .map(({ type, data }: { type: string; data: { offer_id?: string } }) => `${type} ${data.offer_id ?? ""}`)
    .filter((event: string) => event.startsWith("offer."));

const ownOffer = async (id: string) => {
  const { owner: published, ...rest } = await market.call(owner, "get_offer", { id });
  return published ?? rest;
};

test.serial("an offer is stale after 60 days, archived after 90, and its owner is told both times, once", async (t) => {
  const id = await market.offer(owner);
  const { updated_at } = await ownOffer(id);
  const fresh = await stateOf(id);
  await age(id, 59);
  t.is(await ageOffers(), 0);
  await age(id, 61);
  await ageOffers();
  t.deepEqual(await stateOf(id), { ...fresh, stale: true }, "this is no change, so nothing is audited");
  t.is((await ownOffer(id)).updated_at, updated_at);
  t.true((await ownOffer(id)).stale);
  t.is(await ageOffers(), 0);
  t.deepEqual(await eventsOf(owner), [`offer.stale ${id}`]);
  const day = await market.value`select to_char(now() at time zone 'UTC' + '30 days', 'YYYY-MM-DD') as day`;
  t.is(
    (await ownOffer(id)).review,
    `This offer is live, but nobody has said for a long time that it is still available, so others come first. If it is available, confirm it; if not, archive it. Without an answer it is taken down on ${day}.`,
  );
  await age(id, 91, 29);
  t.is(await ageOffers(), 0, "a warning is 30 days old before anything is archived");
  await age(id, 91, 30);
  await ageOffers();
  t.deepEqual(await stateOf(id), { status: "archived", stale: false, expired: true, audits: fresh.audits + 1 });
  t.deepEqual(await eventsOf(owner), [`offer.stale ${id}`, `offer.archived ${id}`]);
  t.is(
    (await ownOffer(id)).review,
    "Nobody said for a long time that this offer is still available, so it was taken down. If it is available, republish it.",
  );
  const { activity } = await market.callAsPerson(owner, "list_activity", { page_size: 1, cursor: null });
  t.like(activity[0], { action: "offer.archived", by: "job" });

  const again = await market.call(owner, "republish_offer", { id });
  t.deepEqual([again.stale, again.review], [false, "This offer is live: anyone can find it."]);
  t.is(await ageOffers(), 0);
  await market.call(owner, "archive_offer", { id });
  t.is((await ownOffer(id)).review, "You took this offer down. It can be republished.");
});

for (const [title, action, act] of [
  ["confirming", "offer.confirmed", (id: string) => market.call(owner, "confirm_offer", { id })],
  ["a new text", "offer.updated", (id: string) => market.change(owner, id, { title: "Grey sofa, now cheaper" })],
  [
    "archiving and republishing",
    "offer.published",
    async (id: string) => {
      await market.call(owner, "archive_offer", { id });
      await market.call(owner, "republish_offer", { id });
    },
  ],
] as const) {
  test.serial(`${title} makes a stale offer fresh`, async (t) => {
    const id = await market.offer(owner);
    await age(id, 100, 40);
    await act(id);
    t.is(await ageOffers(), 0);
    t.like(await stateOf(id), { status: "published", stale: false });
    t.true(new Date((await ownOffer(id)).confirmed_at).getTime() > Date.now() - 86_400_000);
    const { activity } = await market.callAsPerson(owner, "list_activity", { page_size: 1, cursor: null });
    t.is(activity[0].action, action);
  });
}

test.serial("a moderator's look does not make an offer fresh", async (t) => {
  const id = await market.offer(owner);
  await age(id, 70, 10);
  await market.sql`update market.offer set reviewed = true where id = ${id}`;
  t.true((await stateOf(id)).stale);
});

test.serial("the operator chooses the lifetime: never, or another number of days", async (t) => {
  const id = await market.offer(owner);
  const lifetime = (days: number) =>
    market.sql`update market.setting set value = to_jsonb(${days}::integer) where name = 'offer_lifetime_days'`;
  await lifetime(0);
  await age(id, 3000);
  await ageOffers();
  t.like(await stateOf(id), { status: "published", stale: true });
  t.notRegex((await ownOffer(id)).review, /taken down/);
  await age(id, 3000, 2900);
  t.is(await ageOffers(), 0);
  await lifetime(30);
  await age(id, 21);
  await ageOffers();
  t.like(await stateOf(id), { status: "published", stale: true }, "after two thirds of a short life");
  await age(id, 31, 10);
  await ageOffers();
  t.like(await stateOf(id), { status: "archived", expired: true });
});

test.serial("the job works in batches, in the order of age, with an index", async (t) => {
  const ids: string[] = (
    await market.sql`insert into market.offer (account_id, status, text, title, published_at)
      select ${owner.account}, 'published', 'Sofa', 'Sofa ' || n, now() from generate_series(1, 120) as n returning id`
  ).map(({ id }: { id: string }) => id);
  await age(ids, 95);
  t.is(await market.work("age_offers"), 50);
  t.is(await ageOffers(), 2);
  const told = await market.value`select count(*)::integer from market.event
    where account_id = ${owner.account} and type = 'offer.stale'`;
  t.is(told, 120);
  await age(ids, 95, 31);
  t.is(await ageOffers(), 3);
  const left = await market.value`select count(*)::integer from market.offer
    where status = 'published' and account_id = ${owner.account}`;
  t.is(left, 0);
  const client = await openClient(market.url, t);
  await client.query("set enable_seqscan = off");
  for (const [condition, since, index] of [
    ["stale_at is null", "confirmed_at", "offer_fresh_idx"],
    // Those that are old enough but were told too late are not read again and again.
    ["stale_at is not null", "stale_at", "offer_stale_idx"],
  ] as const) {
    const { rows } = await client.query(
      `explain select id from market.offer where status = 'published' and ${condition} and sandbox_id is null
         and ${since} <= now() - interval '60 days' order by ${since} limit 50`,
    );
    const plan = JSON.stringify(rows);
    t.true(plan.includes(index) && !plan.includes("Sort"), condition);
  }
});

test.serial("an offer that is being confirmed is not archived, and neither is one just confirmed", async (t) => {
  const id = await market.offer(owner);
  await age(id, 95, 35);
  const client = await openClient(market.url, t);
  await client.query("begin");
  await client.query(
    `select set_config('market.agent_id', $1, true), set_config('market.account_id', $2, true),
       set_config('market.connected', 'true', true), set_config('role', 'souk_agent', true)`,
    [owner.agent, owner.account],
  );
  await client.query("update market.offer set confirmed_at = now() where id = $1", [id]);
  t.is(await ageOffers(), 0, "the job neither waits nor archives");
  await client.query("commit");
  t.is(await ageOffers(), 0);
  t.like(await stateOf(id), { status: "published", stale: false });
});

test.serial("whoever was told that the offer is confirmed still has it, however the job runs meanwhile", async (t) => {
  const ids: string[] = [];
  for (let n = 0; n < 24; n += 1) ids.push(await market.offer(await market.approved(), { title: `Sofa ${n}` }));
  const owners = await market.sql`select o.id, a.token_hash as token from market.offer o
    join market.agent a on a.id = o.agent_id where o.id = any (${ids})`;
  await age(ids, 95, 35);
  const job = (async () => {
    while ((await market.work("age_offers")) > 0);
  })();
  const outcomes = await Promise.all(
    owners.map(async ({ id, token }: { id: string; token: Buffer }) => {
      const outcome = await outcomeOf(market.call({ ...owner, token }, "confirm_offer", { id }));
      return { id, outcome };
    }),
  );
  await job;
  await ageOffers();
  for (const { id, outcome } of outcomes) {
    t.true(["done", "invalid_state"].includes(outcome), outcome);
    t.is((await stateOf(id)).status, outcome === "done" ? "published" : "archived");
  }
});

test.serial("of the same score, fresh offers come before stale ones, in searches and in matches", async (t) => {
  const searcher = await market.approved();
  const ids: string[] = [];
  // The newest of equal offers would be the first.
  for (let n = 0; n < 3; n += 1) ids.push(await market.offer(owner, { title: "Walnut cradle", price: null }));
  const [oldest, middle, newest] = ids as [string, string, string];
  const ask = await market.ask(searcher, { title: "Wanted: walnut cradle", keywords: ["cradle"] });
  const found = async (): Promise<{ id: string; score: number }[]> =>
    (await market.call(searcher, "search_offers", { request: { query: "walnut cradle" } })).results;
  const matched = async (): Promise<string[]> => {
    const read: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await market.call(searcher, "list_matches", { id: ask, page_size: 1, cursor });
      read.push(...page.results.map(({ id }: { id: string }) => id));
      cursor = page.page.next_cursor;
    } while (cursor !== null);
    return read;
  };
  t.is(new Set((await found()).map(({ score }) => score)).size, 1);
  t.deepEqual(column(await found(), "id"), [newest, middle, oldest]);
  t.deepEqual(await matched(), [oldest, middle, newest]);
  await age([newest, oldest], 70, 10);
  t.deepEqual(column(await found(), "id"), [middle, newest, oldest]);
  t.deepEqual(await matched(), [middle, oldest, newest]);
});
