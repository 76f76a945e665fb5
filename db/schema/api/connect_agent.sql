-- POST /v1/connect: an agent creates itself. It acts for a provisional account until a person approves it. The number
-- of new agents is limited for each network address. A test agent needs no person (internal/agents/sandbox.sql).

create or replace function api.connect_agent(
  name text, token_hash bytea, secret_hash bytea, code text, address text, connections_per_hour integer,
  sandbox boolean default null, sandbox_id text default null
) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  cleaned text := internal.clean_name(connect_agent.name);
  agent_id uuid;
  joined market.sandbox;
begin
  if char_length(cleaned) > 80 then
    perform internal.raise_field_problems('[{"pointer": "/name", "detail": "agent_name_length"}]');
  end if;
  if connect_agent.sandbox_id is not null and connect_agent.sandbox is not true then
    perform internal.raise_field_problems('[{"pointer": "/sandbox", "detail": "sandbox_id_alone"}]');
  end if;
  perform internal.count_by_address('connect', connect_agent.address, connect_agent.connections_per_hour,
    'too_many_agents_of_address');
  if connect_agent.sandbox then
    joined := internal.join_sandbox(connect_agent.sandbox_id, connect_agent.address);
  end if;
  agent_id := internal.create_agent(cleaned, connect_agent.token_hash, connect_agent.secret_hash, connect_agent.code,
    connect_agent.address, joined);
  if joined.id is not null then
    return jsonb_build_object(
      'agent_id', agent_id,
      'sandbox_id', joined.id,
      'connection', jsonb_build_object('code', connect_agent.code, 'expires_in', 0),
      'summary', internal.sentence('test_agent_connected',
        jsonb_build_object('expires_at', internal.utc(joined.expires_at))));
  end if;
  return jsonb_build_object(
    'agent_id', agent_id,
    'connection', jsonb_build_object('code', connect_agent.code, 'expires_in', 1800),
    'summary', internal.sentence('agent_connected'));
end
$$;
comment on function api.connect_agent(text, bytea, bytea, text, text, integer, boolean, text) is
  'Creates an agent with a provisional account and a connection link that works for 30 minutes, or a test agent in a '
  'sandbox (a new one without sandbox_id), which is approved at once. Needs no claims. Raises 400 for a name that is '
  'too long and for a sandbox that cannot be joined, and 429 when the address created too many agents.';
