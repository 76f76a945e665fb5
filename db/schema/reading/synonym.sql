-- Synonyms: the words for a concept in each language. An offer's concepts are determined when the offer is written. So
-- a search for a couch is a search for one lexeme, and the language of the offer tells a Dutch "bank" (a sofa) from an
-- English "bank".

create table reading.synonym (
  concept text not null,
  language text not null,
  term text not null,
  lexemes text[] not null generated always as (
    tsvector_to_array(to_tsvector(reading.search_config(language), reading.fold(term)))) stored,
  needle tsquery not null generated always as (
    phraseto_tsquery(reading.search_config(language), reading.fold(term))) stored,
  origin text not null default 'operator',
  constraint synonym_pkey primary key (concept, language, term),
  constraint synonym_concept_form check (concept ~ '^[a-z0-9_]{1,40}$'),
  constraint synonym_concept_length check (char_length(concept) <= 40),
  constraint synonym_language_form check (language ~ '^[a-z]{2}$'),
  constraint synonym_language_length check (char_length(language) = 2),
  constraint synonym_term_length check (char_length(term) between 2 and 80),
  constraint synonym_origin_known check (origin in ('shipped', 'operator'))
);
create index synonym_lexemes_idx on reading.synonym using gin (lexemes);
create index synonym_first_lexeme_idx on reading.synonym ((language || ' ' || lexemes[1]) collate "C");
create index synonym_folded_term_idx on reading.synonym (reading.fold(term), language);

alter table reading.synonym enable row level security;
alter table reading.synonym force row level security;
create policy "the owner sees all" on reading.synonym to souk_owner using (true) with check (true);

create table reading.broader_concept (
  concept text not null,
  broader text not null,
  origin text not null default 'operator',
  constraint broader_concept_pkey primary key (concept, broader),
  constraint broader_concept_concept_length check (char_length(concept) between 1 and 40),
  constraint broader_concept_broader_length check (char_length(broader) between 1 and 40),
  constraint broader_concept_is_another check (concept <> broader),
  constraint broader_concept_origin_known check (origin in ('shipped', 'operator'))
);

alter table reading.broader_concept enable row level security;
alter table reading.broader_concept force row level security;
create policy "the owner sees all" on reading.broader_concept to souk_owner using (true) with check (true);
create policy "a dba reads all" on reading.synonym for select to souk_dba using (true);
create policy "a dba reads all" on reading.broader_concept for select to souk_dba using (true);

create trigger forget_deletion after insert on reading.synonym referencing new table as added
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.forget_deletion('concept,language,term');
create trigger keep_origin before update or delete on reading.synonym
  for each row when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.keep_origin('concept,language,term', '');
create trigger remember_truncate before truncate on reading.synonym
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.remember_truncate('concept,language,term');

create trigger forget_deletion after insert on reading.broader_concept referencing new table as added
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.forget_deletion('concept,broader');
create trigger keep_origin before update or delete on reading.broader_concept
  for each row when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.keep_origin('concept,broader', '');
create trigger remember_truncate before truncate on reading.broader_concept
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.remember_truncate('concept,broader');

create trigger note_synonym_change after insert or update or delete or truncate on reading.synonym
  for each statement execute function reading.note_synonym_change();
create trigger note_synonym_change after insert or update or delete or truncate on reading.broader_concept
  for each statement execute function reading.note_synonym_change();

-- Reloaded: grants and comments from here on are loaded again whenever a file of db/schema changes.

comment on table reading.synonym is
  'One row is one word or phrase for a concept in a language. The concepts of an offer are set when it is published or '
  'changed; after a change in this table, the job refresh_concepts sets them again.';
comment on column reading.synonym.concept is
  'The name of the concept. The names of makes and models have concepts that end in _model. Offers have these concepts '
  'and the broader ones, and a query with such a name searches for the name itself.';
comment on column reading.synonym.language is 'The language of the term (ISO 639-1).';
comment on column reading.synonym.term is
  'The word or phrase. Inflected forms need no row in languages with a stemmer in PostgreSQL. German and Dutch '
  'compounds that end in the term need none either. Stop words in the term have no effect.';
comment on column reading.synonym.lexemes is 'The stems of the term''s words.';
comment on column reading.synonym.needle is 'The stems of the term''s words as a phrase query.';
comment on column reading.synonym.origin is
  'shipped: an upgrade may change the row. operator: somebody added or changed it here, and upgrades leave it.';
comment on table reading.broader_concept is
  'One row says that every offer with the narrower concept (or category) also has the broader concept: an e-bike is a '
  'bicycle, and an offer in vehicles/cars is a car. The relation is not transitive.';
comment on column reading.broader_concept.concept is
  'The narrower concept of reading.synonym, or a category as DOMAIN/CATEGORY.';
comment on column reading.broader_concept.broader is 'The broader concept.';
comment on column reading.broader_concept.origin is
  'shipped: an upgrade may change the row. operator: somebody added or changed it here, and upgrades leave it.';
grant select on reading.synonym to souk_dba;
grant select on reading.broader_concept to souk_dba;
