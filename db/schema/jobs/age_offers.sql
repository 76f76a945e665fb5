-- Offers grow old: one that nobody confirms becomes stale, and some time after its owner was notified it is archived.
--
-- A confirmation locks the account and then the offer. This job skips what is locked, and PostgreSQL checks the
-- conditions again in rows that were changed meanwhile. So an offer that was confirmed a moment ago is never archived.
-- The offers of a sandbox end with it before they are old.

create or replace function jobs.age_offers() returns integer
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  life constant record := internal.offer_lifetime();
  -- Fifty offers take well under a second, as in jobs.apply_standing.
  batch constant integer := 50;
  notified integer;
  archived uuid[];
  deals uuid[];
  locked uuid[];
begin
  update market.offer o set stale_at = now()
  where o.id in (
    select p.id from market.offer p
    where p.status = 'published' and p.sandbox_id is null and p.stale_at is null
      and p.confirmed_at <= now() - life.stale_after
    order by p.confirmed_at limit batch for no key update skip locked);
  get diagnostics notified = row_count;
  -- An archived offer also changes the account's stats, so the account is locked first, as everywhere.
  archived := internal.few_matches(array(
    select p.id from market.offer p join market.account a on a.id = p.account_id
    where p.status = 'published' and p.sandbox_id is null and p.stale_at is not null
      and p.confirmed_at <= now() - life.archived_after and p.stale_at <= now() - life.warned_before
    order by p.stale_at limit batch for no key update of a, p skip locked));
  -- A conversation that is locked leaves its offer to a later run.
  deals := internal.live_deals(archived);
  locked := array(
    select c.id from market.conversation c where c.id = any (deals) order by c.id for no key update skip locked);
  archived := array(
    select o.id from unnest(archived) with ordinality as o (id, n)
    where not exists (select from market.conversation c
      where c.offer_id = o.id and c.id = any (deals) and c.id <> all (locked)) order by o.n);
  perform internal.lock_matches(archived);
  update market.offer o set status = 'archived', expired_at = now() where o.id = any (archived);
  return greatest(notified, cardinality(archived));
end
$$;
comment on function jobs.age_offers() is
  'Makes up to 50 offers stale that nobody has confirmed for long, and archives up to 50 whose owners were notified '
  'long enough ago. Returns the larger of the two numbers; 0 when nothing is left.';
