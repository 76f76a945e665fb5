create table market.webhook_delivery (
  id uuid constraint webhook_delivery_pkey primary key default internal.uuid_v7(),
  webhook_id uuid not null,
  event_id uuid not null,
  type text not null,
  data jsonb not null,
  occurred_at timestamptz not null,
  created_at timestamptz not null default now(),
  attempts integer not null default 0,
  next_attempt_at timestamptz default now(),
  leased_until timestamptz,
  attempted_at timestamptz,
  delivered_at timestamptz,
  last_status integer,
  last_error text,
  constraint webhook_delivery_type_length check (char_length(type) between 1 and 60),
  constraint webhook_delivery_attempts_range check (attempts between 0 and 10),
  constraint webhook_delivery_last_status_range check (last_status between 100 and 999),
  constraint webhook_delivery_last_error_length check (char_length(last_error) between 1 and 300),
  constraint webhook_delivery_delivered_is_over check (delivered_at is null or next_attempt_at is null)
);
-- What to send next to a webhook.
create index webhook_delivery_waiting_idx on market.webhook_delivery (webhook_id, next_attempt_at)
  where next_attempt_at is not null;
-- Leased deliveries of a webhook, and a waiting test: few among all that may wait.
create index webhook_delivery_leased_idx on market.webhook_delivery (webhook_id, leased_until)
  where leased_until is not null;
create index webhook_delivery_test_idx on market.webhook_delivery (webhook_id)
  where type = 'webhook.test' and next_attempt_at is not null;
-- Late deliveries (jobs.sweep_deliveries).
create index webhook_delivery_next_attempt_at_idx on market.webhook_delivery (next_attempt_at)
  where next_attempt_at is not null;
-- For the purge.
create index webhook_delivery_over_idx on market.webhook_delivery (created_at) where next_attempt_at is null;
-- A webhook's latest deliveries, and all of a deleted one.
create index webhook_delivery_webhook_id_idx on market.webhook_delivery (webhook_id, id);

create policy "an account sees the deliveries of its webhooks" on market.webhook_delivery for select
  to souk_agent, souk_person
  using (exists (select from market.webhook w where w.id = webhook_id));

comment on table market.webhook_delivery is
  'One row is one event that is sent to one webhook. It is written in the transaction of the event, so no event is '
  'forgotten, and kept for seven days.';
comment on column market.webhook_delivery.webhook_id is
  'The webhook. After its deletion, a job deletes its deliveries.';
comment on column market.webhook_delivery.event_id is
  'The event (market.event), and the header webhook-id of every attempt.';
comment on column market.webhook_delivery.type is 'The type of the event, or webhook.test.';
comment on column market.webhook_delivery.data is 'The data of the event: ids and facts.';
comment on column market.webhook_delivery.attempts is 'How many attempts have ended.';
comment on column market.webhook_delivery.next_attempt_at is
  'When it is sent next; null when it was delivered, was given up, or its webhook was disabled.';
comment on column market.webhook_delivery.leased_until is
  'Until when a worker has it. If the worker dies, another sends it after this time.';
comment on column market.webhook_delivery.last_status is
  'The HTTP status of the last attempt; null when there was none.';
comment on column market.webhook_delivery.last_error is 'Why the last attempt failed; null when it did not.';
grant select on market.webhook_delivery to souk_agent, souk_person, souk_dba;
