-- Processes load the vocabulary, the examples and the taxonomy again when these have changed.

create or replace function reading.note_change() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  update reading.vocabulary_change set changed_at = clock_timestamp();
  return null;
end
$$;
comment on function reading.note_change() is
  'Stores the time of a change to the vocabulary, the examples or the taxonomy, no matter which role made it.';
