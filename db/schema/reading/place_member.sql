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

create trigger note_change after insert or update or delete or truncate on reading.place_member
  for each statement execute function reading.note_change();

comment on table reading.place_member is 'One row is one country of a part of the world.';
comment on column reading.place_member.place is 'The part of the world.';
comment on column reading.place_member.country is 'The country (ISO 3166-1 alpha-2).';
grant select on reading.place_member to souk_dba;
