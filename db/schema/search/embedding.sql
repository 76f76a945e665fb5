-- Vectors: the text that a vector represents, the check that a vector is valid, and when one is made.

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

create or replace function search.embedding_input(offer market.offer) returns text
  language sql stable
as $$
  -- The title stands twice, because it says what the thing is. A contact says nothing about it.
  select t.title || E'\n' || t.title || E'\n' || concat_ws(' ', offer.category, offer.domain) || E'\n'
    || internal.withheld_text(offer)
  from internal.without_contact(offer.title, offer) as t (title)
$$;
comment on function search.embedding_input(market.offer) is
  'Returns the text of an offer that its vector represents: without its contacts, whoever sees them.';

create or replace function search.store_ask_embedding(ask_id uuid, embedding text, model text, input text)
  returns boolean
  language plpgsql volatile
as $$
declare
  vector public.halfvec(512) := search.unit_vector(store_ask_embedding.embedding);
begin
  -- The lock is the one that matching takes: a change of the ask locks the ask, and then its vector.
  perform from market.ask a where a.id = store_ask_embedding.ask_id for no key update;
  if not found then
    return false;
  end if;
  if vector is null then
    delete from market.ask_embedding e using market.ask a
    where e.ask_id = store_ask_embedding.ask_id and a.id = e.ask_id
      and e.text_hash is distinct from search.text_hash(a.text);
    return false;
  end if;
  insert into market.ask_embedding (ask_id, model, embedding, text_hash)
  values (store_ask_embedding.ask_id, store_ask_embedding.model, vector, search.text_hash(store_ask_embedding.input))
  on conflict on constraint ask_embedding_pkey do update
    set model = excluded.model, embedding = excluded.embedding, text_hash = excluded.text_hash;
  perform search.end_embedding(store_ask_embedding.ask_id);
  return true;
end
$$;
comment on function search.store_ask_embedding(uuid, text, text, text) is
  'Stores the vector of an ask, made from `input`, and returns true. Without the ask or a valid vector it returns '
  'false, and deletes a stored one that represents another text.';

create or replace function search.text_hash(input text) returns bytea
  language sql immutable
as $$ select sha256(convert_to(input, 'UTF8')) $$;
comment on function search.text_hash(text) is 'Returns the SHA-256 of a text that a vector represents.';

create or replace function search.embedding_wait(id uuid) returns integer
  language sql volatile
as $$
  -- As many requests a day as a job has attempts. A caller who makes a job run again and again, while the provider
  -- answers with invalid vectors, causes no more.
  select internal.window_wait('embed:' || embedding_wait.id, 'embed', 8, '1 day')
$$;
comment on function search.embedding_wait(uuid) is
  'Returns the seconds until another paid request for the vector of an offer or ask may be made, because eight a day '
  'may fail; null when one may be made now.';

create or replace function search.begin_embedding(id uuid, input text, model text, paid boolean) returns boolean
  language plpgsql volatile
as $$
declare
  scope constant text := 'embed:' || begin_embedding.id;
  seconds integer;
  task text;
begin
  if exists (
    select e.model, e.text_hash from market.offer_embedding e where e.offer_id = begin_embedding.id
      and (e.model, e.text_hash) = (begin_embedding.model, search.text_hash(begin_embedding.input))
    union all
    select e.model, e.text_hash from market.ask_embedding e where e.ask_id = begin_embedding.id
      and (e.model, e.text_hash) = (begin_embedding.model, search.text_hash(begin_embedding.input)))
  then
    return false;
  end if;
  if paid and internal.is_of_sandbox(begin_embedding.id) then
    -- Test agents act for nobody, so nobody pays for them: they are matched by words.
    return false;
  elsif paid then
    perform internal.lock_window(scope, 'embed');
    seconds := search.embedding_wait(begin_embedding.id);
    if seconds is not null then
      task := case when exists (select from market.offer o where o.id = begin_embedding.id) then 'embed_offer'
        else 'embed_ask' end;
      perform internal.enqueue(task, begin_embedding.id);
      perform graphile_worker.reschedule_jobs(array[j.id], run_at => now() + make_interval(secs => seconds))
      from graphile_worker.jobs j where j.key = task || ':' || begin_embedding.id;
      return false;
    end if;
    insert into market.rate_limit_hit (scope, action) values (scope, 'embed');
  end if;
  return true;
end
$$;
comment on function search.begin_embedding(uuid, text, text, boolean) is
  'Returns whether the vector of an offer or ask has to be made from `input`: false when it has one of this text and '
  'model. If it is `paid` for, the request is counted until it succeeds. After eight in a day the result is false, and '
  'the job that makes this vector waits until another request may be made.';

create or replace function search.end_embedding(id uuid) returns void
  language plpgsql volatile
as $$
declare
  requests integer;
begin
  delete from market.rate_limit_hit c where c.scope = 'embed:' || end_embedding.id and c.action = 'embed';
  get diagnostics requests = row_count;
  if requests >= 8 then
    -- While the last of them was under way, another job for a changed text may have begun to wait for the next day.
    perform graphile_worker.reschedule_jobs(array_agg(j.id), run_at => now()) from graphile_worker.jobs j
    where j.key in ('embed_offer:' || end_embedding.id, 'embed_ask:' || end_embedding.id) and j.run_at > now();
  end if;
end
$$;
comment on function search.end_embedding(uuid) is
  'Forgets the counted requests for the vector of an offer or ask, because it has one now. A job that waits because '
  'there were eight may run at once.';
