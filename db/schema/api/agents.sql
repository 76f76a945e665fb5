-- Listing and removing an account's agents. A removal takes effect at once: the next call of the agent is refused.

create or replace function api.list_agents() returns jsonb
  language plpgsql stable
as $$
begin
  return jsonb_build_object('agents', (
    select coalesce(jsonb_agg(jsonb_build_object(
        'id', a.id, 'name', a.name, 'connected_at', internal.utc(a.connected_at),
        'last_active', internal.utc_month(greatest(a.connected_at, o.latest, s.latest)),
        'offers', o.number, 'asks', s.number,
        'removed_at', internal.utc(a.removed_at), 'disconnected_at', internal.utc(a.disconnected_at))
      order by a.removed_at is not null, a.removed_at desc, a.id desc), '[]')
    from (
      -- An account has at most 25 connected agents. Of the removed ones, only the latest are listed.
      select * from (
        select g.id, g.name, g.created_at, g.connected_at, g.removed_at, g.disconnected_at from market.agent g
        where g.account_id = internal.account_id()
          and (g.removed_at is null
            or g.removed_at >= internal.shown_since() and (g.connected_at is not null or g.disconnected_at is not null))
        order by g.removed_at is not null, g.removed_at desc limit 100) as g) as a,
    lateral (select count(*) as number, max(o.created_at) as latest
      from market.offer o where o.agent_id = a.id and o.account_id = internal.account_id()) as o,
    lateral (select count(*) as number, max(k.created_at) as latest
      from market.ask k where k.agent_id = a.id and k.account_id = internal.account_id()) as s));
end
$$;
comment on function api.list_agents() is
  'Returns the agents of the account, removed ones last: name, when approved, the month of the last write, and the '
  'number of offers and asks. One with disconnected_at waits until the person approves it again (api.approve_agent). '
  'One with neither connected_at nor disconnected_at has never been approved: it asked the person to prove a method of '
  'the account that it had itself.';

create or replace function api.remove_own_agent() returns jsonb
  language plpgsql volatile
as $$
begin
  if internal.agent_id() is null then
    perform internal.raise_problem(409, 'invalid_state', 'caller_is_no_agent');
  end if;
  update market.agent a set removed_at = now() where a.id = internal.agent_id() and a.removed_at is null;
  return jsonb '{}';
end
$$;
comment on function api.remove_own_agent() is
  'Removes the calling agent. Raises 409 invalid_state when the caller is a person.';

create or replace function api.remove_agent(agent_id uuid) returns jsonb
  language plpgsql volatile
as $$
begin
  update market.agent a set removed_at = coalesce(a.removed_at, now())
  where a.id = remove_agent.agent_id and a.account_id = internal.account_id() and internal.agent_id() is null;
  if not found then
    perform internal.raise_problem(404, 'not_found', 'no_own_agent');
  end if;
  return jsonb '{}';
end
$$;
comment on function api.remove_agent(uuid) is
  'Removes an agent of the person''s account. Raises 404 when the account has no such agent.';

create or replace function api.approve_agent(agent_id uuid) returns jsonb
  language plpgsql volatile
as $$
begin
  perform internal.require_recent_sign_in();
  perform internal.approve_again(approve_agent.agent_id);
  return jsonb '{}';
end
$$;
comment on function api.approve_agent(uuid) is
  'Approves an agent of the person''s account again, after the account was recovered; repeated, it does nothing. '
  'Raises 401 with sign_in_again when the sign-in is not recent, 404 when the account has no such agent, and 409 when '
  'it has 25 others.';
