-- Places that are many countries.

create table reading.wide_place (
  term text constraint wide_place_pkey primary key,
  countries text[] not null,
  constraint wide_place_term_length check (char_length(term) between 2 and 80),
  constraint wide_place_countries_count check (cardinality(countries) between 1 and 100)
);

alter table reading.wide_place enable row level security;
alter table reading.wide_place force row level security;
create policy "the owner sees all" on reading.wide_place to souk_owner using (true) with check (true);

insert into reading.wide_place (term, countries)
select t.term, string_to_array(p.countries, ' ')
from (values
  ('europe europa eu ue', 'al ad at by be ba bg hr cy cz dk ee fi fr de gr hu is ie it xk lv li lt lu mt md mc me nl mk no pl pt ro sm rs sk si es se ch ua gb va'),
  ('scandinavia skandinavien scandinavie escandinavia escandinavia skandynawia scandinavie', 'dk no se'),
  ('benelux', 'be nl lu'),
  ('dach', 'de at ch'),
  ('iberia', 'es pt'),
  ('latinoamerica latam', 'ar bo br cl co cr cu do ec sv gt hn mx ni pa py pe pr uy ve'),
  ('asia asien asie azja azie', 'af bd bt bn kh cn hk in id jp kz kg la my mv mn mm np pk ph sg kr lk tw tj th tl tm uz vn'),
  ('africa afrika afrique afryka', 'dz ao bj bw bf bi cm cv td cg cd ci dj eg et ga gm gh gn ke lr ly mg mw ml mr mu ma mz na ne ng rw sn sc sl so za tz tg tn ug zm zw')
) as p (terms, countries), unnest(string_to_array(p.terms, ' ')) as t (term)
on conflict do nothing;

create policy "a dba reads all" on reading.wide_place for select to souk_dba using (true);

-- Reloaded: grants and comments from here on are loaded again whenever a file of db/schema changes.

comment on table reading.wide_place is 'One row is one name of a part of the world.';
comment on column reading.wide_place.term is 'The name, folded.';
comment on column reading.wide_place.countries is 'The countries in it, ISO 3166-1 alpha-2, lower case.';
grant select on reading.wide_place to souk_dba;
