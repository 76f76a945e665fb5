-- Each request is one statement, which is also one transaction. Its first step is to enter: to set the claims and the
-- role of the transaction. The enter functions are security invoker, because PostgreSQL cannot set the role inside a
-- security definer function. A problem with the member unknown_caller tells the API that repeating the call with the
-- same token or session is useless (src/database/callers.ts); the API does not show it.

create or replace function internal.find_agent(
  token_hash bytea, out agent_id uuid, out account_id uuid, out connected boolean, out disconnected boolean,
  out sandbox_id uuid
)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  select a.id, a.account_id, a.connected_at is not null, a.connected_at is null and c.claimed_at is not null,
    a.sandbox_id
  into agent_id, account_id, connected, disconnected, sandbox_id
  from market.agent a join market.account c on c.id = a.account_id
  where a.token_hash = find_agent.token_hash and a.removed_at is null
    and (a.token_expires_at is null or a.token_expires_at > now());
end
$$;
comment on function internal.find_agent(bytea) is
  'Returns the agent whose token has this SHA-256; nulls when the token is unknown or has expired, or the agent was '
  'removed. disconnected: a person has claimed its account and has not approved it, or not again after a recovery.';
grant execute on function internal.find_agent(bytea) to souk_api;

create or replace function internal.enter_agent(token_hash bytea) returns boolean
  language plpgsql volatile
as $$
declare
  agent record;
begin
  agent := internal.find_agent(enter_agent.token_hash);
  if agent.agent_id is null then
    perform internal.raise_problem(401, 'unauthorized', 'token_unknown', extra => '{"unknown_caller": true}');
  end if;
  perform set_config('market.agent_id', agent.agent_id::text, true),
    set_config('market.session_id', '', true),
    set_config('market.account_id', agent.account_id::text, true),
    set_config('market.connected', agent.connected::text, true),
    set_config('market.disconnected', agent.disconnected::text, true),
    set_config('market.sandbox_id', coalesce(agent.sandbox_id::text, ''), true),
    set_config('role', 'souk_agent', true);
  return true;
end
$$;
comment on function internal.enter_agent(bytea) is
  'Makes the rest of the statement run as the agent whose token has this SHA-256; raises 401 when there is none. '
  'Writes nothing.';
grant execute on function internal.enter_agent(bytea) to souk_api;

create or replace function internal.enter_person(secret_hash bytea) returns boolean
  language plpgsql volatile
as $$
declare
  session record;
begin
  session := internal.find_session(enter_person.secret_hash);
  if session.session_id is null then
    perform internal.raise_problem(401, 'unauthorized', 'not_signed_in',
      extra => '{"unknown_caller": true}');
  end if;
  perform internal.touch_session(session.session_id);
  perform set_config('market.agent_id', '', true),
    set_config('market.session_id', session.session_id::text, true),
    set_config('market.account_id', session.account_id::text, true),
    set_config('market.connected', 'true', true),
    set_config('market.disconnected', 'false', true),
    set_config('market.sandbox_id', '', true),
    set_config('role', 'souk_person', true);
  return true;
end
$$;
comment on function internal.enter_person(bytea) is
  'Makes the rest of the statement run as the person whose session secret has this SHA-256; raises 401 when there is '
  'none. Writes only the time of the session''s last use.';
grant execute on function internal.enter_person(bytea) to souk_api;

create or replace function internal.find_moderator(session_hash bytea, out session_id uuid, out account_id uuid)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  select s.session_id, s.account_id into session_id, account_id
  from internal.find_session(find_moderator.session_hash) as s
  where exists (
    select from market.moderator m join market.account a on a.id = m.account_id
    where m.account_id = s.account_id and a.suspended_at is null);
end
$$;
comment on function internal.find_moderator(bytea) is
  'Returns the live session whose secret has this SHA-256, and its account, when its person is a moderator whose '
  'account is not suspended; nulls otherwise.';
grant execute on function internal.find_moderator(bytea) to souk_api;

create or replace function internal.enter_moderator(session_hash bytea) returns boolean
  language plpgsql volatile
as $$
declare
  session record;
begin
  session := internal.find_moderator(enter_moderator.session_hash);
  if session.account_id is null then
    -- The message must not tell other people that there are pages for moderators.
    perform internal.raise_problem(404, 'not_found', 'nothing_here');
  end if;
  perform internal.touch_session(session.session_id);
  perform set_config('market.agent_id', '', true),
    set_config('market.session_id', session.session_id::text, true),
    set_config('market.account_id', session.account_id::text, true),
    set_config('market.moderator_id', session.account_id::text, true),
    set_config('market.connected', 'false', true),
    set_config('market.sandbox_id', '', true),
    set_config('role', 'souk_moderator', true);
  return true;
end
$$;
comment on function internal.enter_moderator(bytea) is
  'Makes the rest of the transaction run as the moderator whose session secret has this SHA-256; raises 404 when there '
  'is none. Writes only the time of the session''s last use.';
grant execute on function internal.enter_moderator(bytea) to souk_api;
