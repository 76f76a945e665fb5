-- The recovery of an account without a method whose browser is lost. The holder of an agent's link may be that agent's
-- operator. So a recovery gives access to nothing that the agent could not read or change before. The agents may be
-- those of a stranger to the person who recovers the account, so until they are approved again they read nothing of it:
-- the policies compare with internal.visible_account_id.

create or replace function internal.is_recovery(verification market.verification, session_account uuid) returns boolean
  language plpgsql stable
as $$
begin
  return is_recovery.session_account is distinct from verification.account_id
    and exists (select from market.account a where a.id = verification.account_id and a.claimed_at is not null)
    and not exists (select from market.proved_method p where p.account_id = verification.account_id);
end
$$;
comment on function internal.is_recovery(market.verification, uuid) is
  'Returns whether proving the method of a link recovers its account: a person has claimed the account, it has no '
  'method, and the visitor (session_account) has no session of it. internal.missing_session states who may do it.';

create or replace function internal.forget_person(account_id uuid) returns void
  language plpgsql volatile
as $$
begin
  update market.account a set display_name = null
  where a.id = forget_person.account_id and a.display_name is not null;
  delete from market.profile p where p.account_id = forget_person.account_id;
  delete from market.digest d where d.account_id = forget_person.account_id;
  delete from market.moderator m where m.account_id = forget_person.account_id;
  -- Also those that the person made in the browser: their addresses may be this person's, and nobody else is to get
  -- their events.
  delete from market.webhook w where w.account_id = forget_person.account_id;
end
$$;
comment on function internal.forget_person(uuid) is
  'Ends what the person of an account set up for themself: name, profile, digest, webhooks, and the appointment as a '
  'moderator. For an account that another person recovers, or that nobody can open any more. The caller has locked the '
  'account and its agents.';

create or replace function internal.recover_account(account_id uuid) returns void
  language plpgsql volatile
as $$
begin
  -- With the name, so that the log has one event.
  update market.account a set recovered_at = now(), display_name = null where a.id = recover_account.account_id;
  perform internal.forget_person(recover_account.account_id);
  update market.agent a set connected_at = null, disconnected_at = now()
  where a.account_id = recover_account.account_id and a.connected_at is not null and a.removed_at is null;
end
$$;
comment on function internal.recover_account(uuid) is
  'Erases an account''s profile and webhooks, ends its person''s appointment as a moderator, and disconnects all its '
  'agents: each has to be approved again, and reads nothing of the account before. The caller has locked the account '
  'and its agents, and ends the sessions.';

create or replace function internal.shown_since() returns timestamptz
  language plpgsql stable
as $$
begin
  return (select coalesce(a.recovered_at, '-infinity') from market.account a where a.id = internal.account_id());
end
$$;
comment on function internal.shown_since() is
  'Returns from when on the calling person sees events of the account that no agent can read: since it was recovered; '
  '-infinity when it never was.';
grant execute on function internal.shown_since() to souk_person;

create or replace function internal.disconnection() returns text
  language plpgsql stable
as $$
begin
  return (
    select internal.sentence('agent_disconnected')
    from market.agent a where a.id = internal.agent_id() and a.disconnected_at is not null);
end
$$;
comment on function internal.disconnection() is
  'Returns why the calling agent is disconnected, and what to do; null when it is not.';
grant execute on function internal.disconnection() to souk_agent, souk_person;

create or replace function internal.approve_again(agent_id uuid) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  agent market.agent;
begin
  -- The account is locked before the agent, as in internal.lock_connection.
  perform from market.account a where a.id = internal.account_id() for update;
  select * into agent from market.agent a
  where a.id = approve_again.agent_id and a.account_id = internal.account_id() and a.removed_at is null
    and internal.agent_id() is null for update;
  if agent.id is null or agent.connected_at is null and agent.disconnected_at is null then
    perform internal.raise_problem(404, 'not_found', 'no_own_agent');
  elsif agent.connected_at is null then
    perform internal.check_agent_count(agent.account_id);
    update market.agent a set connected_at = now(), disconnected_at = null, used_at = now()
    where a.id = agent.id;
    perform internal.take_reports(agent.id, agent.account_id);
    update market.connection c set notified_at = null where c.agent_id = agent.id;
    perform internal.notify_of_approval(agent.id, agent.account_id);
  end if;
end
$$;
comment on function internal.approve_again(uuid) is
  'Connects an agent of the calling person''s account that was disconnected; does nothing when it is connected. Raises '
  '404 when the account has no such agent, and 409 when it has 25 others.';
grant execute on function internal.approve_again(uuid) to souk_person;
