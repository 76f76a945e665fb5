create table market.webhook_delivery (
  id uuid constraint webhook_delivery_pkey primary key default internal.uuid_v7(),
  webhook_id uuid not null,
  purpose text not null default 'events',
  events jsonb not null,
  challenge_hash bytea,
  created_at timestamptz not null default now(),
  attempts integer not null default 0,
  next_attempt_at timestamptz default now(),
  leased_until timestamptz,
  attempted_at timestamptz,
  delivered_at timestamptz,
  last_status integer,
  last_error text,
  constraint webhook_delivery_purpose_known check (purpose in ('events', 'test', 'challenge')),
  constraint webhook_delivery_events_number check (jsonb_array_length(events) between 1 and 100),
  constraint webhook_delivery_challenge_hash_is_sha256 check (octet_length(challenge_hash) = 32),
  constraint webhook_delivery_attempts_range check (attempts between 0 and 10),
  constraint webhook_delivery_last_status_range check (last_status between 100 and 999),
  constraint webhook_delivery_last_error_length check (char_length(last_error) between 1 and 300),
  constraint webhook_delivery_delivered_is_over check (delivered_at is null or next_attempt_at is null)
);
-- What to send next to a webhook.
create index webhook_delivery_waiting_idx on market.webhook_delivery (webhook_id, next_attempt_at)
  where next_attempt_at is not null;
-- Leased deliveries of a webhook, and a waiting test or challenge: few among all that may wait.
create index webhook_delivery_leased_idx on market.webhook_delivery (webhook_id, leased_until)
  where leased_until is not null;
create index webhook_delivery_probe_idx on market.webhook_delivery (webhook_id)
  where purpose <> 'events' and next_attempt_at is not null;
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
  'One row is one request to one webhook, with one event or several. It is written in the transaction of its first '
  'event, so no event is forgotten, and kept for seven days. Its id is the header webhook-id of every attempt.';
comment on column market.webhook_delivery.webhook_id is
  'The webhook. After its deletion, a job deletes its deliveries.';
comment on column market.webhook_delivery.purpose is
  'events: what happened to the account. test: whether the receiver works. challenge: whether it wants events.';
comment on column market.webhook_delivery.events is
  'The events as they are sent: ids and facts. Others that wait join them before the first attempt, and none later.';
comment on column market.webhook_delivery.challenge_hash is
  'SHA-256 of the value that a challenge was sent with, and that the receiver has to answer.';
comment on column market.webhook_delivery.attempts is 'How many attempts have ended.';
comment on column market.webhook_delivery.next_attempt_at is
  'When it is sent next; null when it was delivered, was given up, or its webhook was disabled.';
comment on column market.webhook_delivery.leased_until is
  'Until when a worker has it. If the worker dies, another sends it after this time.';
comment on column market.webhook_delivery.last_status is
  'The HTTP status of the last attempt; null when there was none.';
comment on column market.webhook_delivery.last_error is 'Why the last attempt failed; null when it did not.';
grant select (id, webhook_id, purpose, events, created_at, attempts, next_attempt_at, leased_until, attempted_at,
  delivered_at, last_status, last_error) on market.webhook_delivery to souk_agent, souk_person, souk_dba;
