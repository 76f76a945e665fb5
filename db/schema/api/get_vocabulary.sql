-- What the reader of queries is made from, for the HTTP layer.

create or replace function api.get_vocabulary() returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$ begin return jobs.get_vocabulary(); end $$;
comment on function api.get_vocabulary() is 'The taxonomy and the words of the market, as the reader of queries takes them.';
grant execute on function api.get_vocabulary() to souk_api;
