create table market.ask_embedding (
  ask_id uuid constraint ask_embedding_pkey primary key
    constraint ask_embedding_ask_fkey references market.ask on delete cascade,
  model text not null constraint ask_embedding_model_fkey references market.embedding_model on delete restrict,
  embedding public.halfvec(512) not null,
  text_hash bytea,
  constraint ask_embedding_model_length check (char_length(model) <= 100),
  constraint ask_embedding_text_hash_is_sha256 check (octet_length(text_hash) = 32)
);
create index ask_embedding_model_idx on market.ask_embedding (model);

comment on table market.ask_embedding is
  'One row is the vector of one ask, with the embedding model that made it. Matching reads the copy of an active ask '
  '(search.ask).';
comment on column market.ask_embedding.embedding is 'The vector: unit length, 512 dimensions.';
comment on column market.ask_embedding.text_hash is
  'SHA-256 of the text that the vector represents, so that a vector is made again only for another text.';
