-- The data with which the HTTP layer extracts filters from queries.

create or replace function api.get_vocabulary() returns json
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$ begin return jobs.get_vocabulary(); end $$;
comment on function api.get_vocabulary() is
  'Returns the taxonomy, the vocabulary and the classifiers trained on the examples.';

create or replace function api.vocabulary_changed_at() returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$ begin return to_jsonb(jobs.vocabulary_changed_at()); end $$;
comment on function api.vocabulary_changed_at() is
  'Returns when vocabulary, taxonomy or examples last changed and when the classifiers were last trained. An API '
  'process that has another value loads the vocabulary again.';
