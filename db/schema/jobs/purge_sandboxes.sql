-- Deletes a sandbox with all its rows when its time is over or its agents are removed. In the order of the foreign
-- keys, because the deletion of an account keeps its offers (internal.erase_account), and those of a sandbox must not
-- stay.

create or replace function jobs.purge_sandboxes() returns integer
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  ended uuid;
  accounts uuid[];
  agents uuid[];
  offers uuid[];
  asks uuid[];
  conversations uuid[];
begin
  -- One in each transaction, so that no lock lasts long: a sandbox has at most 200 offers and asks.
  select s.id into ended from market.sandbox s
  where s.expires_at <= now()
    or not exists (select from market.agent a where a.sandbox_id = s.id and a.removed_at is null)
  order by s.expires_at limit 1 for update skip locked;
  if not found then
    return 0;
  end if;
  -- Nothing waits for a lock here: if another transaction holds one, the sandbox has its turn a minute later.
  accounts := array(select a.id from market.account a where a.sandbox_id = ended order by a.id for update skip locked);
  agents := array(select a.id from market.agent a where a.sandbox_id = ended order by a.id for update skip locked);
  offers := array(select o.id from market.offer o where o.sandbox_id = ended order by o.id for update skip locked);
  asks := array(select a.id from market.ask a where a.sandbox_id = ended order by a.id for update skip locked);
  conversations := array(
    select c.id from market.conversation c where c.sandbox_id = ended order by c.id for update skip locked);
  if cardinality(accounts) + cardinality(agents) + cardinality(offers) + cardinality(asks)
    + cardinality(conversations) < (
    select count(*) from (
      select from market.account a where a.sandbox_id = ended
      union all select from market.agent a where a.sandbox_id = ended
      union all select from market.offer o where o.sandbox_id = ended
      union all select from market.ask a where a.sandbox_id = ended
      union all select from market.conversation c where c.sandbox_id = ended) as n)
  then
    return 0;
  end if;
  -- The audit log has nothing of a sandbox, not even its end (internal.audit).
  perform set_config('market.sandbox_id', ended::text, true);
  delete from market.rate_limit_hit c
  where c.scope = any (array(select 'agent:' || a from unnest(agents) as a)
    || array(select 'account:' || a from unnest(accounts) as a) || ('sandbox:' || ended)
    || array(select 'embed:' || n from unnest(offers || asks) as n));
  delete from market.idempotency_key k where k.owner_id = any (agents || accounts);
  delete from market.submission s where s.account_id = any (accounts);
  perform internal.lock_matches(offers || asks);
  -- The asks first, so that there are no events of withdrawn matches.
  delete from market.ask a where a.id = any (asks);
  delete from market.offer o where o.id = any (offers);
  -- Agents, links and account stats are deleted with the accounts.
  delete from market.account a where a.id = any (accounts);
  delete from market.event e where e.account_id = any (accounts);
  delete from market.sandbox s where s.id = ended;
  return 1;
end
$$;
comment on function jobs.purge_sandboxes() is
  'Deletes one sandbox that is older than 24 hours or has no agent any more, with all its rows. Returns 0 when none '
  'was left to delete, else 1.';
