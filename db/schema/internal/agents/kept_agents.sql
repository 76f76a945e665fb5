-- Which agents go on acting for an account when somebody proves a method for it, or leaves it. Nobody takes over agents
-- unseen that somebody else approved, and no agent acts for an account that nobody can open.

create or replace function internal.check_agents_chosen(account_id uuid, kept uuid[]) returns void
  language plpgsql stable
as $$
begin
  if check_agents_chosen.kept is null
      and not exists (select from market.proved_method p where p.account_id = check_agents_chosen.account_id)
      and exists (select from market.agent a where a.account_id = check_agents_chosen.account_id
        and a.connected_at is not null and a.removed_at is null) then
    perform internal.raise_problem(409, 'invalid_state', 'agents_not_chosen',
      extra => '{"choose_agents": true}');
  end if;
end
$$;
comment on function internal.check_agents_chosen(uuid, uuid[]) is
  'Raises 409 (choose_agents) when a first method is proved for an account for which agents act, and the person has '
  'not said which of them go on (kept is null).';

create or replace function internal.choose_agents(account_id uuid, chosen jsonb) returns uuid[]
  language plpgsql stable
as $$
declare
  kept constant uuid[] := case when choose_agents.chosen is not null then array(
    select a.id from market.agent a
    where a.account_id = choose_agents.account_id and a.connected_at is not null and a.removed_at is null
      and choose_agents.chosen ? a.id::text) end;
begin
  perform internal.check_agents_chosen(choose_agents.account_id, kept);
  return kept;
end
$$;
comment on function internal.choose_agents(uuid, jsonb) is
  'Returns those agents of an account whose ids are among `chosen`; null when `chosen` is null. Raises 409 as '
  'internal.check_agents_chosen.';

create or replace function internal.remove_other_agents(account_id uuid, kept uuid[]) returns void
  language plpgsql volatile
as $$
begin
  update market.agent a set removed_at = now()
  where a.account_id = remove_other_agents.account_id and a.removed_at is null
    and (kept is null or a.connected_at is not null and a.id <> all (kept));
end
$$;
comment on function internal.remove_other_agents(uuid, uuid[]) is
  'Removes the agents that act for an account, except those in `kept`; when `kept` is null, removes all agents, also '
  'those that wait to be approved. The caller has locked the account and its agents.';

create or replace function internal.account_to_leave(session_hash bytea) returns uuid
  language plpgsql stable
as $$
begin
  return (
    select s.account_id from market.session s
    where s.secret_hash = account_to_leave.session_hash and internal.is_session_alive(s)
      and not exists (select from market.proved_method p where p.account_id = s.account_id)
      and not exists (select from market.session o
        where o.account_id = s.account_id and o.id <> s.id and internal.is_session_alive(o)));
end
$$;
comment on function internal.account_to_leave(bytea) is
  'Returns the account that nobody can open any more once this browser signs in to another one: an account without a '
  'method, of which this session is the only one. Null when there is no such account.';
