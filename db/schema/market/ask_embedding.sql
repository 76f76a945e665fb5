create table market.ask_embedding (
  ask_id uuid constraint ask_embedding_pkey primary key
    constraint ask_embedding_ask_fkey references market.ask on delete cascade,
  model text not null constraint ask_embedding_model_fkey references market.embedding_model on delete restrict,
  embedding public.halfvec(512),
  text_hash bytea,
  unlisted_embedding public.halfvec(512),
  constraint ask_embedding_model_length check (char_length(model) <= 100),
  constraint ask_embedding_text_hash_is_sha256 check (octet_length(text_hash) = 32),
  constraint ask_embedding_one_vector check ((embedding is null) <> (unlisted_embedding is null))
);
create index ask_embedding_model_idx on market.ask_embedding (model);
create index ask_embedding_hnsw_idx on market.ask_embedding using hnsw (embedding public.halfvec_cosine_ops);

comment on table market.ask_embedding is 'One row is the vector of one ask, with the embedding model that made it.';
comment on column market.ask_embedding.embedding is
  'The vector: unit length, 512 dimensions; null if no search or matching of the market may find it.';
comment on column market.ask_embedding.text_hash is
  'SHA-256 of the text that the vector represents, so that a vector is made again only for another text.';
comment on column market.ask_embedding.unlisted_embedding is
  'The vector of an ask that is not active, or of a sandbox; else null. A trigger moves it here, where no index has '
  'it: the graph of the nearest has only vectors that may be found.';
