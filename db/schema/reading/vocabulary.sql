-- The names of places that the built-in reader knows.

create table reading.vocabulary (
  id bigint generated always as identity constraint vocabulary_pkey primary key,
  term text not null,
  language text,
  sense text not null,
  weight real not null,
  origin text not null default 'operator',
  constraint vocabulary_term_sense_key unique nulls not distinct (term, language, sense),
  constraint vocabulary_term_length check (char_length(term) between 1 and 80),
  -- Nearly all terms match the first pattern. To check it takes a twentieth of the time that folding takes.
  constraint vocabulary_term_folded check (term ~ '^[a-z0-9]+( [a-z0-9]+)*$'
    or term = btrim(regexp_replace(reading.fold(term), '\s+', ' ', 'g'))),
  constraint vocabulary_language_length check (char_length(language) = 2),
  constraint vocabulary_language_form check (language ~ '^[a-z]{2}$'),
  constraint vocabulary_sense_length check (char_length(sense) between 3 and 100),
  constraint vocabulary_sense_form check (sense ~ '^(place|region|country):[A-Z]{2}$'
    or sense ~ '^city:[A-Z]{2}/[^/:]+$'),
  constraint vocabulary_weight_range check (weight > 0 and weight <= 5),
  constraint vocabulary_origin_known check (origin in ('shipped', 'operator'))
);

alter table reading.vocabulary enable row level security;
alter table reading.vocabulary force row level security;
create policy "the owner sees all" on reading.vocabulary to souk_owner using (true) with check (true);
create policy "a dba reads all" on reading.vocabulary for select to souk_dba using (true);

create trigger note_change after insert or update or delete or truncate on reading.vocabulary
  for each statement execute function reading.note_change();
create trigger forget_deletion after insert on reading.vocabulary referencing new table as added
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.forget_deletion('sense,language,term');
create trigger keep_origin before update or delete on reading.vocabulary
  for each row when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.keep_origin('sense,language,term', 'weight');
create trigger remember_truncate before truncate on reading.vocabulary
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.remember_truncate('sense,language,term');

-- Reloaded: grants and comments from here on are loaded again whenever a file of db/schema changes.

comment on table reading.vocabulary is
  'One row is one sense of a term that names a place. Senses: place:XX, region:XX and country:XX (a city, a part of a '
  'country, a country, by ISO 3166-1 code), city:XX/NAME (the city that a district, a metropolitan area or a name in '
  'another language belongs to). A term may have several senses. Changes take effect within a minute.';
comment on column reading.vocabulary.id is 'The id of the row.';
comment on column reading.vocabulary.term is 'The name, folded by reading.fold, with single spaces.';
comment on column reading.vocabulary.language is
  'The language of the term (ISO 639-1); null for a name that is the same everywhere.';
comment on column reading.vocabulary.sense is 'What the term says.';
comment on column reading.vocabulary.weight is
  'How surely the term says it: 1 is a hint, 2 is usual, 3 is nearly certain.';
comment on column reading.vocabulary.origin is
  'shipped: an upgrade may change the row. operator: somebody added or changed it here, and upgrades leave it.';
grant select on reading.vocabulary to souk_dba;
