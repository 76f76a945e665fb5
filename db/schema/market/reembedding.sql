-- Changing the model of the vectors: everything is embedded again in the background, batch by batch, and how far it has
-- come is kept here, so that it goes on where it stopped. What waits for its vector is found by its words.

create table market.reembedding (
  id uuid default internal.uuid_v7() constraint reembedding_pkey primary key,
  model text not null constraint reembedding_model_fkey references market.embedding_model on delete restrict,
  total integer not null,
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
create unique index reembedding_unfinished_key on market.reembedding ((true)) where finished_at is null;

alter table market.reembedding enable row level security;
alter table market.reembedding force row level security;
create policy "the owner sees all" on market.reembedding to souk_owner using (true) with check (true);

-- Reloaded: grants and comments from here on are loaded again whenever a file of db/schema changes.

comment on table market.reembedding is
  'One row is one time that everything without a vector of a model was embedded; at most one is under way.';
comment on column market.reembedding.id is 'UUIDv7; its jobs carry only this.';
comment on column market.reembedding.model is 'The model that vectors are made with.';
comment on column market.reembedding.total is 'How many offers and asks had no vector of it at the start.';
comment on column market.reembedding.done is 'How many have been embedded since.';
comment on column market.reembedding.failed is
  'Of these: for how many the model gave no right vector; words find them still.';
comment on column market.reembedding.last_offer_id is 'Offers up to here are done; they come first.';
comment on column market.reembedding.last_ask_id is 'Asks up to here are done, and matched again.';
comment on column market.reembedding.started_at is 'When the model came into force.';
comment on column market.reembedding.moved_at is 'When the last batch was done.';
comment on column market.reembedding.finished_at is 'When everything was done, or another model came into force.';
