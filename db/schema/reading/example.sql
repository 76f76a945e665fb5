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
    '|(contact|refused|other) [a-z]+(,[a-z]+)*( preferred)?'
    ')\|[^][]+\]\]', '', 'g') !~ '\[\[|\]\]'),
  constraint example_origin_known check (origin in ('shipped', 'operator'))
);
-- A text may be too long for an index.
create unique index example_text_key on reading.example (md5(text));
create index example_offer_kind_idx on reading.example (offer_kind);
create index example_ask_kind_idx on reading.example (ask_kind);
create index example_domain_category_idx on reading.example (domain, category);

create trigger note_change after insert or update or delete or truncate on reading.example
  for each statement execute function reading.note_change();

comment on table reading.example is
  'One row is one text, as somebody would write it, and what it is. reading.label says what single words mean, an '
  'example what a whole text does. A worker trains on all rows within a minute of a change (reading.classifier). Add '
  'texts that were read wrong, in several wordings and about several things.';
comment on column reading.example.category is
  'The category of the offer, or of an offer that answers the ask; null to teach the kind alone.';
comment on column reading.example.language is 'The main language of the text (ISO 639-1); null if nobody has said.';
comment on column reading.example.text is
  'The offer, the ask, or the query of a search, without real people or contacts. Passages may be marked: "[[price 180 '
  'EUR|180 €]]". A text with marks teaches every decision, one without marks only kind and category.';
grant select on reading.example to souk_dba;
