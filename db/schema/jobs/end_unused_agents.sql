-- Agents that nobody has used for long end, so that a token that was lost or forgotten does not work for ever.

create or replace function jobs.end_unused_agents() returns integer
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  unused constant interval := make_interval(months => internal.setting('unused_agent_months')::integer);
  agent record;
  ended integer := 0;
begin
  -- The account is locked first, as in every removal of an agent. Agents that nobody approved end much earlier
  -- (jobs.purge_agents).
  for agent in
    select o.id, o.account_id, o.name from market.agent o join market.account a on a.id = o.account_id
    where o.removed_at is null and o.used_at <= now() - unused
      and coalesce(o.connected_at, o.disconnected_at) is not null
      -- To receive events is to use them, too. Deliveries are kept for a week.
      and not exists (select from market.webhook w join market.webhook_delivery d on d.webhook_id = w.id
        where w.agent_id = o.id and w.disabled_at is null and d.purpose = 'events' and d.delivered_at is not null)
    order by o.used_at limit 1000 for update of a, o skip locked
  loop
    update market.agent a set removed_at = now() where a.id = agent.id;
    perform internal.notify_addresses(agent.account_id, 'agent_unused', agent_name => agent.name);
    ended := ended + 1;
  end loop;
  return ended;
end
$$;
comment on function jobs.end_unused_agents() is
  'Removes agents whose tokens were not used for unused_agent_months (market.setting), at most a thousand, and tells '
  'their persons; returns their number.';
