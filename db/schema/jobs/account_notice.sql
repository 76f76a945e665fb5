-- The messages that tell the addresses of an account what happened to it (market.notice). The message about a proved
-- method says which agents act for the account now and which do not.

create or replace function jobs.get_account_notice(id uuid) returns jsonb
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'email', n.email,
    'act', n.act,
    'method', internal.method_name(n.method),
    'agent_name', n.agent_name,
    'happened_at', internal.utc(n.created_at),
    'recovered', coalesce(t.recovered_at = s.finished_at, false),
    'kept', g.kept, 'removed', g.removed, 'waiting', g.waiting)
  from market.notice n
  left join market.sign_in s on s.id = n.sign_in_id
  left join market.account t on t.id = s.account_id
  cross join lateral (
    -- All these times are the time of the one transaction that proved the method.
    select
      coalesce(jsonb_agg(a.name order by a.id) filter (where a.id = any (s.kept_agents)
        and a.removed_at is distinct from s.finished_at), '[]') as kept,
      coalesce(jsonb_agg(a.name order by a.id) filter (where a.removed_at = s.finished_at), '[]') as removed,
      coalesce(jsonb_agg(a.name order by a.id) filter (where a.disconnected_at = s.finished_at), '[]') as waiting
    from market.agent a where a.account_id = s.account_id) as g
  where n.id = get_account_notice.id
$$;
comment on function jobs.get_account_notice(uuid) is
  'Returns {email, act, method, agent_name, happened_at, recovered, kept, removed, waiting} for a message about an '
  'account: after a method was proved also whether this recovered the account, and the names of the agents that the '
  'person kept, of those that were removed, and of those that still wait to be approved again. Null when the message '
  'was already sent.';

create or replace function jobs.drop_account_notice(id uuid) returns void
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$ delete from market.notice n where n.id = drop_account_notice.id $$;
comment on function jobs.drop_account_notice(uuid) is 'Deletes a message about an account, because it was sent.';
