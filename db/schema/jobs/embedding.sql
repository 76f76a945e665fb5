-- Reading the text to embed, and storing vectors. An invalid vector is not stored. The offer or ask is then matched by
-- words only.

create or replace function jobs.get_embedding_input(id uuid) returns text
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select search.embedding_input(o) from market.offer o
    where o.id = get_embedding_input.id and o.status = 'published'
    union all
    -- An ask is embedded even before its text has been read.
    select a.text from market.ask a
    where a.id = get_embedding_input.id and a.status = 'active');
end
$$;
comment on function jobs.get_embedding_input(uuid) is
  'Returns the text to embed of a published offer or an active ask; null when there is nothing to do.';
grant execute on function jobs.get_embedding_input(uuid) to souk_worker;

create or replace function jobs.store_offer_embedding(id uuid, embedding text, model text) returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  vector public.halfvec(512) := search.unit_vector(store_offer_embedding.embedding);
begin
  if vector is not null then
    insert into market.offer_embedding (offer_id, model, embedding)
    select o.id, store_offer_embedding.model, vector from market.offer o
    -- An offer that is not published any more may have been deleted while its vector was computed.
    where o.id = store_offer_embedding.id and o.status = 'published' for key share
    on conflict (offer_id) do update set model = excluded.model, embedding = excluded.embedding;
  end if;
  perform search.match_offer(store_offer_embedding.id);
  return vector is not null;
end
$$;
comment on function jobs.store_offer_embedding(uuid, text, text) is
  'Stores the vector of an offer and matches the offer. Returns false for an invalid vector, and then matches by words '
  'only.';
grant execute on function jobs.store_offer_embedding(uuid, text, text) to souk_worker;

create or replace function jobs.store_ask_embedding(id uuid, embedding text, model text) returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  stored boolean := exists (select from market.ask a where a.id = store_ask_embedding.id)
    and search.store_ask_embedding(store_ask_embedding.id, store_ask_embedding.embedding, store_ask_embedding.model);
begin
  perform search.match_ask(store_ask_embedding.id);
  return stored;
end
$$;
comment on function jobs.store_ask_embedding(uuid, text, text) is
  'Stores the vector of an ask and matches the ask; returns false when the vector is invalid or the ask no longer '
  'exists.';
grant execute on function jobs.store_ask_embedding(uuid, text, text) to souk_worker;

create or replace function jobs.retry_ask_embedding(submission_id uuid) returns void
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$
  select internal.enqueue('embed_ask', s.target_id) from market.submission s
  where s.id = retry_ask_embedding.submission_id
$$;
comment on function jobs.retry_ask_embedding(uuid) is
  'Enqueues the embedding of a submission''s ask, when its vector could not be computed at once.';
grant execute on function jobs.retry_ask_embedding(uuid) to souk_worker;
