-- Which offers are worth ranking. Ranking is linear, so candidates are capped: by words the newest that pass, by vector the
-- nearest. What the caps let through depends on nothing that is published later, so that pages stay as they are.

create or replace function market.expected_rows(statement text, words tsquery, conditions market.conditions) returns bigint
  language plpgsql volatile
as $$
declare
  plan jsonb;
begin
  execute 'explain (format json) ' || statement into plan using words, conditions;
  return (plan -> 0 -> 'Plan' ->> 'Plan Rows')::numeric::bigint;
end
$$;
comment on function market.expected_rows(text, tsquery, market.conditions) is
  'How many rows the planner expects of a statement about words ($1) and conditions ($2).';

create or replace function market.live_offers() returns bigint
  language sql stable
as $$ select greatest(c.reltuples, 1)::bigint from pg_catalog.pg_class c where c.oid = 'market.offer'::regclass $$;
comment on function market.live_offers() is 'About how many offers there are, as the planner knows it.';

create or replace function market.worded_candidates(words tsquery, conditions market.conditions, depth integer) returns uuid[]
  language plpgsql stable
  -- The plan depends on which filters are there.
  set plan_cache_mode = 'force_custom_plan'
as $$
declare
  total bigint := market.live_offers();
  newest bigint;
  since timestamptz;
  ids uuid[];
begin
  if words is null and conditions.price_max is distinct from 0 then
    return array[]::uuid[];
  end if;
  -- Of what is common the indexes would give all. So at first only so many of the newest are looked at as should hold
  -- enough; half of them, since words that go together are commoner than the planner expects.
  newest := depth * total / (2 * greatest(market.expected_rows(
    'select from market.offer o where o.search @@ $1 and market.passes(o, $2)', words, conditions), 1));
  loop
    since := '-infinity';
    if newest < total / 4 then
      select o.published_at into since from market.offer o
      where o.status = 'published' and o.published_at <= conditions.as_of
      order by o.published_at desc offset newest limit 1;
    end if;
    -- The sum keeps the planner from reading all backwards.
    ids := array(
      select o.id from market.offer o
      where (words is null or o.search @@ words) and market.passes(o, conditions) and o.published_at >= coalesce(since, '-infinity')
      order by o.published_at + interval '0' desc, o.id desc limit depth);
    exit when cardinality(ids) >= depth or coalesce(since, '-infinity') = '-infinity';
    newest := 4 * newest;
  end loop;
  return ids;
end
$$;
comment on function market.worded_candidates(tsquery, market.conditions, integer) is 'The newest offers that hold the words and pass the filters.';

create or replace function market.near_candidates(near public.halfvec, model text, conditions market.conditions)
  returns table (offer_id uuid, distance double precision)
  language plpgsql stable
  -- Scan on until enough pass the filters, else HNSW returns too few without saying so.
  set hnsw.iterative_scan = 'relaxed_order'
  -- 100 find nine of the ten truly nearest of 100,000, 400 find all but one in two hundred, for two milliseconds more.
  set hnsw.ef_search = 400
  -- Twice as many as hold ten when 1 % passes; each costs as much as ten rows that are read one by one.
  set hnsw.max_scan_tuples = 2000
  set plan_cache_mode = 'force_custom_plan'
as $$
begin
  if near is null then
    return;
  end if;
  -- Few are compared one by one, exactly. In a graph of which 1 % passes some thousand are visited until ten are found.
  if market.expected_rows('select from market.offer o where market.passes(o, $2)', null, conditions) <= 1000 then
    return query
    with passing as materialized (select o.id from market.offer o where market.passes(o, conditions))
    select e.offer_id, e.embedding operator(public.<=>) near as distance
    from passing p join market.offer_embedding e on e.offer_id = p.id and e.model = near_candidates.model
    order by 2, 1 desc limit 40;
  else
    return query
    with found as materialized (
      select e.offer_id, e.embedding operator(public.<=>) near as distance
      from market.offer_embedding e join market.offer o on o.id = e.offer_id
      where e.model = near_candidates.model and market.passes(o, conditions)
      order by e.embedding operator(public.<=>) near
      limit 40)
    select f.offer_id, f.distance from found f order by f.distance, f.offer_id desc;
  end if;
end
$$;
comment on function market.near_candidates(public.halfvec, text, market.conditions) is
  'The forty offers that pass the filters and lie nearest to a vector of a model.';
