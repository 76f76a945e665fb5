-- Which offers are worth ranking. Ranking is linear, so candidates are capped: by words the newest that pass, by vector the
-- nearest. What the caps let through by words depends on nothing that is published later, so that pages stay as they are; the
-- graph of vectors finds nearly the same from page to page.

create or replace function market.facets_asked(c market.conditions) returns tsquery
  language sql stable
as $$
  select string_agg('(' || f.query::text || ')', ' & ')::tsquery
  from (values
    (c.place),
    (market.any_lexeme(array(select 'domain/' || d from unnest(c.domains) as d))),
    (market.any_lexeme(array(select 'category/' || k from unnest(c.categories) as k))),
    (market.any_lexeme(array(select 'kind/' || k from unnest(c.kinds) as k))),
    (market.price_query(c.price_min, c.price_max, c.currency))) as f (query)
  where f.query::text <> ''
$$;
comment on function market.facets_asked(market.conditions) is
  'What of the filters, time aside, the index of facets knows, as a query of market.offer.facets that all that pass answer; null when it is nothing.';

create or replace function market.eras_posted(c market.conditions) returns tsquery
  language sql stable
as $$ select market.eras_between((c.filters ->> 'posted_since')::date::timestamp at time zone 'UTC', least(c.as_of, now())) $$;
comment on function market.eras_posted(market.conditions) is 'When it must have been published, as a query of market.offer.facets; null when that is open.';

create or replace function market.without_common(conditions market.conditions) returns market.conditions
  language plpgsql immutable
as $$
begin
  conditions.kinds := null;
  conditions.price_min := null;
  conditions.price_max := null;
  conditions.currency := null;
  return conditions;
end
$$;
comment on function market.without_common(market.conditions) is
  'The filters without those that mostly keep much, and that are one of many lexemes each: kinds and prices.';

create or replace function market.expected_rows(conditions market.conditions, words tsquery) returns double precision
  language plpgsql volatile
as $$
declare
  plan jsonb;
begin
  execute 'explain (format json) select from market.offer o where market.passes(o, $1)'
    || case when words is null then '' else ' and o.search @@ $2' end into plan using conditions, words;
  return (plan -> 0 -> 'Plan' ->> 'Plan Rows')::double precision;
end
$$;
comment on function market.expected_rows(market.conditions, tsquery) is
  'How many offers the planner expects to pass the filters and to hold the words (null: any); one at least.';

create or replace function market.newest_span(
  conditions market.conditions, words tsquery, wanted integer,
  out since timestamptz, out latest timestamptz, out oldest timestamptz, out expected double precision
)
  language plpgsql stable
as $$
declare
  posted_since timestamptz := (conditions.filters ->> 'posted_since')::date::timestamp at time zone 'UTC';
  sample constant integer := 400;
  pace double precision;
  reach double precision;
begin
  select min(n.published_at), max(n.published_at) into since, latest
  from (
    select o.published_at from market.offer o
    where o.status = 'published' and o.published_at <= conditions.as_of
    order by o.published_at desc limit sample) as n;
  select o.published_at into oldest from market.offer o
  where o.status = 'published' and o.published_at >= coalesce(posted_since, '-infinity')
  order by o.published_at limit 1;
  pace := greatest(extract(epoch from latest - since), 1) / sample;
  -- Of how many of the newest, when those that pass lie evenly among all.
  conditions.filters := conditions.filters - 'posted_since';
  expected := market.expected_rows(conditions, words);
  reach := wanted * (select greatest(c.reltuples, 1) from pg_class c where c.oid = 'market.offer'::regclass) / expected;
  since := latest - make_interval(secs => least(reach * pace, greatest(extract(epoch from latest - oldest), 0)));
end
$$;
comment on function market.newest_span(market.conditions, tsquery, integer) is
  'Since when about so many offers that pass the filters and hold the words (null: any) should have been published; the time of the newest offer, and of the oldest that may pass; and how many are expected since ever.';

create or replace function market.worded_candidates(words tsquery, conditions market.conditions, depth integer) returns uuid[]
  language plpgsql stable
  set plan_cache_mode = 'force_generic_plan'
as $$
declare
  facets tsquery := market.facets_asked(conditions);
  posted_since timestamptz := (conditions.filters ->> 'posted_since')::date::timestamp at time zone 'UTC';
  wide market.conditions := market.without_common(conditions);
  wide_facets tsquery := facets;
  span record;
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
  -- half as much again as wanted if the planner is right, then further back, by as much as should hold enough: what comes out is
  -- the same, the newest that pass.
  select * into span from market.newest_span(conditions, words, depth + depth / 2);
  if num_nonnulls(conditions.kinds, conditions.price_min, conditions.price_max) > 0 then
    -- What keeps a fourth or more is quicker looked up in the rows than read from the index.
    wide.filters := wide.filters - 'posted_since';
    if market.expected_rows(wide, words) <= 4 * span.expected then
      wide_facets := market.facets_asked(wide);
    end if;
  end if;
  loop
    -- All of time is one stretch or two.
    asked := market.eras_between(span.since, span.latest, case when span.since <= span.oldest and posted_since is null then 2 else 16 end);
    asked := coalesce(asked && wide_facets, asked);
    -- The sum keeps the planner from reading all backwards.
    ids := array(
      select o.id from market.offer o
      where o.search @@ words and o.facets @@ asked and market.passes(o, conditions)
      order by o.published_at + interval '0' desc, o.id desc limit depth);
    exit when cardinality(ids) >= depth or span.since <= span.oldest is not false;
    -- The planner was mistaken, and maybe in this, too.
    wide_facets := facets;
    -- Half as much again as enough, and not all at once: what was found may not be typical.
    span.since := greatest(span.oldest, span.latest - greatest(span.latest - span.since, interval '1 hour')
      * least(64, greatest(2, 1.5 * depth / greatest(cardinality(ids), 1))));
  end loop;
  return ids;
end
$$;
comment on function market.worded_candidates(tsquery, market.conditions, integer) is 'The newest offers that hold the words and pass the filters.';

create or replace function market.indexed_part(conditions market.conditions) returns market.conditions
  language plpgsql immutable
as $$
begin
  conditions.period := null;
  if num_nonnulls(conditions.price_min, conditions.price_max) = 0 then
    conditions.currency := null;
  end if;
  conditions.filters := case when conditions.filters ? 'posted_since'
    then jsonb_build_object('posted_since', conditions.filters -> 'posted_since') else '{}' end;
  return conditions;
end
$$;
comment on function market.indexed_part(market.conditions) is 'The filters that the index of facets knows.';

create or replace function market.near_candidates(near public.halfvec, model text, conditions market.conditions)
  returns table (offer_id uuid, distance double precision)
  language plpgsql stable
as $$
declare
  unfiltered boolean := num_nonnulls(conditions.domains, conditions.categories, conditions.kinds, conditions.price_min, conditions.price_max,
    conditions.currency, conditions.period, conditions.place) = 0 and coalesce(conditions.filters = '{}', true);
  -- So many are compared one by one in the time in which the graph finds forty of many.
  few constant integer := 4000;
  indexed market.conditions := market.indexed_part(conditions);
  asked tsquery;
begin
  if near is null then
    return;
  elsif unfiltered then
    return query select n.offer_id, n.distance from market.nearest(near, near_candidates.model, conditions.as_of) as n;
    return;
  end if;
  asked := market.facets_asked(conditions);
  asked := coalesce(asked && market.eras_posted(conditions), asked, market.eras_posted(conditions));
  if market.expected_rows(conditions, null) > few then
    return query select n.offer_id, n.distance from market.nearest_passing(near, near_candidates.model, conditions, asked, few) as n;
  elsif asked is not null and (indexed = conditions or market.expected_rows(indexed, null) <= few) then
    return query select c.offer_id, c.distance from market.compared(near, near_candidates.model, conditions, asked) as c;
  else
    return query select c.offer_id, c.distance from market.compared(near, near_candidates.model, conditions, null) as c;
  end if;
end
$$;
comment on function market.near_candidates(public.halfvec, text, market.conditions) is
  'The forty offers that pass the filters and lie nearest to a vector of a model.';

create or replace function market.search_effort() returns text
  language sql stable
as $$
  -- How many nodes the graph keeps in sight. Four hundred find 97 in a hundred of the truly nearest among 100,000 offers;
  -- the more there are, the more lie about as near and lead astray. In steps, so that a page and the next are of one search.
  select case when c.reltuples < 150000 then '400' when c.reltuples < 500000 then '700' else '1000' end
  from pg_class c where c.oid = 'market.offer_embedding'::regclass
$$;
comment on function market.search_effort() is 'hnsw.ef_search for the size of the market, which is known from its statistics.';

create or replace function market.nearest(near public.halfvec, model text, as_of timestamptz)
  returns table (offer_id uuid, distance double precision)
  language plpgsql stable
  -- Scan on until enough are live, else HNSW returns too few without saying so.
  set hnsw.iterative_scan = 'relaxed_order'
  set hnsw.ef_search = 400
  set plan_cache_mode = 'force_generic_plan'
as $$
begin
  perform set_config('hnsw.ef_search', market.search_effort(), true);
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

create or replace function market.nearest_passing(near public.halfvec, model text, conditions market.conditions, asked tsquery, few integer)
  returns table (offer_id uuid, distance double precision)
  language plpgsql stable
  set hnsw.ef_search = 400
  -- The plan depends on which filters are there.
  set plan_cache_mode = 'force_custom_plan'
as $$
declare
  found uuid[];
  distances double precision[];
  wide market.conditions := market.without_common(market.indexed_part(conditions));
  span record;
begin
  perform set_config('hnsw.ef_search', market.search_effort(), true);
  select array_agg(n.offer_id), array_agg(n.distance) into found, distances
  from (
    select e.offer_id, e.embedding operator(public.<=>) near as distance
    from market.offer_embedding e join market.offer o on o.id = e.offer_id
    -- In a coalesce, since the planner takes what is asked twice for twice as rare, and would read all that pass.
    where e.model = nearest_passing.model and coalesce(e.facets @@ asked, true) and market.passes(o, conditions)
    order by e.embedding operator(public.<=>) near
    limit 40) as n;
  if asked is null or cardinality(found) >= 40 then
    return query select n.offer_id, n.distance from unnest(found, distances) as n (offer_id, distance) order by 2, 1 desc;
    return;
  end if;
  -- Little of what is near passes, and to scan on until there are forty takes longest where there are none: so the newest
  -- are compared.
  select * into span from market.newest_span(wide, null, few / 2);
  asked := market.eras_between(span.since, span.latest);
  return query
  select c.offer_id, c.distance
  from market.compared(near, nearest_passing.model, conditions, coalesce(asked && market.facets_asked(wide), asked)) as c
  union
  select n.offer_id, n.distance from unnest(found, distances) as n (offer_id, distance)
  order by 2, 1 desc limit 40;
end
$$;
comment on function market.nearest_passing(public.halfvec, text, market.conditions, tsquery, integer) is
  'market.near_candidates under a filter that many pass: what the graph finds, and where that is less than forty the nearest of the newest, half as many as few. asked: what of the filters the index of facets knows.';

create or replace function market.compared(near public.halfvec, model text, conditions market.conditions, asked tsquery)
  returns table (offer_id uuid, distance double precision)
  language plpgsql stable
  -- The plan depends on which filters are there.
  set plan_cache_mode = 'force_custom_plan'
as $$
begin
  if asked is not null then
    return query
    select c.offer_id, c.distance
    from (
      select e.offer_id, e.embedding operator(public.<=>) near as distance
      from market.offer_embedding e
      where e.facets @@ asked and e.model = compared.model
      order by 2, 1 desc) as c
    -- In this order, so that only the nearest are read.
    cross join lateral (select from market.offer o where o.id = c.offer_id and market.passes(o, conditions) offset 0) as passing
    order by c.distance, c.offer_id desc limit 40;
  else
    return query
    with passing as materialized (select o.id from market.offer o where market.passes(o, conditions))
    select e.offer_id, e.embedding operator(public.<=>) near as distance
    from passing p join market.offer_embedding e on e.offer_id = p.id and e.model = compared.model
    order by 2, 1 desc limit 40;
  end if;
end
$$;
comment on function market.compared(public.halfvec, text, market.conditions, tsquery) is
  'The forty nearest of all that pass the filters, compared one by one; asked: what of the filters the index of facets knows, null when it is too little.';
