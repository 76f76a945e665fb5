-- Ends the waiting deliveries of a disabled webhook, and all deliveries of a deleted one.
-- No foreign key leads from a delivery to its webhook: the deletion of a webhook, or of its agent, must not wait for
-- millions of deliveries, which a job deletes, and an event must not wait for the deletion.

create or replace function internal.end_deliveries(webhook_id uuid) returns void
  language plpgsql volatile
as $$
declare
  -- Less than a second of work.
  batch constant integer := 10000;
  ended integer;
begin
  if exists (select from market.webhook w where w.id = end_deliveries.webhook_id) then
    update market.webhook_delivery d set next_attempt_at = null, leased_until = null
    where d.id = any (array(
      select o.id from market.webhook_delivery o
      where o.webhook_id = end_deliveries.webhook_id and o.next_attempt_at is not null
      order by o.next_attempt_at, o.id limit batch for update));
  else
    delete from market.webhook_delivery d
    where d.id = any (array(
      select o.id from market.webhook_delivery o where o.webhook_id = end_deliveries.webhook_id
      order by o.id limit batch for update));
  end if;
  get diagnostics ended = row_count;
  if ended = batch then
    perform internal.enqueue_webhook(end_deliveries.webhook_id);
  end if;
end
$$;
comment on function internal.end_deliveries(uuid) is
  'Gives up the waiting deliveries of a disabled webhook, or deletes all of a deleted one. After ten thousand, a job '
  'goes on.';

create or replace function internal.clear_deliveries() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform internal.enqueue_webhook(old.id);
  return null;
end
$$;
comment on function internal.clear_deliveries() is
  'Enqueues the job that deletes the deliveries of a deleted webhook (jobs.claim_deliveries).';
