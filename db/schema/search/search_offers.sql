-- The search for offers. An offer must pass every filter of the request. The values extracted from the query affect the
-- rank, and exclude an offer only if they are certain (agreement.sql). Lexical and vector candidates are capped in
-- number, and ranked together by one sum of words, values and similarity.
--
-- A search runs with the rights of the functions' owner, because text search and vector operators are not leakproof:
-- under row-level security PostgreSQL would not use their indexes. So each query for offers must state the visibility
-- rule itself: status = 'published', and no offer of an account that is being hidden.

create or replace function search.search_offers(
  query text,
  extraction jsonb,
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
  search_filter search.search_filter := search.to_search_filter(filters, as_of, searcher);
  local search.search_filter;
  by_words uuid[];
  min_similarity real;
  similarity_weight real;
  -- Two pages of ten. If fewer offers contain every word of the query, offers that contain some of the words are added.
  enough constant integer := 20;
  hidden uuid[] := internal.accounts_being_hidden();
begin
  select m.min_similarity, m.similarity_weight into min_similarity, similarity_weight
  from market.embedding_model m
  where m.model = search_offers.model and search_offers.embedding is not null;
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
      case when t.words <@ search.text_array(extraction -> 'modifiers') then 0.3 * t.weight
        else t.weight end::real as weight
    from search.query_terms(coalesce(nullif(extraction ->> 'words', ''), query), extraction ->> 'language',
      coalesce(extraction -> 'corrections', '{}')) as t) as t;
  -- some_of finds offers that contain one of the things that the query names (terms of weight 2; if there are none, any
  -- term) or that are in the extracted category.
  some_of := coalesce(some_of || search.any_lexeme(array[in_domain || '/' || in_category]), some_of);
  if extraction -> 'offer_kind' ->> 'certain' = 'true' then
    search_filter.kinds := coalesce(search_filter.kinds, array[of_kind]);
  end if;
  if at_most = 0 and search_filter.price_max is null then
    -- The query asks for free offers. If few of them contain every word, the newest free offers are added
    -- (search.lexical_candidates without words).
    search_filter.price_max := 0;
    some_of := null;
  end if;
  local := search_filter;
  local.place := coalesce(local.place, there);
  by_words := search.lexical_candidates(coalesce(every, some_of), local, depth);
  if cardinality(by_words) < enough and some_of is distinct from every then
    by_words := by_words || search.lexical_candidates(some_of, local, depth);
  end if;
  if cardinality(by_words) < enough and there is not null then
    -- Add offers whose city is unknown. Offers that are known to be elsewhere are excluded below, by place_agreement.
    by_words := by_words || search.lexical_candidates(some_of, search_filter, depth);
  end if;

  return query
  with candidates as (
    select unnest(by_words) as id
    union
    select n.offer_id from search.vector_candidates(search_offers.embedding, search_offers.model, local) as n
    where 1 - n.distance >= min_similarity
  ), compared as (
    select o.id, r.coverage + least(r.density, 1) * 0.1 + 0.3 * a.place + 0.1 * a.price
      + search.class_agreement(o, in_domain, in_category, of_kind)
      + coalesce(similarity_weight * (1 - (e.embedding operator(public.<=>) search_offers.embedding)), 0) as strength
    from candidates c join market.offer o on o.id = c.id
    left join market.offer_embedding e on e.offer_id = o.id and e.model = search_offers.model
    -- `search || ''` decompresses the column once. Otherwise each term would decompress it again, which took half of
    -- the ranking time.
    cross join lateral (select o.search || '' as search offset 0) as w
    cross join lateral (
      select coalesce(sum(weights[i] * case when w.search @@ titled[i] then 1 when w.search @@ terms[i] then 0.8
          when w.search @@ classes[i] then 0.25 else 0 end) / whole, 0) as coverage,
        coalesce(sum(ts_rank('{0.1, 0.2, 0.5, 1.0}', w.search, terms[i], 1)), 0) as density
      from generate_subscripts(terms, 1) as i) as r
    cross join lateral (
      select search.place_agreement(o, there, countries) as place,
        search.price_agreement(o, at_most, at_least, in_currency, per) as price) as a
    where a.place is not null and a.price is not null
      and (hidden is null or (o.account_id = any (hidden)) is not true)
  )
  -- Scaled to the range 0 to 1. The largest possible sum is 1.95 without the vector.
  select c.id, greatest(0, c.strength / (1.95 + coalesce(similarity_weight, 0)))::double precision
  from compared c;
end
$$;
comment on function search.search_offers(text, jsonb, jsonb, public.halfvec, text, timestamptz, uuid, integer) is
  'Returns published offers that pass the filters and match the query by words or by vector, with a score of 0 to 1. '
  '`extraction` holds the values extracted from the query. It ranks about `depth` lexical candidates and 40 vector '
  'candidates.';
