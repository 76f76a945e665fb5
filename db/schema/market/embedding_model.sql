-- One row is one embedding model. Only vectors of the model in use are compared.

create table market.embedding_model (
  model text constraint embedding_model_pkey primary key,
  min_similarity real not null default 0.25,
  match_min_similarity real not null default 0.35,
  rrf_weight real not null default 1,
  by_letters boolean not null default false,
  origin text not null default 'operator',
  constraint embedding_model_model_length check (char_length(model) between 1 and 100),
  constraint embedding_model_similarities
    check (min_similarity between 0 and 1 and match_min_similarity between 0 and 1),
  constraint embedding_model_rrf_weight_range check (rrf_weight between 0 and 1),
  constraint embedding_model_origin_known check (origin in ('shipped', 'operator'))
);

alter table market.embedding_model enable row level security;
alter table market.embedding_model force row level security;
create policy "the owner sees all" on market.embedding_model to souk_owner using (true) with check (true);

-- Reloaded: grants and comments from here on are loaded again whenever a file of db/schema changes.

comment on table market.embedding_model is
  'One row is one embedding model, with the cosine similarities below which its vectors are not relevant.';
comment on column market.embedding_model.model is 'The name of the model, stored with each vector.';
comment on column market.embedding_model.min_similarity is
  'An offer with a lower similarity to a query is not a candidate by its vector.';
comment on column market.embedding_model.match_min_similarity is
  'An offer with a lower similarity to an ask does not match by its vector.';
comment on column market.embedding_model.rrf_weight is
  'The weight of the rank by vector in reciprocal rank fusion; the rank by words has weight 1.';
comment on column market.embedding_model.by_letters is
  'Whether the model compares words only by their letters. The vectors of such a model add nothing for a name that the '
  'lexical search finds.';
comment on column market.embedding_model.origin is
  'shipped: an upgrade may change the row. operator: somebody added or changed it here, and upgrades leave it.';
