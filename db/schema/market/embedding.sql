-- Vectors, each with the model that made it: only vectors of the model in force are ever compared.

create table market.embedding_model (
  model text constraint embedding_model_pkey primary key,
  search_floor real not null default 0.25,
  match_floor real not null default 0.35,
  search_share real not null default 1,
  by_letters boolean not null default false,
  constraint embedding_model_model_length check (char_length(model) between 1 and 100),
  constraint embedding_model_floors check (search_floor between 0 and 1 and match_floor between 0 and 1),
  constraint embedding_model_search_share_range check (search_share between 0 and 1)
);
comment on table market.embedding_model is 'One row is one model, with the cosine similarities below which its vectors say nothing.';
comment on column market.embedding_model.model is 'The name that stands beside each vector.';
comment on column market.embedding_model.search_floor is 'An offer less similar to a query is not found by its vector.';
comment on column market.embedding_model.match_floor is 'An offer less similar to an ask does not match it by its vector.';
comment on column market.embedding_model.search_share is 'What the place in the list by vector counts against the place in the list by words.';
comment on column market.embedding_model.by_letters is 'Whether it knows a word by its letters alone: of a name that words find it then knows no more than they.';
insert into market.embedding_model (model, search_floor, match_floor, search_share, by_letters) values
  ('builtin-hash-1', 0.30, 0.35, 0.5, true),
  ('text-embedding-3-small', 0.30, 0.40, 1, false),
  ('text-embedding-3-large', 0.30, 0.40, 1, false);

create table market.offer_embedding (
  offer_id uuid constraint offer_embedding_pkey primary key
    constraint offer_embedding_offer_fkey references market.offer on delete cascade,
  model text not null constraint offer_embedding_model_fkey references market.embedding_model on delete restrict,
  embedding public.halfvec(512) not null,
  facets tsvector not null default '',
  constraint offer_embedding_model_length check (char_length(model) <= 100)
);
create index offer_embedding_model_idx on market.offer_embedding (model);
create index offer_embedding_facets_idx on market.offer_embedding using gin (facets) with (fastupdate = off);
-- A graph of near ones only comes apart where many offers are alike: each is linked to the best of 256 that it meets, not of 64.
create index offer_embedding_hnsw_idx on market.offer_embedding using hnsw (embedding public.halfvec_cosine_ops)
  with (ef_construction = 256);
comment on table market.offer_embedding is 'One row is the vector of one offer.';
comment on column market.offer_embedding.offer_id is 'The offer.';
comment on column market.offer_embedding.model is 'Who made the vector.';
comment on column market.offer_embedding.embedding is 'Unit length, 512 dimensions.';
comment on column market.offer_embedding.facets is 'Those of the offer, kept by triggers: of the thousands of vectors that a filtered search compares, the offers of most need not be read.';

create table market.ask_embedding (
  ask_id uuid constraint ask_embedding_pkey primary key
    constraint ask_embedding_ask_fkey references market.ask on delete cascade,
  model text not null constraint ask_embedding_model_fkey references market.embedding_model on delete restrict,
  embedding public.halfvec(512) not null,
  constraint ask_embedding_model_length check (char_length(model) <= 100)
);
create index ask_embedding_model_idx on market.ask_embedding (model);
create index ask_embedding_hnsw_idx on market.ask_embedding using hnsw (embedding public.halfvec_cosine_ops);
comment on table market.ask_embedding is 'One row is the vector of one ask.';
comment on column market.ask_embedding.ask_id is 'The ask.';
comment on column market.ask_embedding.model is 'Who made the vector.';
comment on column market.ask_embedding.embedding is 'Unit length, 512 dimensions.';

create table market.query_embedding (
  model text not null constraint query_embedding_model_fkey references market.embedding_model on delete restrict,
  query_hash bytea not null,
  embedding public.halfvec(512) not null,
  created_at timestamptz not null default now(),
  constraint query_embedding_pkey primary key (model, query_hash),
  constraint query_embedding_model_length check (char_length(model) <= 100),
  constraint query_embedding_query_hash_is_sha256 check (octet_length(query_hash) = 32)
);
create index query_embedding_created_at_idx on market.query_embedding (created_at);
comment on table market.query_embedding is 'One row is the vector of one query that a provider was paid for.';
comment on column market.query_embedding.model is 'Who made the vector.';
comment on column market.query_embedding.query_hash is 'SHA-256 of the query: what people look for is not kept.';
comment on column market.query_embedding.embedding is 'Unit length, 512 dimensions.';
comment on column market.query_embedding.created_at is 'Forgotten 30 days later.';

create or replace function market.copy_facets() returns trigger
  language plpgsql volatile
as $$
begin
  new.facets := coalesce((select o.facets from market.offer o where o.id = new.offer_id), '');
  return new;
end
$$;
comment on function market.copy_facets() is 'Gives a vector the facets of its offer.';
create trigger copy_facets before insert or update on market.offer_embedding
  for each row execute function market.copy_facets();

create or replace function market.pass_facets_on() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  update market.offer_embedding e set facets = new.facets where e.offer_id = new.id;
  return null;
end
$$;
comment on function market.pass_facets_on() is 'Gives the facets of a changed offer to its vector, whoever changed it.';
create trigger pass_facets_on after update on market.offer
  for each row when (old.facets is distinct from new.facets) execute function market.pass_facets_on();

alter table market.embedding_model enable row level security;
alter table market.embedding_model force row level security;
alter table market.offer_embedding enable row level security;
alter table market.offer_embedding force row level security;
alter table market.ask_embedding enable row level security;
alter table market.ask_embedding force row level security;
alter table market.query_embedding enable row level security;
alter table market.query_embedding force row level security;
create policy "the owner sees all" on market.query_embedding to souk_owner using (true) with check (true);
create policy "everyone uses what was bought" on market.query_embedding for select to souk_agent, souk_person using (true);
create policy "a connected caller has a vector kept" on market.query_embedding for insert to souk_agent, souk_person
  with check ((select market.connected()));
grant select, insert (model, query_hash, embedding) on market.query_embedding to souk_agent, souk_person;
create policy "the owner sees all" on market.embedding_model to souk_owner using (true) with check (true);
create policy "the owner sees all" on market.offer_embedding to souk_owner using (true) with check (true);
create policy "the owner sees all" on market.ask_embedding to souk_owner using (true) with check (true);

create or replace function market.unit_vector(embedding text) returns public.halfvec
  language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  vector public.halfvec(512);
begin
  if embedding is null then
    return null;
  end if;
  -- The type itself refuses another size, NaN and infinity.
  vector := embedding::public.halfvec(512);
  if public.l2_norm(vector) < 0.5 or public.l2_norm(vector) > 1.5 then
    return null;
  end if;
  return vector;
exception when data_exception or program_limit_exceeded then
  return null;
end
$$;
comment on function market.unit_vector(text) is
  'A vector of 512 finite numbers and about unit length, or null: what is not one is never stored or compared.';
grant execute on function market.unit_vector(text) to souk_agent, souk_person;
