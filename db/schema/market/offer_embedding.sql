create table market.offer_embedding (
  offer_id uuid constraint offer_embedding_pkey primary key
    constraint offer_embedding_offer_fkey references market.offer on delete cascade,
  model text not null constraint offer_embedding_model_fkey references market.embedding_model on delete restrict,
  embedding public.halfvec(512),
  facets tsvector not null default '',
  text_hash bytea,
  unlisted_embedding public.halfvec(512),
  constraint offer_embedding_model_length check (char_length(model) <= 100),
  constraint offer_embedding_text_hash_is_sha256 check (octet_length(text_hash) = 32),
  constraint offer_embedding_one_vector check ((embedding is null) <> (unlisted_embedding is null))
);
create index offer_embedding_model_idx on market.offer_embedding (model);
create index offer_embedding_facets_idx on market.offer_embedding using gin (facets) with (fastupdate = off);
-- With the defaults (m = 16, ef_construction = 64), the graph breaks apart where many offers are alike, because each
-- node gets links only to its nearest neighbours. So each node chooses more links, among 256 neighbours.
create index offer_embedding_hnsw_idx on market.offer_embedding using hnsw (embedding public.halfvec_cosine_ops)
  with (ef_construction = 256, m = 24);

comment on table market.offer_embedding is 'One row is the vector of one offer, with the embedding model that made it.';
comment on column market.offer_embedding.embedding is
  'The vector: unit length, 512 dimensions; null if no search or matching of the market may find it.';
comment on column market.offer_embedding.facets is
  'A copy of the facets of the offer, maintained by triggers. A filtered search compares thousands of vectors. With '
  'the copy it does not have to read the offer of each vector.';
comment on column market.offer_embedding.text_hash is
  'SHA-256 of the text that the vector represents, so that a vector is made again only for another text.';
comment on column market.offer_embedding.unlisted_embedding is
  'The vector of an offer that is not published, or of a sandbox; else null. A trigger moves it here, where no index '
  'has it: the graph of the nearest has only vectors that may be found.';
