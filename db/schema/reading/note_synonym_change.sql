-- Each offer has the concepts that its words name (reading/concepts.sql). When the labels of things or the broader
-- concepts change, a job sets the concepts of all offers again, in batches (jobs/refresh_concepts.sql).

create or replace function reading.start_concept_refresh() returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- Without offers there is nothing to do, and at the first start the job queue does not exist yet.
  if exists (select from market.offer) then
    insert into reading.concept_refresh default values
    on conflict (single) do update set last_offer_id = excluded.last_offer_id;
    -- The job key merges many changes into one job. A request takes at most five seconds, so an offer that is being
    -- published with the old labels is stored before the job runs.
    perform graphile_worker.add_job('refresh_concepts', job_key => 'refresh_concepts',
      job_key_mode => 'preserve_run_at',
      run_at => now() + interval '5 seconds');
  end if;
end
$$;
comment on function reading.start_concept_refresh() is 'Enqueues the job that sets the concepts of all offers again.';

create or replace function reading.note_synonym_change() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform reading.start_concept_refresh();
  return null;
end
$$;
comment on function reading.note_synonym_change() is
  'Trigger: sets the concepts of all offers again, no matter which role changed the labels or broader concepts.';

create or replace function reading.note_label_change() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from changed c where c.type = 'thing') then
    perform reading.start_concept_refresh();
  end if;
  return null;
end
$$;
comment on function reading.note_label_change() is
  'Trigger: sets the concepts of all offers again if labels of things have changed. Other labels do not concern the '
  'search.';

create or replace function reading.set_label_type() returns trigger
  language plpgsql volatile
as $$
begin
  -- An unknown concept is refused by the foreign key, whatever the type. No other constraint refuses a cue before.
  new.type := coalesce((select c.type from reading.concept c where c.concept = new.concept), 'cue');
  return new;
end
$$;
comment on function reading.set_label_type() is 'Trigger: fills in the type of a new label from its concept.';
