-- Distances on the globe, and the cells by which an index finds what is near a point. A cell is a lexeme of
-- search.document.facets, so one index finds words, places and times together. Core PostgreSQL's indexes of points know
-- only the plane, where one degree of longitude is as long in Oslo as in Nairobi and the 180th meridian is an edge.

create or replace function search.distance_km(
  latitude double precision, longitude double precision, to_latitude double precision, to_longitude double precision
) returns double precision
  language sql immutable parallel safe
as $$
  -- The haversine formula on a globe with the mean radius of the earth, in kilometres. The last factor keeps the sum
  -- from exceeding one by rounding, on the other side of the globe.
  select 2 * 6371.0088 * asin(sqrt((sind((to_latitude - latitude) / 2) ^ 2
    + cosd(latitude) * cosd(to_latitude) * sind((to_longitude - longitude) / 2) ^ 2) * (1 - 1e-15)))
$$;
comment on function search.distance_km(double precision, double precision, double precision, double precision) is
  'Returns the distance of two points in degrees, in kilometres; null without a point.';
grant execute on function search.distance_km(double precision, double precision, double precision, double precision)
  to souk_agent, souk_person;

create or replace function search.sound_point(point jsonb) returns jsonb
  language plpgsql immutable parallel safe
as $$
begin
  -- A model may put anything into its reading.
  if jsonb_typeof(point -> 'lat') = 'number' and jsonb_typeof(point -> 'lon') = 'number' then
    if abs((point ->> 'lat')::numeric) <= 90 and abs((point ->> 'lon')::numeric) <= 180 then
      return jsonb_build_object('lat', point -> 'lat', 'lon', point -> 'lon');
    end if;
  end if;
  return null;
end
$$;
comment on function search.sound_point(jsonb) is
  'Returns {lat, lon} if both are numbers of degrees on the globe, without other members; otherwise null.';

create or replace function search.distance_member(km double precision) returns jsonb
  language plpgsql immutable parallel safe
as $$
begin
  return case when km is null then '{}' else jsonb_build_object('distance_km', round(km::numeric, 1)) end;
end
$$;
comment on function search.distance_member(double precision) is
  'Returns {distance_km}, rounded to a tenth; {} when there is no distance.';
grant execute on function search.distance_member(double precision) to souk_agent, souk_person;

create or replace function search.cells(latitude double precision, longitude double precision) returns text[]
  language sql immutable parallel safe
as $$
  -- A cell of level n is a 2^n-th of 360 degrees wide and high: 20 km at level 11, 78 km at 9, 5,000 km at 3. The
  -- modulo puts 180 degrees east into the cell of 180 degrees west.
  select array(
    select 'cell/' || n || '/' || floor((latitude + 90) * 2 ^ n / 360)::integer || '/'
      || (floor((longitude + 180) * 2 ^ n / 360)::integer % (2 ^ n)::integer)
    from generate_series(3, 11, 2) as n)
$$;
comment on function search.cells(double precision, double precision) is
  'Returns the cells of a point in degrees, one for each level, as lexemes; nulls without a point.';

create or replace function search.cell_query(
  latitude double precision, longitude double precision, radius_km double precision, most integer default 24
) returns tsquery
  language plpgsql immutable parallel safe
as $$
declare
  -- In degrees, a little more than the radius, because of rounding.
  reach constant double precision := degrees(radius_km / 6371.0088) + 1e-6;
  -- The meridians that touch the circle. A circle around a pole crosses all of them.
  aside constant double precision := case when abs(latitude) + reach >= 90 then 180
    else least(180, asind(least(1, sind(reach) / cosd(latitude)))) end;
  level integer := 11;
  size double precision;
  bottom integer;
  top integer;
  west integer;
  east integer;
begin
  -- The smallest cells of which few enough cover the circle.
  loop
    size := 360 / 2 ^ level;
    bottom := floor((greatest(latitude - reach, -90) + 90) / size)::integer;
    top := floor((least(latitude + reach, 90) + 90) / size)::integer;
    west := floor((longitude - aside + 180) / size)::integer;
    east := least(floor((longitude + aside + 180) / size)::integer, west + (2 ^ level)::integer - 1);
    exit when level = 3 or (top - bottom + 1) * (east - west + 1) <= most;
    level := level - 2;
  end loop;
  return (
    select string_agg(format('''cell/%s/%s/%s''', level, y,
      ((x % (2 ^ level)::integer) + (2 ^ level)::integer) % (2 ^ level)::integer), ' | ')::tsquery
    from generate_series(bottom, top) as y, generate_series(west, east) as x);
end
$$;
comment on function search.cell_query(double precision, double precision, double precision, integer) is
  'Returns a query of search.document.facets that finds all offers within a distance of a point, and others around '
  'them.';

create or replace function search.within(c search.search_filter, near jsonb) returns search.search_filter
  language plpgsql immutable
as $$
begin
  c.latitude := (near ->> 'lat')::double precision;
  c.longitude := (near ->> 'lon')::double precision;
  c.radius_km := (near ->> 'radius_km')::double precision;
  c.near := search.cell_query(c.latitude, c.longitude, c.radius_km);
  return c;
end
$$;
comment on function search.within(search.search_filter, jsonb) is
  'Returns a filter for offers within radius_km of the point {lat, lon}.';

create or replace function search.default_radius_km() returns integer
  language sql immutable parallel safe
as $$
  -- A town with its surroundings, from where people come to fetch something.
  select 25
$$;
comment on function search.default_radius_km() is 'Returns the radius where only "near" is said.';

create or replace function search.place_label(town reading.place) returns text
  language plpgsql stable
as $$
begin
  return concat_ws(', ', town.name,
    (select r.name from reading.place r where r.place = town.region and r.name <> town.name), town.country);
end
$$;
comment on function search.place_label(reading.place) is 'Returns a town with its region and its country, as one text.';

create or replace function search.named_point(near jsonb) returns jsonb
  language plpgsql stable
as $$
declare
  place constant text := near ->> 'place';
  -- The towns of that name. The reader of a query has chosen one of them by the rest of the query.
  towns constant reading.place[] := case when place is not null then reading.towns_named(place) end;
  latitude constant double precision := coalesce((near ->> 'lat')::double precision, towns[1].latitude);
  longitude constant double precision := coalesce((near ->> 'lon')::double precision, towns[1].longitude);
  label text;
  others text[];
begin
  if near is null then
    return null;
  elsif place is not null and latitude is null then
    perform internal.raise_field_problems(jsonb_build_array(jsonb_build_object('pointer', '/filters/near/place',
      'detail', case
        when exists (select from reading.places_named(place) as p where p.kind in ('region', 'country', 'world'))
          then 'place_is_region' else 'place_unknown' end,
      'params', jsonb_build_object('place', quote_ident(left(place, 60))))));
  end if;
  select search.place_label(t.town) into label
  from (select towns[n] as town, n from generate_subscripts(towns, 1) as n) as t
  -- The gazetteer has single precision.
  where abs((t.town).latitude - latitude) < 0.001 and abs((t.town).longitude - longitude) < 0.001
  order by t.n limit 1;
  -- A town with less than a fiftieth of the inhabitants is hardly ever meant, and more than three names are no help.
  others := array(
    select search.place_label(t.town)
    from (select towns[n] as town, n from generate_subscripts(towns, 1) as n) as t
    where (t.town).population * 50 >= towns[1].population
      and search.distance_km((t.town).latitude, (t.town).longitude, latitude, longitude) > 50
    order by t.n limit 3);
  return near || jsonb_build_object('lat', round(latitude::numeric, 4), 'lon', round(longitude::numeric, 4), 'label',
    coalesce(label, place),
    'others', to_jsonb(others), 'radius_km', coalesce((near ->> 'radius_km')::numeric, search.default_radius_km()));
end
$$;
comment on function search.named_point(jsonb) is
  'Returns filters.near, or what was read from a query, with lat, lon and radius_km; if it names a place, with its '
  'label and other towns of that name. Raises 400 when no town has the name.';

create or replace function search.near_notices(near jsonb) returns jsonb
  language plpgsql stable
as $$
begin
  return case
    when near is null then '[]'
    when near ->> 'lat' is null then jsonb_build_array(jsonb_build_object('code', 'near_unknown',
      'summary', internal.sentence('near_unknown', jsonb_build_object('quote', near ->> 'quote'))))
    when near ->> 'label' is null then '[]'
    else jsonb_build_array(jsonb_build_object('code', 'near', 'summary',
      case when near -> 'others' = '[]'
        then internal.sentence('near', jsonb_build_object('radius', near ->> 'radius_km', 'place', near ->> 'label'))
        else internal.sentence('near_of_several', jsonb_build_object('radius', near ->> 'radius_km',
          'place', near ->> 'label', 'others', array_to_string(search.text_array(near -> 'others'), '; '))) end)) end;
end
$$;
comment on function search.near_notices(jsonb) is
  'Returns the notices that say from which town distances are measured, or that none is known.';
