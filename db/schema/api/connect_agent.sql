-- POST /v1/connect: an agent creates itself. It acts for a provisional account until a person approves it. The number
-- of new agents is limited for each network address.

create or replace function api.connect_agent(
  name text, token_hash bytea, secret_hash bytea, code text, address text, connections_per_hour integer
) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  network text := internal.network_of(connect_agent.address);
  scope text := 'address:' || network;
  wait integer;
  cleaned text := internal.clean_name(connect_agent.name);
  agent market.agent;
  account_id uuid;
begin
  if char_length(cleaned) > 80 then
    perform internal.raise_field_problems('[{"pointer": "/name", "detail": "A name has 1 to 80 characters."}]');
  end if;
  perform internal.lock_window(scope, 'connect');
  -- After three refusals ("Not mine") within a day, agents of the same address cannot connect for a day.
  wait := coalesce(
    internal.window_wait(scope, 'decline', 3, '1 day'),
    internal.window_wait(scope, 'connect', connect_agent.connections_per_hour));
  if wait is not null then
    perform internal.raise_problem(429, 'rate_limited',
      'Too many agents were created from this address. Reuse the token you already hold, or wait before you create '
      'another agent.',
      jsonb_build_object('retry_after', wait));
  end if;
  insert into market.rate_limit_hit (scope, action) values (scope, 'connect');

  insert into market.account default values returning id into account_id;
  insert into market.agent (account_id, name, token_hash)
  values (account_id, cleaned, connect_agent.token_hash) returning * into agent;
  insert into market.connection (agent_id, secret_hash, code, address)
  values (agent.id, connect_agent.secret_hash, connect_agent.code, network);
  return jsonb_build_object(
    'agent_id', agent.id,
    'connection', jsonb_build_object('code', connect_agent.code, 'expires_in', 1800),
    'summary',
    'Keep agent_token secret: it is shown only now. Give connection.url to the person you act for, tell them the code, '
    'and do not open the link yourself. They approve once they see the same code there. You can search and read at '
    'once; GET /v1/me tells when you may publish.');
end
$$;
comment on function api.connect_agent(text, bytea, bytea, text, text, integer) is
  'Creates an agent with a provisional account and a connection link that works for 30 minutes. Needs no claims. '
  'Raises 400 for a name that is too long, and 429 when the address created too many agents.';
grant execute on function api.connect_agent(text, bytea, bytea, text, text, integer) to souk_api;
