-- The place of an offer or an ask. Its quote names it. What else is said of it (country, region, city, position) stands
-- in the text, or follows from the places with that name (reading.place), or was inferred by the built-in reader.

create or replace function reading.stated_places(passage text) returns setof reading.place
  language plpgsql stable
as $$
declare
  -- A passage that names a place is short. No name of a place has more than five words.
  words constant text[] := reading.words(left(passage, 200));
  names constant text[] := array(
    select distinct array_to_string(words[n:n + more], mark)
    from generate_subscripts(words, 1) as n, generate_series(0, 4) as more, unnest(array[' ', '-', '''']) as mark
    where n + more <= cardinality(words) and (more > 0 or mark = ' '));
begin
  return query
  select p.* from reading.place p where reading.fold(p.name) = any (names)
  union
  select p.* from reading.place_name n join reading.place p on p.place = n.place
  where reading.fold(n.name) = any (names);
end
$$;
comment on function reading.stated_places(text) is
  'Returns the places whose names stand in a passage, in any language.';

create or replace function reading.names_country(text text, country text) returns boolean
  language plpgsql stable
as $$
begin
  return exists (
    select from reading.place p
    where p.place = names_country.country and p.kind = 'country' and (reading.states_name(text, p.name) or exists (
      select from reading.place_name n where n.place = p.place and reading.states_name(text, n.name))));
end
$$;
comment on function reading.names_country(text, text) is
  'Returns whether a text names a country (ISO 3166-1 alpha-2) in any language.';

create or replace function reading.ground_place(text text, field jsonb, known jsonb) returns jsonb
  language plpgsql stable
as $$
declare
  place constant jsonb := field -> 'value';
  -- What the built-in reader inferred for the same place.
  inferred constant jsonb := case when (known ->> 'start')::integer < (field ->> 'end')::integer
    and (field ->> 'start')::integer < (known ->> 'end')::integer then known -> 'value' end;
  stated constant jsonb := search.sound_point(place -> 'point');
  -- What the gazetteer says of the places with this name.
  countries text[];
  names text[];
  points point[];
begin
  if not reading.states_name(field ->> 'quote', place ->> 'text') then
    return null;
  end if;
  if place is distinct from inferred then
    select array_agg(p.country), array_agg(reading.fold(p.name)) || array_agg(reading.fold(c.name))
        || array_agg(reading.fold(r.name)),
      array_agg(point(p.longitude, p.latitude)) || array_agg(point(c.longitude, c.latitude))
    into countries, names, points
    from reading.stated_places(field ->> 'quote') as p
    left join reading.place c on c.place = p.city
    left join reading.place r on r.place = p.region;
  end if;
  return field || jsonb_build_object('value', jsonb_build_object(
    'text', left(place ->> 'text', 200),
    'country', case
      when place ->> 'country' ~ '^[A-Z]{2}$' and (place ->> 'country' = inferred ->> 'country'
        or place ->> 'country' = any (countries) or reading.names_country(text, place ->> 'country'))
      then place -> 'country' else inferred -> 'country' end,
    'point', case
      when stated = inferred -> 'point' or exists (
        -- The gazetteer has single precision.
        select from unnest(points) as p
        where abs(p[0] - (stated ->> 'lon')::double precision) < 0.001
          and abs(p[1] - (stated ->> 'lat')::double precision) < 0.001)
      then stated else search.sound_point(inferred -> 'point') end,
    'remote', coalesce(place -> 'remote' = 'true', false))
    || (
      select jsonb_object_agg(part.name, case
        when length(place ->> part.name) <= 100 and (place ->> part.name = inferred ->> part.name
          or reading.states_name(text, place ->> part.name)
          or part.name in ('region', 'city') and reading.fold(place ->> part.name) = any (names))
        then place -> part.name else inferred -> part.name end)
      from unnest(array['region', 'city', 'district', 'postal_code']) as part (name)));
end
$$;
comment on function reading.ground_place(text, jsonb, jsonb) is
  'Returns a place if its quote names it, or null. Its country, region, city, district, postal code and position stay '
  'if the text states them, if they are those of a place with that name, or if the built-in reader inferred them from '
  'the same passage (`known` is its field).';

create or replace function reading.ground_near(field jsonb) returns jsonb
  language plpgsql stable
as $$
declare
  near constant jsonb := field -> 'value';
  quote constant text := field ->> 'quote';
  radius_km constant numeric := case when jsonb_typeof(near -> 'radius_km') = 'number'
    then (near ->> 'radius_km')::numeric end;
begin
  -- A distance of one mile is 1.609344 km. Where no number is stated, the radius is the usual one.
  return case when search.sound_point(near) is not null and reading.states_name(quote, near ->> 'place')
    and exists (
      -- The gazetteer has single precision.
      select from reading.stated_places(near ->> 'place') as p left join reading.place c on c.place = p.city
      cross join lateral (values (p.latitude, p.longitude), (c.latitude, c.longitude)) as t (latitude, longitude)
      where abs(t.latitude - (near ->> 'lat')::double precision) < 0.001
        and abs(t.longitude - (near ->> 'lon')::double precision) < 0.001)
    and (radius_km is null or radius_km between 1 and 500 and exists (
      select from reading.stated_numbers(quote) as stated, unnest(array[1, 1.609344]) as factor
      where abs(stated * factor - radius_km) <= 0.1))
  then field || jsonb_build_object('value', jsonb_build_object('place', left(near ->> 'place', 200),
      'lat', near -> 'lat', 'lon', near -> 'lon',
      'radius_km', coalesce(radius_km, search.default_radius_km()))) end;
end
$$;
comment on function reading.ground_near(jsonb) is
  'Returns the circle in which an ask looks, as {place, lat, lon, radius_km}, if its quote states the distance and the '
  'point is that of a place with the name in the quote, or null.';
