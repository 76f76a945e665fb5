-- Finding offers. Filters are hard, the rest ranks: candidates by words and candidates by vector are capped, ranked each
-- on its own, and fused by reciprocal rank (Cormack, Clarke and Buettcher 2009, k = 60).
--
-- These run as their owner, because text search and vector operators are not leakproof: under row-level security
-- PostgreSQL would not use their indexes. So each states the visibility rule itself: status = 'published'.

create or replace function market.read_place(places jsonb) returns tsquery
  language plpgsql stable
as $$
begin
  return (
    select string_agg('(' || q.place::text || ')', ' | ')::tsquery
    from jsonb_array_elements(coalesce(places, '[]')) as p,
    lateral (select market.place_query(coalesce(p ->> 'city', p ->> 'text')) as place) as q
    where q.place::text <> '');
end
$$;
comment on function market.read_place(jsonb) is 'Any of the places read from a query, as a query of market.offer.place; null when there is none.';

create or replace function market.search_offers(
  query text,
  reading jsonb,
  filters jsonb,
  embedding public.halfvec,
  model text,
  as_of timestamptz,
  searcher uuid,
  candidates integer
)
  returns table (offer_id uuid, score double precision)
  language plpgsql stable security definer set search_path = ''
  -- Scan on until enough pass the filters, else HNSW returns too few without saying so.
  set hnsw.iterative_scan = 'relaxed_order'
  set hnsw.ef_search = 100
  -- The plan depends on which filters are there.
  set plan_cache_mode = 'force_custom_plan'
as $$
declare
  terms tsquery[];
  classes tsquery[];
  weights real[];
  whole real;
  every tsquery;
  things tsquery;
  some_of tsquery;
  category tsquery := market.any_lexeme(array[(reading ->> 'domain') || '/' || (reading ->> 'category')]);
  wanted_place tsquery := market.place_query(filters ->> 'location');
  read_place tsquery := market.read_place(reading -> 'places');
  read_countries text[] := array(select p ->> 'country' from jsonb_array_elements(coalesce(reading -> 'places', '[]')) as p where p ->> 'country' is not null);
  read_price jsonb := nullif(reading -> 'price', 'null');
  read_kind text := reading -> 'offer_kind' ->> 'value';
  domains text[] := market.text_array(filters -> 'domain');
  categories text[] := market.text_array(filters -> 'category');
  kinds text[] := market.text_array(filters -> 'offer_kind');
  price jsonb := coalesce(filters -> 'price', '{}');
  price_min bigint := round((price ->> 'min')::numeric * 100);
  price_max bigint := round((price ->> 'max')::numeric * 100);
  floor real;
  share real;
  depth integer := least(greatest(candidates, 100), 1000);
begin
  select m.search_floor, m.search_share into floor, share from market.embedding_model m where m.model = search_offers.model;
  select array_agg(t.forms order by t.n), array_agg(t.classes order by t.n), array_agg(t.weight order by t.n), sum(t.weight),
    string_agg('(' || (t.forms || coalesce(t.classes, ''))::text || ')', ' & ') filter (where t.weight >= 1)::tsquery,
    string_agg((t.forms || coalesce(t.classes, ''))::text, ' | ') filter (where t.weight >= 2)::tsquery,
    string_agg(t.forms::text, ' | ')::tsquery
  into terms, classes, weights, whole, every, things, some_of
  from market.query_terms(coalesce(nullif(reading ->> 'words', ''), query), reading ->> 'language', coalesce(reading -> 'corrections', '{}')) as t;
  every := coalesce(every, some_of);
  -- When nothing has every word, at least what is named has to be there, or lie in its category.
  some_of := coalesce(things, some_of) || coalesce(category, '');
  if reading -> 'offer_kind' ->> 'certain' = 'true' and kinds is null then
    kinds := array[read_kind];
  end if;
  return query
  -- search || '' is a copy out of the compressed row: each term would unpack it anew, which was half of the ranking.
  with every_word as materialized (
    select o.id, o.search || '' as search, o as offer from market.offer o
    where every is not null and o.search @@ every and market.passes(o, as_of, domains, categories, kinds, price_min, price_max,
      price ->> 'currency', price ->> 'period', coalesce(wanted_place, read_place), filters, searcher)
    limit 2 * depth
  ), some_word as materialized (
    select o.id, o.search || '' as search, o as offer from market.offer o
    where some_of is not null and o.search @@ some_of
      -- Only when too few have every word, since many offers have some word of a query.
      and (select count(*) from every_word) < 20
      and market.passes(o, as_of, domains, categories, kinds, price_min, price_max,
        price ->> 'currency', price ->> 'period', wanted_place, filters, searcher)
    limit 2 * depth
  ), worded as (
    select c.id, c.strength, row_number() over (order by c.strength desc, c.weight desc, c.id desc) as rank
    from (
      select w.id, r.weight, g.place, g.price,
        r.coverage
          + case when w.search @@ category then 0.5 when (w.offer).domain = reading ->> 'domain' then 0.2 else 0 end
          + case when (w.offer).offer_kind = read_kind then 0.15 else 0 end
          + 0.3 * g.place + 0.1 * g.price + least(r.weight, 1) * 0.1 as strength
      from (
        select e.id, e.search, e.offer from every_word e
        union all
        select s.id, s.search, s.offer from some_word s where not exists (select from every_word e where e.id = s.id)) as w
      cross join lateral (
        select sum(weights[i] * case when w.search @@ terms[i] then 1 when w.search @@ classes[i] then 0.4 else 0 end) / whole as coverage,
          sum(ts_rank('{0.1, 0.2, 0.5, 1.0}', w.search, terms[i], 1)) as weight
        from generate_subscripts(terms, 1) as i) as r
      cross join lateral (
        select market.place_agreement(w.offer, read_place, read_countries) as place, market.price_agreement(w.offer, read_price) as price) as g
      where g.place is not null and g.price is not null) as c
    order by rank limit depth
  ), near as materialized (
    select e.offer_id, e.embedding operator(public.<=>) search_offers.embedding as distance, o as offer
    from market.offer_embedding e join market.offer o on o.id = e.offer_id
    where search_offers.embedding is not null and e.model = search_offers.model
      and market.passes(o, as_of, domains, categories, kinds, price_min, price_max,
        price ->> 'currency', price ->> 'period', wanted_place, filters, searcher)
    order by e.embedding operator(public.<=>) search_offers.embedding
    limit 100
  ), similar_to as (
    select n.offer_id as id, row_number() over (order by n.distance
        - case when (n.offer).domain = reading ->> 'domain' and (n.offer).category = reading ->> 'category' then 0.2 else 0 end
        - 0.1 * g.place - 0.05 * g.price, n.offer_id desc) as rank
    from near n
    cross join lateral (
      select market.place_agreement(n.offer, read_place, read_countries) as place, market.price_agreement(n.offer, read_price) as price) as g
    where 1 - n.distance >= floor and g.place is not null and g.price is not null
  )
  select coalesce(w.id, s.id),
    -- 0 to 1: first in both lists is 1.
    (coalesce(1.0 / (60 + w.rank), 0) + share * coalesce(1.0 / (60 + s.rank), 0))::double precision / ((1 + share) / 61)
  from worded w full join similar_to s on s.id = w.id;
end
$$;
comment on function market.search_offers(text, jsonb, jsonb, public.halfvec, text, timestamptz, uuid, integer) is
  'Published offers that pass the filters and answer the query, as it was read, by words or by meaning, with a relevance of 0 to 1. At most `candidates` by words and 100 by vector.';

create or replace function market.browse_offers(
  filters jsonb, as_of timestamptz, searcher uuid, sort text, after jsonb, candidates integer
)
  returns table (offer_id uuid, sort_key numeric)
  language plpgsql stable security definer set search_path = ''
  set plan_cache_mode = 'force_custom_plan'
as $$
declare
  wanted_place tsquery := market.place_query(filters ->> 'location');
  domains text[] := market.text_array(filters -> 'domain');
  categories text[] := market.text_array(filters -> 'category');
  kinds text[] := market.text_array(filters -> 'offer_kind');
  price jsonb := coalesce(filters -> 'price', '{}');
  price_min bigint := round((price ->> 'min')::numeric * 100);
  price_max bigint := round((price ->> 'max')::numeric * 100);
  -- Prices go with categories: by the index of prices the cheapest of 7,000 flats came after all that is cheaper (160 ms
  -- on 100,000 offers), sorted after the filter it takes 15 ms. The sum keeps the planner from that index.
  narrowed boolean := domains is not null or categories is not null or wanted_place is not null;
  after_id uuid := (after ->> 'id')::uuid;
  after_time timestamptz := (after ->> 'time')::timestamptz;
  after_price bigint := (after ->> 'price')::bigint;
begin
  if sort = 'newest' then
    return query
    select o.id, extract(epoch from o.published_at) from market.offer o
    where market.passes(o, as_of, domains, categories, kinds, price_min, price_max,
        price ->> 'currency', price ->> 'period', wanted_place, filters, searcher)
      and (after is null or (o.published_at, o.id) < (after_time, after_id))
    order by o.published_at desc, o.id desc limit candidates;
  elsif sort = 'price_asc' then
    return query
    select o.id, o.price_hundredths::numeric from market.offer o
    where market.passes(o, as_of, domains, categories, kinds, price_min, price_max,
        price ->> 'currency', price ->> 'period', wanted_place, filters, searcher)
      and o.price_hundredths is not null
      and (after is null or (o.price_hundredths, o.id) > (after_price, after_id))
    order by case when narrowed then o.price_hundredths + 0 else o.price_hundredths end, o.id limit candidates;
  else
    return query
    select o.id, o.price_hundredths::numeric from market.offer o
    where market.passes(o, as_of, domains, categories, kinds, price_min, price_max,
        price ->> 'currency', price ->> 'period', wanted_place, filters, searcher)
      and o.price_hundredths is not null
      and (after is null or (o.price_hundredths, o.id) < (after_price, after_id))
    order by case when narrowed then o.price_hundredths + 0 else o.price_hundredths end desc, o.id desc limit candidates;
  end if;
end
$$;
comment on function market.browse_offers(jsonb, timestamptz, uuid, text, jsonb, integer) is
  'Published offers that pass the filters, without a query, in the order asked for, after a position.';
