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

create or replace function market.worded_candidates(words tsquery, conditions market.conditions, depth integer) returns uuid[]
  language plpgsql stable
  -- The plan depends on which filters are there.
  set plan_cache_mode = 'force_custom_plan'
as $$
declare
  total bigint;
  expected bigint;
  ids uuid[];
begin
  if words is null and conditions.price_max is distinct from 0 then
    return array[]::uuid[];
  end if;
  expected := market.expected_rows('select from market.offer o where o.search @@ $1 and market.passes(o, $2)', words, conditions);
  if expected > 4 * depth then
    -- Of common words the index would give all: read backwards from the newest instead, as far as it should take, twice over.
    select greatest(c.reltuples, expected)::bigint into total from pg_catalog.pg_class c where c.oid = 'market.offer'::regclass;
    ids := array(
      select o.id from (
        select n.* from market.offer n
        where n.status = 'published' and n.published_at <= conditions.as_of
        order by n.published_at desc, n.id desc limit 2 * depth * total / expected) as o
      where o.search @@ words and market.passes(o, conditions)
      order by o.published_at desc, o.id desc limit depth);
  end if;
  -- The index finds what is rare, or rarer than expected. The sum keeps the planner from reading backwards here.
  if coalesce(cardinality(ids), 0) < depth then
    ids := array(
      select o.id from market.offer o
      where (words is null or o.search @@ words) and market.passes(o, conditions)
      order by o.published_at + interval '0' desc, o.id desc limit depth);
  end if;
  return ids;
end
$$;
comment on function market.worded_candidates(tsquery, market.conditions, integer) is 'The newest offers that hold the words and pass the filters.';

create or replace function market.near_candidates(near public.halfvec, model text, conditions market.conditions)
  returns table (offer_id uuid, distance double precision)
  language plpgsql stable
  -- Scan on until enough pass the filters, else HNSW returns too few without saying so.
  set hnsw.iterative_scan = 'relaxed_order'
  set hnsw.ef_search = 100
  set plan_cache_mode = 'force_custom_plan'
as $$
begin
  if near is null then
    return;
  end if;
  -- So few are compared one by one: quicker than searching a graph in which most do not pass, and exact.
  if market.expected_rows('select from market.offer o where market.passes(o, $2)', null, conditions) <= 3000 then
    return query
    with passing as materialized (select o.id from market.offer o where market.passes(o, conditions))
    select e.offer_id, e.embedding operator(public.<=>) near as distance
    from passing p join market.offer_embedding e on e.offer_id = p.id and e.model = near_candidates.model
    order by 2, 1 desc limit 100;
  else
    return query
    with found as materialized (
      select e.offer_id, e.embedding operator(public.<=>) near as distance
      from market.offer_embedding e join market.offer o on o.id = e.offer_id
      where e.model = near_candidates.model and market.passes(o, conditions)
      order by e.embedding operator(public.<=>) near
      limit 100)
    select f.offer_id, f.distance from found f order by f.distance, f.offer_id desc;
  end if;
end
$$;
comment on function market.near_candidates(public.halfvec, text, market.conditions) is
  'The hundred offers that pass the filters and lie nearest to a vector of a model.';
