-- A new agent has a provisional account, and a link with which a person approves it. The number of new agents is
-- limited for each network address.

create or replace function internal.count_by_address(action text, address text, max_acts integer, sentence text)
  returns void
  language plpgsql volatile
as $$
declare
  network constant text := internal.network_of(count_by_address.address);
  scope constant text := 'address:' || network;
  -- An IPv6 site (/48) has 65,536 networks that each count as one address. Ten times the limit is enough for a site.
  site constant text := case family(network::inet) when 6 then 'address:' || internal.site_of(network) end;
  wait integer;
begin
  perform internal.lock_window(s.scope, count_by_address.action)
  from unnest(array[scope, site]) with ordinality as s (scope, n) where s.scope is not null order by s.n;
  -- After six refusals ("Not mine") within a day, agents of the same address cannot connect for a day. Hosted agents
  -- share an address, so each refusal must come from another browser and another network (internal.count_decline).
  wait := coalesce(
    case when count_by_address.action = 'connect' then internal.window_wait(scope, 'decline', 6, '1 day') end,
    internal.window_wait(scope, count_by_address.action, count_by_address.max_acts),
    internal.window_wait(site, count_by_address.action, 10 * count_by_address.max_acts));
  if wait is not null then
    perform internal.raise_problem(429, 'rate_limited', count_by_address.sentence,
      extra => jsonb_build_object('retry_after', wait));
  end if;
  insert into market.rate_limit_hit (scope, action)
  select s.scope, count_by_address.action from unnest(array[scope, site]) as s (scope) where s.scope is not null;
end
$$;
comment on function internal.count_by_address(text, text, integer, text) is
  'Counts an act of a caller who has no token yet, and raises 429 with the sentence of this name when its address did '
  'it `max_acts` times within an hour, or its IPv6 site (/48) ten times as often.';

create or replace function internal.create_agent(
  name text, token_hash bytea, secret_hash bytea, code text, address text, sandbox market.sandbox
) returns uuid
  language plpgsql volatile
as $$
declare
  account_id uuid;
  new_agent uuid;
begin
  insert into market.account (sandbox_id) values (sandbox.id) returning id into account_id;
  insert into market.agent (account_id, name, token_hash, token_expires_at, sandbox_id)
  values (account_id, create_agent.name, create_agent.token_hash, sandbox.expires_at, sandbox.id)
  returning id into new_agent;
  -- The page of the link makes the other codes with this key, and is shown while nothing can be written.
  perform internal.hash_key();
  insert into market.connection (agent_id, secret_hash, code, address)
  values (new_agent, create_agent.secret_hash, create_agent.code, internal.network_of(create_agent.address));
  if sandbox.id is not null then
    -- Nobody has to look at the link of a test agent.
    update market.connection c set approved_at = now() where c.agent_id = new_agent;
    update market.agent a set connected_at = now() where a.id = new_agent;
  end if;
  return new_agent;
end
$$;
comment on function internal.create_agent(text, bytea, bytea, text, text, market.sandbox) is
  'Creates an agent with a provisional account and a link that works for 30 minutes; returns its id. token_hash is '
  'null when the agent gets its token later (api.exchange_code). A test agent of a sandbox is approved at once, and '
  'its token ends with the sandbox.';
