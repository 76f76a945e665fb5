-- What asks look for, as search.document is what offers are: one row for each ask that may get matches, by which a new
-- offer finds the asks that it may answer. search.ask_of makes the row.

create table search.ask (
  id uuid constraint ask_pkey primary key,
  account_id uuid not null,
  sandbox_id uuid,
  domain text not null,
  category text,
  ask_kind text not null,
  watch_enabled boolean not null,
  words text[] not null,
  places text[] not null,
  model text,
  embedding public.halfvec(512)
);
-- The asks that name a word of a new offer, or are near it, and those of a sandbox (search.match_offer).
create index ask_words_idx on search.ask using gin (words, places) with (fastupdate = off) where sandbox_id is null;
create index ask_embedding_idx on search.ask using hnsw (embedding public.halfvec_cosine_ops)
where sandbox_id is null;
create index ask_sandbox_id_idx on search.ask (sandbox_id) where sandbox_id is not null;

comment on table search.ask is
  'One row is one active ask whose text was read and says what is wanted, of the market or of a sandbox. Triggers keep '
  'it in the transaction that changes the ask (search.keep_ask).';
comment on column search.ask.sandbox_id is 'The sandbox that has the ask; null for an ask of the market.';
comment on column search.ask.watch_enabled is 'Whether offers that are published later are matched too.';
comment on column search.ask.words is
  'The lexemes of market.ask.keywords_query, of which an offer contains one; {*}: no words are wanted.';
comment on column search.ask.places is 'The lexemes of market.ask.place_query; {*}: anywhere.';
comment on column search.ask.model is 'The embedding model that made the vector; null without one.';
comment on column search.ask.embedding is 'The vector: unit length, 512 dimensions; null until there is one.';
