import test from "ava";
import { openMarket } from "./market.ts";
import { readsOf } from "./reads.ts";

/** Facets: exact up to ten thousand offers, and counted on a sample beyond. */

const NAMES = ["category", "offer_kind", "price", "condition", "location"];

test("values are counted exactly up to ten thousand offers, and on a marked sample beyond", async (t) => {
  const market = await openMarket(t);
  await market.sql`with off as materialized (select set_config('session_replication_role', 'replica', true))
    insert into market.offer (status, text, title, published_at, domain, category, offer_kind, price_thousandths,
      price_currency, metadata)
    select 'published', 'For sale', case when n <= 10000 then 'sofa lamp' else 'sofa' end, now() - n * interval
      '1 minute',
      'home_garden', case when n % 4 = 0 then 'decor' else 'furniture' end, 'sale', n % 3 * 100000, 'EUR',
      jsonb_build_object('condition', 'new', 'location', jsonb_build_object('city', 'Town ' || n % 30))
    from off, generate_series(1, 16000) as n`;
  await market.sql("vacuum analyze search.document");
  const facets = async (words: string | null, filters = {}) =>
    market.value`select search.count_facets(${words}, search.to_search_filter(${filters}, now(), null, null),
        '{}', ${NAMES}) as facets`;
  const exact = await facets("lamp");
  t.deepEqual(exact.category, [
    { value: "furniture", count: 7500 },
    { value: "decor", count: 2500 },
  ]);
  t.deepEqual(
    exact.price.toSorted((a: { value: string }, b: { value: string }) => (a.value < b.value ? -1 : 1)),
    [
      { value: "100-200 EUR", count: 3334 },
      { value: "200-500 EUR", count: 3333 },
      { value: "free", count: 3333 },
    ],
  );
  t.is(exact.location.length, 20);
  t.is((await facets("lamp", { category: "decor" })).category[0].count, 2500);
  t.deepEqual(await facets("missing"), { category: [], offer_kind: [], price: [], condition: [], location: [] });

  for (const sampled of [await facets("sofa"), await facets(null, { offer_kind: "sale" })]) {
    const [most] = sampled.category;
    t.is(most.value, "furniture");
    t.true(most.approximate);
    // 12,000 of 16,000; the sample has about 1,000 offers, so it is wrong by a fifth once in a hundred million times.
    t.true(Math.abs(most.count - 12000) < 2400, String(most.count));
  }
});

test("facets of what few offers pass look at a part of a large market, and the answer says so", async (t) => {
  const market = await openMarket(t);
  const seeker = await market.approved();
  await market.sql`with off as materialized (select set_config('session_replication_role', 'replica', true))
    insert into market.offer (status, text, title, published_at, domain, category, offer_kind, price_thousandths,
        price_currency)
    select 'published', 'For sale', case when n % 80 = 0 then 'rare sofa' else 'sofa' end,
      now() - n * interval '1 minute', 'home_garden', 'furniture', 'sale', case when n % 400 = 0 then 64000 else 50000 end, 'EUR'
    from off, generate_series(1, 16000) as n`;
  await market.sql("vacuum analyze search.document");
  // A market of 16,000 offers in which a search looks at 500 is like one of more than a million.
  await market.sql`create or replace function search.most_looked() returns integer language sql immutable parallel safe
    as 'select 500'`;
  // Both prices are in one bucket of the index.
  const FEW = { price: { min: 60 } };
  /** The counts, and how many offers were read for them. */
  const count = async (words: string | null, filters: object) => {
    let facets = {};
    const { rows: read } = await readsOf(market.url, "search.document", seeker.account, async (client) => {
      const { rows } = await client.query(
        "select search.count_facets($1, search.to_search_filter($2, now(), null, null), '{}', '{category}') as facets",
        [words, filters],
      );
      facets = rows[0].facets;
    });
    return { facets, read };
  };
  const notices = async (request: object) => {
    const answer = await market.call(seeker, "search_offers", {
      request: { facets: ["category"], ...request },
      model: "builtin-meaning-1",
    });
    t.deepEqual(Object.keys(answer.facets), ["category"]);
    return answer.notices.map(({ code }: { code: string }) => code);
  };
  for (const words of [null, "sofa"]) {
    const { facets, read } = await count(words, FEW);
    t.like(facets, { is_partial: true });
    t.true(read < 2000, `${words}: ${read}`);
  }
  t.deepEqual(await notices({ query: "sofa", filters: FEW }), ["partly_looked"]);
  // The words leave few, so all of these are looked at.
  t.deepEqual((await count("rare", FEW)).facets, { category: [{ value: "furniture", count: 40 }] });
  t.deepEqual(await notices({ query: "rare", filters: FEW }), []);
  t.deepEqual((await count("missing", {})).facets, { category: [] });
});
