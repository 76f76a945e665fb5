-- Vectors: the text that a vector represents, the check that a vector is valid, and the facets stored with it.

create or replace function search.unit_vector(embedding text) returns public.halfvec
  language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  vector public.halfvec(512);
begin
  if embedding is null then
    return null;
  end if;
  -- The cast refuses any other number of dimensions, NaN and infinity.
  vector := embedding::public.halfvec(512);
  if public.l2_norm(vector) < 0.5 or public.l2_norm(vector) > 1.5 then
    return null;
  end if;
  return vector;
exception when data_exception or program_limit_exceeded then
  return null;
end
$$;
comment on function search.unit_vector(text) is
  'Returns a vector of 512 finite numbers with about unit length; null for anything else, so that an invalid vector is '
  'never stored or compared.';
grant execute on function search.unit_vector(text) to souk_agent, souk_person;

create or replace function search.copy_offer_facets() returns trigger
  language plpgsql volatile
as $$
begin
  new.facets := coalesce((select o.facets from market.offer o where o.id = new.offer_id), '');
  return new;
end
$$;
comment on function search.copy_offer_facets() is
  'Copies the facets of an offer to its vector when the vector is written.';

create or replace function search.sync_embedding_facets() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  update market.offer_embedding e set facets = new.facets where e.offer_id = new.id;
  return null;
end
$$;
comment on function search.sync_embedding_facets() is
  'Copies the facets of a changed offer to its vector, no matter which role changed the offer.';

create or replace function search.embedding_input(offer market.offer) returns text
  language sql stable
as $$
  -- The title stands twice, because it says what the thing is.
  select offer.title || E'\n' || offer.title || E'\n' || concat_ws(' ', offer.category, offer.domain) || E'\n'
    || offer.text
$$;
comment on function search.embedding_input(market.offer) is 'Returns the text of an offer that its vector represents.';

create or replace function search.store_ask_embedding(ask_id uuid, embedding text, model text) returns boolean
  language plpgsql volatile
as $$
declare
  vector public.halfvec(512) := search.unit_vector(store_ask_embedding.embedding);
begin
  if vector is null then
    delete from market.ask_embedding e where e.ask_id = store_ask_embedding.ask_id;
    return false;
  end if;
  insert into market.ask_embedding (ask_id, model, embedding)
  values (store_ask_embedding.ask_id, store_ask_embedding.model, vector)
  on conflict on constraint ask_embedding_pkey do update set model = excluded.model, embedding = excluded.embedding;
  return true;
end
$$;
comment on function search.store_ask_embedding(uuid, text, text) is
  'Stores the vector of an ask and returns true. If the vector is invalid, deletes the stored one and returns false.';
