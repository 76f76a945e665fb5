-- The labels of the lexicon: the words and phrases that name a concept. They are data that the operator edits, and
-- never code. The concepts that an offer names are determined when it is written (reading/concepts.sql). So a search
-- for a couch is a search for one lexeme, and the language of the offer tells a Dutch "bank" (a sofa) from an English
-- "bank".

create table reading.label (
  id bigint generated always as identity constraint label_pkey primary key,
  concept text not null,
  -- The type of the concept. It is repeated here, so that only labels of things are stemmed and indexed for the search.
  type text not null,
  language text,
  form text not null,
  weight real not null default 1,
  is_prefix boolean not null default false,
  lexemes text[] generated always as (
    case when type = 'thing' then
      tsvector_to_array(reading.stems(reading.plain_words(form), language)) end) stored,
  needle tsquery generated always as (
    case
      when type = 'thing' then phraseto_tsquery(reading.search_config(language),
        reading.without_endings(reading.plain_words(form), language)) end) stored,
  origin text not null default 'operator',
  constraint label_concept_language_form_key unique nulls not distinct (concept, type, language, form),
  constraint label_concept_fkey foreign key (concept, type) references reading.concept (concept, type)
    on update cascade on delete restrict,
  constraint label_language_known check (language = any (reading.languages())),
  constraint label_language_length check (char_length(language) = 2),
  constraint label_thing_has_language check (type <> 'thing' or language is not null),
  constraint label_form_length check (char_length(form) between 1 and 80),
  -- Nearly all forms match the first pattern. To check it takes a twentieth of the time that folding takes.
  constraint label_form_folded check (form ~ '^[a-z0-9]+( [a-z0-9]+)*$'
    or form = btrim(regexp_replace(reading.fold(form), '[' || internal.white_space() || ']+', ' ', 'g'))
    -- Only a cue may be a mark.
    and (cardinality(reading.words(form)) > 0 or type = 'cue')),
  constraint label_weight_range check (weight > 0 and weight <= 5),
  constraint label_prefix_is_cue check (type = 'cue' or not is_prefix),
  constraint label_origin_known check (origin in ('shipped', 'operator'))
);
-- Heads of compounds (reading.compound_heads).
create index label_form_idx on reading.label (form);
-- The concepts that a query names (search.query_terms).
create index label_lexemes_idx on reading.label using gin (lexemes) with (fastupdate = off) where type = 'thing';
-- The concepts that a text may name (reading/concepts.sql).
create index label_first_lexeme_idx on reading.label ((language || ' ' || lexemes[1]) collate "C")
where type = 'thing';

create trigger set_type before insert on reading.label
  for each row when (new.type is null)
  execute function reading.set_label_type();
create trigger note_added after insert on reading.label referencing new table as changed
  for each statement execute function reading.note_label_change();
create trigger note_removed after delete on reading.label referencing old table as changed
  for each statement execute function reading.note_label_change();
create trigger note_changed_from after update on reading.label referencing old table as changed
  for each statement execute function reading.note_label_change();
create trigger note_changed_to after update on reading.label referencing new table as changed
  for each statement execute function reading.note_label_change();
create trigger note_change after insert or update or delete or truncate on reading.label
  for each statement execute function reading.note_change();
create trigger note_synonym_change after truncate on reading.label
  for each statement execute function reading.note_synonym_change();

comment on table reading.label is
  'One row is one word or phrase for a concept. A form may name several concepts. Processes use a change within a '
  'minute; after a change of a label of a thing, the job refresh_concepts also sets the concepts of all offers again.';
comment on column reading.label.type is 'The type of the concept. Leave it out of an insert: it is filled in.';
comment on column reading.label.language is
  'The language of the form (ISO 639-1); null for what is the same everywhere: names, brands, models, and cues.';
comment on column reading.label.form is
  'The word or phrase, folded by reading.fold, with single spaces. Regular plurals and cases, and German and Dutch '
  'compounds that end in the form, need no row of their own. Stop words in the form of a thing have no effect.';
comment on column reading.label.weight is
  'How surely the form says it: 1 is a hint, 2 is usual, 3 is nearly certain. Not used for things and cues.';
comment on column reading.label.is_prefix is 'Whether the last word of the form may go on: "verhandel". Only for cues.';
comment on column reading.label.lexemes is 'The stems of the words of a thing''s form; null for other labels.';
comment on column reading.label.needle is
  'The stems of the words of a thing''s form as a phrase query; null for other labels.';
grant select on reading.label to souk_dba;
