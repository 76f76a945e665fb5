-- The rolling window of a rate limit. A call is admitted under an advisory lock of its scope and action, so that
-- parallel calls cannot exceed the limit. GET /v1/me and the response headers show the same usage. Calls
-- of a person are not counted.

create or replace function internal.window_usage(scope text, action text, cap integer, span interval default '1 hour')
  returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- resets_in runs until the oldest counted call leaves the window, rounded up. A limit of 0 never frees a slot.
  return (select jsonb_build_object(
    'limit', window_usage.cap,
    'used', count(*),
    'remaining', greatest(window_usage.cap - count(*), 0),
    'resets_in', case when window_usage.cap = 0 then extract(epoch from window_usage.span)
      else greatest(coalesce(ceil(extract(epoch from
        min(c.called_at) + window_usage.span - clock_timestamp())), 0), 0) end::integer)
  from market.rate_limit_hit c
  where c.scope = window_usage.scope and c.action = window_usage.action
    and c.called_at > clock_timestamp() - window_usage.span);
end
$$;
comment on function internal.window_usage(text, text, integer, interval) is
  'Returns the usage of a window: {limit, used, remaining, resets_in}, where resets_in is the number of whole seconds '
  'until the oldest call leaves the window (with a limit of 0: the whole span).';
grant execute on function internal.window_usage(text, text, integer, interval) to souk_dba;

create or replace function internal.window_wait(scope text, action text, cap integer, span interval default '1 hour')
  returns integer
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- If the limit fell below the number of calls in the window, a slot is not free as soon as the oldest call leaves. It
  -- is free when fewer calls than the limit are left, so count from the newest call.
  return (select greatest(ceil(extract(epoch from c.called_at + window_wait.span - clock_timestamp())), 1)::integer
  from market.rate_limit_hit c
  where c.scope = window_wait.scope and c.action = window_wait.action
    and c.called_at > clock_timestamp() - window_wait.span
  order by c.called_at desc offset greatest(window_wait.cap, 1) - 1 limit 1);
end
$$;
comment on function internal.window_wait(text, text, integer, interval) is
  'Returns the whole seconds until a full window has a free slot; null when it has one now.';
grant execute on function internal.window_wait(text, text, integer, interval) to souk_dba;

create or replace function internal.lock_window(scope text, action text) returns void
  language sql volatile
as $$ select pg_advisory_xact_lock(hashtextextended(lock_window.scope || ' ' || lock_window.action, 0)) $$;
comment on function internal.lock_window(text, text) is
  'Makes calls of one scope and action wait for each other until the transaction ends.';

create or replace function internal.own_usage(action text) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if internal.account_id() is null then
    perform internal.raise_problem(401, 'unauthorized', 'Call with a token or a session.');
  end if;
  return case
    when internal.agent_id() is not null then internal.window_usage('agent:' || internal.agent_id(), own_usage.action,
    internal.rate_limit(internal.account_id(), own_usage.action)) end;
end
$$;
comment on function internal.own_usage(text) is
  'Returns the usage of the calling agent for an action: {limit, used, remaining, resets_in}; null for a person, whose '
  'calls are not counted. Raises 401 for an unknown caller.';
grant execute on function internal.own_usage(text) to souk_agent, souk_person;

create or replace function internal.rate_limit_headers(usage jsonb) returns jsonb
  language sql immutable
as $$
  select case when usage is null then '{}' else jsonb_build_object(
    'RateLimit-Limit', usage -> 'limit',
    'RateLimit-Remaining', usage -> 'remaining',
    'RateLimit-Reset', usage -> 'resets_in') end
$$;
comment on function internal.rate_limit_headers(jsonb) is
  'Returns the usage of a window as the contract''s RateLimit headers; an empty object for a person, who has no '
  'window.';
grant execute on function internal.rate_limit_headers(jsonb) to souk_agent, souk_person;
