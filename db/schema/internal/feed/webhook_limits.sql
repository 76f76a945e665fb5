-- How much the market sends to addresses that anybody may name. Windows of an hour
-- (internal/limits/rate_limit_window.sql), whose caps are settings:
--
--   account  all webhooks of an account; in a sandbox, of all its accounts, because nobody approved them
--   host     the receiving host, whichever accounts name it, and whatever port and path
--   network  the address that is connected to (internal.network_of). Whoever runs a nameserver has any number of hosts
--            that lead to one address, and can change where they lead after the challenge. Its cap is ten times that of
--            a host, because behind one address of a hosting company are the hosts of many customers
--
-- Not by registrable domain: the customers of a hosting company share one, and a stranger can register many. Sandboxes,
-- which need no person, use at most half of a host's and a network's window, so that they keep nobody else out.
-- What is over the limit waits, and several events leave in one delivery.

create or replace function internal.webhook_scope(account_id uuid) returns text
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select coalesce('sandbox:' || a.sandbox_id, 'account:' || a.id) from market.account a
  where a.id = webhook_scope.account_id
$$;
comment on function internal.webhook_scope(uuid) is
  'Returns the window in which an account''s webhooks are counted: of the account, or of its sandbox.';

create or replace function internal.host_scope(url text) returns text
  language sql immutable
as $$
  -- Hosts of more than 55 characters that end alike have the same owner, so they may count together.
  select 'host:'
    || right(rtrim(internal.lower_case(substring(host_scope.url from '^https?://(\[[^]]*\]|[^/?#:]*)')), '.'), 55)
$$;
comment on function internal.host_scope(text) is
  'Returns the window of the host of an address, without port and with or without the dot of the root; null for what '
  'is no address.';

create or replace function internal.share_of(sandbox boolean, cap integer) returns integer
  language sql immutable
as $$ select case when share_of.sandbox then greatest(share_of.cap / 2, 1) else share_of.cap end $$;
comment on function internal.share_of(boolean, integer) is
  'Returns how much of the window of a host or network a webhook may use: all, or half in a sandbox.';

create or replace function internal.network_window(hook market.webhook, action text, address text)
  returns table (scope text, action text, cap integer)
  language sql stable
as $$
  select 'network:' || internal.network_of(network_window.address), network_window.action,
    internal.share_of(internal.webhook_scope(hook.account_id) like 'sandbox:%',
      10 * internal.setting('host_' || network_window.action || '_cap')::integer)
$$;
comment on function internal.network_window(market.webhook, text, text) is
  'Returns the window of the network of an address, in which what is sent to a webhook counts.';

create or replace function internal.webhook_windows(hook market.webhook, action text)
  returns table (scope text, cap integer)
  language plpgsql stable
as $$
declare
  of_account constant text := internal.webhook_scope(hook.account_id);
  of_sandbox constant boolean := of_account like 'sandbox:%';
  base constant text := webhook_windows.action || '_cap';
begin
  return query values
    (of_account, internal.setting(
      case when of_sandbox and action = 'deliver' then 'sandbox_deliver_cap' else base end)::integer),
    (internal.host_scope(hook.url), internal.share_of(of_sandbox, internal.setting('host_' || base)::integer));
end
$$;
comment on function internal.webhook_windows(market.webhook, text) is
  'Returns the windows, of account and host, in which what is sent to a webhook counts. action: deliver or challenge.';

create or replace function internal.count_challenge(hook market.webhook) returns void
  language plpgsql volatile
as $$
declare
  wait integer;
begin
  perform internal.lock_window(s.scope, 'challenge')
  from (select w.scope from internal.webhook_windows(hook, 'challenge') as w order by w.scope) as s;
  wait := (select max(internal.window_wait(w.scope, 'challenge', w.cap))
    from internal.webhook_windows(hook, 'challenge') as w);
  if wait is not null then
    perform internal.raise_problem(429, 'rate_limited', 'too_many_challenges', jsonb_build_object('wait', wait),
      jsonb_build_object('retry_after', wait));
  end if;
  insert into market.rate_limit_hit (scope, action)
  select w.scope, 'challenge' from internal.webhook_windows(hook, 'challenge') as w;
end
$$;
comment on function internal.count_challenge(market.webhook) is
  'Counts a challenge for its account and for its host. Raises 429 beyond the settings challenge_cap and '
  'host_challenge_cap.';

create or replace function internal.deliveries_left(hook market.webhook) returns integer
  language plpgsql volatile
as $$
begin
  perform internal.lock_window(s.scope, 'deliver')
  from (select w.scope from internal.webhook_windows(hook, 'deliver') as w order by w.scope) as s;
  return (select min((internal.window_usage(w.scope, 'deliver', w.cap) ->> 'remaining')::integer)
    from internal.webhook_windows(hook, 'deliver') as w);
end
$$;
comment on function internal.deliveries_left(market.webhook) is
  'Returns how many deliveries a webhook may still get in this hour. Keeps the windows locked, so that the caller can '
  'count what it takes.';

create or replace function internal.pause_webhook(hook market.webhook, wait integer) returns void
  language plpgsql volatile
as $$
declare
  until constant timestamptz := greatest(hook.resume_at, now() + pause_webhook.wait * interval '1 second');
begin
  update market.webhook w set resume_at = until where w.id = hook.id;
  perform internal.enqueue_webhook(hook.id, until);
end
$$;
comment on function internal.pause_webhook(market.webhook, integer) is
  'Sends nothing to a webhook for so many seconds; then a job goes on.';

create or replace function internal.admit_webhook() returns integer
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  scope constant text := internal.webhook_scope(internal.account_id());
  most constant integer := internal.setting(
    case when internal.sandbox_id() is null then 'account_webhooks' else 'sandbox_webhooks' end)::integer;
begin
  -- Calls at the same time must see each other's webhooks.
  perform internal.lock_window(scope, 'webhooks');
  return case when most <= (
    select count(*) from market.webhook w
    where w.account_id = internal.account_id()
      or w.account_id in (select a.id from market.account a where a.sandbox_id = internal.sandbox_id())) then most end;
end
$$;
comment on function internal.admit_webhook() is
  'Returns null when the caller''s account, or its sandbox, may have another webhook; else how many it may have.';
grant execute on function internal.admit_webhook() to souk_agent, souk_person;
