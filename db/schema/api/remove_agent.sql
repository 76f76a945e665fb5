-- Removing an agent takes effect at once: its next call is refused.

create or replace function api.remove_own_agent() returns jsonb
  language plpgsql volatile
as $$
begin
  update market.agent a set removed_at = now() where a.id = market.agent_id() and a.removed_at is null;
  return jsonb '{}';
end
$$;
comment on function api.remove_own_agent() is 'An agent removes itself.';
grant execute on function api.remove_own_agent() to souk_api;

create or replace function api.remove_agent(agent_id uuid) returns jsonb
  language plpgsql volatile
as $$
begin
  update market.agent a set removed_at = coalesce(a.removed_at, now())
  where a.id = remove_agent.agent_id and a.account_id = market.account_id() and market.agent_id() is null;
  if not found then
    perform market.fail(404, 'not_found', 'You have no such agent.');
  end if;
  return jsonb '{}';
end
$$;
comment on function api.remove_agent(uuid) is 'A person removes an agent of the account; 404 when it is not theirs.';
grant execute on function api.remove_agent(uuid) to souk_api;
