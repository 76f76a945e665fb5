-- The search for offers by a query. An offer must pass every filter of the request. The values extracted from the query
-- affect the rank, and exclude an offer only if they are certain (agreement.sql). Candidates by words and by vector are
-- capped in number, and ranked together by one sum of words, values and similarity, with the weights of market.ranking.
--
-- A search runs with the rights of the functions' owner, because text search and vector operators are not leakproof:
-- under row-level security PostgreSQL would not use their indexes. So each query for offers must state the visibility
-- rule itself (search.matches_filter).

create or replace function search.search_offers(
  query text,
  extraction jsonb,
  c search.search_filter,
  embedding public.halfvec,
  model text,
  sort text,
  facets text[],
  out ids uuid[],
  out scores double precision[],
  out counts jsonb
)
  language plpgsql stable
  set plan_cache_mode = 'force_generic_plan'
as $$
declare
  weight constant market.ranking := (select r from market.ranking r where r.ranking = 'default');
  -- One element for each term of the query: queries for its forms, its forms in a title and its categories, and its
  -- weight.
  terms tsquery[];
  titled tsquery[];
  classes tsquery[];
  weights real[];
  whole real;
  every tsquery;
  some_of tsquery;
  -- The values that were extracted from the query.
  in_domain text := extraction ->> 'domain';
  in_category text := extraction ->> 'category';
  of_kind text := extraction -> 'offer_kind' ->> 'value';
  at_most bigint := round((extraction -> 'price' ->> 'max')::numeric * 100)::bigint;
  at_least bigint := round((extraction -> 'price' ->> 'min')::numeric * 100)::bigint;
  in_currency text := extraction -> 'price' ->> 'currency';
  per text := extraction -> 'price' ->> 'period';
  there tsquery := search.any_place_query(extraction -> 'places');
  countries text[] := array(select p ->> 'country'
    from jsonb_array_elements(coalesce(extraction -> 'places', '[]')) as p where p ? 'country');
  anywhere search.search_filter;
  candidates uuid[];
  min_similarity real;
  similarity_weight real := 0::real;
  -- The largest possible sum. Scores are shares of it.
  largest real;
  -- A list in another order than relevance has no second ranking, so it may be longer.
  depth constant integer := case sort when 'relevance' then 100 else 1000 end;
  -- Two pages of ten. If fewer offers contain every word of the query, offers that contain some of the words are added.
  enough constant integer := 20;
begin
  select array_agg(t.forms order by t.n), array_agg(t.titled order by t.n), array_agg(t.classes order by t.n),
    array_agg(t.weight order by t.n), sum(t.weight),
    string_agg('(' || coalesce(t.forms || t.classes, t.forms)::text || ')',
      ' & ') filter (where t.weight >= 1)::tsquery,
    coalesce(string_agg(coalesce(t.forms || t.classes, t.forms)::text, ' | ') filter (where t.weight >= 2),
      string_agg(t.forms::text, ' | '))::tsquery
  into terms, titled, classes, weights, whole, every, some_of
  from (
    -- Modifiers, such as "child" in "bike for my child", need not occur in an offer. They only affect the order.
    select t.n, t.forms, t.titled, t.classes,
      case when t.is_modifier then weight.modifier * t.weight else t.weight end::real as weight
    from search.query_terms(coalesce(nullif(extraction -> 'words', '[]'), search.as_written(query)),
      extraction ->> 'language') as t) as t;
  -- some_of finds offers that contain one of the things that the query names (terms of weight 2; if there are none, any
  -- term) or that are in the extracted category.
  some_of := coalesce(some_of || search.any_lexeme(array[in_domain || '/' || in_category]), some_of);
  if extraction -> 'offer_kind' ->> 'certain' = 'true' then
    c.kinds := coalesce(c.kinds, array[of_kind]);
  end if;
  if at_most = 0 and c.price_max is null then
    -- The query asks for free offers. If few of them contain every word, the newest free offers are added.
    c.price_max := 0;
    some_of := null;
  end if;
  anywhere := c;
  c.place := coalesce(c.place, there);
  candidates := case when sort = 'distance' then (search.closest_offers(coalesce(every, some_of), c, depth)).ids
    else search.lexical_candidates(coalesce(every, some_of), c, depth) end;
  if cardinality(candidates) < enough and some_of is distinct from every then
    candidates := candidates || search.lexical_candidates(some_of, c, depth);
    every := some_of || every;
  end if;
  if facets is not null then
    counts := search.count_facets(coalesce(every, some_of), c, extraction, facets);
  end if;
  if cardinality(candidates) < enough and there is not null then
    -- Add offers whose city is unknown. Offers that are known to be elsewhere are excluded below, by place_agreement.
    candidates := candidates || search.lexical_candidates(some_of, anywhere, depth);
  end if;
  if embedding is not null then
    select m.min_similarity, m.similarity_weight into min_similarity, similarity_weight
    from market.embedding_model m where m.model = search_offers.model;
    candidates := candidates || array(
      select n.offer_id from search.nearest_offers(embedding, model, c) as n where 1 - n.distance >= min_similarity);
  end if;

  largest := weight.in_title + weight.density + weight.place + weight.price + weight.same_category + weight.same_kind
    + similarity_weight;
  -- Materialized, because PostgreSQL would otherwise compute the strength at each place where it is used.
  with compared as materialized (
    select o.id, o.published_at, o.price_hundredths, o.stale_at is not null as is_stale,
      search.distance_km(o.latitude, o.longitude, c.latitude, c.longitude) as km,
      r.coverage + least(r.density, 1) * weight.density
      + weight.place * a.place + weight.price * a.price
      + search.class_agreement(o, in_domain, in_category, of_kind, weight)
      + coalesce(similarity_weight * (1
        - (coalesce(e.embedding, e.unlisted_embedding) operator(public.<=>) search_offers.embedding)), 0) as strength
    from market.offer o
    left join market.offer_embedding e on e.offer_id = o.id and e.model = search_offers.model
    -- `search || ''` decompresses the column once. Otherwise each term would decompress it again.
    cross join lateral (select o.search || '' as search offset 0) as w
    cross join lateral (
      select coalesce(sum(weights[i] * case when w.search @@ titled[i] then weight.in_title
          when w.search @@ terms[i] then weight.in_text
          when w.search @@ classes[i] then weight.in_category else 0 end) / whole, 0) as coverage,
        coalesce(sum(ts_rank('{0.1, 0.2, 0.5, 1.0}', w.search, terms[i], 1)), 0) as density
      from generate_subscripts(terms, 1) as i) as r
    cross join lateral (
      select search.place_agreement(o, there, countries) as place,
        search.price_agreement(o, at_most, at_least, in_currency, per) as price) as a
    where o.id = any (candidates) and a.place is not null and a.price is not null
      and (sort in ('relevance', 'newest', 'distance') or o.price_hundredths is not null)
  ), ordered as (
    select d.id, d.strength, row_number() over (order by
      -- As many digits as callers see. Of the same score, fresh offers come before stale ones.
      case sort when 'relevance' then round(d.strength / largest * 10000)
        when 'newest' then extract(epoch from d.published_at) when 'distance' then - d.km
        when 'price_desc' then d.price_hundredths else - d.price_hundredths end desc,
      -- Many offers have the point of the same town.
      d.is_stale, case when sort in ('relevance', 'distance') then d.strength end desc,
      case when sort = 'price_asc' then d.id end, d.id desc) as n
    from compared d
  )
  select coalesce(array_agg(d.id order by d.n), '{}'),
    array_agg(greatest(0, d.strength / largest) order by d.n)
  into ids, scores
  from ordered d;
end
$$;
comment on function search.search_offers(text, jsonb, search.search_filter, public.halfvec, text, text, text[]) is
  'Returns the published offers that pass the filters and match the query by words or by vector, in the order of the '
  'sort, with a score of 0 to 1 each, and the counts of the facets (null: none). `extraction` holds the values '
  'extracted from the query.';
