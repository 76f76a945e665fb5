-- The rolling window. A call is admitted under an advisory lock of its scope and action, so that two hundred at once
-- never pass the limit by one. The caller's own figures are the same in GET /v1/me and in the headers; a person has
-- none.

create or replace function internal.window_usage(scope text, action text, cap integer, span interval default '1 hour')
  returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- resets_in is until the oldest counted call leaves, rounded up. A cap of 0 frees no slot, however many leave.
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
  'What a window holds now: limit, used, remaining, and resets_in, the whole seconds until its oldest call leaves it; '
  'of a cap of 0 the whole span.';
grant execute on function internal.window_usage(text, text, integer, interval) to souk_dba;

create or replace function internal.window_wait(scope text, action text, cap integer, span interval default '1 hour')
  returns integer
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- A cap that fell below what was used frees no slot with the oldest call, but with the one at the cap's place.
  return (select greatest(ceil(extract(epoch from c.called_at + window_wait.span - clock_timestamp())), 1)::integer
  from market.rate_limit_hit c
  where c.scope = window_wait.scope and c.action = window_wait.action
    and c.called_at > clock_timestamp() - window_wait.span
  order by c.called_at desc offset greatest(window_wait.cap, 1) - 1 limit 1);
end
$$;
comment on function internal.window_wait(text, text, integer, interval) is
  'Whole seconds until a full window has a free slot: whoever waits that long finds one. Null while it has one.';
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
  'limit, used, remaining and resets_in of the calling agent for an action; null for a person, whose calls are not '
  'counted.';
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
  'The figures of a window as the response headers of the contract; none for a person, who has no window.';
grant execute on function internal.rate_limit_headers(jsonb) to souk_agent, souk_person;
