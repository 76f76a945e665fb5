-- The page behind a connection link. Looking changes nothing; approving is one atomic update, and whoever is first is
-- the person the agent acts for. These need no entering: the secret in the link is what admits.

create or replace function market.lock_connection(secret_hash bytea, session_account uuid) returns market.connection
  language plpgsql volatile
as $$
declare
  connection market.connection;
begin
  -- The accounts come first, as when one is deleted: that of the agent, and that of the session.
  perform from market.account a
  where a.id in (
    select g.account_id from market.agent g join market.connection c on c.agent_id = g.id
    where c.secret_hash = lock_connection.secret_hash
    union all select lock_connection.session_account)
  order by a.id for update;
  -- Then the agent's row, as a removal locks it: approving and removing wait for each other.
  perform from market.agent a join market.connection c on c.agent_id = a.id
  where c.secret_hash = lock_connection.secret_hash for update of a;
  select * into connection from market.connection c where c.secret_hash = lock_connection.secret_hash for update;
  return connection;
end
$$;
comment on function market.lock_connection(bytea, uuid) is
  'The connection of a link, locked after its account, this one, and its agent; nulls when there is none.';

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

create or replace function market.account_to_bind(agent_account uuid, session_account uuid) returns uuid
  language plpgsql stable
as $$
begin
  return case
    when account_to_bind.session_account is not null then account_to_bind.session_account
    when exists (select from market.proved_method p where p.account_id = account_to_bind.agent_account)
      then account_to_bind.agent_account
    -- Someone is or was at home there, and would share the account with the person who approves now.
    when exists (select from market.account a where a.id = account_to_bind.agent_account and a.claimed_at is not null)
      or exists (select from market.session s where s.account_id = account_to_bind.agent_account) then null
    else account_to_bind.agent_account end;
end
$$;
comment on function market.account_to_bind(uuid, uuid) is
  'Whom an agent of this account would act for if whoever has this session, or none, approved it; null when an account has to be made for that.';

create or replace function market.shown_account(account_id uuid, is_new boolean, secret_hash bytea) returns text
  language sql immutable parallel safe
as $$
  select encode(sha256(shown_account.secret_hash || convert_to(
    case when shown_account.is_new then 'new' else shown_account.account_id::text end, 'UTF8')), 'hex')
$$;
comment on function market.shown_account(uuid, boolean, bytea) is
  'What a form says of the account that its page showed, so that no other is bound: the same for the same account and link, and it tells nothing.';

-- The session has a default since the first release calls it without.
create or replace function api.get_connection(secret_hash bytea, session_hash bytea default null) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  connection market.connection;
  agent market.agent;
  session record := market.find_session(get_connection.session_hash);
  person uuid;
  has_method boolean;
  is_new boolean;
begin
  select * into connection from market.connection c where c.secret_hash = get_connection.secret_hash;
  perform market.check_connection(connection);
  select * into agent from market.agent a where a.id = connection.agent_id;
  person := market.account_to_bind(agent.account_id, session.account_id);
  has_method := exists (select from market.proved_method p where p.account_id = person);
  is_new := session.account_id is null and not has_method;
  return jsonb_build_object(
    'agent_name', agent.name, 'code', connection.code,
    'requested_at', market.utc(connection.created_at),
    'requested_minutes_ago', floor(extract(epoch from now() - connection.created_at) / 60)::integer,
    'expires_in', ceil(extract(epoch from connection.expires_at - now()))::integer,
    'account', jsonb_build_object(
      -- Without a session this may be the agent itself looking: it learns no mailbox.
      'label', case when session.account_id is not null or not has_method then market.account_label(person)
        else market.account_label_for_agent(person) end,
      'is_new', is_new,
      'shown', market.shown_account(person, is_new, connection.secret_hash),
      'has_method', has_method,
      'needs_sign_in', market.needs_sign_in(person, session.signed_in_at),
      'agent_is_first', not exists (
        select from market.agent a where a.account_id = person and a.connected_at is not null and a.removed_at is null)));
end
$$;
comment on function api.get_connection(bytea, bytea) is
  'What the approval page shows: agent_name, code, requested_at, expires_in (seconds), and the account that this session, or a new one, would bind: label, is_new, shown (for api.approve_connection), has_method, needs_sign_in, agent_is_first; 404, 409 or 410 otherwise. Changes nothing.';
grant execute on function api.get_connection(bytea, bytea) to souk_api;

create or replace function market.adopt_agent(agent market.agent, account_id uuid) returns void
  language plpgsql volatile
as $$
begin
  update market.agent a set connected_at = now(), account_id = adopt_agent.account_id where a.id = agent.id;
  if agent.account_id = adopt_agent.account_id then
    return;
  end if;
  -- What the agent has under way comes along; what it reported is not forgotten.
  update market.verification v set account_id = adopt_agent.account_id
  -- A method that the first account proved stays its own: a person got that account by it.
  where v.agent_id = agent.id and v.status <> 'completed';
  update market.verification v set status = 'completed'
  where v.agent_id = agent.id and v.status = 'pending' and v.expires_at > now()
    and exists (select from market.proved_method p where p.account_id = v.account_id and p.method = v.method);
  update market.submission s set account_id = adopt_agent.account_id where s.agent_id = agent.id;
  update market.report r set account_id = adopt_agent.account_id where r.account_id = agent.account_id
    and not exists (
      select from market.report o where o.offer_id = r.offer_id and o.account_id = adopt_agent.account_id);
  -- One voice an account: what both reported was reported already.
  delete from market.report r where r.account_id = agent.account_id;
  -- The provisional account stays a while: a call under way may still write to it. jobs.forget_keys forgets it.
end
$$;
comment on function market.adopt_agent(market.agent, uuid) is 'Connects an agent to a person''s account, with what it has under way.';

create or replace function api.approve_connection(
  secret_hash bytea, session_hash bytea, new_session_hash bytea, shown text default null
) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  signed_in uuid := (market.find_session(approve_connection.session_hash)).account_id;
  connection market.connection := market.lock_connection(approve_connection.secret_hash, signed_in);
  session record := market.find_session(approve_connection.session_hash);
  made record := market.find_session(approve_connection.new_session_hash);
  agent market.agent;
  person uuid;
  has_method boolean;
begin
  select * into agent from market.agent a where a.id = connection.agent_id;
  person := case when connection.approved_at is null
    then market.account_to_bind(agent.account_id, session.account_id) else agent.account_id end;
  has_method := exists (select from market.proved_method p where p.account_id = person);
  -- A second click, and the same button after "back", answer what the first did.
  if connection.approved_at is not null and agent.removed_at is null
      and person in (made.account_id, session.account_id) then
    return jsonb_build_object('agent_name', agent.name, 'agent_id', agent.id, 'has_method', has_method,
      'new_session', made.account_id is not distinct from person);
  end if;
  perform market.check_connection(connection);
  if session.account_id is distinct from signed_in then
    perform market.fail(401, 'unauthorized', 'Your account was deleted, or you were signed out, a moment ago. Open the link again.');
  end if;

  -- Signed in, out, or in to another account since the page was shown, in another tab perhaps.
  if approve_connection.shown
      <> market.shown_account(person, session.account_id is null and not has_method, connection.secret_hash) then
    perform market.fail(409, 'invalid_state', case when session.account_id is null
      then 'You are not signed in any more. See below for whom the agent would act now.'
      else format('You are now signed in as %s. See below whether the agent should act for that account.', market.account_label(person)) end,
      '{"account_changed": true}');
  elsif market.needs_sign_in(person, session.signed_in_at) then
    perform market.fail(401, 'unauthorized', case when session.account_id is null
      then 'A person has proved a sign-in method for this agent already. Sign in, then open the link again.'
      else 'To be sure that it is you, sign in again. Then approve.' end, '{"sign_in_again": true}');
  elsif (select count(*) from market.agent a
      where a.account_id = person and a.removed_at is null and a.connected_at is not null) >= 25 then
    perform market.fail(409, 'invalid_state', 'Your account has 25 agents, which is the most. Remove one you no longer use, then open the link again.');
  end if;
  if person is null then
    insert into market.account default values returning id into person;
  end if;
  update market.connection c set approved_at = now() where c.agent_id = connection.agent_id;
  update market.account a set claimed_at = now() where a.id = person and a.claimed_at is null;
  if session.account_id is null then
    insert into market.session (account_id, secret_hash) values (person, approve_connection.new_session_hash);
  end if;
  perform market.adopt_agent(agent, person);
  if exists (select from market.proved_method p where p.account_id = person and p.email is not null) then
    perform market.enqueue('send_approval_notice', agent.id);
  end if;
  return jsonb_build_object('agent_name', agent.name, 'agent_id', agent.id, 'has_method', has_method,
    'new_session', session.account_id is null);
end
$$;
comment on function api.approve_connection(bytea, bytea, bytea, text) is
  'Approves: the agent acts for the person with this session, or for a new account that the new session signs in; the same person again gets the same answer. Gives agent_id, agent_name, new_session, has_method; 401 (sign_in_again), 404, 409 (account_changed when it is another account than the one shown) or 410 otherwise.';
grant execute on function api.approve_connection(bytea, bytea, bytea, text) to souk_api;

create or replace function api.decline_connection(secret_hash bytea) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  connection market.connection := market.lock_connection(decline_connection.secret_hash, null);
begin
  perform market.check_connection(connection);
  insert into market.call (scope, action) values ('address:' || connection.address, 'decline');
  -- Its link dies with it.
  update market.agent a set removed_at = now() where a.id = connection.agent_id;
  return jsonb '{}';
end
$$;
comment on function api.decline_connection(bytea) is '"Not mine": ends the link and the agent''s token; 404, 409 or 410 when the link is not open.';
grant execute on function api.decline_connection(bytea) to souk_api;
