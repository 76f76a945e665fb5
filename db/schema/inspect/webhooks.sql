-- Which deliveries webhooks get, and why some failed. The host of the address is shown, but no path and no query, which
-- may hold a secret of the receiver.

create or replace function inspect.read_webhook_hosts() returns table (webhook_id uuid, host text, key_id text)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select w.id, substring(w.url from '^https?://([^/?#]+)'), split_part(w.encrypted_secret, '.', 1) from market.webhook w
$$;
comment on function inspect.read_webhook_hosts() is 'Returns the hosts and the keys of inspect.webhooks.';
grant execute on function inspect.read_webhook_hosts() to souk_dba;

create or replace view inspect.webhooks with (security_invoker = true) as
select w.id as webhook_id, w.account_id, w.agent_id, h.host, h.key_id, w.created_at, w.verified_at, w.is_prompt,
  w.resume_at, w.disabled_at, w.disabled_reason, d.waiting, d.delivered, d.failed, d.oldest_waiting
from market.webhook w
join inspect.read_webhook_hosts() as h on h.webhook_id = w.id
cross join lateral (
  select count(*) filter (where d.next_attempt_at is not null) as waiting,
    count(*) filter (where d.delivered_at is not null) as delivered,
    count(*) filter (where d.next_attempt_at is null and d.delivered_at is null) as failed,
    now() - min(d.created_at) filter (where d.next_attempt_at is not null) as oldest_waiting
  from market.webhook_delivery d where d.webhook_id = w.id) as d;
comment on view inspect.webhooks is
  'When somebody says that events do not arrive: each webhook, whether its receiver has answered a challenge, whether '
  'it is disabled or pauses, and how many deliveries of the last seven days wait, arrived or failed. Select by '
  'account_id or webhook_id.';
select internal.copy_comments('inspect.webhooks', 'market.webhook');
comment on column inspect.webhooks.webhook_id is 'The id that GET /v1/webhooks shows.';
comment on column inspect.webhooks.host is 'The host of its address. A stranger''s text: do not trust it.';
comment on column inspect.webhooks.key_id is
  'Which key of WEBHOOK_KEYS encrypts its secret. A key may be taken away when no webhook has it.';
comment on column inspect.webhooks.waiting is 'Deliveries that will be sent, now or later.';
comment on column inspect.webhooks.delivered is 'Deliveries that the receiver accepted.';
comment on column inspect.webhooks.failed is 'Deliveries that were given up.';
comment on column inspect.webhooks.oldest_waiting is 'How long the oldest of the waiting ones has waited.';
grant select on inspect.webhooks to souk_dba;

create or replace view inspect.webhook_deliveries with (security_invoker = true) as
select d.webhook_id, d.id as delivery_id, d.purpose, jsonb_array_length(d.events) as events, d.created_at, d.attempts,
  d.next_attempt_at,
  d.leased_until, d.attempted_at, d.delivered_at, d.last_status, d.last_error
from market.webhook_delivery d;
comment on view inspect.webhook_deliveries is
  'When one webhook fails: its deliveries of the last seven days, with the last status and error. Select by '
  'webhook_id, and order by delivery_id desc.';
select internal.copy_comments('inspect.webhook_deliveries', 'market.webhook_delivery');
comment on column inspect.webhook_deliveries.delivery_id is
  'The delivery, and the header webhook-id of each attempt. Later ones have higher ids.';
comment on column inspect.webhook_deliveries.events is 'How many events it has.';
grant select on inspect.webhook_deliveries to souk_dba;
