create table reading.place (
  place text constraint place_pkey primary key,
  kind text not null,
  name text not null,
  country text constraint place_country_fkey references reading.place (place) on delete no action,
  region text constraint place_region_fkey references reading.place (place) on delete no action,
  city text constraint place_city_fkey references reading.place (place) on delete no action,
  population integer,
  latitude real,
  longitude real,
  origin text not null default 'operator',
  constraint place_place_length check (char_length(place) between 1 and 100),
  constraint place_kind_known check (kind in ('world', 'country', 'region', 'city', 'district')),
  constraint place_name_length check (char_length(name) between 1 and 100),
  constraint place_country_form check (country ~ '^[A-Z]{2}$'),
  constraint place_country_length check (char_length(country) = 2),
  constraint place_region_length check (char_length(region) between 1 and 100),
  constraint place_city_length check (char_length(city) between 1 and 100),
  constraint place_country_by_kind check (
    case kind when 'world' then country is null when 'country' then country = place else country is not null end),
  constraint place_population_range check (population > 0),
  constraint place_latitude_range check (latitude between -90 and 90),
  constraint place_longitude_range check (longitude between -180 and 180),
  constraint place_point_whole check ((latitude is null) = (longitude is null)),
  constraint place_origin_known check (origin in ('shipped', 'operator'))
);

create index place_country_idx on reading.place (country);
create index place_region_idx on reading.place (region);
create index place_city_idx on reading.place (city);
-- Towns and other places by their folded names (reading.towns_named, reading.places_named).
create index place_name_idx on reading.place (reading.fold(name));

create trigger note_change after insert or update or delete or truncate on reading.place
  for each statement execute function reading.note_change();

comment on table reading.place is
  'One row is one place: a part of the world, a country, a region of a country, a city or other town, or a district of '
  'a city. Most rows are from GeoNames (https://www.geonames.org, CC BY 4.0). Changes take effect within a minute.';
comment on column reading.place.place is
  'GeoNames''s number of a town or district, the ISO 3166-1 code of a country, GeoNames''s code of a region (DE.02); a '
  'name with a slash (DE/allgau) for a place that is not from GeoNames.';
comment on column reading.place.kind is 'world (a part of the world), country, region, city (any town) or district.';
comment on column reading.place.name is
  'The name as it is written in its country, or in English if its country writes it in other letters.';
comment on column reading.place.country is 'The country (ISO 3166-1 alpha-2); null for a part of the world.';
comment on column reading.place.region is 'The region of the country that the place lies in.';
comment on column reading.place.city is
  'The city that a district or suburb lies in, or that a metropolitan area surrounds.';
comment on column reading.place.population is
  'The number of inhabitants. Of places with the same name, the largest is meant if nothing else is said.';
comment on column reading.place.latitude is 'Degrees north; null for a region or a country.';
comment on column reading.place.longitude is 'Degrees east; null for a region or a country.';
grant select on reading.place to souk_dba;
