-- Reading the text to embed, and storing vectors. An invalid vector is not stored. The offer or ask is then matched by
-- words only. A vector is made again only for another text or model, so that archiving and reopening in a loop costs
-- nothing.

create or replace function jobs.get_embedding_input(id uuid, model text, paid boolean) returns text
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  input text;
  is_offer boolean;
begin
  select t.input, t.is_offer into input, is_offer
  from (
    select search.embedding_input(o) as input, true as is_offer from market.offer o
    where o.id = get_embedding_input.id and o.status = 'published'
    union all
    -- An ask is embedded even before its text has been read.
    select a.text, false from market.ask a
    where a.id = get_embedding_input.id and a.status = 'active') as t;
  if input is null
    or search.begin_embedding(get_embedding_input.id, input, get_embedding_input.model, get_embedding_input.paid)
  then
    return input;
  elsif is_offer then
    perform search.match_offer(get_embedding_input.id);
  else
    perform search.match_ask(get_embedding_input.id);
  end if;
  return null;
end
$$;
comment on function jobs.get_embedding_input(uuid, text, boolean) is
  'Returns the text of a published offer or an active ask, if its vector has to be made with this model. Otherwise it '
  'matches the offer or ask, if there is one, and returns null. `paid`: whether a vector costs money.';

create or replace function jobs.store_offer_embedding(id uuid, embedding text, model text, input text default null)
  returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  vector public.halfvec(512) := search.unit_vector(store_offer_embedding.embedding);
begin
  if vector is not null then
    insert into market.offer_embedding (offer_id, model, embedding, text_hash)
    select o.id, store_offer_embedding.model, vector, search.text_hash(store_offer_embedding.input)
    from market.offer o
    -- An offer that is not published any more may have been deleted while its vector was computed. The lock is the one
    -- that matching takes: a change of the offer locks the offer, and then its vector.
    where o.id = store_offer_embedding.id and o.status = 'published' for share
    on conflict (offer_id) do update
      set model = excluded.model, embedding = excluded.embedding, text_hash = excluded.text_hash;
    perform search.end_embedding(store_offer_embedding.id);
  end if;
  perform search.match_offer(store_offer_embedding.id);
  return vector is not null;
end
$$;
comment on function jobs.store_offer_embedding(uuid, text, text, text) is
  'Stores an offer''s vector, made from `input`, and matches the offer. Returns false for an invalid vector, and then '
  'matches by words only.';

create or replace function jobs.store_ask_embedding(id uuid, embedding text, model text, input text default null)
  returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  stored boolean := search.store_ask_embedding(store_ask_embedding.id, store_ask_embedding.embedding,
    store_ask_embedding.model, store_ask_embedding.input);
begin
  perform search.match_ask(store_ask_embedding.id);
  return stored;
end
$$;
comment on function jobs.store_ask_embedding(uuid, text, text, text) is
  'Stores an ask''s vector, made from `input`, and matches the ask; returns false when the vector is invalid or the '
  'ask no longer exists.';
