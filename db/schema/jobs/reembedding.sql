-- The steps of a change of the embedding model: begin it, then take a batch and store its vectors until none is left.

create or replace function jobs.begin_reembedding(model text) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- The first batch counts what the run has to do, so that nobody waits for that here.
  lock table market.reembedding in share row exclusive mode;
  update market.reembedding r set finished_at = now()
  where r.finished_at is null and r.model <> begin_reembedding.model;
  insert into market.reembedding (model) values (begin_reembedding.model)
  on conflict ((true)) where finished_at is null do nothing;
  perform jobs.resume_reembedding();
end
$$;
comment on function jobs.begin_reembedding(text) is
  'Begins a background change that embeds every offer and ask without a vector of this model, unless one is under way.';

create or replace function jobs.use_embedding_model(model text) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into market.embedding_model (model) values (use_embedding_model.model) on conflict do nothing;
  -- If several workers start at the same time, the first one starts the change and the others see that it has started.
  update market.setting s set value = to_jsonb(use_embedding_model.model)
  where s.name = 'embedding_model' and s.value <> to_jsonb(use_embedding_model.model);
  if found then
    perform jobs.begin_reembedding(use_embedding_model.model);
  end if;
end
$$;
comment on function jobs.use_embedding_model(text) is
  'Makes a model the current one. If another was, begins to embed everything again. A worker calls it when it starts, '
  'so it looks at no offer.';

create or replace function jobs.resume_reembedding() returns integer
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  resumed integer;
begin
  -- The job key keeps a second call from adding a second job.
  select count(*)::integer into resumed
  from (
    select internal.enqueue('reembed', r.id) from market.reembedding r where r.finished_at is null
    union all
    -- The provider was down for longer than eight attempts take. Enqueued again, the job has eight more. Jobs beyond
    -- the first thousand wait for the next run, ten minutes later.
    (select internal.enqueue(failed.task, failed.id)
    from (
      select j.id as job, j.task_identifier as task, substring(j.key from ':([0-9a-f-]{36})$')::uuid as id
      from graphile_worker.jobs j
      where j.task_identifier in ('embed_offer', 'embed_ask') and j.attempts >= j.max_attempts and j.locked_at is null
        and j.key is not null) as failed
    where search.embedding_wait(failed.id) is null
    order by failed.job limit 1000)) as q;
  return resumed;
end
$$;
comment on function jobs.resume_reembedding() is
  'Enqueues again the jobs for vectors that permanently failed: that of an unfinished change of the model, and those '
  'of single offers and asks if another request for their vectors may be made; returns the number of jobs.';

create or replace function jobs.take_batch(id uuid, size integer, paid boolean) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  under_way market.reembedding;
  items jsonb;
begin
  select * into under_way from market.reembedding r where r.id = take_batch.id and r.finished_at is null;
  if under_way.id is null then
    return null;
  end if;
  if under_way.total is null then
    update market.reembedding r set total = (
        select count(*) from market.offer o left join market.offer_embedding e on e.offer_id = o.id
        where o.status = 'published' and o.sandbox_id is null and e.model is distinct from r.model)
      + (
        select count(*) from market.ask a left join market.ask_embedding e on e.ask_id = a.id
        where a.status = 'active' and a.sandbox_id is null and a.read_at is not null
          and e.model is distinct from r.model)
    where r.id = under_way.id;
  end if;
  select jsonb_agg(jsonb_build_object('kind', 'offer', 'id', b.id, 'words', b.words) order by b.id) into items
  from (
    select o.id, search.embedding_input(o) as words
    from market.offer o left join market.offer_embedding e on e.offer_id = o.id
    where o.id > under_way.last_offer_id and o.status = 'published' and o.sandbox_id is null
      and e.model is distinct from under_way.model
    order by o.id limit size) as b;
  if items is null then
    select jsonb_agg(jsonb_build_object('kind', 'ask', 'id', b.id, 'words', b.text) order by b.id) into items
    from (
      select a.id, a.text
      from market.ask a left join market.ask_embedding e on e.ask_id = a.id
      where a.id > under_way.last_ask_id and a.status = 'active' and a.sandbox_id is null and a.read_at is not null
        and e.model is distinct from under_way.model
      order by a.id limit size) as b;
  end if;
  -- An item whose requests failed too often today gets its vector from a job of its own.
  select jsonb_agg(case
      when search.begin_embedding((i.item ->> 'id')::uuid, i.item ->> 'words', under_way.model, take_batch.paid)
        then i.item
      else i.item || '{"words": null}' end order by i.place) into items
  from jsonb_array_elements(items) with ordinality as i (item, place);
  return jsonb_build_object('model', under_way.model, 'items', coalesce(items, '[]'));
end
$$;
comment on function jobs.take_batch(uuid, integer, boolean) is
  'Returns the next batch of a change of the model: {model, items: [{kind, id, words}]}, with no items when everything '
  'is embedded; null when the change has finished. Words are null for an item that may not be embedded now. `paid`: '
  'whether a vector costs money.';

create or replace function jobs.store_batch(id uuid, vectors jsonb) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  under_way market.reembedding;
  vector public.halfvec(512);
  item record;
  wrong integer := 0;
begin
  -- The lock keeps two workers from storing one batch twice.
  select * into under_way from market.reembedding r where r.id = store_batch.id and r.finished_at is null for update;
  if under_way.id is null then
    return null;
  end if;
  -- The locks are those that matching takes. A change of an offer locks it, and then writes its document.
  perform from market.offer o
  where o.id = any (array(
    select (v ->> 'id')::uuid from jsonb_array_elements(vectors) as v where v ->> 'kind' = 'offer'))
  order by o.id for share;
  for item in
    select v ->> 'kind' as kind, (v ->> 'id')::uuid as id, v ->> 'embedding' as embedding, v ->> 'words' as words
    from jsonb_array_elements(vectors) as v
  loop
    vector := search.unit_vector(item.embedding);
    wrong := wrong + (vector is null)::integer;
    if item.kind = 'offer' then
      under_way.last_offer_id := greatest(under_way.last_offer_id, item.id);
      if vector is not null then
        insert into market.offer_embedding (offer_id, model, embedding, text_hash)
        select o.id, under_way.model, vector, search.text_hash(item.words) from market.offer o where o.id = item.id
        on conflict (offer_id) do update
          set model = excluded.model, embedding = excluded.embedding, text_hash = excluded.text_hash;
        perform search.end_embedding(item.id);
      end if;
    else
      -- Asks come after all offers, so an ask is matched when the offers have their new vectors. It keeps its matches
      -- until then, and a match that it had before does not count as new.
      under_way.last_ask_id := greatest(under_way.last_ask_id, item.id);
      perform search.store_ask_embedding(item.id, item.embedding, under_way.model, item.words);
      -- By a job of its own, because matching locks offers: those of the next ask would come out of their order.
      perform internal.enqueue('embed_ask', item.id);
    end if;
  end loop;
  update market.reembedding r set
    last_offer_id = under_way.last_offer_id, last_ask_id = under_way.last_ask_id, moved_at = clock_timestamp(),
    done = r.done + jsonb_array_length(vectors), failed = r.failed + wrong,
    finished_at = case when vectors = '[]' then clock_timestamp() end
  where r.id = under_way.id returning * into under_way;
  if under_way.finished_at is null then
    perform internal.enqueue('reembed', under_way.id);
  end if;
  return jsonb_build_object('model', under_way.model, 'done', under_way.done, 'total', under_way.total,
    'failed', under_way.failed, 'finished', under_way.finished_at is not null);
end
$$;
comment on function jobs.store_batch(uuid, jsonb) is
  'Stores the vectors of a batch, [{kind, id, words, embedding}], and enqueues the next; an empty batch finishes the '
  'change. Returns {model, done, total, failed, finished}; null when the change has finished already.';
