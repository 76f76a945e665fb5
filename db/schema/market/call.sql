-- The rolling window: one row is one counted call. A call is admitted under an advisory lock of its scope and action, so
-- that two hundred at once never pass the cap by one. All time is the database's.

create table market.call (
  id bigint generated always as identity constraint call_pkey primary key,
  scope text not null,
  action text not null,
  called_at timestamptz not null default clock_timestamp(),
  constraint call_scope_length check (char_length(scope) between 1 and 60),
  constraint call_action_length check (char_length(action) between 1 and 40)
);
create index call_scope_action_called_at_idx on market.call (scope, action, called_at);
create index call_called_at_idx on market.call (called_at);
comment on table market.call is 'One row is one counted call within the last day: the rolling windows count these.';
comment on column market.call.id is 'Order of admission.';
comment on column market.call.scope is 'Whose window: agent:<id>, address:<network>, mailbox:<half a SHA-256>, or mailbox_at:<half a SHA-256>, of mailbox and network.';
comment on column market.call.action is 'publish_offer, create_ask, preview_offer, connect, decline or sign_in_mail.';
comment on column market.call.called_at is 'When it was admitted.';

alter table market.call enable row level security;
alter table market.call force row level security;
create policy "the owner sees all" on market.call to souk_owner using (true) with check (true);

create or replace function market.window_figures(scope text, action text, cap integer, span interval default '1 hour')
  returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- resets_in is until the oldest counted call leaves, rounded up. A cap of 0 frees no slot, however many leave.
  return (select jsonb_build_object(
    'limit', window_figures.cap,
    'used', count(*),
    'remaining', greatest(window_figures.cap - count(*), 0),
    'resets_in', case when window_figures.cap = 0 then extract(epoch from window_figures.span)
      else greatest(coalesce(ceil(extract(epoch from
        min(c.called_at) + window_figures.span - clock_timestamp())), 0), 0) end::integer)
  from market.call c
  where c.scope = window_figures.scope and c.action = window_figures.action
    and c.called_at > clock_timestamp() - window_figures.span);
end
$$;
comment on function market.window_figures(text, text, integer, interval) is
  'What a window holds now: limit, used, remaining, and resets_in, the whole seconds until its oldest call leaves it; of a cap of 0 the whole span.';

create or replace function market.window_wait(scope text, action text, cap integer, span interval default '1 hour') returns integer
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- A cap that fell below what was used frees no slot with the oldest call, but with the one at the cap's place.
  return (select greatest(ceil(extract(epoch from c.called_at + window_wait.span - clock_timestamp())), 1)::integer
  from market.call c
  where c.scope = window_wait.scope and c.action = window_wait.action
    and c.called_at > clock_timestamp() - window_wait.span
  order by c.called_at desc offset greatest(window_wait.cap, 1) - 1 limit 1);
end
$$;
comment on function market.window_wait(text, text, integer, interval) is
  'Whole seconds until a full window has a free slot: whoever waits that long finds one. Null while it has one.';

create or replace function market.lock_window(scope text, action text) returns void
  language sql volatile
as $$ select pg_advisory_xact_lock(hashtextextended(lock_window.scope || ' ' || lock_window.action, 0)) $$;
comment on function market.lock_window(text, text) is
  'Makes calls of one scope and action wait for each other until the transaction ends.';

create or replace function market.rate_headers(figures jsonb) returns jsonb
  language sql immutable
as $$
  select case when figures is null then '{}' else jsonb_build_object(
    'RateLimit-Limit', figures -> 'limit',
    'RateLimit-Remaining', figures -> 'remaining',
    'RateLimit-Reset', figures -> 'resets_in') end
$$;
comment on function market.rate_headers(jsonb) is
  'The figures of a window as the response headers of the contract; none for a person, who has no window.';
grant execute on function market.rate_headers(jsonb) to souk_agent, souk_person;
