-- The page behind a connection link. Looking changes nothing; approving is one atomic update, and whoever is first is
-- the person the agent acts for. These need no entering: the secret in the link is what admits.

create or replace function market.usable_connection(secret_hash bytea) returns market.connection
  language plpgsql volatile
as $$
declare
  connection market.connection;
begin
  -- The agent's row first, as a removal locks it: approving and removing wait for each other.
  perform from market.agent a join market.connection c on c.agent_id = a.id
  where c.secret_hash = usable_connection.secret_hash for update of a;
  select * into connection from market.connection c where c.secret_hash = usable_connection.secret_hash for update;
  perform market.check_connection(connection);
  return connection;
end
$$;
comment on function market.usable_connection(bytea) is 'The connection of a link, locked, or the refusal that says why it cannot be used.';

create or replace function market.check_connection(connection market.connection) returns void
  language plpgsql stable
as $$
begin
  if connection.agent_id is null then
    perform market.fail(404, 'not_found', 'There is no such link. Check that it was copied whole.');
  elsif connection.approved_at is not null then
    perform market.fail(409, 'connection_already_used', 'This link was already used: someone approved this agent. A link works once.');
  elsif connection.declined_at is not null or connection.expires_at <= now() then
    perform market.fail(410, 'connection_expired', 'This link no longer works. Ask your agent to connect again for a new one.');
  end if;
end
$$;
comment on function market.check_connection(market.connection) is 'Refuses a link that is unknown (404), used (409) or over (410).';

create or replace function api.get_connection(secret_hash bytea) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  connection market.connection;
begin
  select * into connection from market.connection c where c.secret_hash = get_connection.secret_hash;
  perform market.check_connection(connection);
  return (
    select jsonb_build_object(
      'agent_name', a.name, 'code', connection.code,
      'requested_at', market.utc(connection.created_at),
      'requested_minutes_ago', floor(extract(epoch from now() - connection.created_at) / 60)::integer,
      'expires_in', ceil(extract(epoch from connection.expires_at - now()))::integer)
    from market.agent a where a.id = connection.agent_id);
end
$$;
comment on function api.get_connection(bytea) is
  'What the approval page shows: agent_name, code, requested_at, expires_in (seconds); 404, 409 or 410 otherwise. Changes nothing.';
grant execute on function api.get_connection(bytea) to souk_api;

create or replace function api.approve_connection(secret_hash bytea, session_hash bytea, new_session_hash bytea) returns jsonb
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  connection market.connection := market.usable_connection(approve_connection.secret_hash);
  agent market.agent;
  person uuid := market.find_session(approve_connection.session_hash);
begin
  select * into agent from market.agent a where a.id = connection.agent_id;
  update market.connection c set approved_at = now() where c.agent_id = connection.agent_id;
  if person is null then
    update market.account a set claimed_at = now() where a.id = agent.account_id;
    insert into market.session (account_id, secret_hash) values (agent.account_id, approve_connection.new_session_hash);
    update market.agent a set connected_at = now() where a.id = agent.id;
  else
    perform from market.account a where a.id = person for update;
    if (select count(*) from market.agent a
        where a.account_id = person and a.removed_at is null and a.connected_at is not null) >= 25 then
      perform market.fail(409, 'invalid_state', 'Your account has 25 agents, which is the most. Remove one you no longer use, then open the link again.');
    end if;
    update market.agent a set connected_at = now(), account_id = person where a.id = agent.id;
    -- What the agent has under way comes along; what it reported is not forgotten.
    update market.verification v set account_id = person where v.agent_id = agent.id;
    update market.submission s set account_id = person where s.agent_id = agent.id;
    update market.report r set account_id = person where r.account_id = agent.account_id
      and not exists (select from market.report o where o.offer_id = r.offer_id and o.account_id = person);
    delete from market.report r where r.account_id = agent.account_id;
    -- One voice an account: what both reported was reported already.
    delete from market.report r where r.account_id = agent.account_id;
    -- The provisional account stays a while: a call under way may still write to it. jobs.forget_keys forgets it.
  end if;
  return jsonb_build_object('agent_name', agent.name, 'agent_id', agent.id, 'new_session', person is null);
end
$$;
comment on function api.approve_connection(bytea, bytea, bytea) is
  'Approves: the agent acts for the person with this session, or for a new account that the new session signs in. Gives agent_id, agent_name, new_session; 404, 409 or 410 otherwise.';
grant execute on function api.approve_connection(bytea, bytea, bytea) to souk_api;

create or replace function api.decline_connection(secret_hash bytea) returns jsonb
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  connection market.connection := market.usable_connection(decline_connection.secret_hash);
begin
  insert into market.call (scope, action) values ('address:' || connection.address, 'decline');
  -- Its link dies with it.
  update market.agent a set removed_at = now() where a.id = connection.agent_id;
  return jsonb '{}';
end
$$;
comment on function api.decline_connection(bytea) is '"Not mine": ends the link and the agent''s token; 404, 409 or 410 when the link is not open.';
grant execute on function api.decline_connection(bytea) to souk_api;
