-- Vector candidates: the nearest offers that pass the filters, found by the HNSW index or by exact comparison.

create or replace function search.vector_candidates(near public.halfvec, model text, search_filter search.search_filter)
  returns table (offer_id uuid, distance double precision)
  language plpgsql stable
as $$
declare
  unfiltered boolean := num_nonnulls(search_filter.domains, search_filter.categories, search_filter.kinds,
    search_filter.price_min, search_filter.price_max,
    search_filter.currency, search_filter.period, search_filter.place) = 0
    and coalesce(search_filter.filters = '{}', true);
  -- Comparing this many offers exactly takes as long as finding forty in a large market by HNSW.
  few constant integer := 4000;
  indexed search.search_filter := search.indexed_filters(search_filter);
  asked tsquery;
begin
  if near is null then
    return;
  elsif unfiltered then
    return query select n.offer_id, n.distance
    from search.nearest(near, vector_candidates.model, search_filter.as_of) as n;
    return;
  end if;
  asked := search.facet_query(search_filter);
  asked :=
    coalesce(asked && search.posted_bucket_query(search_filter), asked, search.posted_bucket_query(search_filter));
  if search.expected_rows(search_filter, null) > few then
    return query select n.offer_id, n.distance
    from search.nearest_matching(near, vector_candidates.model, search_filter, asked, few) as n;
  elsif asked is not null and (indexed = search_filter or search.expected_rows(indexed, null) <= few) then
    return query select c.offer_id, c.distance
    from search.nearest_exact(near, vector_candidates.model, search_filter, asked) as c;
  else
    return query select c.offer_id, c.distance
    from search.nearest_exact(near, vector_candidates.model, search_filter, null) as c;
  end if;
end
$$;
comment on function search.vector_candidates(public.halfvec, text, search.search_filter) is
  'Returns the forty offers that pass the filters and are nearest to a vector of a model, with their cosine distance.';

create or replace function search.ef_search() returns text
  language sql stable
as $$
  -- The number of nodes that HNSW keeps in view. With 100 it finds 97 % of the truly nearest among 100,000 offers. A
  -- larger market has more offers at about the same distance, so it needs more nodes. The value changes in steps, so
  -- that two pages of one search mostly use the same value.
  select case when c.reltuples < 150000 then '100' when c.reltuples < 500000 then '200' else '400' end
  from pg_class c where c.oid = 'market.offer_embedding'::regclass
$$;
comment on function search.ef_search() is
  'Returns the value of hnsw.ef_search for the number of vectors, according to PostgreSQL''s statistics.';

create or replace function search.nearest(near public.halfvec, model text, as_of timestamptz)
  returns table (offer_id uuid, distance double precision)
  language plpgsql stable
  -- Scan on until enough published offers are found. Otherwise HNSW returns too few without saying so.
  set hnsw.iterative_scan = 'relaxed_order'
  set hnsw.ef_search = 100
  set plan_cache_mode = 'force_generic_plan'
as $$
begin
  perform set_config('hnsw.ef_search', search.ef_search(), true);
  return query
  with found as materialized (
    select e.offer_id, e.embedding operator(public.<=>) near as distance
    from market.offer_embedding e join market.offer o on o.id = e.offer_id
    where e.model = nearest.model and o.status = 'published' and o.published_at <= nearest.as_of
    order by e.embedding operator(public.<=>) near
    limit 40)
  select f.offer_id, f.distance from found f order by f.distance, f.offer_id desc;
end
$$;
comment on function search.nearest(public.halfvec, text, timestamptz) is
  'Does the work of search.vector_candidates when no filter is set. One generic plan serves all calls.';

create or replace function search.nearest_matching(
  near public.halfvec, model text, search_filter search.search_filter, asked tsquery, few integer
) returns table (offer_id uuid, distance double precision)
  language plpgsql stable
  set hnsw.ef_search = 100
  -- The best plan depends on which filters are set.
  set plan_cache_mode = 'force_custom_plan'
as $$
declare
  found uuid[];
  distances double precision[];
  wide search.search_filter := search.without_common_filters(search.indexed_filters(search_filter));
  span record;
begin
  perform set_config('hnsw.ef_search', search.ef_search(), true);
  select array_agg(n.offer_id), array_agg(n.distance) into found, distances
  from (
    select e.offer_id, e.embedding operator(public.<=>) near as distance
    from market.offer_embedding e join market.offer o on o.id = e.offer_id
    -- The coalesce hides this condition from the planner. The query states the filters twice, so the planner would
    -- otherwise expect too few rows and read all offers that pass.
    where e.model = nearest_matching.model and coalesce(e.facets @@ asked, true)
      and search.matches_filter(o, search_filter)
    order by e.embedding operator(public.<=>) near
    limit 40) as n;
  if asked is null or cardinality(found) >= 40 then
    return query select n.offer_id, n.distance from unnest(found, distances) as n (offer_id, distance)
    order by 2, 1 desc;
    return;
  end if;
  -- Few of the near offers pass. To scan on until forty pass takes longest when none pass, so compare the newest offers
  -- exactly instead.
  select * into span from search.newest_span(wide, null, few / 2);
  asked := search.time_bucket_query(span.since, span.latest);
  return query
  select c.offer_id, c.distance
  from search.nearest_exact(near, nearest_matching.model, search_filter,
    coalesce(asked && search.facet_query(wide), asked)) as c
  union
  select n.offer_id, n.distance from unnest(found, distances) as n (offer_id, distance)
  order by 2, 1 desc limit 40;
end
$$;
comment on function search.nearest_matching(public.halfvec, text, search.search_filter, tsquery, integer) is
  'Does the work of search.vector_candidates when many offers pass the filters. Returns the offers that HNSW finds. If '
  'they are fewer than forty, it adds the nearest of the newest offers (half as many as `few`). asked: the indexed '
  'filters as a query of facets.';

create or replace function search.nearest_exact(
  near public.halfvec, model text, search_filter search.search_filter, asked tsquery
) returns table (offer_id uuid, distance double precision)
  language plpgsql stable
  -- The best plan depends on which filters are set.
  set plan_cache_mode = 'force_custom_plan'
as $$
begin
  if asked is not null then
    return query
    select c.offer_id, c.distance
    from (
      select e.offer_id, e.embedding operator(public.<=>) near as distance
      from market.offer_embedding e
      where e.facets @@ asked and e.model = nearest_exact.model
      order by 2, 1 desc) as c
    -- In this order PostgreSQL reads only the rows of the nearest offers.
    cross join lateral (select from market.offer o
      where o.id = c.offer_id and search.matches_filter(o, search_filter) offset 0) as passing
    order by c.distance, c.offer_id desc limit 40;
  else
    return query
    with passing as materialized (select o.id from market.offer o where search.matches_filter(o, search_filter))
    select e.offer_id, e.embedding operator(public.<=>) near as distance
    from passing p join market.offer_embedding e on e.offer_id = p.id and e.model = nearest_exact.model
    order by 2, 1 desc limit 40;
  end if;
end
$$;
comment on function search.nearest_exact(public.halfvec, text, search.search_filter, tsquery) is
  'Returns the forty nearest of all offers that pass the filters, compared exactly. asked: the indexed filters as a '
  'query of facets; null when there are none, or too many offers match it.';
