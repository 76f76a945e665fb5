-- A suspension or reinstatement moves the offers of an account: a moderator has marked the account
-- (internal.begin_applying_standing), and this job follows, in the order of the offers' ids.

create or replace function jobs.apply_standing(id uuid, after_offer uuid default null) returns uuid
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  is_suspended boolean;
  offers uuid[];
begin
  -- The audit log names the moderator who decided, because the worker only finishes that act.
  perform set_config('market.moderator_id', coalesce((
    select d.moderator_id from market.decision d
    where d.account_id = apply_standing.id and d.action in ('suspend', 'reinstate') order by d.id desc limit 1)::text,
      ''), true);
  select a.suspended_at is not null into is_suspended from market.account a
  where a.id = apply_standing.id for no key update;
  -- Fifty offers with few matches take well under a second. So no lock lasts long, and the embedded database can serve
  -- other calls between the batches.
  offers := internal.few_matches(array(
    select o.id from market.offer o
    where o.account_id = apply_standing.id and (after_offer is null or o.id > after_offer)
      and (o.status = 'published' or not is_suspended and o.suspended_at is not null)
    order by o.id limit 50 for no key update));
  if is_suspended then
    perform internal.lock_deals(offers);
    perform internal.lock_matches(offers);
    update market.offer o set status = 'archived', suspended_at = now() where o.id = any (offers);
  else
    -- What was not archived yet is live already. But nothing was matched with it while it was hidden.
    perform internal.enqueue('embed_offer', o.id) from (
      select p.id from market.offer p where p.id = any (offers) and p.status = 'published' order by p.id) as o;
    update market.offer o set status = 'published' where o.id = any (offers) and o.status <> 'published';
  end if;
  if offers = '{}' then
    update market.account a set hiding = false
    where a.id = apply_standing.id and a.hiding and is_suspended and not exists (
      select from market.offer o where o.account_id = a.id and o.status = 'published');
  end if;
  return offers[cardinality(offers)];
end
$$;
comment on function jobs.apply_standing(uuid, uuid) is
  'Archives the next offers of an account that was suspended, or publishes again those of an account that was '
  'reinstated: up to 50 after `after_offer`, fewer if they have many matches. Returns the last of them, after which to '
  'go on; null when no offer is left.';
