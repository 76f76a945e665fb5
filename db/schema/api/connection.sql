-- The approval page behind a connection link. Reading it changes nothing. An approval is one atomic update, and the
-- agent acts for the first person who approves. These functions need no claims, because the secret in the link
-- authorizes the caller.
--
-- A person approves by picking the agent's code among three, so nobody approves without having seen the code at the
-- agent: not the person whose second click lands on a page that somebody else opened, and not a stranger who found the
-- link. A wrong pick ends the link, because otherwise the codes could be tried one after the other. It does not end the
-- agent's access and counts against nobody: that is what "Not mine" says, which stays possible.

create or replace function api.get_connection(secret_hash bytea, session_hash bytea) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  connection market.connection;
  agent market.agent;
  session record := internal.find_session(get_connection.session_hash);
  person uuid;
  has_method boolean;
  is_new boolean;
begin
  select * into connection from market.connection c where c.secret_hash = get_connection.secret_hash;
  perform internal.check_connection(connection);
  select * into agent from market.agent a where a.id = connection.agent_id;
  person := internal.account_to_bind(agent.account_id, session.account_id);
  has_method := exists (select from market.proved_method p where p.account_id = person);
  is_new := session.account_id is null and not has_method;
  return jsonb_build_object(
    'agent_name', agent.name,
    'codes', case when internal.is_picked(agent.id) then internal.codes_to_pick(connection) end,
    'mispicked', connection.mispicked_at is not null,
    'client', (
      select jsonb_build_object('client_id', g.client_id, 'redirect_uri', g.redirect_uri)
      from market.oauth_grant g where g.agent_id = agent.id),
    'requested_at', internal.utc(connection.created_at),
    'requested_minutes_ago', floor(extract(epoch from now() - connection.created_at) / 60)::integer,
    'expires_in', ceil(extract(epoch from connection.expires_at - now()))::integer,
    'account', jsonb_build_object(
      -- A caller without a session may be the agent itself, and an agent that is not connected learns nothing about the
      -- account, not even its person's name.
      'label', case when session.account_id is not null or not has_method then internal.account_label(person)
        else 'the account that this agent acts for' end,
      'is_new', is_new,
      'shown', internal.shown_account(person, is_new, connection.secret_hash),
      'has_method', has_method,
      'needs_sign_in', internal.needs_sign_in(person, session.signed_in_at),
      -- Another visitor learns nothing of what the account has.
      'holds', case when session.account_id is not null then internal.holdings(person) end));
end
$$;
comment on function api.get_connection(bytea, bytea) is
  'Returns what the approval page shows: agent_name, codes (internal.codes_to_pick; null for a client of OAuth), '
  'mispicked (a wrong code was picked, so only "Not mine" is left), client (client_id, redirect_uri; null when the '
  'agent did not come by OAuth), requested_at, requested_minutes_ago, expires_in (seconds), and the account that the '
  'agent would act for if this caller approved: label, is_new, shown (for api.approve_connection), has_method, '
  'needs_sign_in, holds (internal.holdings; null for a caller without a session). Raises 404, 409 or 410 when the link '
  'does not work.';

create or replace function api.approve_connection(
  secret_hash bytea, session_hash bytea, new_session_hash bytea, shown text default null, code_hash bytea default null,
  picked text default null, powers jsonb default '[]'
) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  signed_in uuid := (internal.find_session(approve_connection.session_hash)).account_id;
  connection market.connection := internal.lock_connection(approve_connection.secret_hash, signed_in);
  session record := internal.find_session(approve_connection.session_hash);
  earlier record := internal.find_session(approve_connection.new_session_hash);
  agent market.agent;
  person uuid;
  has_method boolean;
begin
  perform internal.touch_session(session.session_id);
  select * into agent from market.agent a where a.id = connection.agent_id;
  person := case when connection.approved_at is null
    then internal.account_to_bind(agent.account_id, session.account_id) else agent.account_id end;
  has_method := exists (select from market.proved_method p where p.account_id = person);
  -- A second click, even after "back" in the browser, gets the first click's response.
  if connection.approved_at is not null and agent.removed_at is null
      and person in (earlier.account_id, session.account_id) then
    return jsonb_build_object('agent_name', agent.name, 'agent_id', agent.id, 'has_method', has_method,
      'new_session', earlier.account_id is not distinct from person, 'client', internal.way_back(agent.id));
  end if;
  perform internal.check_connection(connection);
  if connection.mispicked_at is not null then
    perform internal.raise_problem(410, 'connection_expired', 'connection_mispicked');
  end if;
  if session.account_id is distinct from signed_in then
    perform internal.raise_problem(401, 'unauthorized', 'approval_session_ended');
  end if;

  -- The person may have signed in or out, or changed the account, in another tab since the page was shown.
  if approve_connection.shown
      <> internal.shown_account(person, session.account_id is null and not has_method, connection.secret_hash) then
    perform internal.raise_problem(409, 'invalid_state', case when session.account_id is null
      then 'approval_signed_out' else 'approval_other_account' end,
      extra => '{"account_changed": true}');
  elsif internal.needs_sign_in(person, session.signed_in_at) then
    perform internal.raise_problem(401, 'unauthorized', case when session.account_id is null
      then 'approval_needs_sign_in' else 'approval_needs_recent_sign_in' end, extra => '{"sign_in_again": true}');
  end if;
  -- Before the pick is looked at, so that the refusal says nothing about it.
  perform internal.check_powers(approve_connection.powers);
  if internal.is_picked(agent.id) then
    -- Not a pick at all: no button of the page sends it.
    if not coalesce(internal.codes_to_pick(connection) ? approve_connection.picked, false) then
      perform internal.raise_problem(400, 'bad_request', 'connection_not_picked', extra => '{"not_picked": true}');
    elsif approve_connection.picked <> connection.code then
      -- Not a problem that is raised, because that would undo the update.
      update market.connection c set mispicked_at = now() where c.agent_id = connection.agent_id;
      return jsonb_build_object('mispicked', internal.sentence('connection_mispicked'));
    end if;
  end if;
  perform internal.check_agent_count(person);
  if person is null then
    insert into market.account default values returning id into person;
  end if;
  update market.connection c set approved_at = now() where c.agent_id = connection.agent_id;
  update market.account a set claimed_at = now() where a.id = person and a.claimed_at is null;
  if session.account_id is null then
    insert into market.session (account_id, secret_hash) values (person, approve_connection.new_session_hash);
  end if;
  perform internal.adopt_agent(agent, person);
  perform internal.store_powers(person, agent.id, approve_connection.powers);
  perform internal.notify_of_approval(agent.id, person);
  update market.oauth_grant g
  set code_hash = approve_connection.code_hash, code_expires_at = now() + interval '60 seconds'
  where g.agent_id = agent.id and approve_connection.code_hash is not null;
  return jsonb_build_object('agent_name', agent.name, 'agent_id', agent.id, 'has_method', has_method,
    'new_session', session.account_id is null, 'client', internal.way_back(agent.id));
end
$$;
comment on function api.approve_connection(bytea, bytea, bytea, text, bytea, text, jsonb) is
  'Approves the agent, if the picked code is its code, or it is a client of OAuth. It then acts for the account of the '
  'session, or for a new account that new_session_hash signs in. Repeated by the same person, it returns the same '
  'response: agent_id, agent_name, new_session, has_method, client (internal.way_back). code_hash is the hash of the '
  'authorization code for a client of OAuth, and powers those that the person chose (api.set_powers). With another '
  'code of the page, it ends the link, and returns only mispicked, a sentence that says so. Raises 400 (not_picked '
  'without a code of the page; for powers that make no sense), 401 (sign_in_again), 404, 409 (account_changed when the '
  'account is not the one that the page showed) or 410.';

create or replace function api.decline_connection(
  secret_hash bytea, browser_hash bytea default null, address text default null
) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  connection market.connection := internal.lock_connection(decline_connection.secret_hash, null);
begin
  perform internal.check_connection(connection);
  perform internal.count_decline(connection, decline_connection.browser_hash, decline_connection.address);
  -- Removing the agent also ends its link.
  update market.agent a set removed_at = now() where a.id = connection.agent_id;
  return jsonb_build_object('client', internal.way_back(connection.agent_id));
end
$$;
comment on function api.decline_connection(bytea, bytea, text) is
  '"Not mine": ends the link and the agent''s token, and counts towards blocking the address that requested the link '
  '(internal.count_decline). browser_hash and address say who refuses. Returns client (internal.way_back). Raises 404, '
  '409 or 410 when the link does not work.';
