import test from "ava";
import { market } from "./one_market.ts";

/**
 * Which offers become candidates: reading the index in spans of time, newest first, must select what a full scan
 * selects.
 *
 *   crowd   800 offers, an hour to six years old. Each word, place, kind and price is common, rare or in between
 */

const OFFERS = 800;
/** Parsed queries. Other tests cover how a query is parsed. */
const WORDS = ["sofa", "sofa & grey", "sofa | lamp", "grey & !lamp", "rare", "missing"];
const FILTERS = [
  {},
  { location: "Bristol" },
  { location: "Nowhere" },
  { domain: ["home_garden", "vehicles"], offer_kind: "sale" },
  { category: "cars", price: { max: 90, currency: "EUR" } },
  { price: { min: 64, max: 64 } },
  { price: { max: 0, currency: "GBP" } },
  { price: { currency: "GBP" } },
  { posted_since: new Date(Date.now() - 40 * 24 * 3600 * 1000).toISOString().slice(0, 10), location: "Bristol" },
  { posted_since: "2999-01-01" },
  { reviewed: true },
];
const DEPTHS = [1, 20, 100];

const fillCrowd = async (): Promise<void> => {
  await market.sql(
    `with off as materialized (select set_config('session_replication_role', 'replica', true))
     insert into market.offer (status, text, title, published_at, domain, category, offer_kind, location_text, reviewed,
       price_thousandths, price_currency)
     select case when n % 50 = 0 then 'archived' else 'published' end, 'For sale',
       concat_ws(' ', 'sofa', case when n % 3 = 0 then 'grey' end, case when n % 7 = 0 then 'lamp' end, case when n % 200 = 1 then 'rare' end),
       -- Many offers of today, and few of each earlier year.
       now() - interval '1 hour' * (1 + 50000 * (n / 800.0) ^ 4),
       case n % 4 when 0 then 'vehicles' else 'home_garden' end, case n % 4 when 0 then 'cars' else 'furniture' end,
       case n % 5 when 0 then 'rental' else 'sale' end, case when n % 11 = 0 then 'Bristol' when n % 2 = 0 then 'Leeds' end, n % 31 = 0,
       case when n % 6 > 0 then n % 200 * 1000 end, case when n % 6 > 0 then case n % 3 when 1 then 'GBP' else 'EUR' end end
     from off, generate_series(1, ${OFFERS}) as n`,
  );
  await market.sql`insert into market.offer_embedding (offer_id, model, embedding)
    select o.id, 'builtin-meaning-1', public.l2_normalize((
      -- Four waves, shifted by the row's id: like vectors of texts, offers differ in a few ways. Vectors that differ in all
      -- 512 numbers are about equally far from each other, and the index finds their neighbours only by chance.
      select array_agg(w.value order by w.k)
      from (
        select k, sum(sin(k * wave + get_byte(uuid_send(o.id), 11 + wave))) as value
        from generate_series(1, 512) as k, generate_series(1, 4) as wave group by k) as w
      )::public.vector::public.halfvec)
    from market.offer o where o.status = 'published'`;
  await market.sql("vacuum analyze search.document");
};

test.before(async () => {
  await fillCrowd();
});

test.serial("candidates by words are the newest offers that have them and pass the filters", async (t) => {
  for (const words of WORDS) {
    for (const filters of FILTERS) {
      const rows = await market.sql<{ depth: number; found: string[]; expected: string[] }>`with c as (select
          search.to_search_filter(${filters}, now(), null, null) as conditions),
          a as materialized (select search.facet_query(c.conditions) as asked from c)
          select d.depth, search.lexical_candidates(${words}, c.conditions, d.depth) as found,
            array(select o.id from search.document o where o.words @@ ${words}::tsquery
              and search.matches_filter(o, c.conditions, a.asked)
              order by o.published_at desc, o.id desc limit d.depth) as expected
          from c, a, unnest(${DEPTHS}::integer[]) as d (depth)`;
      for (const { depth, found, expected } of rows) {
        t.deepEqual(found, expected, `${words} ${JSON.stringify(filters)} ${depth}`);
      }
    }
  }
  const [some] = await market.sql`select cardinality(search.lexical_candidates('rare', search.to_search_filter('{}',
      now(), null, null), 100)) as count`;
  t.true(some.count > 2);
});

test.serial("the cheapest and the dearest with some words are those of all offers", async (t) => {
  for (const words of WORDS) {
    for (const filters of FILTERS) {
      const [row] = await market.sql`with c as (select
          search.to_search_filter(${filters}, now(), null, null) as conditions),
          a as materialized (select search.facet_query(c.conditions) as asked from c)
          select (search.list_offers(${words}, c.conditions, 'price_asc', 20)).ids as cheapest,
            (search.list_offers(${words}, c.conditions, 'price_desc', 20)).ids as dearest,
            array(select d.id from search.document d where d.words @@ ${words}::tsquery
              and search.matches_filter(d, c.conditions, a.asked) and d.price_thousandths is not null
              order by d.price_thousandths, d.id limit 20) as low,
            array(select d.id from search.document d where d.words @@ ${words}::tsquery
              and search.matches_filter(d, c.conditions, a.asked) and d.price_thousandths is not null
              order by d.price_thousandths desc, d.id desc limit 20) as high
          from c, a`;
      t.deepEqual([row.cheapest, row.dearest], [row.low, row.high], `${words} ${JSON.stringify(filters)}`);
    }
  }
});

test.serial("a search by vector with a filter finds the nearest of all offers that pass", async (t) => {
  for (const filters of FILTERS.slice(1)) {
    const [row] = await market.sql`with c as (select search.to_search_filter(${filters}, now(), null, null) as
      conditions, e.embedding as near from market.offer_embedding e order by e.offer_id limit 1),
      a as materialized (select search.facet_query(c.conditions) as asked from c)
      select array(select n.offer_id from c, search.nearest_offers(c.near, 'builtin-meaning-1', c.conditions) as n) as
        found,
        array(select d.id from c, a, search.document d
          where search.matches_filter(d, c.conditions, a.asked)
          order by d.embedding operator(public.<=>) c.near, d.id desc limit 20) as expected`;
    t.deepEqual(row.found, row.expected, JSON.stringify(filters));
  }
});

test.serial("a place whose text equals its city is searched for once", async (t) => {
  const [row] = await market.sql`select search.any_place_query('[{"city": "Berlin", "text": "Berlin"}]')::text as same,
    search.place_query('Berlin')::text as once,
    search.any_place_query('[{"city": "Berlin", "text": "Kreuzberg"}]')::text as both`;
  t.is(row.same, row.once);
  t.true(row.both.includes("berlin") && row.both.includes("kreuzberg"));
});

test.serial("in a large market, index and comparison together find the nearest offers that pass", async (t) => {
  // The planner's estimates say how large the market is. So this one takes the ways of a market of 100,000 offers.
  await market.sql`update pg_class set reltuples = 100000 where oid = 'search.document'::regclass`;
  for (const filters of FILTERS) {
    const [row] = await market.sql<{ recall: number | null }>`with c as materialized (select
        search.to_search_filter(${filters}, now(), null, null) as conditions),
          a as materialized (select search.facet_query(c.conditions) as asked from c),
          queries as materialized (select e.embedding as near from market.offer_embedding e
            order by md5(e.offer_id::text) limit 10),
          lists as (
            select array(select n.offer_id from search.nearest_offers(q.near, 'builtin-meaning-1', c.conditions) as n
              limit 10) as found,
              array(select d.id from search.document d
                where search.matches_filter(d, c.conditions, a.asked)
                order by d.embedding operator(public.<=>) q.near, d.id desc limit 10) as nearest
            from c, a, queries q)
        select avg((select count(*) from unnest(b.nearest) as id
          where id = any (b.found))::float / cardinality(b.nearest)) as recall
        from lists b where b.nearest <> '{}'`;
    t.true(row?.recall === null || (row?.recall ?? 0) >= 0.97, `${JSON.stringify(filters)} ${row?.recall}`);
  }
});

test.serial("a list that few of the offers pass looks at a part of the market, and says so", async (t) => {
  const seeker = await market.approved();
  const near = { lat: 52.5, lon: 13.4, radius_km: 500 };
  await market.sql`update market.offer set metadata = jsonb_build_object('location',
    jsonb_build_object('point', jsonb_build_object('lat', 52.5, 'lon', 13.4 + random())))`;
  const answer = async (sort: string, filters: object) => {
    const { results, notices } = await market.call(seeker, "search_offers", {
      request: { filters: sort === "distance" ? { ...filters, near } : filters, sort, limit: 50 },
      model: "builtin-meaning-1",
    });
    return { found: results.length, partly: notices.some(({ code }: { code: string }) => code === "partly_looked") };
  };
  const few = { price: { min: 60, max: 63, currency: "EUR" } };
  const SORTS = ["newest", "price_asc", "price_desc", "distance"];
  const whole = await Promise.all(SORTS.map((sort) => answer(sort, few)));
  for (const [n, { found, partly }] of whole.entries()) t.true(found > 5 && !partly, SORTS[n]);
  // A market of 800 offers in which a list looks at 20 is like one of 2,000,000.
  await market.sql`create or replace function search.most_looked() returns integer language sql immutable parallel safe
    as 'select 20'`;
  for (const [n, sort] of SORTS.entries()) {
    const { found, partly } = await answer(sort, few);
    t.true(partly && found < (whole[n]?.found ?? 0), `${sort} ${found}`);
    t.false(
      (await answer(sort, { ...few, location: "Nowhere" })).partly,
      `${sort}: the index knows that there is none`,
    );
  }
});
