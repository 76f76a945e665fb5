-- What the reader of queries is made from, for the HTTP layer.

create or replace function api.get_vocabulary() returns json
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$ begin return jobs.get_vocabulary(); end $$;
comment on function api.get_vocabulary() is
  'The taxonomy, the words and what was learned from the examples, as the reader of queries takes them.';
grant execute on function api.get_vocabulary() to souk_api;

create or replace function api.vocabulary_changed_at() returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$ begin return to_jsonb(jobs.vocabulary_changed_at()); end $$;
comment on function api.vocabulary_changed_at() is
  'When words, taxonomy or examples last changed, and when it was last learned from them: when it differs from what an '
  'API process knows, the process gets them again.';
grant execute on function api.vocabulary_changed_at() to souk_api;
