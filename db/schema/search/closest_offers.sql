-- The offers that are closest to a point, of those that contain the words and pass the filters. The index is asked for
-- the cells of a small circle first, and only if it contains too few, for a larger one.

create or replace function search.closest_offers(
  words tsquery, c search.search_filter, most integer, after_km double precision default null,
  after_id uuid default null, out ids uuid[], out is_complete boolean
)
  language plpgsql stable
  set plan_cache_mode = 'force_generic_plan'
as $$
declare
  -- Each circle is four times as wide as the one before, so that together they cost little more than the last one.
  circle search.search_filter := search.within(c, jsonb_build_object('lat', c.latitude, 'lon', c.longitude,
    'radius_km', least(c.radius_km, greatest(c.radius_km / 64, coalesce(after_km, 0), 1))));
  asked tsquery;
  looked integer;
begin
  is_complete := true;
  if c.sandbox_id is not null then
    ids := array(
      select p.id
      from (select o.id, search.distance_km(o.latitude, o.longitude, c.latitude, c.longitude) as km
        from search.sandbox_offers(words, c) as o) as p
      where after_km is null or (p.km, after_id) > (after_km, p.id)
      order by p.km, p.id desc limit most);
    return;
  end if;
  loop
    asked := search.facet_query(circle);
    if words is null then
      with found as materialized (
        select o.id, search.distance_km(o.latitude, o.longitude, c.latitude, c.longitude) as km,
          search.passes_filter(o, circle) as passes
        from market.offer o
        where o.status = 'published' and o.sandbox_id is null and o.facets @@ asked)
      select count(*)::integer, (array_agg(f.id order by f.km, f.id desc)
        filter (where f.passes and (after_km is null or (f.km, after_id) > (after_km, f.id))))[:most]
      into looked, ids from found f;
    else
      with found as materialized (
        select o.id, search.distance_km(o.latitude, o.longitude, c.latitude, c.longitude) as km,
          search.passes_filter(o, circle) as passes
        from market.offer o
        where o.status = 'published' and o.sandbox_id is null and o.search @@ words and o.facets @@ asked)
      select count(*)::integer, (array_agg(f.id order by f.km, f.id desc) filter (where f.passes))[:most]
      into looked, ids from found f;
    end if;
    ids := coalesce(ids, '{}');
    exit when cardinality(ids) >= most or circle.radius_km >= c.radius_km;
    is_complete := looked < search.most_looked();
    exit when not is_complete;
    -- A circle twice as wide has about four times as many offers.
    circle := search.within(c, jsonb_build_object('lat', c.latitude, 'lon', c.longitude, 'radius_km', least(c.radius_km,
      circle.radius_km * least(4, greatest(1.5, sqrt(2.0 * search.most_looked() / greatest(looked, 1)))))));
  end loop;
end
$$;
comment on function search.closest_offers(tsquery, search.search_filter, integer, double precision, uuid) is
  'Returns the ids of the offers closest to the point of the filter, at most `most`, that contain the words (null: any '
  'words) and pass the filters; of those at the same distance the newest first. after_km, after_id: only those after '
  'that one in this order. is_complete: false if there may be more, because it looked at many offers of which few '
  'pass.';
