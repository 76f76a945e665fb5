-- The towns that a person means by a name.

create or replace function reading.towns_named(name text) returns reading.place[]
  language plpgsql stable
  set plan_cache_mode = 'force_generic_plan'
as $$
declare
  -- No name of a place has more than five words, and a region or a country follows it: "Paris, Texas".
  words constant text[] := (array_remove(regexp_split_to_array(reading.parted(left(name, 200)), '[ "-]+'), ''))[:8];
  towns reading.place[];
begin
  for n in reverse least(cardinality(words), 5) .. 1 loop
    towns := array(
      select p from (
        select p.* from reading.place p where reading.fold(p.name) = any (array[array_to_string(words[:n], ' '),
          array_to_string(words[:n], '-'), array_to_string(words[:n], '''')])
        union
        select p.* from reading.place_name l join reading.place p on p.place = l.place
        where l.form <> 'beside' and reading.fold(l.name) = any (array[array_to_string(words[:n], ' '),
          array_to_string(words[:n], '-'), array_to_string(words[:n], '''')])) as p
      where p.kind in ('city', 'district') and p.latitude is not null
        and case when n = cardinality(words) then true else words[n + 1 :] <@ (
          select coalesce(array_agg(w), '{}')
          from reading.place a
          left join reading.place_name l on l.place = a.place
          cross join lateral regexp_split_to_table(reading.parted(concat_ws(' ', a.name, a.country, l.name)), '[ "-]+')
            as w
          where a.place in (p.country, p.region, p.city, p.place)) end
      -- A town before a district of the same name.
      order by p.population desc nulls last, p.kind, p.place);
    exit when cardinality(towns) > 0;
  end loop;
  return nullif(towns, '{}');
end
$$;
comment on function reading.towns_named(text) is
  'Returns the towns and districts with a position that a name may mean, the largest first; null when there are none. '
  'Words after the name, such as a region or a country, say which one: "Paris, Texas".';

create or replace function reading.town_point(location jsonb) returns jsonb
  language plpgsql stable
as $$
declare
  towns constant reading.place[] := reading.towns_named(concat_ws(', ', location ->> 'city', location ->> 'country'));
begin
  return case when towns is not null then jsonb_build_object('lat', towns[1].latitude, 'lon', towns[1].longitude) end;
end
$$;
comment on function reading.town_point(jsonb) is
  'Returns the point {lat, lon} of the town of metadata.location; null when it is not known.';
