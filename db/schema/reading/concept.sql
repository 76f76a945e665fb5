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

create trigger note_change after insert or update or delete or truncate on reading.concept
  for each statement execute function reading.note_change();

create trigger note_synonym_change after insert or update or delete or truncate on reading.broader
  for each statement execute function reading.note_synonym_change();
create trigger note_change after insert or update or delete or truncate on reading.broader
  for each statement execute function reading.note_change();

comment on table reading.concept is
  'One row is one concept that words can name: a thing, a word of the taxonomy, or a cue, which is what a word says '
  'about the words beside it. Its words are in reading.label. To teach the reader a new category, add its concept here '
  'and its words there.';
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
comment on table reading.broader is
  'One row says that every offer with the narrower concept (or in the category) also has the broader concept: an '
  'e-bike is a bicycle, and an offer in vehicles/cars is a car. The relation is not transitive.';
comment on column reading.broader.concept is 'The narrower concept: a thing or a category.';
comment on column reading.broader.broader is 'The broader concept.';
grant select on reading.concept, reading.broader to souk_dba;
