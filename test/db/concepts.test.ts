import test from "ava";
import { loadData } from "../../src/install/load_data.ts";
import { withClient } from "../support/client.ts";
import { type Answer, openMarket } from "./market.ts";

/** When the labels of things change, the concepts of all offers are computed again, in batches that can stop at any point. */

type Open = Awaited<ReturnType<typeof openMarket>>;

const OFFERS = 7;
const BATCH = 3;

/** A market with offers of a thing for which there is no word yet. */
const withOffers = async (t: { teardown: (clean: () => Promise<void>) => void }): Promise<Open> => {
  const market = await openMarket(t);
  const seller = await market.approved();
  for (let n = 0; n < OFFERS; n++) await market.offer(seller, { title: `Zorbelkrug ${n}` });
  return market;
};

/** Adds a thing with one word. Its concept may exist already. */
const addThing = async (market: Open, concept: string, form: string): Promise<void> => {
  await market.sql`insert into reading.concept (concept, type) values (${concept}, 'thing') on conflict do nothing`;
  await market.sql`insert into reading.label (concept, language, form) values (${concept}, 'en', ${form})`;
};

const addWord = (market: Open) => addThing(market, "zorbel_jug", "zorbelkrug");

const filed = async (market: Open): Promise<number> => {
  const [row] = await market.sql`select count(*)::integer as n from market.offer
    where concepts @@ '''concept/zorbel_jug'''`;
  return row.n;
};

const queued = async (market: Open): Promise<number> =>
  (await market.sql("select from graphile_worker.jobs where task_identifier = 'refresh_concepts'")).length;

/** Runs batches until nothing is left, as a worker does. */
const workThrough = async (market: Open): Promise<Answer[]> => {
  const batches: Answer[] = [];
  for (;;) {
    const progress = await market.work("refresh_concepts", BATCH);
    if (progress === null) return batches;
    batches.push(progress);
  }
};

test("a new word gives its concept to every offer that names it, in batches, with one job", async (t) => {
  const market = await withOffers(t);
  t.is(await queued(market), 0);
  await addWord(market);
  await market.sql("insert into reading.broader (concept, broader) values ('zorbel_jug', 'sofa')");
  t.is(await queued(market), 1);
  t.is(await filed(market), 0);
  t.deepEqual(await workThrough(market), [
    { looked_at: 3, changed: 3, finished: false },
    { looked_at: 3, changed: 3, finished: false },
    { looked_at: 1, changed: 1, finished: true },
  ]);
  t.is(await filed(market), OFFERS);
  t.is(await queued(market), 1, "the job key prevents a second job");
  await market.sql("delete from reading.label where concept = 'zorbel_jug'");
  await workThrough(market);
  t.is(await filed(market), 0);
});

test("only labels of things set the concepts again, and so does emptying the table", async (t) => {
  const market = await withOffers(t);
  await market.sql`insert into reading.label (concept, language, form)
    values ('home_garden/kitchen', null, 'zorbelkrug')`;
  await market.sql("update reading.label set weight = 2 where form = 'zorbelkrug'");
  await market.sql("delete from reading.label where form = 'zorbelkrug'");
  t.is(await queued(market), 0);
  await market.sql("update reading.label set weight = 2 where concept = 'sofa' and language = 'en'");
  t.is(await queued(market), 1);
  await workThrough(market);
  await market.sql("delete from graphile_worker._private_jobs");
  await market.sql("truncate reading.label");
  t.is(await queued(market), 1);
});

test("new concepts change nothing else in an offer, and are not logged, embedded or reviewed", async (t) => {
  const market = await withOffers(t);
  const rest = () =>
    market.sql`select (select md5(string_agg((to_jsonb(o) - 'concepts' - 'search')::text, ' ' order by o.id))
      from market.offer o) as offers,
      (select count(*)::integer from market.audit_event) as events,
      (select count(*)::integer from market.review_case) as cases,
      (select md5(string_agg(e::text, ' ' order by e.offer_id)) from market.offer_embedding e) as vectors,
      (select count(*)::integer from graphile_worker.jobs where task_identifier <> 'refresh_concepts') as jobs`;
  const before = await rest();
  await addWord(market);
  await workThrough(market);
  t.is(await filed(market), OFFERS);
  t.deepEqual(await rest(), before);
});

test("offers whose concepts stay the same are not written", async (t) => {
  const market = await withOffers(t);
  const versions = () => market.sql("select id, xmin::text from market.offer order by id");
  const before = await versions();
  await addThing(market, "quorfel", "quorfelstange");
  const batches = await workThrough(market);
  t.is(
    batches.reduce((sum, { changed }) => sum + changed, 0),
    0,
  );
  t.deepEqual(await versions(), before);
});

test("if a worker dies, its batch is rolled back, and the next worker repeats it", async (t) => {
  const market = await withOffers(t);
  await addWord(market);
  await market.work("refresh_concepts", BATCH);
  t.is(await filed(market), BATCH);
  await withClient(market.url, async (client) => {
    await client.query("begin");
    await client.query("select jobs.refresh_concepts($1)", [BATCH]);
    // The connection ends without a commit, as when the process is killed.
  });
  t.is(await filed(market), BATCH);
  t.is(await queued(market), 1);
  await workThrough(market);
  t.is(await filed(market), OFFERS);
});

test("a word that is added while the batches run starts them again", async (t) => {
  const market = await withOffers(t);
  await addWord(market);
  await market.work("refresh_concepts", BATCH);
  await addThing(market, "zorbel_mug", "zorbelkrug");
  const batches = await workThrough(market);
  t.is(batches.length, 3);
  const [row] = await market.sql`select count(*)::integer as n from market.offer
    where concepts @@ '''concept/zorbel_jug'' & ''concept/zorbel_mug'''`;
  t.is(row.n, OFFERS);
});

test("a batch waits half a second for a locked offer, then fails and is retried later", async (t) => {
  const market = await withOffers(t);
  await addWord(market);
  await withClient(market.url, async (client) => {
    await client.query("begin");
    await client.query("select from market.offer for update");
    await t.throwsAsync(market.work("refresh_concepts", BATCH), { code: "55P03" });
    await client.query("rollback");
  });
  await workThrough(market);
  t.is(await filed(market), OFFERS);
});

test("an upgrade with new words computes the concepts again, too", async (t) => {
  const market = await withOffers(t);
  await market.sql("select set_config('market.loading', 'on', false)");
  await withClient(market.url, async (client) => {
    await client.query("begin; select set_config('market.loading', 'on', true)");
    await client.query(
      "delete from reading.label where concept = 'sofa'; update internal.loaded set hash = repeat('0', 64)",
    );
    await client.query("commit");
    await client.query("delete from reading.concept_refresh");
    await loadData(client);
  });
  t.is(await queued(market), 1);
  t.is((await market.sql("select from reading.concept_refresh")).length, 1);
});
