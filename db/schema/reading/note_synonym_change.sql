-- Offers are filed under the concepts that their words name (reading/concepts.sql). When the words for concepts change,
-- a job files all offers again, batch by batch (jobs/refresh_concepts.sql).

create or replace function reading.note_synonym_change() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- Without offers there is nothing to file, and at the first start there is no queue yet.
  if exists (select from market.offer) then
    insert into reading.concept_refresh default values
    on conflict (single) do update set last_offer_id = excluded.last_offer_id;
    -- The key makes one job of many changes. Five seconds is as long as a request may take: an offer that is being
    -- published with the old words is there before its turn comes.
    perform graphile_worker.add_job('refresh_concepts', job_key => 'refresh_concepts',
      job_key_mode => 'preserve_run_at',
      run_at => now() + interval '5 seconds');
  end if;
  return null;
end
$$;
comment on function reading.note_synonym_change() is
  'Has all offers filed again under their concepts, whoever changed synonyms or broader concepts.';
