-- The message to a person about an agent's approval, so that the person notices an approval by a stranger.

create or replace function jobs.get_approval_notice(agent_id uuid) returns jsonb
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'email', m.email,
    'agent_name', a.name,
    'connected_at', internal.utc(a.connected_at),
    'display_name', t.display_name)
  from market.agent a
  join market.connection c on c.agent_id = a.id
  join market.account t on t.id = a.account_id
  cross join lateral internal.notice_email(a.account_id) as m (email)
  where a.id = get_approval_notice.agent_id and a.removed_at is null and a.connected_at is not null
    and c.notified_at is null and m.email is not null
$$;
comment on function jobs.get_approval_notice(uuid) is
  'Returns {email, agent_name, connected_at, display_name} for the message about an approved agent; null when no '
  'e-mail address is known, the agent was removed, or the message was already sent.';

create or replace function jobs.mark_approval_notice(agent_id uuid) returns void
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$
  update market.connection c set notified_at = now()
  where c.agent_id = mark_approval_notice.agent_id and c.notified_at is null
$$;
comment on function jobs.mark_approval_notice(uuid) is 'Notes that the message about an approved agent was sent.';
