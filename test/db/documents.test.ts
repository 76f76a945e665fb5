import test from "ava";
import { withClient } from "../support/client.ts";
import { openMarket, vectorOf } from "./market.ts";
import { randomEmail, signing } from "./signing.ts";
import { begun, blocked } from "./waits.ts";

/**
 * The row of search.document by which an offer is found and shown, and the record of its publisher, are built when
 * something in them changes, whoever changes it.
 */

type Open = Awaited<ReturnType<typeof openMarket>>;

const BATCH = 2;
/** Returns the offers and publishers whose stored document is not what would be built now. */
const stale = async (market: Open): Promise<unknown[]> =>
  market.sql`select o.id from market.offer o left join search.document d on d.id = o.id
      where d is distinct from search.document_of(o)
    union all
    select p.account_id from market.account_stats p where p.publisher is distinct from internal.build_publisher(p)
      -- Nobody sees the record of an account without offers.
      and exists (select from market.offer o where o.account_id = p.account_id)`;

test("the stored document follows every column that it shows, whoever changes it", async (t) => {
  const market = await openMarket(t);
  const seller = await market.approved();
  const id = await market.offer(seller, { title: "Blue sofa" });
  t.deepEqual(await stale(market), []);
  for (const change of [
    "title = 'Green sofa'",
    "text = 'Another text'",
    "language = 'de'",
    "location_text = 'Bristol'",
    `metadata = '{"condition": "used"}'`,
    `contact = '{"schema_version": 2}'`,
    "images = '{https://example.org/a.jpg}'",
    "reviewed = true",
    "contact_visibility = 'approved'",
    `withheld_spans = '[{"start": 0, "end": 4}]'`,
    "withheld_images = '{https://example.org/a.jpg}'",
    "status = 'archived'",
  ]) {
    const [before] = await market.sql`select document from search.document where id = ${id}`;
    await market.sql(`update market.offer set ${change} where id = $1`, [id]);
    t.deepEqual(await stale(market), [], change);
    const [after] = await market.sql`select document from search.document where id = ${id}`;
    t.notDeepEqual(after, before, change);
    t.is(after === undefined, change.startsWith("status"), "an offer that is not live has no document");
  }
});

test("an offer that an earlier release stored with invisible characters is shown without them", async (t) => {
  const market = await openMarket(t);
  const seller = await market.approved();
  const id = await market.offer(seller, { title: "Blue sofa" });
  const hidden = "\u{e0049}\u{e0067}\ufe00\ufe01\ufe02";
  await market.sql`update market.offer set title = ${`Blue${hidden} sofa`}, text
    = ${`Blue sofa,\n18\u200b0 EUR${hidden} 👩‍🔧`} where id = ${id}`;
  const [{ document }] = (await market.sql`select document from search.document where id = ${id}`) as [
    { document: { document: { title: string; description: string }; content: { preview: { headline: string } } } },
  ];
  t.is(document.document.title, "Blue sofa");
  t.is(document.document.description, "Blue sofa,\n180 EUR 👩‍🔧");
  t.is(document.content.preview.headline, "Blue sofa");
  await market.sql`update market.offer set title = ${"\u200b"} where id = ${id}`;
  t.deepEqual(await stale(market), []);
});

test("the publisher's stored record follows counts, proofs and removals from earlier accounts", async (t) => {
  const market = await openMarket(t);
  await market.sql("update market.sign_in_method set available = true");
  const people = signing(market);
  const seller = await market.approved();
  const buyer = await market.approved();
  const id = await market.offer(seller);
  const shown = async () => (await market.call(buyer, "get_offer", { id })).publisher;
  t.like(await shown(), { verified: false, offers: { active: 1, lifetime: 1, removed: 0 } });

  const attempt = await people.begin({ purpose: "add", email: randomEmail(), session: seller.session });
  await people.finishMail(attempt, { code: attempt.code }, seller.session);
  t.like(await shown(), { verified: true });
  await market.sql`update market.account set prior_removals = array[${id}::uuid] where id = ${seller.account}`;
  t.like(await shown(), { offers: { active: 1, lifetime: 2, removed: 1 } });
  await market.sql`delete from market.proved_method where account_id = ${seller.account}`;
  t.like(await shown(), { verified: false });
  t.deepEqual(await stale(market), []);
});

test("facets and vector follow the offer and its vector", async (t) => {
  const market = await openMarket(t);
  const seller = await market.approved();
  const id = await market.offer(seller, { title: "Grey sofa", price: "180 EUR", place: "Leeds" });
  const found = async () => {
    const [row] = await market.sql`select facets::text, model from search.document where id = ${id}`;
    return row;
  };
  t.true((await found()).facets.includes("'leeds'"));
  await market.sql`update market.offer set location_text = 'Bristol', metadata = '{}', price_thousandths = 0
    where id = ${id}`;
  t.regex((await found()).facets, /'bristol'.*'price\/0'/);
  t.is((await found()).model, null);
  await market.embed("offer", id, vectorOf("sofa"));
  t.is((await found()).model, "builtin-meaning-1");
  await market.call(seller, "archive_offer", { id });
  t.is(await found(), undefined);
  await market.call(seller, "republish_offer", { id });
  t.is((await found()).model, "builtin-meaning-1", "its vector is not made a second time");
  t.deepEqual(await stale(market), []);
});

test("a change of an offer waits for a batch of vectors, and keeps the vector that the batch stores", async (t) => {
  const market = await openMarket(t);
  const id = await market.offer(await market.approved(), { vector: vectorOf("sofa") });
  await market.sql`insert into market.embedding_model (model) values ('another-model')`;
  const change = await market.value`insert into market.reembedding (model) values ('another-model') returning id`;
  const batch = JSON.stringify([{ kind: "offer", id, words: "x", embedding: vectorOf("settee") }]);
  const storing = await begun(market.url, "select jobs.store_batch($1, $2)", [change, batch]);
  const aging = market.sql`update market.offer set stale_at = now() where id = ${id}`;
  await blocked(market, "set stale_at", aging);
  await storing.end();
  await aging;
  t.deepEqual(await stale(market), []);
  t.is(await market.value`select model from search.document where id = ${id}`, "another-model");
});

test("an offer that becomes stale, and an ask that stops to watch, change no index by which they are found", async (t) => {
  const market = await openMarket(t);
  const seller = await market.approved();
  const words = "Solid oak, with many details about its condition, its age and where it stood. ".repeat(30);
  const id = await market.offer(seller, { title: "Grey sofa", words, vector: vectorOf("sofa") });
  const ask = await market.ask(seller, { title: "Wanted: settee", keywords: ["settee"], vector: vectorOf("sofa") });
  await withClient(market.url, async (client) => {
    await client.query("begin");
    await client.query("update market.offer set stale_at = now() where id = $1", [id]);
    await client.query("update market.ask set watch_enabled = false where id = $1", [ask]);
    const { rows } = await client.query(
      `select relname as name, n_tup_upd::integer as updates, n_tup_hot_upd::integer as hot from pg_stat_xact_user_tables
       where schemaname = 'search' order by 1`,
    );
    await client.query("rollback");
    t.deepEqual(rows, [
      { name: "ask", updates: 1, hot: 1 },
      { name: "document", updates: 1, hot: 1 },
    ]);
  });
});

test("a job mends documents that are not what the offers are now, in batches", async (t) => {
  const market = await openMarket(t);
  const seller = await market.approved();
  const buyer = await market.approved();
  const ids = [await market.offer(seller), await market.offer(seller), await market.offer(seller)];
  const ask = await market.ask(buyer, { title: "Wanted: settee", keywords: ["settee"] });
  const read = () => Promise.all(ids.map((id) => market.call(buyer, "get_offer", { id })));
  const before = await read();
  await market.sql`update search.document set document = '{}', facets = '' where id <> ${ids[0]}`;
  await market.sql`delete from search.document where id = ${ids[1]}`;

  await market.sql`delete from search.ask where id = ${ask}`;
  await market.sql`insert into search.document
    select (jsonb_populate_record(d, jsonb_build_object('id', internal.uuid_v7()))).* from search.document d limit 1`;

  const next = async () => {
    const [job] = await market.sql`delete from graphile_worker._private_jobs where key like 'build_documents:%'
      returning payload ->> 'id' as id`;
    return market.work("build_documents", job.id, BATCH);
  };
  await market.work("check_invariants", 1000);
  t.deepEqual(await next(), { looked_at: 2, built: 1, finished: false });
  t.deepEqual(await next(), { looked_at: 2, built: 2, finished: false });
  t.deepEqual(await next(), { looked_at: 0, built: 0, finished: true });
  t.deepEqual(await market.sql`select id from search.ask`, [{ id: ask }]);
  t.deepEqual((await market.sql`select id from search.document`).length, ids.length);
  t.deepEqual(await stale(market), []);
  t.deepEqual(await read(), before, "updated_at, too: building a document is no change of the offer");
});
