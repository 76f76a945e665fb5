-- Names of regions that span several countries.

create table reading.wide_place (
  term text constraint wide_place_pkey primary key,
  countries text[] not null,
  origin text not null default 'operator',
  constraint wide_place_term_length check (char_length(term) between 2 and 80),
  constraint wide_place_countries_count check (cardinality(countries) between 1 and 100),
  constraint wide_place_origin_known check (origin in ('shipped', 'operator'))
);

alter table reading.wide_place enable row level security;
alter table reading.wide_place force row level security;
create policy "the owner sees all" on reading.wide_place to souk_owner using (true) with check (true);

create policy "a dba reads all" on reading.wide_place for select to souk_dba using (true);

create trigger forget_deletion after insert on reading.wide_place referencing new table as added
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.forget_deletion('term');
create trigger keep_origin before update or delete on reading.wide_place
  for each row when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.keep_origin('term', 'countries');
create trigger remember_truncate before truncate on reading.wide_place
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.remember_truncate('term');

-- Reloaded: grants and comments from here on are loaded again whenever a file of db/schema changes.

comment on table reading.wide_place is 'One row is one name of a region of the world.';
comment on column reading.wide_place.term is 'The name, folded by reading.fold.';
comment on column reading.wide_place.countries is 'The region''s countries, ISO 3166-1 alpha-2 in lower case.';
comment on column reading.wide_place.origin is
  'shipped: an upgrade may change the row. operator: somebody added or changed it here, and upgrades leave it.';
grant select on reading.wide_place to souk_dba;
