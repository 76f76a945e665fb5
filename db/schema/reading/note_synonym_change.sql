-- Each offer has the concepts that its words name (reading/concepts.sql). When the synonyms or broader concepts change,
-- a job sets the concepts of all offers again, in batches (jobs/refresh_concepts.sql).

create or replace function reading.note_synonym_change() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- Without offers there is nothing to do, and at the first start the job queue does not exist yet.
  if exists (select from market.offer) then
    insert into reading.concept_refresh default values
    on conflict (single) do update set last_offer_id = excluded.last_offer_id;
    -- The job key merges many changes into one job. A request takes at most five seconds, so an offer that is being
    -- published with the old synonyms is stored before the job runs.
    perform graphile_worker.add_job('refresh_concepts', job_key => 'refresh_concepts',
      job_key_mode => 'preserve_run_at',
      run_at => now() + interval '5 seconds');
  end if;
  return null;
end
$$;
comment on function reading.note_synonym_change() is
  'Enqueues the job that sets the concepts of all offers again, no matter which role changed the synonyms or broader '
  'concepts.';
