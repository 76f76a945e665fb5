-- One row is one request whose text is read by the worker: it waits here, and its answer is kept here. With it the
-- idempotency keys: the row that holds a key is the lock, and its answer is its submission's.

create table market.submission (
  id uuid default market.uuid_v7() constraint submission_pkey primary key,
  kind text not null,
  account_id uuid not null constraint submission_account_fkey references market.account on delete cascade,
  agent_id uuid constraint submission_agent_fkey references market.agent on delete cascade,
  target_id uuid,
  origin_ask_id uuid,
  text text not null,
  images text[] not null default '{}',
  created_at timestamptz not null default now(),
  settled_at timestamptz,
  status smallint,
  body jsonb,
  request_id text default nullif(current_setting('market.request_id', true), ''),
  constraint submission_kind_known
    check (kind in ('publish_offer', 'update_offer', 'preview_offer', 'create_ask', 'update_ask')),
  constraint submission_text_length check (char_length(text) between 1 and 4000),
  constraint submission_images_count check (cardinality(images) <= 16),
  constraint submission_answer_whole check ((settled_at is null) = (status is null)),
  constraint submission_status_form check (status between 200 and 599),
  constraint submission_request_id_length check (char_length(request_id) between 1 and 100)
);
create index submission_account_id_idx on market.submission (account_id);
create index submission_agent_id_idx on market.submission (agent_id);
create index submission_created_at_idx on market.submission (created_at);
-- What waits to be read: a change under way, and what the sweep looks for.
create index submission_target_id_waiting_idx on market.submission (target_id) where settled_at is null;
create index submission_created_at_waiting_idx on market.submission (created_at) where settled_at is null;
create index submission_target_id_idx on market.submission (target_id);
comment on table market.submission is 'One row is one text being read, or read within the last day, with the answer its caller got.';
comment on column market.submission.id is 'UUIDv7; the worker''s job carries only this.';
comment on column market.submission.kind is 'What is to become of the text.';
comment on column market.submission.account_id is 'Whose text.';
comment on column market.submission.agent_id is 'The agent that sent it; null when the account''s person did.';
comment on column market.submission.target_id is 'The offer or ask that is created or changed.';
comment on column market.submission.origin_ask_id is 'The ask that an offer answers.';
comment on column market.submission.text is 'The text, NFC.';
comment on column market.submission.images is 'Image links of an offer.';
comment on column market.submission.created_at is 'When it was admitted.';
comment on column market.submission.settled_at is 'When its answer was decided; null while it waits to be read.';
comment on column market.submission.status is 'HTTP status of the answer; 503 when it was withdrawn.';
comment on column market.submission.body is 'Body of the answer; of a Problem, the members that the database knows.';
comment on column market.submission.request_id is 'The Request-Id of the call that sent it, for the audit log.';

alter table market.submission enable row level security;
alter table market.submission force row level security;
create policy "the owner sees all" on market.submission to souk_owner using (true) with check (true);
create policy "an agent sees its submissions and those of its account" on market.submission for select to souk_agent
  using (agent_id = (select market.agent_id()) or account_id = (select market.account_id()));
create policy "a person sees the submissions of the account" on market.submission for select to souk_person
  using (account_id = (select market.account_id()));
create policy "a connected caller submits for its account" on market.submission for insert to souk_agent, souk_person
  with check (agent_id is not distinct from (select market.agent_id()) and account_id = (select market.account_id())
    and settled_at is null and ((select market.connected()) or kind = 'preview_offer')
    -- The worker changes what this names, whoever sent it.
    and (kind <> 'update_offer' or exists (
      select from market.offer o where o.id = target_id and o.account_id = (select market.account_id())))
    and (kind not in ('create_ask', 'update_ask') or exists (select from market.ask a where a.id = target_id))
    and (origin_ask_id is null or exists (select from market.ask a where a.id = origin_ask_id)));
grant select on market.submission to souk_agent, souk_person;
grant insert (id, kind, account_id, agent_id, target_id, origin_ask_id, text, images) on market.submission
  to souk_agent, souk_person;

create table market.idempotency_key (
  owner_id uuid not null,
  key text not null,
  request_hash bytea not null,
  submission_id uuid constraint idempotency_key_submission_fkey references market.submission on delete cascade,
  created_at timestamptz not null default now(),
  constraint idempotency_key_pkey primary key (owner_id, key),
  constraint idempotency_key_form check (key ~ '^[\x20-\x7e]{1,255}$'),
  constraint idempotency_key_request_hash_is_sha256 check (octet_length(request_hash) = 32)
);
create index idempotency_key_submission_id_idx on market.idempotency_key (submission_id);
create index idempotency_key_created_at_idx on market.idempotency_key (created_at);
comment on table market.idempotency_key is 'One row is one Idempotency-Key of the last 24 hours.';
comment on column market.idempotency_key.owner_id is 'Whose key: an agent, or the account of a person in the browser; two of them with the same key do not meet.';
comment on column market.idempotency_key.key is 'The key as sent.';
comment on column market.idempotency_key.request_hash is 'SHA-256 of method, path and body: the same key with another request is refused.';
comment on column market.idempotency_key.submission_id is 'Whose answer a retry replays.';
comment on column market.idempotency_key.created_at is 'Forgotten 24 hours later.';

alter table market.idempotency_key enable row level security;
alter table market.idempotency_key force row level security;
create policy "the owner sees all" on market.idempotency_key to souk_owner using (true) with check (true);
