-- The search for offers by a query, in three steps: what the query says, which offers are candidates, and their order.
-- An offer must pass every filter of the request. The values read from the query affect the rank, and exclude an offer
-- only if they are certain (agreement.sql). Candidates by words and by vector are capped in number, and ranked together
-- by one sum of words, values and similarity, with the weights of market.ranking.
--
-- A search runs with the rights of the functions' owner, because text search and vector operators are not leakproof:
-- under row-level security PostgreSQL would not use their indexes. So each query for offers must state the visibility
-- rule itself (filter.sql).

create or replace function search.to_search_query(query text, extraction jsonb, weight market.ranking)
  returns search.search_query
  language plpgsql stable
as $$
declare
  price constant jsonb := extraction -> 'price';
  q search.search_query;
begin
  q.domain := extraction ->> 'domain';
  q.category := extraction ->> 'category';
  q.kind := extraction -> 'offer_kind' ->> 'value';
  q.kind_is_certain := extraction -> 'offer_kind' ->> 'certain' = 'true';
  q.price_max := round((price ->> 'max')::numeric * 1000)::bigint;
  q.price_min := round((price ->> 'min')::numeric * 1000)::bigint;
  q.currency := price ->> 'currency';
  q.period := price ->> 'period';
  q.place := search.any_place_query(extraction -> 'places');
  q.countries := array(
    select p ->> 'country' from jsonb_array_elements(coalesce(extraction -> 'places', '[]')) as p where p ? 'country');
  select array_agg(t.forms order by t.n), array_agg(t.titled order by t.n), array_agg(t.classes order by t.n),
    array_agg(t.weight order by t.n),
    string_agg('(' || coalesce(t.forms || t.classes, t.forms)::text || ')',
      ' & ') filter (where t.weight >= 1)::tsquery,
    coalesce(string_agg(coalesce(t.forms || t.classes, t.forms)::text, ' | ') filter (where t.weight >= 2),
      string_agg(t.forms::text, ' | '))::tsquery
  into q.terms, q.titled, q.classes, q.weights, q.every, q.some_of
  from (
    -- Modifiers, such as "child" in "bike for my child", need not occur in an offer. They only affect the order.
    select t.n, t.forms, t.titled, t.classes,
      case when t.is_modifier then weight.modifier * t.weight else t.weight end::real as weight
    from search.query_terms(
      coalesce(nullif(extraction -> 'words', '[]'), search.as_written(coalesce(extraction ->> 'asked', query))),
      extraction ->> 'language') as t) as t;
  -- some_of finds offers that contain one of the things that the query names (terms of weight 2; if there are none, any
  -- term) or that are in the category.
  q.some_of := coalesce(q.some_of || search.any_lexeme(array[q.domain || '/' || q.category]), q.some_of);
  if q.price_max = 0 then
    -- The query asks for free offers. If few of them contain every word, the newest free offers are added.
    q.some_of := null;
  end if;
  return q;
end
$$;
comment on function search.to_search_query(text, jsonb, market.ranking) is
  'Returns what was read from a query as a search_query. `extraction`: the values that were read.';

create or replace function search.candidates(
  q search.search_query, c search.search_filter, embedding public.halfvec, model text, sort text,
  out ids uuid[], out words tsquery, out is_complete boolean
)
  language plpgsql stable
as $$
declare
  here search.search_filter := c;
  -- A list in another order than relevance has no second ranking, so it may be longer.
  depth constant integer := case sort when 'relevance' then 100 else 1000 end;
  -- Two pages of ten. If fewer offers contain every word of the query, offers that contain some of the words are added.
  enough constant integer := 20;
begin
  words := coalesce(q.every, q.some_of);
  here.place := coalesce(c.place, q.place);
  is_complete := true;
  if sort in ('distance', 'price_asc', 'price_desc') then
    -- The closest, cheapest or dearest of all that contain the words, and not of the newest.
    select l.ids, l.is_complete into ids, is_complete from search.list_offers(words, here, sort, depth) as l;
  else
    ids := search.lexical_candidates(words, here, depth);
  end if;
  if cardinality(ids) < enough and q.some_of is distinct from q.every then
    ids := ids || search.lexical_candidates(q.some_of, here, depth);
    words := coalesce(q.some_of || q.every, words);
  end if;
  if cardinality(ids) < enough and q.place is not null then
    -- Add offers whose city is unknown. Offers that are known to be elsewhere are excluded by place_agreement.
    ids := ids || search.lexical_candidates(q.some_of, c, depth);
  end if;
  if embedding is not null then
    ids := ids || array(
      select n.offer_id from search.nearest_offers(embedding, candidates.model, here) as n
      where 1 - n.distance >= (select m.min_similarity from market.embedding_model m where m.model = candidates.model));
  end if;
end
$$;
comment on function search.candidates(search.search_query, search.search_filter, public.halfvec, text, text) is
  'Returns the offers that may answer a query, by words and by vector, some of them twice, and the query for the words '
  'that found them. is_complete: as of search.list_offers.';

create or replace function search.rank_offers(
  candidates uuid[], q search.search_query, c search.search_filter, embedding public.halfvec, model text, sort text,
  weight market.ranking, out ids uuid[], out scores double precision[]
)
  language plpgsql stable
as $$
declare
  all_weights constant real := (select sum(w) from unnest(q.weights) as w);
  similarity_weight constant real := coalesce((
    select m.similarity_weight from market.embedding_model m
    where rank_offers.embedding is not null and m.model = rank_offers.model), 0);
  -- The largest possible sum. Scores are shares of it.
  largest constant real := weight.in_title + weight.density + weight.place + weight.price + weight.same_category
    + weight.same_kind + similarity_weight;
begin
  -- Materialized, because PostgreSQL would otherwise compute the strength at each place where it is used.
  with compared as materialized (
    select d.id, d.is_stale, search.sort_key(d, rank_offers.sort, c) as key,
      r.coverage + least(r.density, 1) * weight.density
      + weight.place * a.place + weight.price * a.price
      + search.class_agreement(d, q.domain, q.category, q.kind, weight)
      + coalesce(similarity_weight * case when d.model = rank_offers.model
          then 1 - (d.embedding operator(public.<=>) rank_offers.embedding) end, 0) as strength
    from search.document d
    -- `words || ''` decompresses the column once. Otherwise each term would decompress it again.
    cross join lateral (select d.words || '' as words offset 0) as w
    cross join lateral (
      select coalesce(sum(q.weights[i] * case when w.words @@ q.titled[i] then weight.in_title
          when w.words @@ q.terms[i] then weight.in_text
          when w.words @@ q.classes[i] then weight.in_category else 0 end) / all_weights, 0) as coverage,
        coalesce(sum(ts_rank('{0.1, 0.2, 0.5, 1.0}', w.words, q.terms[i], 1)), 0) as density
      from generate_subscripts(q.terms, 1) as i) as r
    cross join lateral (
      select search.place_agreement(d, q.place, q.countries) as place,
        search.price_agreement(d, q.price_max, q.price_min, q.currency, q.period) as price) as a
    where d.id = any (rank_offers.candidates) and a.place is not null and a.price is not null
      and (rank_offers.sort not in ('price_asc', 'price_desc') or d.price_thousandths is not null)
  ), ordered as (
    select d.id, d.strength, row_number() over (order by
      -- As many digits as callers see. Of the same score, fresh offers come before stale ones.
      case rank_offers.sort when 'relevance' then - round(d.strength / largest * 10000) else d.key end,
      -- Many offers have the point of the same town.
      d.is_stale, case when rank_offers.sort in ('relevance', 'distance') then d.strength end desc,
      case when rank_offers.sort = 'price_asc' then d.id end, d.id desc) as n
    from compared d
  )
  select coalesce(array_agg(d.id order by d.n), '{}'), array_agg(greatest(0, d.strength / largest) order by d.n)
  into ids, scores
  from ordered d;
end
$$;
comment on function search.rank_offers(uuid[], search.search_query, search.search_filter, public.halfvec, text, text,
  market.ranking) is
  'Returns the candidates that the query does not surely exclude, in the order of the sort, with a score of 0 to 1 '
  'each.';

create or replace function search.search_offers(
  query text, extraction jsonb, c search.search_filter, embedding public.halfvec, model text, sort text, facets text[],
  out ids uuid[], out scores double precision[], out counts jsonb, out is_complete boolean
)
  language plpgsql stable
as $$
declare
  weight constant market.ranking := (select r from market.ranking r where r.ranking = 'default');
  q constant search.search_query := search.to_search_query(query, extraction, weight);
  found record;
begin
  if q.kind_is_certain then
    c.kinds := coalesce(c.kinds, array[q.kind]);
  end if;
  if q.price_max = 0 then
    c.price_max := coalesce(c.price_max, 0);
  elsif extraction -> 'price' ? 'no_currency' then
    c.price_min := q.price_min;
    c.price_max := q.price_max;
    c.currency := coalesce(c.currency, q.currency);
  end if;
  c.excluded := search.exclude_query(extraction -> 'exclude', extraction ->> 'language', q.every);
  found := search.candidates(q, c, embedding, model, sort);
  is_complete := found.is_complete;
  select r.ids, r.scores into ids, scores
  from search.rank_offers(found.ids, q, c, embedding, model, sort, weight) as r;
  if facets is not null then
    c.place := coalesce(c.place, q.place);
    counts := search.count_facets(found.words, c, extraction, facets);
  end if;
end
$$;
comment on function search.search_offers(text, jsonb, search.search_filter, public.halfvec, text, text, text[]) is
  'Returns the published offers that pass the filters and match the query by words or by vector, in the order of the '
  'sort, with a score of 0 to 1 each, and the counts of the facets (null: none). `extraction` holds the values '
  'extracted from the query. is_complete: false if there may be more.';
