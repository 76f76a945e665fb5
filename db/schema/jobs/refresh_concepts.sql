-- After the synonyms or broader concepts have changed, this job sets the concepts of all offers again: one batch for
-- each job, in the order of the offers' ids.

create or replace function jobs.refresh_concepts(size integer) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  -- Shorter than deadlock_timeout (1 s): if a request has locked one of the offers, this job fails and is retried, and
  -- not the request.
  set lock_timeout = '500ms'
as $$
declare
  progress reading.concept_refresh;
  batch uuid[];
  changed integer;
begin
  -- The lock keeps a change of synonyms from being missed: that transaction waits for this one and then resets the
  -- progress to the first offer.
  select * into progress from reading.concept_refresh r for update;
  if not found then
    return null;
  end if;
  batch := array(
    select o.id from market.offer o where o.id > progress.last_offer_id order by o.id limit refresh_concepts.size
    for no key update);
  update market.offer o set concepts = filed.concepts
  from (
    select f.id, f.title, f.text, f.language, reading.concept_vector(f.title, f.text, f.language) as concepts
    from market.offer f
    -- An offer without an account has no concepts, so searches do not find it.
    where f.id = any (batch) and f.account_id is not null) as filed
  where o.id = filed.id and o.concepts <> filed.concepts
    -- If an offer was changed in the meantime, that change has set its concepts.
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
  'Sets the concepts of the next `size` offers again, and enqueues the job for the offers after them. Returns '
  '{looked_at, changed, finished}; null when nothing is left to do.';
