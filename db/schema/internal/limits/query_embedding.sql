-- How many vectors of new queries are bought for an account. All its agents and sessions share the window.

create or replace function internal.count_query_embedding() returns text
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  scope constant text := 'account:' || internal.account_id();
  cap constant integer := internal.setting('embed_query_cap')::integer;
  wait integer;
begin
  if scope is null then
    perform internal.raise_problem(401, 'unauthorized', 'caller_missing');
  end if;
  perform internal.lock_window(scope, 'embed_query');
  wait := internal.window_wait(scope, 'embed_query', cap);
  if wait is not null then
    return internal.sentence('searched_by_words', jsonb_build_object('cap', cap, 'wait', wait));
  end if;
  insert into market.rate_limit_hit (scope, action) values (scope, 'embed_query');
  return null;
end
$$;
comment on function internal.count_query_embedding() is
  'Counts the vector of a new query for the caller''s account and returns null. When the account has reached the '
  'setting embed_query_cap within an hour, it counts nothing and returns the sentence that says so.';
grant execute on function internal.count_query_embedding() to souk_agent, souk_person;
