-- The approval of an agent: what the functions of the connection page share.

create or replace function internal.lock_connection(secret_hash bytea, session_account uuid) returns market.connection
  language plpgsql volatile
as $$
declare
  connection market.connection;
begin
  -- Lock the agent's account and the session's account first. The deletion of an account uses the same order.
  perform from market.account a
  where a.id in (
    select g.account_id from market.agent g join market.connection c on c.agent_id = g.id
    where c.secret_hash = lock_connection.secret_hash
    union all select lock_connection.session_account)
  order by a.id for update;
  -- Then lock the agent's row, so that an approval and a removal of the agent wait for each other.
  perform from market.agent a join market.connection c on c.agent_id = a.id
  where c.secret_hash = lock_connection.secret_hash for update of a;
  select * into connection from market.connection c where c.secret_hash = lock_connection.secret_hash for update;
  return connection;
end
$$;
comment on function internal.lock_connection(bytea, uuid) is
  'Takes the hash of a link''s secret and the session''s account. Locks the accounts, then the agent, then the '
  'connection, and returns the connection; nulls when there is none.';

create or replace function internal.check_connection(connection market.connection) returns void
  language plpgsql stable
as $$
begin
  if connection.agent_id is null then
    perform internal.raise_problem(404, 'not_found', 'There is no such link. Check that it was copied whole.');
  elsif connection.approved_at is not null then
    perform internal.raise_problem(409, 'connection_already_used',
      'This link was already used: someone approved this agent. A link works once.');
  elsif connection.declined_at is not null or connection.expires_at <= now() then
    perform internal.raise_problem(410, 'connection_expired',
      'This link no longer works. Ask your agent to connect again for a new one.');
  end if;
end
$$;
comment on function internal.check_connection(market.connection) is
  'Refuses a link that is unknown (404), used (409), or declined or expired (410).';

create or replace function internal.account_to_bind(agent_account uuid, session_account uuid) returns uuid
  language plpgsql stable
as $$
begin
  return case
    when account_to_bind.session_account is not null then account_to_bind.session_account
    when exists (select from market.proved_method p where p.account_id = account_to_bind.agent_account)
      then account_to_bind.agent_account
    -- Somebody has claimed the account or has a session of it. The person who approves now has no session, so may be
    -- somebody else, and must not share the account.
    when exists (select from market.account a where a.id = account_to_bind.agent_account and a.claimed_at is not null)
      or exists (select from market.session s where s.account_id = account_to_bind.agent_account) then null
    else account_to_bind.agent_account end;
end
$$;
comment on function internal.account_to_bind(uuid, uuid) is
  'Takes the agent''s account and the account of the visitor''s session (null: no session). Returns the account that '
  'the agent would act for if the visitor approved it now; null when a new account has to be created.';

create or replace function internal.shown_account(account_id uuid, is_new boolean, secret_hash bytea) returns text
  language sql immutable parallel safe
as $$
  select encode(sha256(shown_account.secret_hash || convert_to(
    case when shown_account.is_new then 'new' else shown_account.account_id::text end, 'UTF8')), 'hex')
$$;
comment on function internal.shown_account(uuid, boolean, bytea) is
  'Returns a hash of the link and the account that the approval page shows. The form sends it back, so that an '
  'approval binds the agent to no other account. The hash reveals neither the link nor the account.';

create or replace function internal.adopt_agent(agent market.agent, account_id uuid) returns void
  language plpgsql volatile
as $$
begin
  update market.agent a set connected_at = now(), account_id = adopt_agent.account_id where a.id = agent.id;
  if agent.account_id = adopt_agent.account_id then
    return;
  end if;
  -- The agent's unfinished work and its reports move to the new account together with the agent.
  update market.verification v set account_id = adopt_agent.account_id
  -- A completed verification stays with the first account, because it proved a method of that account.
  where v.agent_id = agent.id and v.status <> 'completed';
  update market.verification v set status = 'completed'
  where v.agent_id = agent.id and v.status = 'pending' and v.expires_at > now()
    and exists (select from market.proved_method p where p.account_id = v.account_id and p.method = v.method);
  update market.submission s set account_id = adopt_agent.account_id where s.agent_id = agent.id;
  update market.report r set account_id = adopt_agent.account_id where r.account_id = agent.account_id
    and not exists (
      select from market.report o where o.offer_id = r.offer_id and o.account_id = adopt_agent.account_id);
  -- An account has one report for each offer. If both accounts reported the same offer, delete the report of the
  -- provisional account.
  delete from market.report r where r.account_id = agent.account_id;
  -- The provisional account stays for now, because a call in progress may still write to it. jobs.purge_keys deletes
  -- it.
end
$$;
comment on function internal.adopt_agent(market.agent, uuid) is
  'Connects an agent to a person''s account, and moves the agent''s verifications, submissions and reports there.';
