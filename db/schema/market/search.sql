-- Finding offers. Filters are hard, the rest ranks: candidates by words and candidates by vector are capped, ranked each
-- on its own, and fused by reciprocal rank (Cormack, Clarke and Buettcher 2009, k = 60).
--
-- These run as their owner, because text search and vector operators are not leakproof: under row-level security
-- PostgreSQL would not use their indexes. So each states the visibility rule itself: status = 'published'.

create or replace function market.any_lexeme(lexemes text[]) returns tsquery
  language plpgsql immutable
as $$
begin
  return (select string_agg('''' || replace(replace(l, '\', '\\'), '''', '''''') || '''', ' | ')::tsquery from unnest(lexemes) as l);
end
$$;
comment on function market.any_lexeme(text[]) is 'A tsquery for any of the lexemes.';

create or replace function market.query_terms(query text)
  returns table (forms tsquery, forms_and_classes tsquery, names_thing boolean, n integer)
  language plpgsql stable
as $$
begin
  -- Per word its forms: itself and its stem in each language we know, since nobody says which one a query is in; and the
  -- categories that the vocabulary knows it for, so that a couch finds a sofa.
  -- Words that are stop words somewhere tell little, and are kept only when there is nothing else. At most 16 words count.
  return query
  with words as (
    select w.lexeme as word, w.positions[1] as n
    from unnest(to_tsvector('simple', market.fold(query))) as w
  ), alternatives as (
    select w.word, w.n,
      array(
        select distinct l.lexeme
        from unnest(array['english', 'german', 'french', 'spanish', 'italian', 'portuguese', 'dutch']) as c (config),
          lateral (
            select unnest(tsvector_to_array(to_tsvector(('pg_catalog.' || c.config)::regconfig, w.word))) as lexeme
            union all select w.word) as l) as forms,
      array(
        select distinct substr(v.sense, 10) from market.vocabulary v
        -- 2: the vocabulary's weight for words that name a thing, above those that only hint at it.
        where v.term in (w.word, rtrim(w.word, 's')) and v.sense like 'category:%' and v.weight >= 2) as classes,
      exists (
        select from unnest(array['english', 'german', 'french', 'spanish', 'italian', 'portuguese', 'dutch']) as c (config)
        where to_tsvector(('pg_catalog.' || c.config)::regconfig, w.word) = '') as stops
    from words w
  )
  select market.any_lexeme(a.forms), market.any_lexeme(a.forms || a.classes), a.classes <> '{}', a.n::integer
  from alternatives a
  where not a.stops or not exists (select from alternatives b where not b.stops)
  order by a.n limit 16;
end
$$;
comment on function market.query_terms(text) is
  'The words of a query: each as a tsquery of its forms, and of its forms and categories; whether it names a thing; its place.';

create or replace function market.words_query(phrases jsonb) returns tsquery
  language plpgsql stable
as $$
begin
  -- Any of the phrases; within a phrase the forms of every word.
  return (select string_agg(p.forms, ' | ')::tsquery
  from jsonb_array_elements_text(phrases) as phrase,
    lateral (select '(' || string_agg('(' || t.forms::text || ')', ' & ') || ')' as forms from market.query_terms(phrase) as t) as p
  where p.forms is not null);
end
$$;
comment on function market.words_query(jsonb) is 'A tsquery for any of several phrases, in all their word forms; null when there is none.';

create or replace function market.place_query(place text) returns tsquery
  language plpgsql stable
as $$
begin
  if place is null then
    return null;
  end if;
  -- Every word, but for "in" and the like; a country by its name in any language or by its code.
  return (
    with words as (
      select w.lexeme as word,
        array(
          select 'country/' || lower(substr(v.sense, 9)) from market.vocabulary v
          where v.term = w.lexeme and v.sense like 'country:%'
          union all select 'country/' || w.lexeme where w.lexeme ~ '^[a-z]{2}$') as countries,
        exists (
          select from unnest(array['english', 'german', 'french', 'spanish', 'italian', 'portuguese', 'dutch']) as c (config)
          where to_tsvector(('pg_catalog.' || c.config)::regconfig, w.lexeme) = '') as stops
      from unnest(to_tsvector('simple', market.fold(place))) as w
    )
    select coalesce(string_agg('(' || market.any_lexeme(w.word || w.countries)::text || ')', ' & '), '')::tsquery
    from words w where not w.stops or not exists (select from words o where not o.stops));
end
$$;
comment on function market.place_query(text) is 'A place as people write it, as a query of market.offer.place; one that holds no word matches nothing.';

create or replace function market.search_offers(
  query text,
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
  -- A word that names a thing counts as two: "couch in London" is about a couch.
  weights integer[];
  every tsquery;
  some_of tsquery;
  wanted_place tsquery := market.place_query(filters ->> 'location');
  domains text[] := market.text_array(filters -> 'domain');
  categories text[] := market.text_array(filters -> 'category');
  kinds text[] := market.text_array(filters -> 'offer_kind');
  price jsonb := coalesce(filters -> 'price', '{}');
  price_min bigint := round((price ->> 'min')::numeric * 100);
  price_max bigint := round((price ->> 'max')::numeric * 100);
  floor real := (select m.search_floor from market.embedding_model m where m.model = search_offers.model);
  depth integer := least(greatest(candidates, 100), 1000);
begin
  select array_agg(t.forms_and_classes order by t.n), array_agg(case when t.names_thing then 2 else 1 end order by t.n),
    string_agg('(' || t.forms_and_classes::text || ')', ' & ')::tsquery,
    -- When nothing has every word, at least what is named has to be there.
    coalesce(string_agg(t.forms_and_classes::text, ' | ') filter (where t.names_thing),
      string_agg(t.forms_and_classes::text, ' | '))::tsquery
  into terms, weights, every, some_of
  from market.query_terms(query) as t;
  return query
  -- search || '' is a copy out of the compressed row: each term would unpack it anew, which was half of the ranking.
  with every_word as materialized (
    select o.id, o.search || '' as search from market.offer o
    where every is not null and o.search @@ every and market.passes(o, as_of, domains, categories, kinds, price_min, price_max,
      price ->> 'currency', price ->> 'period', wanted_place, filters, searcher)
    limit 2 * depth
  ), some_word as materialized (
    select o.id, o.search || '' as search from market.offer o
    where some_of is not null and cardinality(terms) > 1 and o.search @@ some_of
      -- Only when too few have every word, since many offers have some word of a query.
      and (select count(*) from every_word) < 20
      and market.passes(o, as_of, domains, categories, kinds, price_min, price_max,
        price ->> 'currency', price ->> 'period', wanted_place, filters, searcher)
    limit 2 * depth
  ), worded as (
    select c.id, row_number() over (order by c.coverage desc, c.weight desc, c.id desc) as rank
    from (
      select w.id, r.coverage, r.weight
      from (
        select e.id, e.search from every_word e
        union all
        select s.id, s.search from some_word s where not exists (select from every_word e where e.id = s.id)) as w
      cross join lateral (
        select sum(weights[i]) filter (where w.search @@ terms[i]) as coverage,
          sum(ts_rank('{0.1, 0.2, 0.5, 1.0}', w.search, terms[i], 1)) as weight
        from generate_subscripts(terms, 1) as i) as r) as c
    order by rank limit depth
  ), near as materialized (
    select e.offer_id, e.embedding operator(public.<=>) search_offers.embedding as distance
    from market.offer_embedding e join market.offer o on o.id = e.offer_id
    where search_offers.embedding is not null and e.model = search_offers.model
      and market.passes(o, as_of, domains, categories, kinds, price_min, price_max,
        price ->> 'currency', price ->> 'period', wanted_place, filters, searcher)
    order by e.embedding operator(public.<=>) search_offers.embedding
    limit 100
  ), similar_to as (
    select n.offer_id as id, row_number() over (order by n.distance, n.offer_id desc) as rank
    from near n where 1 - n.distance >= floor
  )
  select coalesce(w.id, s.id),
    -- 0 to 1: first in both lists is 1.
    (coalesce(1.0 / (60 + w.rank), 0) + coalesce(1.0 / (60 + s.rank), 0))::double precision / (2.0 / 61)
  from worded w full join similar_to s on s.id = w.id;
end
$$;
comment on function market.search_offers(text, jsonb, public.halfvec, text, timestamptz, uuid, integer) is
  'Published offers that pass the filters and answer the query by words or by meaning, with a relevance of 0 to 1. At most `candidates` by words and 100 by vector.';

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
