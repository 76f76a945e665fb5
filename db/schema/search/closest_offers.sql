-- The offers that are closest to a point, of those that contain the words and pass the filters. The index is asked for
-- the cells of a small circle first, and only if it contains too few, for a larger one.

create or replace function search.closest_offers(
  words tsquery, c search.search_filter, most integer, after_km double precision default null,
  after_id uuid default null
)
  returns uuid[]
  language plpgsql stable
  set plan_cache_mode = 'force_generic_plan'
as $$
declare
  -- Each circle is four times as wide as the one before, so that together they cost little more than the last one.
  circle search.search_filter := search.within(c, jsonb_build_object('lat', c.latitude, 'lon', c.longitude,
    'radius_km', least(c.radius_km, greatest(c.radius_km / 64, coalesce(after_km, 0), 1))));
  asked tsquery;
  ids uuid[];
begin
  if c.sandbox_id is not null then
    return array(
      select p.id
      from (select o.id, search.distance_km(o.latitude, o.longitude, c.latitude, c.longitude) as km
        from search.sandbox_offers(words, c) as o) as p
      where after_km is null or (p.km, after_id) > (after_km, p.id)
      order by p.km, p.id desc limit most);
  end if;
  loop
    asked := search.facet_query(circle);
    if words is null then
      ids := array(
        with passing as materialized (
          select o.id, search.distance_km(o.latitude, o.longitude, c.latitude, c.longitude) as km from market.offer o
          where o.facets @@ asked and search.matches_filter(o, circle))
        select p.id from passing p
        where after_km is null or (p.km, after_id) > (after_km, p.id)
        order by p.km, p.id desc limit most);
    else
      ids := array(
        with passing as materialized (
          select o.id, search.distance_km(o.latitude, o.longitude, c.latitude, c.longitude) as km from market.offer o
          where o.search @@ words and o.facets @@ asked and search.matches_filter(o, circle))
        select p.id from passing p order by p.km, p.id desc limit most);
    end if;
    exit when cardinality(ids) >= most or circle.radius_km >= c.radius_km;
    circle := search.within(c, jsonb_build_object('lat', c.latitude, 'lon', c.longitude,
      'radius_km', least(c.radius_km, circle.radius_km * 4)));
  end loop;
  return ids;
end
$$;
comment on function search.closest_offers(tsquery, search.search_filter, integer, double precision, uuid) is
  'Returns the ids of the offers closest to the point of the filter, at most `most`, that contain the words (null: any '
  'words) and pass the filters; of those at the same distance the newest first. after_km, after_id: only those after '
  'that one in this order.';
