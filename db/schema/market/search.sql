-- Finding offers. Filters are hard, the rest ranks: candidates by words and candidates by vector are capped, ranked each
-- on its own, and fused by reciprocal rank (Cormack, Clarke and Buettcher 2009, k = 60).
--
-- These run as their owner, because text search and vector operators are not leakproof: under row-level security
-- PostgreSQL would not use their indexes. So each states the visibility rule itself: status = 'published', and nothing of an
-- account that is being hidden.

create or replace function market.read_place(places jsonb) returns tsquery
  language plpgsql stable
as $$
begin
  return (
    select string_agg('(' || q.place::text || ')', ' | ')::tsquery
    from (
      -- Once, though a city is mostly written as it is called: the planner takes what is asked twice for twice as common.
      select distinct n.name from jsonb_array_elements(coalesce(places, '[]')) as p
      cross join unnest(array[p ->> 'city', p ->> 'text']) as n (name)) as n
    cross join lateral (select market.place_query(n.name) as place) as q
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
  depth integer
)
  returns table (offer_id uuid, score double precision)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  -- Per term of the query: what is it, what names it in a title, what only lies in its category, how much it counts.
  terms tsquery[];
  titled tsquery[];
  classes tsquery[];
  weights real[];
  whole real;
  every tsquery;
  some_of tsquery;
  -- What was read from the query.
  in_domain text := reading ->> 'domain';
  in_category text := reading ->> 'category';
  of_kind text := reading -> 'offer_kind' ->> 'value';
  at_most bigint := round((reading -> 'price' ->> 'max')::numeric * 100);
  at_least bigint := round((reading -> 'price' ->> 'min')::numeric * 100);
  in_currency text := reading -> 'price' ->> 'currency';
  per text := reading -> 'price' ->> 'period';
  there tsquery := market.read_place(reading -> 'places');
  countries text[] := array(select p ->> 'country' from jsonb_array_elements(coalesce(reading -> 'places', '[]')) as p where p ? 'country');
  conditions market.conditions := market.conditions_of(filters, as_of, searcher);
  local market.conditions;
  by_words uuid[];
  near public.halfvec := search_offers.embedding;
  floor real;
  share real;
  by_letters boolean;
  -- When fewer have every word, those that have some are looked at, too: two pages.
  enough constant integer := 20;
  hidden uuid[] := market.accounts_being_hidden();
begin
  select m.search_floor, m.search_share, m.by_letters into floor, share, by_letters from market.embedding_model m where m.model = search_offers.model;
  select array_agg(t.forms order by t.n), array_agg(t.titled order by t.n), array_agg(t.classes order by t.n),
    array_agg(t.weight order by t.n), sum(t.weight),
    string_agg('(' || coalesce(t.forms || t.classes, t.forms)::text || ')', ' & ') filter (where t.weight >= 1)::tsquery,
    coalesce(string_agg(coalesce(t.forms || t.classes, t.forms)::text, ' | ') filter (where t.weight >= 2),
      string_agg(t.forms::text, ' | '))::tsquery
  into terms, titled, classes, weights, whole, every, some_of
  from (
    -- What the thing is for, as the child in "bike for my child", only tells which of the things come first.
    select t.n, t.forms, t.titled, t.classes,
      case when t.words <@ market.text_array(reading -> 'asides') then 0.3 * t.weight else t.weight end::real as weight
    from market.query_terms(coalesce(nullif(reading ->> 'words', ''), query), reading ->> 'language', coalesce(reading -> 'corrections', '{}')) as t) as t;
  -- When nothing has every word, at least what is named has to be there, or lie in its category.
  some_of := coalesce(some_of || market.any_lexeme(array[in_domain || '/' || in_category]), some_of);
  if reading -> 'offer_kind' ->> 'certain' = 'true' then
    conditions.kinds := coalesce(conditions.kinds, array[of_kind]);
  end if;
  if at_most = 0 and conditions.price_max is null then
    -- Who wants it for nothing wants whatever is free.
    conditions.price_max := 0;
    some_of := null;
  end if;
  local := conditions;
  local.place := coalesce(local.place, there);
  by_words := market.worded_candidates(coalesce(every, some_of), local, depth);
  -- A name that nobody knows, and that is there as it is written: what else has its letters is something else.
  if by_letters and cardinality(by_words) > 0 and 2 > all (weights) and in_domain is null then
    near := null;
    share := 0;
  end if;
  if cardinality(by_words) < enough and some_of is distinct from every then
    by_words := by_words || market.worded_candidates(some_of, local, depth);
  end if;
  if cardinality(by_words) < enough and there is not null then
    -- Those of which nobody knows the city.
    by_words := by_words || market.worded_candidates(some_of, conditions, depth);
  end if;

  return query
  with worded as (
    select c.id, row_number() over (order by c.strength desc, c.density desc, c.id desc) as rank
    from (
      select o.id, r.density, r.coverage + least(r.density, 1) * 0.1 + 0.3 * a.place + 0.1 * a.price
        + market.class_agreement(o, in_domain, in_category, of_kind) as strength
      from market.offer o
      -- search || '' is a copy out of the compressed row: each term would unpack it anew, which was half of the ranking.
      cross join lateral (select o.search || '' as search offset 0) as w
      cross join lateral (
        select sum(weights[i] * case when w.search @@ titled[i] then 1 when w.search @@ terms[i] then 0.8
            when w.search @@ classes[i] then 0.25 else 0 end) / whole as coverage,
          sum(ts_rank('{0.1, 0.2, 0.5, 1.0}', w.search, terms[i], 1)) as density
        from generate_subscripts(terms, 1) as i) as r
      cross join lateral (
        select market.place_agreement(o, there, countries) as place,
          market.price_agreement(o, at_most, at_least, in_currency, per) as price) as a
      where o.id = any (by_words) and a.place is not null and a.price is not null
        and (hidden is null or (o.account_id = any (hidden)) is not true)) as c
  ), similar_to as (
    select n.offer_id as id, row_number() over (order by n.distance
      - 0.5 * market.class_agreement(o, in_domain, in_category, of_kind) - 0.05 * a.price, n.offer_id desc) as rank
    from market.near_candidates(near, search_offers.model, local) as n
    join market.offer o on o.id = n.offer_id
    cross join lateral (select market.price_agreement(o, at_most, at_least, in_currency, per) as price) as a
    where 1 - n.distance >= floor and a.price is not null
      and (hidden is null or (o.account_id = any (hidden)) is not true)
  )
  select coalesce(w.id, s.id),
    -- 0 to 1: first in both lists is 1.
    (coalesce(1.0 / (60 + w.rank), 0) + coalesce(share / (60 + s.rank), 0))::double precision / ((1 + coalesce(share, 0)) / 61)
  from worded w full join similar_to s on s.id = w.id;
end
$$;
comment on function market.search_offers(text, jsonb, jsonb, public.halfvec, text, timestamptz, uuid, integer) is
  'Published offers that pass the filters and answer the query, as it was read, by words or by meaning, with a relevance of 0 to 1. About `depth` by words and 40 by vector.';

create or replace function market.browse_offers(
  filters jsonb, as_of timestamptz, searcher uuid, sort text, after jsonb, candidates integer
)
  returns table (offer_id uuid, sort_key numeric)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
  set plan_cache_mode = 'force_custom_plan'
as $$
declare
  conditions market.conditions := market.conditions_of(filters, as_of, searcher);
  -- Prices go with categories: by the index of prices the cheapest of 7,000 flats came after all that is cheaper (160 ms
  -- on 100,000 offers), sorted after the filter it takes 15 ms. The sum keeps the planner from that index.
  narrowed boolean := conditions.domains is not null or conditions.categories is not null or conditions.place is not null;
  after_id uuid := (after ->> 'id')::uuid;
  after_time timestamptz := (after ->> 'time')::timestamptz;
  after_price bigint := (after ->> 'price')::bigint;
  hidden uuid[] := market.accounts_being_hidden();
begin
  if sort = 'newest' then
    return query
    select o.id, extract(epoch from o.published_at) from market.offer o
    where market.passes(o, conditions)
      and (hidden is null or (o.account_id = any (hidden)) is not true)
      and (after is null or (o.published_at, o.id) < (after_time, after_id))
    order by o.published_at desc, o.id desc limit candidates;
  elsif sort = 'price_asc' then
    return query
    select o.id, o.price_hundredths::numeric from market.offer o
    where market.passes(o, conditions)
      and (hidden is null or (o.account_id = any (hidden)) is not true)
      and o.price_hundredths is not null
      and (after is null or (o.price_hundredths, o.id) > (after_price, after_id))
    order by case when narrowed then o.price_hundredths + 0 else o.price_hundredths end, o.id limit candidates;
  else
    return query
    select o.id, o.price_hundredths::numeric from market.offer o
    where market.passes(o, conditions)
      and (hidden is null or (o.account_id = any (hidden)) is not true)
      and o.price_hundredths is not null
      and (after is null or (o.price_hundredths, o.id) < (after_price, after_id))
    order by case when narrowed then o.price_hundredths + 0 else o.price_hundredths end desc, o.id desc limit candidates;
  end if;
end
$$;
comment on function market.browse_offers(jsonb, timestamptz, uuid, text, jsonb, integer) is
  'Published offers that pass the filters, without a query, in the order asked for, after a position.';
