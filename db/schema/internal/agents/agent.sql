-- What the removal of an agent deletes or cancels, and which agents are abandoned.

create or replace function internal.end_removed_agent() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  update market.connection set declined_at = now()
  where agent_id = new.id and approved_at is null and declined_at is null;
  delete from market.idempotency_key where owner_id = new.id;
  -- Its access ends at once, and a webhook is access, too.
  delete from market.webhook w where w.agent_id = new.id;
  -- Lock the verifications by id, in the same order as internal.lock_sign_in, to avoid deadlocks.
  perform from market.verification v where v.agent_id = new.id and v.status = 'pending' order by v.id for update;
  update market.verification v
  set status = case when v.expires_at <= now() then 'expired' else 'cancelled' end
  where v.agent_id = new.id and v.status = 'pending';
  return new;
end
$$;
comment on function internal.end_removed_agent() is
  'Ends the open link, the idempotency keys, the webhooks and the pending verifications of a removed agent.';

create or replace function internal.is_abandoned(agent market.agent, span interval default '7 days') returns boolean
  language plpgsql stable
as $$
begin
  return agent.connected_at is null and agent.disconnected_at is null
    and agent.created_at <= now() - is_abandoned.span
    -- In an account that a person has claimed, the activity and the reports are not the agent's.
    and (exists (select from market.account a where a.id = agent.account_id and a.claimed_at is not null)
      or exists (select from market.account_stats p
          where p.account_id = agent.account_id and p.last_active_at <= now() - is_abandoned.span)
        -- Reports must keep their account.
        and not exists (select from market.report r where r.account_id = agent.account_id))
    and not exists (select from market.submission s where s.agent_id = agent.id)
    and not exists (select from market.verification v
      where v.agent_id = agent.id and v.created_at > now() - is_abandoned.span);
end
$$;
comment on function internal.is_abandoned(market.agent, interval) is
  'Returns whether an agent is abandoned: nobody approved it, it wrote nothing for the span, and it has no '
  'submissions, nor reports that would lose their account.';
