-- How much the market sends to addresses that anybody may name. Windows of an hour
-- (internal/limits/rate_limit_window.sql), whose caps are settings:
--
--   account  all webhooks of an account; in a sandbox, of all its accounts, because nobody approved them
--   host     the receiving host, whichever accounts name it, and whatever port and path
--   network  the address that is connected to (internal.network_of). Whoever runs a nameserver has any number of hosts
--            that lead to one address, and can change where they lead after the challenge. Its cap is ten times that of
--            a host, because behind one address of a hosting company are the hosts of many customers
--
-- Not by registrable domain: the customers of a hosting company share one, and a stranger can register many. The
-- windows of hosts and networks are shared (internal/limits/shared_window.sql), because a script can approve any number
-- of agents of its own: nobody stops what others get at a host where they have webhooks, too, or at the address of a
-- hosting company to which the script's names lead. What is over the limit waits, and several events leave in one
-- delivery. Tests have a window of their own, because a caller can ask for them at will.

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

create or replace function internal.webhook_parties(hook market.webhook) returns text[]
  language plpgsql stable
as $$
declare
  scope constant text := internal.webhook_scope(hook.account_id);
  network constant text := (select c.address from market.connection c where c.agent_id = hook.agent_id);
begin
  return array[case when scope like 'sandbox:%' then 'sandboxes'
      when exists (select from market.proved_method m where m.account_id = hook.account_id) then 'proved'
      else 'unproved' end]
    || case when network is null then array['older'] else internal.origins_of(network) end
    -- Hashed, because the row outlives an account or sandbox that ends today.
    || md5(scope);
end
$$;
comment on function internal.webhook_parties(market.webhook) is
  'Returns the parties of a webhook in the windows of hosts and networks (internal/limits/shared_window.sql): '
  'sandboxes, accounts with a proved sign-in method, or all others; where its agent connected from, or that it did so '
  'more than a day ago, when the address is forgotten; and its account, or its sandbox.';

create or replace function internal.network_window(hook market.webhook, action text, address text)
  returns table (scope text, action text, cap integer, parties text[])
  language sql stable
as $$
  select 'network:' || internal.network_of(network_window.address), network_window.action,
    10 * internal.setting('host_' || network_window.action || '_cap')::integer, internal.webhook_parties(hook)
$$;
comment on function internal.network_window(market.webhook, text, text) is
  'Returns the window of the network of an address, in which what is sent to a webhook counts.';

create or replace function internal.webhook_windows(hook market.webhook, action text)
  returns table (scope text, cap integer, parties text[])
  language plpgsql stable
as $$
declare
  of_account constant text := internal.webhook_scope(hook.account_id);
  base constant text := webhook_windows.action || '_cap';
begin
  return query values (of_account, internal.setting(
    case when of_account like 'sandbox:%' and action = 'deliver' then 'sandbox_deliver_cap' else base end)::integer,
    '{}'::text[]);
  -- A test is sent as a delivery, which counts for the host.
  if webhook_windows.action <> 'test_webhook' then
    return query values (internal.host_scope(hook.url), internal.setting('host_' || base)::integer,
      internal.webhook_parties(hook));
  end if;
end
$$;
comment on function internal.webhook_windows(market.webhook, text) is
  'Returns the windows, of account and host, in which what is sent to a webhook counts. action: deliver, challenge or '
  'test_webhook.';

create or replace function internal.count_probe(hook market.webhook, action text) returns void
  language plpgsql volatile
as $$
declare
  wait integer;
begin
  perform internal.lock_window(s.scope, count_probe.action)
  from (select w.scope from internal.webhook_windows(hook, count_probe.action) as w order by w.scope) as s;
  wait := (select max(internal.shared_wait(w.scope, count_probe.action, w.cap, w.parties))
    from internal.webhook_windows(hook, count_probe.action) as w);
  if wait is not null then
    perform internal.raise_problem(429, 'rate_limited',
      case count_probe.action when 'challenge' then 'too_many_challenges' else 'too_many_tests' end,
      jsonb_build_object('wait', wait), jsonb_build_object('retry_after', wait));
  end if;
  insert into market.rate_limit_hit (scope, action, parties)
  select w.scope, count_probe.action, w.parties from internal.webhook_windows(hook, count_probe.action) as w;
end
$$;
comment on function internal.count_probe(market.webhook, text) is
  'Counts a challenge for its account and its host, or a test (test_webhook) for its account. Raises 429 beyond the '
  'settings challenge_cap, host_challenge_cap and test_webhook_cap.';

create or replace function internal.deliveries_left(hook market.webhook) returns integer
  language plpgsql volatile
as $$
begin
  perform internal.lock_window(s.scope, 'deliver')
  from (select w.scope from internal.webhook_windows(hook, 'deliver') as w order by w.scope) as s;
  return (select min(internal.shared_room(w.scope, 'deliver', w.cap, w.parties))
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
