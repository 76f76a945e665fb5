-- The places, as the reader takes them, and the places with a name.

create or replace function reading.places() returns json
  language sql stable
as $$
  -- Three texts with tabs, as in db/data. To make and to parse fifty thousand rows as JSON takes ten times as long.
  select json_build_object(
    'place', concat(E'place\tkind\tname\tcountry\tregion\tcity\tpopulation\tlatitude\tlongitude\n', (
      select string_agg(concat(p.place, E'\t', p.kind, E'\t', p.name, E'\t', p.country, E'\t', p.region, E'\t', p.city,
        E'\t', p.population, E'\t', p.latitude, E'\t', p.longitude, E'\n'), '')
      from reading.place p)),
    'place_name', concat(E'place\tname\tform\n', (
      select string_agg(concat(n.place, E'\t', n.name, E'\t', n.form, E'\n'), '') from reading.place_name n)),
    'place_member', concat(E'place\tcountry\n', (
      select string_agg(concat(m.place, E'\t', m.country, E'\n'), '') from reading.place_member m)))
$$;
comment on function reading.places() is
  'The places, their further names and the countries of parts of the world, each as a text of rows with tabs, in no '
  'order.';

create or replace function reading.places_named(name text)
  returns table (place text, kind text, country text, city text, population integer, form text)
  language sql stable
as $$
  select p.place, p.kind, p.country, coalesce(c.name, p.name), p.population, n.form
  from (
    select p.place, coalesce(
      (select n.form from reading.place_name n where n.place = p.place and n.name = p.name), 'name') as form
    from reading.place p where reading.fold(p.name) = reading.fold(places_named.name)
    union select n.place, n.form from reading.place_name n
    where reading.fold(n.name) = reading.fold(places_named.name)) as n
  join reading.place p on p.place = n.place
  left join reading.place c on c.place = p.city
  where n.form <> 'beside'
$$;
comment on function reading.places_named(text) is
  'Returns the places with a name, in any case and with or without accents. city: the city that the place is or lies '
  'in. form: word if the name is also an ordinary word, else name.';
