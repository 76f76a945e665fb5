--! Previous: sha1:2089c8023303f368a004c33f239411953f116176
--! Hash: sha1:2d1df69cd76ea180324767a3571e1f7d4616887b
--! Message: places from GeoNames

-- Places get tables of their own, which db/data fills from GeoNames. They replace the names of places in reading.vocabulary
-- and reading.wide_place. An operator's rows become places; the shipped rows go.

set local role souk_owner;
-- Rows are moved, not changed by an operator.
select set_config('market.loading', 'on', true);

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
create index place_name_idx on reading.place (reading.fold(name));

alter table reading.place enable row level security;
alter table reading.place force row level security;
create policy "the owner sees all" on reading.place to souk_owner using (true) with check (true);
create policy "a dba reads all" on reading.place for select to souk_dba using (true);

create trigger note_change after insert or update or delete or truncate on reading.place
  for each statement execute function reading.note_change();
create trigger forget_deletion after insert on reading.place referencing new table as added
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.forget_deletion('place');
create trigger keep_origin before update or delete on reading.place
  for each row when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.keep_origin('place', 'kind,name,country,region,city,population,latitude,longitude');
create trigger remember_truncate before truncate on reading.place
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.remember_truncate('place');

create table reading.place_name (
  place text not null constraint place_name_place_fkey references reading.place (place) on delete cascade,
  name text not null,
  language text,
  form text not null,
  origin text not null default 'operator',
  constraint place_name_pkey primary key (place, name),
  constraint place_name_place_length check (char_length(place) between 1 and 100),
  constraint place_name_name_length check (char_length(name) between 1 and 100),
  constraint place_name_language_length check (char_length(language) = 2),
  constraint place_name_language_form check (language ~ '^[a-z]{2}$'),
  constraint place_name_form_known check (form in ('name', 'word', 'beside')),
  constraint place_name_origin_known check (origin in ('shipped', 'operator'))
);

create index place_name_name_idx on reading.place_name (reading.fold(name));

alter table reading.place_name enable row level security;
alter table reading.place_name force row level security;
create policy "the owner sees all" on reading.place_name to souk_owner using (true) with check (true);
create policy "a dba reads all" on reading.place_name for select to souk_dba using (true);

create trigger note_change after insert or update or delete or truncate on reading.place_name
  for each statement execute function reading.note_change();
create trigger forget_deletion after insert on reading.place_name referencing new table as added
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.forget_deletion('place,name');
create trigger keep_origin before update or delete on reading.place_name
  for each row when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.keep_origin('place,name', 'language,form');
create trigger remember_truncate before truncate on reading.place_name
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.remember_truncate('place,name');

create table reading.place_member (
  place text not null constraint place_member_place_fkey references reading.place (place) on delete cascade,
  country text not null constraint place_member_country_fkey references reading.place (place) on delete cascade,
  origin text not null default 'operator',
  constraint place_member_pkey primary key (place, country),
  constraint place_member_place_length check (char_length(place) between 1 and 100),
  constraint place_member_country_length check (char_length(country) = 2),
  constraint place_member_origin_known check (origin in ('shipped', 'operator'))
);

create index place_member_country_idx on reading.place_member (country);

alter table reading.place_member enable row level security;
alter table reading.place_member force row level security;
create policy "the owner sees all" on reading.place_member to souk_owner using (true) with check (true);
create policy "a dba reads all" on reading.place_member for select to souk_dba using (true);

create trigger note_change after insert or update or delete or truncate on reading.place_member
  for each statement execute function reading.note_change();
create trigger forget_deletion after insert on reading.place_member referencing new table as added
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.forget_deletion('place,country');
create trigger keep_origin before update or delete on reading.place_member
  for each row when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.keep_origin('place,country', '');
create trigger remember_truncate before truncate on reading.place_member
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.remember_truncate('place,country');

-- The countries of an operator's places. The load of db/data that follows gives them their names.
insert into reading.place (place, kind, name, country, origin)
select c.country, 'country', c.country, c.country, 'shipped'
from (
  select substr(split_part(v.sense, ':', 2), 1, 2) from reading.vocabulary v where v.origin = 'operator'
  union select upper(m.country) from reading.wide_place w, unnest(w.countries) as m (country)
  where w.origin = 'operator' and m.country ~ '^[A-Za-z]{2}$') as c (country);

insert into reading.place_name (place, name, language, form, origin)
select distinct on (c.country, v.term) c.country, v.term, v.language, 'name', 'operator'
from reading.vocabulary v cross join lateral substr(v.sense, 9) as c (country)
where v.origin = 'operator' and v.sense like 'country:%' and v.term <> lower(c.country);

-- The cities of an operator's districts. GeoNames's rows of these cities are not here yet.
insert into reading.place (place, kind, name, country, origin)
select distinct on (p.place) p.place, 'city', split_part(v.sense, '/', 2), substr(v.sense, 6, 2), 'operator'
from reading.vocabulary v cross join lateral (
  select substr(v.sense, 6, 3) || replace(left(reading.fold(split_part(v.sense, '/', 2)), 90), ' ', '-')) as p (place)
where v.origin = 'operator' and v.sense like 'city:%'
order by p.place, v.sense;

insert into reading.place (place, kind, name, country, city, origin)
select distinct on (p.place) p.place, p.kind, initcap(v.term), p.country,
  case p.kind when 'district'
    then p.country || '/' || replace(left(reading.fold(split_part(v.sense, '/', 2)), 90), ' ', '-') end, 'operator'
from reading.vocabulary v cross join lateral (
  select substr(split_part(v.sense, ':', 2), 1, 2) || '/' || replace(v.term, ' ', '-'),
    substr(split_part(v.sense, ':', 2), 1, 2),
    case split_part(v.sense, ':', 1) when 'place' then 'city' when 'city' then 'district' else 'region' end)
  as p (place, country, kind)
where v.origin = 'operator' and v.sense !~ '^country:'
order by p.place, v.sense desc
on conflict (place) do nothing;

-- A low weight said that the name is also an ordinary word.
insert into reading.place_name (place, name, form, origin)
select distinct p.place, p.name, 'word', 'operator'
from reading.vocabulary v
join reading.place p
  on p.place = substr(split_part(v.sense, ':', 2), 1, 2) || '/' || replace(v.term, ' ', '-')
where v.origin = 'operator' and v.weight < 2 and v.sense !~ '^country:'
on conflict (place, name) do nothing;

insert into reading.place (place, kind, name, origin)
select 'world/' || replace(w.term, ' ', '-'), 'world', initcap(w.term), 'operator'
from reading.wide_place w where w.origin = 'operator';
insert into reading.place_member (place, country, origin)
select distinct 'world/' || replace(w.term, ' ', '-'), upper(m.country), 'operator'
from reading.wide_place w, unnest(w.countries) as m (country)
where w.origin = 'operator' and m.country ~ '^[A-Za-z]{2}$';

do $$
declare
  names text;
begin
  select string_agg(d.key::text, ', ') into names
  from internal.deleted_row d where d.table_name in ('reading.vocabulary', 'reading.wide_place');
  if names is not null then
    raise warning 'The places %, which an operator deleted, are places again. Delete them from reading.place.', names;
  end if;
end
$$;
delete from internal.deleted_row d where d.table_name in ('reading.vocabulary', 'reading.wide_place');
delete from internal.loaded l where l.name in ('vocabulary.tsv', 'wide_place.tsv');

-- squawk-ignore ban-drop-table
drop table reading.vocabulary;
-- squawk-ignore ban-drop-table
drop table reading.wide_place;

select set_config('market.loading', '', true);
reset role;
