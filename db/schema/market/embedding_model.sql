create table market.embedding_model (
  model text constraint embedding_model_pkey primary key,
  min_similarity real not null default 0.25,
  match_min_similarity real not null default 0.35,
  similarity_weight real not null default 1,
  origin text not null default 'operator',
  constraint embedding_model_model_length check (char_length(model) between 1 and 100),
  constraint embedding_model_similarities
    check (min_similarity between 0 and 1 and match_min_similarity between 0 and 1),
  constraint embedding_model_similarity_weight_range check (similarity_weight between 0 and 2),
  constraint embedding_model_origin_known check (origin in ('shipped', 'operator'))
);

comment on table market.embedding_model is
  'One row is one embedding model, with the cosine similarities below which its vectors are not relevant. Only vectors '
  'of the model in use are compared.';
comment on column market.embedding_model.model is 'The name of the model, stored with each vector.';
comment on column market.embedding_model.min_similarity is
  'An offer with a lower similarity to a query is not a candidate by its vector.';
comment on column market.embedding_model.match_min_similarity is
  'An offer with a lower similarity to an ask does not match by its vector.';
comment on column market.embedding_model.similarity_weight is
  'How much the similarity of an offer counts in the rank; the words of the query in the offer count 1.';
