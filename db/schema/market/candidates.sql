-- Which offers are worth ranking. Ranking is linear, so candidates are capped: by words the newest that pass, by vector the
-- nearest. What the caps let through depends on nothing that is published later, so that pages stay as they are.

create or replace function market.facets_asked(c market.conditions) returns tsquery
  language sql stable
as $$
  select string_agg('(' || f.query::text || ')', ' & ')::tsquery
  from (values
    (c.place),
    (market.any_lexeme(array(select 'domain/' || d from unnest(c.domains) as d))),
    (market.any_lexeme(array(select 'category/' || k from unnest(c.categories) as k))),
    (market.any_lexeme(array(select 'kind/' || k from unnest(c.kinds) as k))),
    (market.price_query(c.price_min, c.price_max, c.currency)),
    (market.eras_between((c.filters ->> 'posted_since')::date::timestamp at time zone 'UTC', least(c.as_of, now())))) as f (query)
  where f.query::text <> ''
$$;
comment on function market.facets_asked(market.conditions) is
  'What of the filters the index of facets knows, as a query of market.offer.facets that all that pass answer; null when it is nothing.';

create or replace function market.worded_candidates(words tsquery, conditions market.conditions, depth integer) returns uuid[]
  language plpgsql stable
  set plan_cache_mode = 'force_generic_plan'
as $$
declare
  facets tsquery := market.facets_asked(conditions);
  posted_since timestamptz := (conditions.filters ->> 'posted_since')::date::timestamp at time zone 'UTC';
  oldest timestamptz;
  since timestamptz;
  latest timestamptz;
  asked tsquery;
  ids uuid[];
begin
  if words is null then
    return case when conditions.price_max = 0 then array(
      select o.id from market.offer o
      where o.price_hundredths = 0 and market.passes(o, conditions)
      order by o.published_at desc, o.id desc limit depth) else '{}' end;
  end if;
  -- Of what is common the index would give all, ever more as the market grows. So at first it is asked for the newest only,
  -- then further back, by as much as should hold enough: what comes out is the same, the newest that pass.
  select min(n.published_at), max(n.published_at) into since, latest
  from (
    select o.published_at from market.offer o
    where o.status = 'published' and o.published_at <= conditions.as_of
    order by o.published_at desc limit 4 * depth) as n;
  since := greatest(since, posted_since);
  select o.published_at into oldest from market.offer o
  where o.status = 'published' and o.published_at >= coalesce(posted_since, '-infinity')
  order by o.published_at limit 1;
  loop
    asked := market.eras_between(since, latest);
    asked := coalesce(asked && facets, asked);
    -- The sum keeps the planner from reading all backwards.
    ids := array(
      select o.id from market.offer o
      where o.search @@ words and o.facets @@ asked and market.passes(o, conditions)
      order by o.published_at + interval '0' desc, o.id desc limit depth);
    exit when cardinality(ids) >= depth or since <= oldest is not false;
    -- Half as much again as enough, and not all at once: what was found may not be typical.
    since := greatest(oldest, latest - greatest(latest - since, interval '1 hour')
      * least(64, greatest(2, 1.5 * depth / greatest(cardinality(ids), 1))));
  end loop;
  return ids;
end
$$;
comment on function market.worded_candidates(tsquery, market.conditions, integer) is 'The newest offers that hold the words and pass the filters.';

create or replace function market.expected_rows(conditions market.conditions) returns bigint
  language plpgsql volatile
as $$
declare
  plan jsonb;
begin
  execute 'explain (format json) select from market.offer o where market.passes(o, $1)' into plan using conditions;
  return (plan -> 0 -> 'Plan' ->> 'Plan Rows')::numeric::bigint;
end
$$;
comment on function market.expected_rows(market.conditions) is 'How many offers the planner expects to pass the filters.';

create or replace function market.near_candidates(near public.halfvec, model text, conditions market.conditions)
  returns table (offer_id uuid, distance double precision)
  language plpgsql stable
as $$
declare
  unfiltered boolean := num_nonnulls(conditions.domains, conditions.categories, conditions.kinds, conditions.price_min, conditions.price_max,
    conditions.currency, conditions.period, conditions.place) = 0 and coalesce(conditions.filters = '{}', true);
begin
  if near is null then
    return;
  elsif unfiltered then
    return query select n.offer_id, n.distance from market.nearest(near, near_candidates.model, conditions.as_of) as n;
  else
    return query select n.offer_id, n.distance from market.nearest_passing(near, near_candidates.model, conditions) as n;
  end if;
end
$$;
comment on function market.near_candidates(public.halfvec, text, market.conditions) is
  'The forty offers that pass the filters and lie nearest to a vector of a model.';

create or replace function market.nearest(near public.halfvec, model text, as_of timestamptz)
  returns table (offer_id uuid, distance double precision)
  language plpgsql stable
  -- Scan on until enough are live, else HNSW returns too few without saying so.
  set hnsw.iterative_scan = 'relaxed_order'
  -- 100 find nine of the ten truly nearest of 100,000, 400 find all but one in two hundred, for two milliseconds more.
  set hnsw.ef_search = 400
  set plan_cache_mode = 'force_generic_plan'
as $$
begin
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
comment on function market.nearest(public.halfvec, text, timestamptz) is 'market.near_candidates without a filter: one plan serves all.';

create or replace function market.nearest_passing(near public.halfvec, model text, conditions market.conditions)
  returns table (offer_id uuid, distance double precision)
  language plpgsql stable
  set hnsw.iterative_scan = 'relaxed_order'
  set hnsw.ef_search = 400
  -- As many as hold forty when 1 % passes.
  set hnsw.max_scan_tuples = 4000
  -- The plan depends on which filters are there.
  set plan_cache_mode = 'force_custom_plan'
as $$
declare
  asked tsquery := market.facets_asked(conditions);
begin
  -- Few are compared one by one, exactly: a thousand take as long as the graph takes to find forty of many.
  if market.expected_rows(conditions) > 1000 then
    return query
    with found as materialized (
      select e.offer_id, e.embedding operator(public.<=>) near as distance
      from market.offer_embedding e join market.offer o on o.id = e.offer_id
      -- In a coalesce, since the planner takes what is asked twice for twice as rare, and would read all that pass.
      where e.model = nearest_passing.model and coalesce(e.facets @@ asked, true) and market.passes(o, conditions)
      order by e.embedding operator(public.<=>) near
      limit 40)
    select f.offer_id, f.distance from found f order by f.distance, f.offer_id desc;
  elsif asked is not null then
    return query
    select c.offer_id, c.distance
    from (
      select e.offer_id, e.embedding operator(public.<=>) near as distance
      from market.offer_embedding e
      where e.facets @@ asked and e.model = nearest_passing.model
      order by 2, 1 desc) as c
    -- In this order, so that only the nearest are read.
    cross join lateral (select from market.offer o where o.id = c.offer_id and market.passes(o, conditions) offset 0) as passing
    order by c.distance, c.offer_id desc limit 40;
  else
    return query
    with passing as materialized (select o.id from market.offer o where market.passes(o, conditions))
    select e.offer_id, e.embedding operator(public.<=>) near as distance
    from passing p join market.offer_embedding e on e.offer_id = p.id and e.model = nearest_passing.model
    order by 2, 1 desc limit 40;
  end if;
end
$$;
comment on function market.nearest_passing(public.halfvec, text, market.conditions) is 'market.near_candidates under a filter.';
