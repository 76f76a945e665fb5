-- The rolling window of a rate limit. A call is admitted under an advisory lock of its scope and action, so that
-- parallel calls cannot exceed the limit. GET /v1/me and the response headers show the same usage. Calls of a person
-- (with a session) are counted only where a moderator set a limit for the account, and, while the account has no proved
-- sign-in method, its reports and changes of status.

-- Plain SQL, which PostgreSQL makes a part of the query that calls it (internal.own_usages).
create or replace function internal.hourly_usage(scope text, action text, cap integer, since timestamptz)
  returns setof jsonb
  language sql stable rows 1
as $$
  -- resets_in runs until the oldest counted call leaves the window, rounded up. A limit of 0 never frees a slot.
  select jsonb_build_object(
    'limit', hourly_usage.cap,
    'used', count(*),
    'remaining', greatest(hourly_usage.cap - count(*), 0),
    'resets_in', case when hourly_usage.cap = 0 then 3600
      else greatest(coalesce(ceil(extract(epoch from
        min(c.called_at) - hourly_usage.since)), 0), 0) end::integer)
  from market.rate_limit_hit c
  where c.scope = hourly_usage.scope and c.action = hourly_usage.action and c.called_at > hourly_usage.since
$$;
comment on function internal.hourly_usage(text, text, integer, timestamptz) is
  'Returns the usage of a window that began at `since`, an hour ago, as internal.window_usage.';

create or replace function internal.window_usage(scope text, action text, cap integer) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  since constant timestamptz := clock_timestamp() - interval '1 hour';
begin
  return (select u.usage
    from internal.hourly_usage(window_usage.scope, window_usage.action, window_usage.cap, since) as u (usage));
end
$$;
comment on function internal.window_usage(text, text, integer) is
  'Returns the usage of a window: {limit, used, remaining, resets_in}, where resets_in is the number of whole seconds '
  'until the oldest call leaves the window (with a limit of 0: the whole hour).';
grant execute on function internal.window_usage(text, text, integer) to souk_dba;

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

create or replace function internal.own_windows(only_action text default null)
  returns table (action text, scope text, cap integer)
  language sql stable rows 6
as $$
  select l.limited,
    -- All sessions of the account share a window, because a person can open any number of them.
    case when l.limited <> 'converse' then coalesce('agent:' || c.agent_id, 'account:' || c.account_id)
      -- Of all its agents, too: what counts is what others have to read.
      else 'account:' || c.account_id end,
    case
      -- An agent that sees nothing of the account sees neither its earned nor its lost limits.
      when c.agent_id is not null and internal.visible_account_id() is null
        then internal.setting(l.limited || '_cap')::integer
      when l.limited = 'search_offers' and internal.searches_freely() and not l.overridden then null
      -- A script can approve its own agent in a browser of its own. So what sessions without a proved method may still
      -- do is limited.
      when c.agent_id is not null or l.overridden or l.limited = 'converse'
        or l.limited in ('manage', 'report_offer') and internal.lacks_method() then l.cap end
  from (select internal.agent_id() as agent_id, internal.account_id() as account_id) as c
  cross join internal.rate_limits(internal.account_id(), own_windows.only_action) as l
$$;
comment on function internal.own_windows(text) is
  'Returns the windows in which the caller''s calls count, for each action or for one, with their limits. The limit is '
  'null, and nothing is counted, for a person with a proved method whose account no moderator limited for the action, '
  'and so for the searches of an agent that a person approved.';

create or replace function internal.own_window(action text, out scope text, out cap integer)
  language plpgsql stable
as $$
begin
  select w.scope, w.cap into scope, cap from internal.own_windows(own_window.action) as w;
end
$$;
comment on function internal.own_window(text) is 'Returns the window in which a call of the caller counts.';

create or replace function internal.own_usages(only_action text default null) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  -- Planning this query takes five times as long as running it.
  set plan_cache_mode = 'force_generic_plan'
as $$
declare
  since constant timestamptz := clock_timestamp() - interval '1 hour';
begin
  if internal.account_id() is null then
    perform internal.raise_problem(401, 'unauthorized', 'caller_missing');
  end if;
  return (
    -- Materialized, because PostgreSQL would otherwise compute a limit at each place where it is used.
    with windows as materialized (select * from internal.own_windows(only_action))
    select coalesce(jsonb_object_agg(w.action, u.usage), '{}')
    from windows w
    cross join lateral internal.hourly_usage(w.scope, w.action, w.cap, since) as u (usage)
    where w.cap is not null);
end
$$;
comment on function internal.own_usages(text) is
  'Returns the usage of the caller by action, for each action or for one: {limit, used, remaining, resets_in}. A '
  'person''s uncounted actions are missing. Raises 401 for an unknown caller.';
grant execute on function internal.own_usages(text) to souk_agent, souk_person;

create or replace function internal.own_usage(action text) returns jsonb
  language plpgsql volatile
as $$ begin return internal.own_usages(own_usage.action) -> own_usage.action; end $$;
comment on function internal.own_usage(text) is
  'Returns the usage of the caller for an action: {limit, used, remaining, resets_in}; null for a person whose calls '
  'are not counted. Raises 401 for an unknown caller.';
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
  'Returns the usage of a window for the RateLimit headers; an empty object without a window.';
grant execute on function internal.rate_limit_headers(jsonb) to souk_agent, souk_person;

create or replace function internal.note_headers(headers jsonb) returns void
  language plpgsql volatile
as $$ begin perform set_config('market.headers', note_headers.headers::text, true); end $$;
comment on function internal.note_headers(jsonb) is
  'Notes headers for the answer, also for a refusal that comes later in the transaction (internal.raise_problem), '
  'where the result of a function is the body alone.';
