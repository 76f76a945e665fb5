create table market.offer_embedding (
  offer_id uuid constraint offer_embedding_pkey primary key
    constraint offer_embedding_offer_fkey references market.offer on delete cascade,
  model text not null constraint offer_embedding_model_fkey references market.embedding_model on delete restrict,
  embedding public.halfvec(512) not null,
  text_hash bytea,
  constraint offer_embedding_model_length check (char_length(model) <= 100),
  constraint offer_embedding_text_hash_is_sha256 check (octet_length(text_hash) = 32)
);
create index offer_embedding_model_idx on market.offer_embedding (model);

comment on table market.offer_embedding is
  'One row is the vector of one offer, with the embedding model that made it. It stays when the offer is archived, so '
  'that an offer that is published again costs no second vector. Searches read the copy of a published offer '
  '(search.document).';
comment on column market.offer_embedding.embedding is 'The vector: unit length, 512 dimensions.';
comment on column market.offer_embedding.text_hash is
  'SHA-256 of the text that the vector represents, so that a vector is made again only for another text.';
