create table market.idempotency_key (
  owner_id uuid not null,
  key text not null,
  request_hash bytea not null,
  submission_id uuid constraint idempotency_key_submission_fkey references market.submission on delete cascade,
  status integer,
  body jsonb,
  created_at timestamptz not null default now(),
  constraint idempotency_key_pkey primary key (owner_id, key),
  constraint idempotency_key_form check (key ~ '^[\x20-\x7e]{1,255}$'),
  constraint idempotency_key_request_hash_is_sha256 check (octet_length(request_hash) = 32)
);
create index idempotency_key_submission_id_idx on market.idempotency_key (submission_id);
-- For jobs.purge_keys.
create index idempotency_key_created_at_idx on market.idempotency_key (created_at);

comment on table market.idempotency_key is
  'One row is one Idempotency-Key of the last 24 hours. The row is the lock of the key; the response of a text is in '
  'its submission, and any other one in the row.';
comment on column market.idempotency_key.owner_id is
  'The agent that sent the key, or, from the browser, the account. Two owners may use the same key.';
comment on column market.idempotency_key.key is 'The key as sent.';
comment on column market.idempotency_key.request_hash is
  'SHA-256 of method, path and body. The same key with a different request is refused.';
comment on column market.idempotency_key.submission_id is 'The submission whose response a retry gets.';
comment on column market.idempotency_key.status is
  'The HTTP status of the response, if the request was no submission; null otherwise.';
comment on column market.idempotency_key.body is 'The body of that response.';
comment on column market.idempotency_key.created_at is 'When the key was first sent. It is deleted 24 hours later.';
