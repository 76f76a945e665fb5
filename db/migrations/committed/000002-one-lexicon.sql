--! Previous: sha1:f42e987fe610d0bb758c5ae77a65a73fc18ae543
--! Hash: sha1:2089c8023303f368a004c33f239411953f116176
--! Message: one lexicon

-- One lexicon: the rows of reading.vocabulary (but for places) and reading.synonym become labels of concepts, and the
-- examples of asks and offers become one table. Senses, kinds and categories become foreign keys. Rows that the
-- new constraints do not allow are named in the log of the server; nearly all of them had no effect.

set local role souk_owner;
set local check_function_bodies = off;
-- Rows are moved, not changed by an operator.
select set_config('market.loading', 'on', true);

-- Kinds of offer

--! Included internal/offer_kinds.sql
-- The kinds in the arrays market.domain.kinds and market.ask_kind.answered_by are rows of market.offer_kind. PostgreSQL
-- has no foreign keys of arrays, so these triggers do the same.

create or replace function internal.check_offer_kinds() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  unknown text;
begin
  select string_agg(k.kind, ', ') into unknown
  from jsonb_array_elements_text(to_jsonb(new) -> tg_argv[0]) as k (kind)
  where not exists (select from market.offer_kind o where o.offer_kind = k.kind);
  if unknown is not null then
    raise exception using errcode = 'foreign_key_violation', schema = tg_table_schema, table = tg_table_name,
      column = tg_argv[0], message = format('%s of %I.%I: market.offer_kind has no %s', tg_argv[0], tg_table_schema,
        tg_table_name, unknown);
  end if;
  return new;
end
$$;
comment on function internal.check_offer_kinds() is
  'Trigger: refuses a row whose array of kinds of offer has an unknown kind. Argument: the column.';

create or replace function internal.keep_used_offer_kind() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from market.domain d where old.offer_kind = any (d.kinds))
    or exists (select from market.ask_kind a where old.offer_kind = any (a.answered_by)) then
    raise exception using errcode = 'foreign_key_violation', schema = 'market', table = 'offer_kind',
      message = format('market.domain or market.ask_kind refers to the kind of offer %s', old.offer_kind);
  end if;
  return case when tg_op = 'DELETE' then old else new end;
end
$$;
comment on function internal.keep_used_offer_kind() is
  'Trigger: refuses to delete or rename a kind of offer that a domain or a kind of ask names.';
--! EndIncluded internal/offer_kinds.sql

create table market.offer_kind (
  offer_kind text constraint offer_kind_pkey primary key,
  position smallint not null,
  origin text not null default 'operator',
  constraint offer_kind_form check (offer_kind ~ '^[a-z_]{1,40}$'),
  constraint offer_kind_origin_known check (origin in ('shipped', 'operator'))
);
alter table market.offer_kind enable row level security;
alter table market.offer_kind force row level security;
create policy "the owner sees all" on market.offer_kind to souk_owner using (true) with check (true);
create policy "everyone reads the taxonomy" on market.offer_kind for select to souk_agent, souk_person using (true);
create policy "a dba reads all" on market.offer_kind for select to souk_dba using (true);
grant select on market.offer_kind to souk_agent, souk_person, souk_dba;

-- An empty database gets its rows from db/data.
insert into market.offer_kind (offer_kind, position, origin)
select k.kind, k.n, 'shipped'
from unnest(array['sale', 'rental', 'service_offer', 'project_hire', 'dating', 'friendship'])
  with ordinality as k (kind, n)
where exists (select from market.domain);

create trigger keep_used_offer_kind before delete or update of offer_kind on market.offer_kind
  for each row execute function internal.keep_used_offer_kind();
create trigger check_offer_kinds before insert or update of kinds on market.domain
  for each row execute function internal.check_offer_kinds('kinds');
create trigger check_offer_kinds before insert or update of answered_by on market.ask_kind
  for each row execute function internal.check_offer_kinds('answered_by');
create trigger forget_deletion after insert on market.offer_kind referencing new table as added
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.forget_deletion('offer_kind');
create trigger keep_origin before update or delete on market.offer_kind
  for each row when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.keep_origin('offer_kind', 'position');
create trigger remember_truncate before truncate on market.offer_kind
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.remember_truncate('offer_kind');

alter table market.domain drop constraint domain_kinds_known;
-- The old constraint was stricter, so every row passes.
-- squawk-ignore constraint-missing-not-valid
alter table market.domain add constraint domain_kinds_count check (cardinality(kinds) > 0);

-- squawk-ignore constraint-missing-not-valid, adding-foreign-key-constraint
alter table market.offer add constraint offer_offer_kind_fkey foreign key (offer_kind)
  references market.offer_kind on delete restrict;
alter table market.offer drop constraint offer_kind_known;
-- squawk-ignore require-concurrent-index-creation
create index offer_offer_kind_idx on market.offer (offer_kind);

-- The key of an example may have 8,000 characters.
alter table internal.deleted_row drop constraint deleted_row_key_length;
alter table internal.deleted_row
  -- squawk-ignore constraint-missing-not-valid
  add constraint deleted_row_key_length check (octet_length(key::text) <= 60000);

-- Concepts and labels. A concept is shipped if a shipped row names it.

--! Included reading/note_synonym_change.sql
-- Each offer has the concepts that its words name (reading/concepts.sql). When the labels of things or the broader
-- concepts change, a job sets the concepts of all offers again, in batches (jobs/refresh_concepts.sql).

create or replace function reading.start_concept_refresh() returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- Without offers there is nothing to do, and at the first start the job queue does not exist yet.
  if exists (select from market.offer) then
    insert into reading.concept_refresh default values
    on conflict (single) do update set last_offer_id = excluded.last_offer_id;
    -- The job key merges many changes into one job. A request takes at most five seconds, so an offer that is being
    -- published with the old labels is stored before the job runs.
    perform graphile_worker.add_job('refresh_concepts', job_key => 'refresh_concepts',
      job_key_mode => 'preserve_run_at',
      run_at => now() + interval '5 seconds');
  end if;
end
$$;
comment on function reading.start_concept_refresh() is 'Enqueues the job that sets the concepts of all offers again.';

create or replace function reading.note_synonym_change() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform reading.start_concept_refresh();
  return null;
end
$$;
comment on function reading.note_synonym_change() is
  'Trigger: sets the concepts of all offers again, no matter which role changed the labels or broader concepts.';

create or replace function reading.note_label_change() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from changed c where c.type = 'thing') then
    perform reading.start_concept_refresh();
  end if;
  return null;
end
$$;
comment on function reading.note_label_change() is
  'Trigger: sets the concepts of all offers again if labels of things have changed. Other labels do not concern the '
  'search.';

create or replace function reading.set_label_type() returns trigger
  language plpgsql volatile
as $$
begin
  -- An unknown concept is refused by the foreign key, whatever the type. No other constraint refuses a cue before.
  new.type := coalesce((select c.type from reading.concept c where c.concept = new.concept), 'cue');
  return new;
end
$$;
comment on function reading.set_label_type() is 'Trigger: fills in the type of a new label from its concept.';
--! EndIncluded reading/note_synonym_change.sql
--! Included reading/concept.sql
-- The lexicon: concepts, the labels that name them in each language (reading/label.sql), and which concept is broader
-- than another. A concept is a thing, a word of the taxonomy, or a cue: what a word says about the words beside it.

create table reading.concept (
  concept text constraint concept_pkey primary key,
  type text not null,
  domain text,
  category text,
  offer_kind text,
  ask_kind text,
  condition text,
  origin text not null default 'operator',
  constraint concept_concept_type_key unique (concept, type),
  constraint concept_domain_fkey foreign key (domain) references market.domain on delete restrict,
  constraint concept_category_fkey foreign key (domain, category) references market.category on delete restrict,
  constraint concept_offer_kind_fkey foreign key (offer_kind) references market.offer_kind on delete restrict,
  constraint concept_ask_kind_fkey foreign key (ask_kind) references market.ask_kind on delete restrict,
  constraint concept_type_known check (type in ('thing', 'category', 'domain', 'offer_kind', 'ask_kind', 'condition',
    'feature', 'cue', 'word_class')),
  constraint concept_condition_known
    check (condition in ('new', 'like_new', 'used_good', 'used_fair', 'refurbished', 'for_parts')),
  -- A concept of the taxonomy is named after its columns, so that there is only one for each.
  constraint concept_columns_fit_type check (coalesce(
    case type
      when 'category' then concept = domain || '/' || category
      when 'domain' then concept = 'domain/' || domain and category is null
      else domain is null and category is null end
    and case type when 'offer_kind' then concept = 'offer_kind/' || offer_kind else offer_kind is null end
    and case type when 'ask_kind' then concept = 'ask_kind/' || ask_kind else ask_kind is null end
    and case type when 'condition' then concept = 'condition/' || condition else condition is null end
    and (type not in ('thing', 'feature', 'cue', 'word_class') or concept ~ '^[a-z0-9_]{1,40}$'), false)),
  constraint concept_concept_length check (char_length(concept) between 1 and 81),
  constraint concept_origin_known check (origin in ('shipped', 'operator'))
);
create index concept_domain_category_idx on reading.concept (domain, category);
create index concept_offer_kind_idx on reading.concept (offer_kind) where offer_kind is not null;
create index concept_ask_kind_idx on reading.concept (ask_kind) where ask_kind is not null;

create table reading.broader (
  concept text not null,
  broader text not null,
  origin text not null default 'operator',
  constraint broader_pkey primary key (concept, broader),
  constraint broader_concept_fkey foreign key (concept) references reading.concept on delete restrict,
  constraint broader_broader_fkey foreign key (broader) references reading.concept on delete restrict,
  constraint broader_is_another check (concept <> broader),
  constraint broader_origin_known check (origin in ('shipped', 'operator'))
);
create index broader_broader_idx on reading.broader (broader);

alter table reading.concept enable row level security;
alter table reading.concept force row level security;
alter table reading.broader enable row level security;
alter table reading.broader force row level security;
create policy "the owner sees all" on reading.concept to souk_owner using (true) with check (true);
create policy "the owner sees all" on reading.broader to souk_owner using (true) with check (true);
create policy "a dba reads all" on reading.concept for select to souk_dba using (true);
create policy "a dba reads all" on reading.broader for select to souk_dba using (true);

create trigger note_change after insert or update or delete or truncate on reading.concept
  for each statement execute function reading.note_change();
create trigger forget_deletion after insert on reading.concept referencing new table as added
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.forget_deletion('concept');
create trigger keep_origin before update or delete on reading.concept
  for each row when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.keep_origin('concept', 'type,domain,category,offer_kind,ask_kind,condition');
create trigger remember_truncate before truncate on reading.concept
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.remember_truncate('concept');

create trigger note_synonym_change after insert or update or delete or truncate on reading.broader
  for each statement execute function reading.note_synonym_change();
create trigger forget_deletion after insert on reading.broader referencing new table as added
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.forget_deletion('concept,broader');
create trigger keep_origin before update or delete on reading.broader
  for each row when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.keep_origin('concept,broader', '');
create trigger remember_truncate before truncate on reading.broader
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.remember_truncate('concept,broader');

-- Reloaded: grants and comments from here on are loaded again whenever a file of db/schema changes.

comment on table reading.concept is
  'One row is one concept that words can name. Its words are in reading.label. To teach the reader a new category, add '
  'its concept here and its words there.';
comment on column reading.concept.concept is
  'The name: DOMAIN/CATEGORY, domain/DOMAIN, offer_kind/KIND, ask_kind/KIND or condition/CONDITION for a concept of '
  'the taxonomy, and any other name for the rest. The names of makes and models have concepts that end in _model: a '
  'query with such a name searches for the name itself.';
comment on column reading.concept.type is
  'thing: what an offer is about, for the search (a sofa). category, domain, offer_kind, ask_kind, condition: the '
  'words speak for this value. feature: the words themselves are the feature. cue: the words say something about the '
  'words beside them (a deposit, an old number). word_class: a closed class of words, such as pronouns or the units of '
  'space.';
comment on column reading.concept.domain is 'The domain, of a concept of type domain or category.';
comment on column reading.concept.category is 'The category in the domain, of a concept of type category.';
comment on column reading.concept.offer_kind is 'The kind of offer, of a concept of this type.';
comment on column reading.concept.ask_kind is 'The kind of ask, of a concept of this type.';
comment on column reading.concept.condition is 'The condition of a thing, of a concept of this type.';
comment on column reading.concept.origin is
  'shipped: an upgrade may change the row. operator: somebody added or changed it here, and upgrades leave it.';
comment on table reading.broader is
  'One row says that every offer with the narrower concept (or in the category) also has the broader concept: an '
  'e-bike is a bicycle, and an offer in vehicles/cars is a car. The relation is not transitive.';
comment on column reading.broader.concept is 'The narrower concept: a thing or a category.';
comment on column reading.broader.broader is 'The broader concept.';
comment on column reading.broader.origin is
  'shipped: an upgrade may change the row. operator: somebody added or changed it here, and upgrades leave it.';
grant select on reading.concept, reading.broader to souk_dba;
--! EndIncluded reading/concept.sql
--! Included reading/label.sql
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
    case when type = 'thing' then tsvector_to_array(to_tsvector(reading.search_config(language), form)) end) stored,
  needle tsquery generated always as (
    case when type = 'thing' then phraseto_tsquery(reading.search_config(language), form) end) stored,
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
    or form = btrim(regexp_replace(reading.fold(form), '\s+', ' ', 'g'))
    -- Only a cue may be a mark.
    and (form ~ '[[:alnum:]]' or type = 'cue')),
  constraint label_weight_range check (weight > 0 and weight <= 5),
  constraint label_prefix_is_cue check (type = 'cue' or not is_prefix),
  constraint label_origin_known check (origin in ('shipped', 'operator'))
);
create index label_form_idx on reading.label (form);
create index label_lexemes_idx on reading.label using gin (lexemes) where type = 'thing';
create index label_first_lexeme_idx on reading.label ((language || ' ' || lexemes[1]) collate "C")
where type = 'thing';

alter table reading.label enable row level security;
alter table reading.label force row level security;
create policy "the owner sees all" on reading.label to souk_owner using (true) with check (true);
create policy "a dba reads all" on reading.label for select to souk_dba using (true);

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

create trigger forget_deletion after insert on reading.label referencing new table as added
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.forget_deletion('concept,language,form');
create trigger keep_origin before update or delete on reading.label
  for each row when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.keep_origin('concept,language,form', 'weight,is_prefix');
create trigger remember_truncate before truncate on reading.label
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.remember_truncate('concept,language,form');

-- Reloaded: grants and comments from here on are loaded again whenever a file of db/schema changes.

comment on table reading.label is
  'One row is one word or phrase for a concept. A form may name several concepts. Processes use a change within a '
  'minute; after a change of a label of a thing, the job refresh_concepts also sets the concepts of all offers again.';
comment on column reading.label.id is 'The id of the row.';
comment on column reading.label.concept is 'The concept that the words name.';
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
comment on column reading.label.origin is
  'shipped: an upgrade may change the row. operator: somebody added or changed it here, and upgrades leave it.';
grant select on reading.label to souk_dba;
--! EndIncluded reading/label.sql

insert into reading.concept (concept, type, domain, origin)
select 'domain/' || d.domain, 'domain', d.domain, d.origin from market.domain d;
insert into reading.concept (concept, type, domain, category, origin)
select c.domain || '/' || c.category, 'category', c.domain, c.category, c.origin from market.category c;
insert into reading.concept (concept, type, offer_kind, origin)
select 'offer_kind/' || k.offer_kind, 'offer_kind', k.offer_kind, k.origin from market.offer_kind k;
insert into reading.concept (concept, type, ask_kind, origin)
select 'ask_kind/' || k.ask_kind, 'ask_kind', k.ask_kind, k.origin from market.ask_kind k;
insert into reading.concept (concept, type, condition, origin)
select distinct replace(v.sense, ':', '/'), 'condition', substr(v.sense, 11), 'shipped'
from reading.vocabulary v
where v.sense in ('condition:new', 'condition:like_new', 'condition:used_good', 'condition:used_fair',
  'condition:refurbished', 'condition:for_parts');
insert into reading.concept (concept, type, origin)
select substr(v.sense, 9), 'feature', max(v.origin) from reading.vocabulary v
where v.sense like 'feature:%' and char_length(v.sense) <= 48 group by 1;
insert into reading.concept (concept, type, origin)
select n.concept, 'thing', max(n.origin)
from (
  select s.concept, s.origin from reading.synonym s
  union all select b.concept, b.origin from reading.broader_concept b
  union all select b.broader, b.origin from reading.broader_concept b) as n (concept, origin)
where n.concept ~ '^[a-z0-9_]{1,40}$'
group by 1 on conflict do nothing;

-- The concept that a sense names; it may not exist.
create or replace function reading.concept_of_sense(sense text) returns text
  language sql immutable
as $$
  select case split_part(sense, ':', 1) when 'category' then '' when 'feature' then '' when 'kind' then 'offer_kind/'
    else split_part(sense, ':', 1) || '/' end || split_part(sense, ':', 2)
$$;
comment on function reading.concept_of_sense(text) is 'Returns the name of the concept of a sense.';

create table reading.moving as
select reading.concept_of_sense(v.sense) as concept, v.language, v.term as form, v.weight, v.origin
from reading.vocabulary v where v.sense !~ '^(place|region|country|city):'
union all
select s.concept, s.language, btrim(regexp_replace(reading.fold(s.term), '\s+', ' ', 'g')), 1, s.origin
from reading.synonym s;

insert into reading.label (concept, type, language, form, weight, origin)
select m.concept, c.type, m.language, m.form, m.weight, m.origin
from reading.moving m join reading.concept c on c.concept = m.concept
where (m.language is null or m.language = any (reading.languages())) and char_length(m.form) between 1 and 80
  and m.form ~ '[[:alnum:]]'
-- Two synonyms may be the same when folded. An operator's row wins.
order by m.origin
on conflict do nothing;

insert into reading.broader (concept, broader, origin)
select b.concept, b.broader, b.origin from reading.broader_concept b
where exists (select from reading.concept c where c.concept = b.concept)
  and exists (select from reading.concept c where c.concept = b.broader);

-- Examples

--! Included reading/example.sql
-- Examples of asks and offers, from which the built-in reader learns. reading.label holds what single words say. An
-- example shows what a whole text says ("two strong people and a truck, Saturday").

create table reading.example (
  id bigint generated always as identity constraint example_pkey primary key,
  offer_kind text,
  ask_kind text,
  domain text,
  category text,
  language text,
  text text not null,
  origin text not null default 'operator',
  constraint example_offer_kind_fkey foreign key (offer_kind) references market.offer_kind on delete restrict,
  constraint example_ask_kind_fkey foreign key (ask_kind) references market.ask_kind on delete restrict,
  constraint example_category_fkey foreign key (domain, category) references market.category
    match full on delete restrict,
  constraint example_is_offer_or_ask check (num_nonnulls(offer_kind, ask_kind) = 1),
  constraint example_language_known check (language = any (reading.languages())),
  constraint example_language_length check (char_length(language) = 2),
  constraint example_text_length check (char_length(text) between 3 and 8000),
  -- What is left without the marks contains no beginning and no end of a mark (db/data/README.md lists the marks).
  constraint example_marks_well_formed check (text !~ '\[\[|\]\]' or regexp_replace(text,
    '\[\[(title|place|mention|order'
    '|price (free|on_request|exchange|[0-9]+(\.[0-9]+)?(-[0-9]+(\.[0-9]+)?)?( [A-Z]{3})?'
    '( (hour|day|week|month|year|project))?( from)?( negotiable)?)'
    '|sum (deposit|former|piece|tier|fee|other) [0-9]+(\.[0-9]+)?(-[0-9]+(\.[0-9]+)?)?'
    '|(contact|refused|other) (email|phone|sms|whatsapp|url)(,(email|phone|sms|whatsapp|url))*( preferred)?'
    ')\|[^][]+\]\]', '', 'g') !~ '\[\[|\]\]'),
  constraint example_origin_known check (origin in ('shipped', 'operator'))
);
-- A text may be too long for an index.
create unique index example_text_key on reading.example (md5(text));
create index example_offer_kind_idx on reading.example (offer_kind);
create index example_ask_kind_idx on reading.example (ask_kind);
create index example_domain_category_idx on reading.example (domain, category);

alter table reading.example enable row level security;
alter table reading.example force row level security;
create policy "the owner sees all" on reading.example to souk_owner using (true) with check (true);
create policy "a dba reads all" on reading.example for select to souk_dba using (true);

create trigger note_change after insert or update or delete or truncate on reading.example
  for each statement execute function reading.note_change();
create trigger forget_deletion after insert on reading.example referencing new table as added
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.forget_deletion('text');
create trigger keep_origin before update or delete on reading.example
  for each row when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.keep_origin('text', 'offer_kind,ask_kind,domain,category,language');
create trigger remember_truncate before truncate on reading.example
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.remember_truncate('text');

-- Reloaded: grants and comments from here on are loaded again whenever a file of db/schema changes.

comment on table reading.example is
  'One row is one text, as somebody would write it, and what it is. A worker trains on all rows within a minute of a '
  'change (reading.classifier). Add texts that were read wrong, in several wordings and about several things.';
comment on column reading.example.id is 'The id of the row.';
comment on column reading.example.offer_kind is 'The kind of offer that the text is; null if it is an ask.';
comment on column reading.example.ask_kind is 'The kind of ask that the text is; null if it is an offer.';
comment on column reading.example.domain is 'The domain of the category.';
comment on column reading.example.category is
  'The category of the offer, or of an offer that answers the ask; null to teach the kind alone.';
comment on column reading.example.language is 'The main language of the text (ISO 639-1); null if nobody has said.';
comment on column reading.example.text is
  'The offer, the ask, or the query of a search, without real people or contacts. Passages may be marked: "[[price 180 '
  'EUR|180 €]]". A text with marks teaches every decision, one without marks only kind and category.';
comment on column reading.example.origin is
  'shipped: an upgrade may change the row. operator: somebody added or changed it here, and upgrades leave it.';
grant select on reading.example to souk_dba;
--! EndIncluded reading/example.sql

create table reading.example_before as
select null as offer_kind, a.ask_kind, a.category, a.text, a.origin from reading.ask_example a
union all select o.offer_kind, null, o.category, o.text, o.origin from reading.offer_example o;

insert into reading.example (offer_kind, ask_kind, domain, category, text, origin)
select e.offer_kind, e.ask_kind, c.domain, c.category, e.text, e.origin
from reading.example_before e
-- An unknown category taught nothing, and the kind is still taught.
left join market.category c on c.domain = split_part(e.category, '/', 1) and c.category = split_part(e.category, '/', 2)
where (e.offer_kind is null or exists (select from market.offer_kind k where k.offer_kind = e.offer_kind))
  -- A text cannot contain what looks like a broken mark.
  and e.text !~ '\[\[|\]\]'
-- The same text may be an example of an ask and of an offer. An operator's row wins.
order by e.origin
on conflict do nothing;

-- What was not moved

do $$
declare
  lost text;
begin
  for lost in
    select format('label %s of %s (%s)', m.form, m.concept, m.language) from reading.moving m
    where not exists (select from reading.label l where (l.concept, l.form) = (m.concept, m.form)
      and l.language is not distinct from m.language)
    union all
    select format('broader concept %s of %s', b.broader, b.concept) from reading.broader_concept b
    where not exists (select from reading.broader n where (n.concept, n.broader) = (b.concept, b.broader))
    union all
    select format('example of %s: %s', coalesce(e.offer_kind, e.ask_kind), e.text) from reading.example_before e
    where not exists (select from reading.example n where n.text = e.text
      and n.offer_kind is not distinct from e.offer_kind)
  loop
    raise warning 'not moved to the lexicon: %', lost;
  end loop;
end
$$;

-- Shipped rows that an operator deleted

insert into internal.deleted_row (table_name, key)
select 'reading.label', jsonb_build_array(reading.concept_of_sense(d.key ->> 0), d.key -> 1, d.key -> 2)
from internal.deleted_row d
where d.table_name = 'reading.vocabulary' and d.key ->> 0 !~ '^(place|region|country|city):'
union
select 'reading.label', jsonb_build_array(d.key -> 0, d.key -> 1,
  btrim(regexp_replace(reading.fold(d.key ->> 2), '\s+', ' ', 'g')))
from internal.deleted_row d where d.table_name = 'reading.synonym'
union
select 'reading.broader', d.key from internal.deleted_row d where d.table_name = 'reading.broader_concept'
union
select 'reading.example', d.key from internal.deleted_row d
where d.table_name in ('reading.ask_example', 'reading.offer_example');
delete from internal.deleted_row d
where d.table_name in ('reading.synonym', 'reading.broader_concept', 'reading.ask_example', 'reading.offer_example')
  or d.table_name = 'reading.vocabulary' and d.key ->> 0 !~ '^(place|region|country|city):';
drop function reading.concept_of_sense(text);

-- The tables that were replaced. The old functions that read them are replaced in the same transaction.

delete from reading.vocabulary v where v.sense !~ '^(place|region|country|city):';
alter table reading.vocabulary drop constraint vocabulary_sense_form;
-- squawk-ignore constraint-missing-not-valid
alter table reading.vocabulary add constraint vocabulary_sense_form
  check (sense ~ '^(place|region|country):[A-Z]{2}$' or sense ~ '^city:[A-Z]{2}/[^/:]+$');
-- squawk-ignore ban-drop-table
drop table reading.moving, reading.example_before, reading.ask_example, reading.offer_example, reading.synonym, reading.broader_concept;

--! Included reading/concepts.sql
-- The things that a text names, by any label. They are determined when an offer is written. So a search for a couch
-- is a search for one lexeme, and the language of the offer tells a Dutch "bank" (a sofa) from an English "bank".

create or replace function reading.compound_heads(words text, language text) returns text[]
  language plpgsql stable
as $$
declare
  endings text[];
begin
  -- German and Dutch write a compound noun as one word that ends in its head: a Ledersofa is a Sofa. The other
  -- languages do not.
  if compound_heads.language is null or compound_heads.language not in ('de', 'nl') then
    return array[]::text[];
  end if;
  endings := array(
    select distinct substr(w.word, start)
    from regexp_split_to_table(reading.fold(words), '[^[:alnum:]]+') as w (word)
    -- A compound has a modifier of at least three letters and a head of at least four. Shorter words are not compounds.
    cross join lateral generate_series(4, length(w.word) - 3) as start
    where length(w.word) between 7 and 40);
  return array(
    select distinct l.concept from reading.label l
    where l.form = any (endings) and l.language = compound_heads.language and l.type = 'thing');
end
$$;
comment on function reading.compound_heads(text, text) is
  'Returns the concepts that the German or Dutch compounds of a text end in; none for another language.';

create or replace function reading.concepts_in(words text, languages text[], language text) returns text[]
  language plpgsql stable
as $$
declare
  folded constant text := reading.fold(words);
  -- Computed into variables, because the planner would compute them anew for each row.
  vectors constant tsvector[] := array(
    select to_tsvector(reading.search_config(l.language), folded)
    from unnest(languages) with ordinality as l (language, n) order by l.n);
  stems constant text[] := array(
    select languages[v.n] || ' ' || s.lexeme
    from unnest(vectors) with ordinality as v (vector, n) cross join unnest(tsvector_to_array(v.vector)) as s (lexeme));
begin
  -- Labels are found by their first stem only. An index of all their stems would return every phrase that shares any
  -- word with the text.
  return reading.compound_heads(words, concepts_in.language) || array(
    select distinct l.concept from reading.label l
    where l.type = 'thing' and (l.language || ' ' || l.lexemes[1]) collate "C" = any (stems)
      and (cardinality(l.lexemes) = 1 or vectors[array_position(languages, l.language)] @@ l.needle)
      -- Of forms in other languages, only English ones and long ones count. The language of a short text is often
      -- detected wrongly, and a short word can mean something else in another language (a Dutch "les").
      and (l.language in (concepts_in.language, 'en') or length(l.form) >= 7));
end
$$;
comment on function reading.concepts_in(text, text[], text) is
  'Returns the concepts that a text names in any of `languages`; `language` is the text''s probable own language (ISO '
  '639-1).';

create or replace function reading.concept_vector(title text, words text, language text) returns tsvector
  language plpgsql stable
as $$
declare
  spoken text := split_part(concept_vector.language, '-', 1);
begin
  -- A concept is one lexeme that differs from every word of a text. It has the weight of the title (A) or the text (C).
  return (
    select coalesce(string_agg(format('''concept/%s'':1%s', c.concept, c.weight), ' '), '')::tsvector
    from (
      select n.concept, min(f.weight) as weight
      from (
        select unnest(reading.concepts_in(title, array['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl'], spoken))
          as concept, 'A' as weight
        -- A text names the thing at its beginning. Its later part often describes the surroundings ("near the beach").
        union all select unnest(
          reading.concepts_in(left(words, 600), array[coalesce(nullif(spoken, 'en'), 'de'), 'en'], spoken)), 'C') as f
      cross join lateral (
        select f.concept union all select b.broader from reading.broader b where b.concept = f.concept) as n
      group by n.concept) as c);
end
$$;
comment on function reading.concept_vector(text, text, text) is
  'Returns the concepts of an offer''s title and text, and their broader concepts, as lexemes.';

create or replace function reading.set_offer_concepts() returns trigger
  language plpgsql volatile
as $$
begin
  -- An offer without an account has no concepts, so searches do not find it.
  new.concepts :=
    case when new.account_id is null then '' else reading.concept_vector(new.title, new.text, new.language) end;
  return new;
end
$$;
comment on function reading.set_offer_concepts() is 'Sets the concepts of an offer from its title, text and language.';
--! EndIncluded reading/concepts.sql
--! Included search/query_terms.sql
-- The terms of a query, and what in an offer matches each of them.

create or replace function search.query_terms(query text, language text default null, corrections jsonb default '{}')
  returns table (forms tsquery, titled tsquery, classes tsquery, words text[], weight real, n integer)
  language plpgsql stable
as $$
declare
  languages text[] := case when query_terms.language = any (reading.languages()) then array[query_terms.language, 'en']
    else reading.languages() end;
begin
  -- A term is a concept with all words that name it ("washing machine"), or one word that names no concept. Its forms
  -- are the concept, or the word and its stems in each language, because the language of a query is not known for sure.
  -- Its classes are the categories that the lexicon has for its words; a match by class counts less. At most 16
  -- words count.
  return query
  with words as materialized (
    select w.lexeme as word, query_terms.corrections ->> w.lexeme as meant, min(w.positions[1]) as n
    from unnest(to_tsvector('simple', reading.fold(query))) as w
    group by 1, 2 order by 3 limit 16
  ), stems as materialized (
    select w.word, l.language, s.lexeme
    from words w cross join unnest(reading.languages()) as l (language)
    cross join lateral unnest(reading.stem(w.word, l.language) || reading.stem(w.meant, l.language)) as s (lexeme)
  ), said as materialized (
    select l.language, to_tsvector(reading.search_config(l.language),
      reading.fold((select string_agg(coalesce(w.meant, w.word), ' ' order by w.n) from words w)))
      || to_tsvector(reading.search_config(l.language), reading.fold(query)) as vector
    from unnest(languages) as l (language)
  ), named as materialized (
    select s.concept, s.language, s.lexemes
    from said t join reading.label s on s.type = 'thing' and s.language = t.language
      and s.lexemes && tsvector_to_array(t.vector) and t.vector @@ s.needle
    -- A query that names a make or model must not find others of the same kind, so it matches by its word and not by
    -- this concept.
    where s.concept not like '%\_model'
  ), covered as materialized (
    select c.concept, array_agg(distinct st.word) as words, min(w.n) as n,
      -- Words that name the concept alone, unlike "machine" in "washing machine".
      array_agg(distinct st.word) filter (where cardinality(c.lexemes) = 1) as alone
    from named c join stems st on st.language = c.language and st.lexeme = any (c.lexemes)
    join words w on w.word = st.word
    group by c.concept
  ), heads as (
    -- Heads of German and Dutch compounds, unless the query is known to be in another language: the English word
    -- "sharing" does not name a ring.
    select distinct w.word, w.n, h.concept
    from words w cross join lateral unnest(reading.compound_heads(w.word, 'de') || reading.compound_heads(w.word, 'nl'))
      as h (concept)
    where not exists (select from covered c where w.word = any (c.words))
      and coalesce(query_terms.language in ('de', 'nl'), true)
  ), alternatives as (
    select w.word, w.n, w.meant,
      array(select distinct s.lexeme from stems s where s.word = w.word union select w.word union select w.meant
        where w.meant is not null) as forms,
      array(
        select distinct v.concept from reading.label v
        -- Weight 2 is for words that name a thing, and not only hint at it.
        where v.form in (w.word, rtrim(w.word, 's'), w.meant) and v.type = 'category' and v.weight >= 2
          and (v.language is null or v.language = any (languages))) as classes,
      -- Stop words count little, and so do words that say how something is wanted ("looking", "cheap").
      exists (
        select from unnest(languages) as l (language)
        where reading.stem(w.word, l.language) = '{}') as stops,
      exists (
        select from reading.label v
        where v.form = w.word and v.type in ('ask_kind', 'offer_kind', 'condition', 'feature')) as hints
    from words w
  ), terms as (
    select array['concept/' || c.concept]
        -- Also a category, if all its offers have this concept.
        || array(
          select k.concept from reading.broader b join reading.concept k on k.concept = b.concept
          where b.broader = c.concept and k.type = 'category')
        || array(select distinct f from alternatives a, unnest(a.forms) as f where a.word = any (c.alone)) as forms,
      search.any_lexeme(
        array(select distinct k from alternatives a, unnest(a.classes) as k where a.word = any (c.words))) as classes,
      c.words,
      -- A name within a longer name counts less: "bike" in "electric bike".
      case when exists (
        select from covered o
        where o.words @> c.words and (cardinality(o.words) > cardinality(c.words)
          or exists (select from reading.broader b where b.concept = o.concept and b.broader = c.concept)))
        then 1.0 else 2.0 end as weight,
      c.n
    from covered c
    union all
    select array(select 'concept/' || h.concept from heads h where h.word = a.word) || a.forms,
      search.any_lexeme(a.classes), array[a.word],
      case when a.classes <> '{}' or exists (select from heads h where h.word = a.word) then 2.0
        when a.stops then 0.0
        when a.hints or a.word ~ ('^([0-9]{1,2}|two|three|four|five|six|zwei|drei|vier|deux|trois|quatre'
          '|dos|tres|cuatro|due|tre|quattro|dois|duas|twee|drie|dwa|dwie|trzy)$') then 0.4
        else 1.0 end, a.n
    from alternatives a
    where not exists (select from covered c where a.word = any (c.words))
  )
  select search.any_lexeme(t.forms), search.any_lexeme(t.forms, ':A'), t.classes, t.words,
    case when t.weight = 0 then 0.2 else t.weight end::real, t.n::integer
  from terms t
  -- Stop words are kept only if there is nothing else.
  where t.weight > 0 or not exists (select from terms o where o.weight > 0)
  order by t.n, t.weight desc limit 16;
end
$$;
comment on function search.query_terms(text, text, jsonb) is
  'Returns the terms of a query in a language (null: unknown), with misspelt words corrected. forms: a query for the '
  'term; titled: the same in titles; classes: a query for its categories; words: its words; weight: how much it '
  'counts; n: its position.';
--! EndIncluded search/query_terms.sql
--! Included reading/words.sql
-- The taxonomy and the lexicon, as the reader takes them. They are json and not jsonb, which would take several times
-- as long to make for 52,000 words.

create or replace function reading.taxonomy() returns json
  language sql stable
as $$
  select json_agg(json_build_object(
    'domain', d.domain,
    'kinds', d.kinds,
    'categories', (
      select coalesce(json_agg(c.category order by c.position), '[]')
      from market.category c
      where c.domain = d.domain)) order by d.position)
  from market.domain d
$$;
comment on function reading.taxonomy() is 'The domains with their kinds of offer and their categories.';

create or replace function reading.concepts() returns json
  language sql stable
as $$
  select coalesce(json_agg(c), '[]')
  from (
    select c.concept, c.type, c.domain, c.category, c.offer_kind, c.ask_kind, c.condition
    from reading.concept c where c.type <> 'thing') as c
$$;
comment on function reading.concepts() is
  'The concepts that the reader uses, in no order: all but the things, which only the search uses.';

create or replace function reading.labels() returns json
  language sql stable
as $$
  -- Arrays take less than half the time of objects. src/reader/extraction.ts has the same order.
  select coalesce(json_agg(json_build_array(l.concept, l.language, l.form, l.weight, l.is_prefix)), '[]')
  from reading.label l where l.type <> 'thing'
$$;
comment on function reading.labels() is
  'The labels of reading.concepts() as [concept, language, form, weight, is_prefix], in no order: the reader sorts '
  'them.';

create or replace function reading.terms() returns json
  language sql stable
as $$
  select coalesce(
    json_agg(json_build_object('term', v.term, 'language', v.language, 'sense', v.sense, 'weight', v.weight)), '[]')
  from reading.vocabulary v
$$;
comment on function reading.terms() is 'The names of places and what they say, in no order: the reader sorts them.';
--! EndIncluded reading/words.sql
--! Included jobs/get_vocabulary.sql
-- The data for the built-in reader and for the instructions to a model: the taxonomy, the lexicon and the
-- classifiers.

create or replace function jobs.vocabulary_changed_at() returns text
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select concat_ws(' ', c.changed_at, (select max(l.learned_at) from reading.classifier l))
  from reading.vocabulary_change c
$$;
comment on function jobs.vocabulary_changed_at() is
  'Returns a version of the lexicon, examples, taxonomy and classifiers, made from the times of their last changes. A '
  'process that has another version loads them again.';
grant execute on function jobs.vocabulary_changed_at() to souk_worker;

create or replace function jobs.get_vocabulary() returns json
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select json_build_object(
    'version', jobs.vocabulary_changed_at(),
    'taxonomy', reading.taxonomy(),
    'concepts', reading.concepts(),
    'labels', reading.labels(),
    'terms', reading.terms(),
    'classifiers', (
      select coalesce(
        json_object_agg(c.name, json_build_object('classes', c.classes, 'bias', c.bias, 'features', c.features,
          'weights', translate(encode(c.weights, 'base64'), chr(10), ''))),
        '{}')
      from reading.classifier c))
$$;
comment on function jobs.get_vocabulary() is
  'Returns the taxonomy, the lexicon and the classifiers as {version, taxonomy, concepts, labels, terms, classifiers}, '
  'for the extractors.';
grant execute on function jobs.get_vocabulary() to souk_worker;
--! EndIncluded jobs/get_vocabulary.sql
--! Included jobs/training.sql
-- Training of the classifiers: a worker asks whether the training set has changed, trains for some seconds, and stores
-- the result.

create or replace function jobs.get_training_set(learning integer) returns json
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select json_build_object(
    'changed_at', v.changed_at,
    'vocabulary', json_build_object('taxonomy', reading.taxonomy(), 'concepts', reading.concepts(),
      'labels', reading.labels(), 'terms', reading.terms()),
    'examples', (
      select coalesce(json_agg(e), '[]')
      from (
        select x.text, x.language, x.offer_kind, x.ask_kind, x.domain, x.category
        from reading.example x order by x.text collate "C") as e))
  from reading.vocabulary_change v
  where not exists (
    select from reading.classifier c
    -- Two releases of the worker may run at once. The older one must keep the classifiers of the newer one. Otherwise
    -- each would replace the other's classifiers again and again.
    where c.learned_from = v.changed_at and c.learning >= get_training_set.learning)
$$;
comment on function jobs.get_training_set(integer) is
  'Returns the training set (the lexicon and the examples) when it has changed since the last training by this version '
  'of the algorithm or a later one; null otherwise.';
grant execute on function jobs.get_training_set(integer) to souk_worker;

create or replace function jobs.store_classifiers(changed_at timestamptz, learning integer, classifiers json)
  returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- If several workers trained on the same set, only the first stores its result. If a result from a newer set is
  -- already stored, the worker stores nothing.
  perform pg_advisory_xact_lock(hashtext('reading.classifier'));
  if exists (
    select from reading.classifier c
    where (c.learned_from, c.learning) >= (store_classifiers.changed_at, store_classifiers.learning)) then
    return;
  end if;
  delete from reading.classifier;
  insert into reading.classifier (name, classes, bias, features, weights, learned_from, learning)
  select l.name,
    array(select json_array_elements_text(l.learned -> 'classes')),
    array(select json_array_elements_text(l.learned -> 'bias')::real),
    array(select json_array_elements_text(l.learned -> 'features')),
    decode(l.learned ->> 'weights', 'base64'),
    store_classifiers.changed_at, store_classifiers.learning
  from json_each(store_classifiers.classifiers) as l (name, learned);
end
$$;
comment on function jobs.store_classifiers(timestamptz, integer, json) is
  'Replaces the classifiers, unless a training on a later set, or on the same set by the same or a later version of '
  'the algorithm, is already stored. classifiers: by name {classes, bias, features, weights}, the weights as base64.';
grant execute on function jobs.store_classifiers(timestamptz, integer, json) to souk_worker;
--! EndIncluded jobs/training.sql

select set_config('market.loading', '', true);
reset role;
