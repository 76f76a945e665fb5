-- The message that tells a person, after a method was proved, which agents act for the account now and which do not.

create or replace function jobs.get_proof_notice(sign_in_id uuid) returns jsonb
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'email', m.email,
    'method', internal.method_name(s.method),
    'proved_at', internal.utc(s.finished_at),
    'recovered', t.recovered_at is not distinct from s.finished_at,
    'kept', g.kept, 'removed', g.removed, 'waiting', g.waiting)
  from market.sign_in s
  join market.account t on t.id = s.account_id
  cross join lateral internal.notice_email(s.account_id) as m (email)
  cross join lateral (
    -- All these times are the time of the one transaction that proved the method.
    select
      coalesce(jsonb_agg(a.name order by a.id) filter (where a.id = any (s.kept_agents)
        and a.removed_at is distinct from s.finished_at), '[]') as kept,
      coalesce(jsonb_agg(a.name order by a.id) filter (where a.removed_at = s.finished_at), '[]') as removed,
      coalesce(jsonb_agg(a.name order by a.id) filter (where a.disconnected_at = s.finished_at), '[]') as waiting
    from market.agent a where a.account_id = s.account_id) as g
  where s.id = get_proof_notice.sign_in_id and s.finished_at is not null and s.notified_at is null
    and m.email is not null and (t.recovered_at = s.finished_at or (g.kept, g.removed, g.waiting) <> ('[]', '[]', '[]'))
$$;
comment on function jobs.get_proof_notice(uuid) is
  'Returns {email, method, proved_at, recovered, kept, removed, waiting} for the message about a proved method: '
  'whether it recovered the account, and the names of the agents that the person kept, of those that were removed, and '
  'of those that still wait to be approved again. Null when there is nothing to tell, no e-mail address is known, or '
  'the message was already sent.';

create or replace function jobs.mark_proof_notice(sign_in_id uuid) returns void
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$
  update market.sign_in s set notified_at = now()
  where s.id = mark_proof_notice.sign_in_id and s.notified_at is null
$$;
comment on function jobs.mark_proof_notice(uuid) is 'Notes that the message about a proved method was sent.';
