-- Filing offers again under their concepts, after the words for concepts changed: a batch per job, in the order of
-- their ids.

create or replace function jobs.refresh_concepts(size integer) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  -- Shorter than PostgreSQL waits before it looks for a deadlock: when a request holds an offer, this gives way and is
  -- tried again.
  set lock_timeout = '500ms'
as $$
declare
  progress reading.concept_refresh;
  batch uuid[];
  changed integer;
begin
  -- The lock keeps a change of words from being passed over: it waits, and then begins from the first offer again.
  select * into progress from reading.concept_refresh r for update;
  if not found then
    return null;
  end if;
  batch := array(
    select o.id from market.offer o where o.id > progress.last_offer_id order by o.id limit refresh_concepts.size);
  update market.offer o set concepts = filed.concepts
  from (
    select f.id, f.title, f.text, f.language, reading.concept_vector(f.title, f.text, f.language) as concepts
    from market.offer f
    -- What belongs to nobody any more is under no concept.
    where f.id = any (batch) and f.account_id is not null) as filed
  where o.id = filed.id and o.concepts <> filed.concepts
    -- An offer that has changed meanwhile was filed by that change.
    and (o.title, o.text) = (filed.title, filed.text) and o.language is not distinct from filed.language
    and o.account_id is not null;
  get diagnostics changed = row_count;
  if cardinality(batch) < refresh_concepts.size then
    delete from reading.concept_refresh;
  else
    update reading.concept_refresh set last_offer_id = batch[refresh_concepts.size];
    perform graphile_worker.add_job('refresh_concepts', job_key => 'refresh_concepts');
  end if;
  return jsonb_build_object('looked_at', cardinality(batch), 'changed', changed,
    'finished', cardinality(batch) < refresh_concepts.size);
end
$$;
comment on function jobs.refresh_concepts(integer) is
  'Files the next offers again under their concepts, and queues the job for those after them: {looked_at, changed, '
  'finished}, or null when nothing is left to do.';
grant execute on function jobs.refresh_concepts(integer) to souk_worker;
