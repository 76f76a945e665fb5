create table market.query_embedding (
  model text not null constraint query_embedding_model_fkey references market.embedding_model on delete restrict,
  query_hash bytea not null,
  embedding public.halfvec(512) not null,
  created_at timestamptz not null default now(),
  constraint query_embedding_pkey primary key (model, query_hash),
  constraint query_embedding_model_length check (char_length(model) <= 100),
  constraint query_embedding_query_hash_is_sha256 check (octet_length(query_hash) = 32)
);
-- For jobs.purge_keys.
create index query_embedding_created_at_idx on market.query_embedding (created_at);

create policy "everyone reads the vectors of queries" on market.query_embedding for select to souk_agent, souk_person
  using (true);
create policy "a connected caller stores the vector of a query" on market.query_embedding for insert
  to souk_agent, souk_person
  with check ((select internal.connected()));

comment on table market.query_embedding is
  'One row is the vector of one query. It is cached, because an embedding provider charged for it.';
comment on column market.query_embedding.query_hash is 'SHA-256 of the query. The query itself is not stored.';
comment on column market.query_embedding.embedding is 'The vector: unit length, 512 dimensions.';
comment on column market.query_embedding.created_at is 'When the vector was stored. It is deleted 30 days later.';
grant select, insert (model, query_hash, embedding) on market.query_embedding to souk_agent, souk_person;
