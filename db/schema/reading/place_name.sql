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

-- Places by their other names.
create index place_name_name_idx on reading.place_name (reading.fold(name));

create trigger note_change after insert or update or delete or truncate on reading.place_name
  for each statement execute function reading.note_change();

comment on table reading.place_name is
  'One row is a further name of a place: in another language, shorter, or an abbreviation. A row with the name that '
  'reading.place has only says its form.';
comment on column reading.place_name.name is 'The name as people write it. Case and accents do not matter.';
comment on column reading.place_name.language is
  'The language of the name (ISO 639-1); null if several languages have it or it belongs to none.';
comment on column reading.place_name.form is
  'How surely the name means the place. name: it does. word: it is also an ordinary word or a person''s name. beside: '
  'it counts only beside its city, region or country, as WA does in "Perth, WA".';
grant select on reading.place_name to souk_dba;
