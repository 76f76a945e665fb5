create table market.reembedding (
  id uuid default internal.uuid_v7() constraint reembedding_pkey primary key,
  model text not null constraint reembedding_model_fkey references market.embedding_model on delete restrict,
  total integer,
  done integer not null default 0,
  failed integer not null default 0,
  last_offer_id uuid not null default '00000000-0000-0000-0000-000000000000',
  last_ask_id uuid not null default '00000000-0000-0000-0000-000000000000',
  started_at timestamptz not null default now(),
  moved_at timestamptz not null default now(),
  finished_at timestamptz,
  constraint reembedding_model_length check (char_length(model) <= 100),
  constraint reembedding_counts check (total >= 0 and done >= 0 and failed between 0 and done)
);
create index reembedding_model_idx on market.reembedding (model);
-- One run at a time.
create unique index reembedding_unfinished_key on market.reembedding ((true)) where finished_at is null;

comment on table market.reembedding is
  'One row is one run that embeds all offers and asks without a vector of a model, in the background and batch by '
  'batch. Its progress is stored, so that it can resume. At most one run is unfinished.';
comment on column market.reembedding.id is 'UUIDv7. The jobs of the run have only this id as payload.';
comment on column market.reembedding.model is 'The embedding model that makes the vectors.';
comment on column market.reembedding.total is
  'How many offers and asks had no vector of the model at the first batch; null before it.';
comment on column market.reembedding.done is 'How many of these offers and asks have been processed.';
comment on column market.reembedding.failed is
  'How many of the processed offers and asks got no valid vector. They are still found by their words.';
comment on column market.reembedding.last_offer_id is
  'Offers up to this id are done. Offers are processed before asks.';
comment on column market.reembedding.last_ask_id is 'Asks up to this id are embedded and matched again.';
comment on column market.reembedding.started_at is 'When the model was put in use.';
comment on column market.reembedding.moved_at is 'When the last batch was stored.';
comment on column market.reembedding.finished_at is
  'When the run ended, because everything was embedded or another model was put in use.';
