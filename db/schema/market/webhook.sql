create table market.webhook (
  id uuid constraint webhook_pkey primary key default internal.uuid_v7(),
  account_id uuid not null constraint webhook_account_fkey references market.account on delete cascade,
  agent_id uuid constraint webhook_agent_fkey references market.agent on delete cascade,
  url text not null,
  types text[],
  encrypted_secret text not null,
  created_at timestamptz not null default now(),
  verified_at timestamptz,
  is_prompt boolean not null default false,
  resume_at timestamptz,
  disabled_at timestamptz,
  disabled_reason text,
  constraint webhook_url_length check (char_length(url) between 8 and 2048),
  constraint webhook_types_number check (cardinality(types) between 1 and 30),
  constraint webhook_encrypted_secret_form check (encrypted_secret ~ '^[0-9a-f]{8}\.[A-Za-z0-9_-]{80,200}$'),
  constraint webhook_encrypted_secret_length check (char_length(encrypted_secret) <= 220),
  constraint webhook_disabled_reason_known check (disabled_reason in ('gone', 'failed')),
  constraint webhook_disabled_complete check ((disabled_at is null) = (disabled_reason is null))
);
create index webhook_account_id_idx on market.webhook (account_id);
create index webhook_agent_id_idx on market.webhook (agent_id);

create policy "an account sees its webhooks" on market.webhook for select to souk_agent, souk_person
  using (account_id = (select internal.visible_account_id()));
create policy "an account adds webhooks" on market.webhook for insert to souk_agent, souk_person
  with check (account_id = (select internal.visible_account_id())
    and agent_id is not distinct from (select internal.agent_id()) and (select internal.connected()));

comment on table market.webhook is
  'One row is one webhook: an address to which the market sends an account''s events (internal/feed/webhook.sql). It '
  'is deleted with the agent that added it, and with the account.';
comment on column market.webhook.agent_id is
  'The agent that added it; null when the person did in the browser. Nothing is sent while this agent is disconnected.';
comment on column market.webhook.url is
  'Where the events are sent. A stranger wrote it. It never changes: another address is another webhook, with its own '
  'proof.';
comment on column market.webhook.types is 'The types of events that are sent; null for all.';
comment on column market.webhook.encrypted_secret is
  'The secret that signs: the id of the key of WEBHOOK_KEYS, a dot, and the text encrypted with it (AES-256-GCM).';
comment on column market.webhook.verified_at is
  'When the receiver answered a challenge with its value. Until then nothing but challenges is sent to it.';
comment on column market.webhook.is_prompt is
  'Whether the receiver accepted the last attempt within a second. Until then, its attempts share fewer connections.';
comment on column market.webhook.resume_at is
  'The time before which nothing is sent: the receiver asked for it (Retry-After), or a limit of the hour is used up; '
  'null when there was none.';
comment on column market.webhook.disabled_at is 'When the market stopped sending; null while it sends.';
comment on column market.webhook.disabled_reason is
  'gone: the receiver answered 410; failed: the last attempt of an event failed.';
grant select (id, account_id, agent_id, url, types, created_at, verified_at, resume_at, disabled_at, disabled_reason),
  insert (id, account_id, agent_id, url, types, encrypted_secret) on market.webhook to souk_agent, souk_person;
-- The address may contain a secret of the receiver, so a DBA sees only its host (inspect.webhooks).
grant select (id, account_id, agent_id, types, created_at, verified_at, is_prompt, resume_at, disabled_at,
  disabled_reason)
  on market.webhook to souk_dba;
