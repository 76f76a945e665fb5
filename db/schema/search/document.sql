-- The table for finding. Every search, list and facet, and every candidate for a match, is found in this table. One row
-- is one live offer, with all that decides whether it is found, where it ranks, and what is shown; only the record of
-- its publisher is beside it (market.account_stats, market.proved_method). search.document_of makes the row. It has no
-- foreign key and no column of a domain of its own, so that the table could be distributed by its id.

create table search.document (
  id uuid constraint document_pkey primary key,
  account_id uuid,
  sandbox_id uuid,
  published_at timestamptz not null,
  is_stale boolean not null,
  domain text,
  category text,
  offer_kind text,
  price_thousandths bigint,
  price_currency text,
  price_period text,
  location_text text,
  city text,
  country text,
  is_remote boolean not null,
  latitude double precision,
  longitude double precision,
  condition text,
  model text,
  facet_values text[] not null,
  facets tsvector not null,
  words tsvector not null,
  embedding public.halfvec(512),
  document jsonb not null,
  contact_visibility text not null,
  open_document jsonb
);
-- A search reads facets and vectors of many rows, so these stay in the row. Words are read of a hundred candidates, and
-- documents of ten results.
alter table search.document alter column facet_values set storage plain, alter column facets set storage main,
  alter column embedding set storage plain;

-- No index of the market has the documents of sandboxes. So however many there are, they take no place among its
-- candidates and do not slow it down. A sandbox has few (internal.count_sandbox_submission), so an index of its id is
-- enough.
create index document_sandbox_id_idx on search.document (sandbox_id) where sandbox_id is not null;
create index document_words_idx on search.document using gin (words, facets) with (fastupdate = off)
where sandbox_id is null;
-- With the defaults (m = 16, ef_construction = 64), the graph breaks apart where many offers are alike, because each
-- node gets links only to its nearest neighbours. So each node chooses more links, among 256 neighbours.
create index document_embedding_idx on search.document using hnsw (embedding public.halfvec_cosine_ops)
  with (ef_construction = 256, m = 24) where sandbox_id is null;
create index document_published_at_idx on search.document (published_at) where sandbox_id is null;
-- For lists in the order of prices, in the market and in a domain.
create index document_price_idx on search.document (price_thousandths, id) where sandbox_id is null;
create index document_domain_price_idx on search.document (domain, price_thousandths, id) where sandbox_id is null;

create policy "everyone sees what is found, and an account what it publishes" on search.document for select
  to souk_agent, souk_person
  using (sandbox_id is not distinct from (select internal.sandbox_id())
    and (account_id = any ((select internal.accounts_being_hidden())::uuid[])) is not true
    or account_id = (select internal.visible_account_id()));

comment on table search.document is
  'One row is one published offer, of the market or of a sandbox, as searches find, rank and show it. Triggers keep it '
  'in the transaction that changes the offer (search.keep_document).';
comment on column search.document.id is 'The id of the offer.';
comment on column search.document.sandbox_id is 'The sandbox that has the offer; null for an offer of the market.';
comment on column search.document.is_stale is 'Whether nobody has confirmed the offer for long.';
comment on column search.document.price_thousandths is
  'The price of the whole in thousandths of the major unit of any currency; null for the price of a unit.';
comment on column search.document.price_period is 'The period of the price.';
comment on column search.document.condition is 'The condition as the reader of the text named it; null: not stated.';
comment on column search.document.location_text is 'The place as the text names it.';
comment on column search.document.city is 'The town of that place; null when it is not known.';
comment on column search.document.country is 'The country of that place, as ISO 3166-1 has it.';
comment on column search.document.is_remote is 'Whether the work can be done from anywhere.';
comment on column search.document.latitude is 'Degrees north of that place; null when no town or district is known.';
comment on column search.document.longitude is 'Degrees east of that place.';
comment on column search.document.model is 'The embedding model that made the vector; null without one.';
comment on column search.document.facet_values is
  'What the facets of a search count, in the order of search.facet_names: category, kind, price range, condition and '
  'place.';
comment on column search.document.facets is
  'The lexemes that filters look for (search.facets_of): words of the place, country, domain, category, kind, price '
  'range and currency, ranges of the time of publication, cells of the globe, samples, and whether the offer is '
  'reviewed and has images.';
comment on column search.document.words is
  'Words, stems and concepts. Weights: A for the title, B for the category, C for the text.';
comment on column search.document.embedding is 'The vector: unit length, 512 dimensions; null until there is one.';
comment on column search.document.document is
  'The offer as everybody sees it in results: a SearchResult without publisher, score and rank.';
comment on column search.document.contact_visibility is
  'Who sees the contact of the offer: public, approved or agreement.';
comment on column search.document.open_document is
  'The same with the contact, for those who see it; null if everybody does.';
grant select on search.document to souk_agent, souk_person;
