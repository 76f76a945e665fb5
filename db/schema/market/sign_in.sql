create table market.sign_in (
  id uuid default internal.uuid_v7() constraint sign_in_pkey primary key,
  flow_hash bytea not null constraint sign_in_flow_hash_key unique,
  method text not null,
  purpose text not null,
  account_id uuid constraint sign_in_account_fkey references market.account on delete cascade,
  verification_id uuid constraint sign_in_verification_fkey references market.verification on delete cascade,
  email text,
  link_hash bytea constraint sign_in_link_hash_key unique,
  code_hash bytea,
  tries smallint not null default 0,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '15 minutes',
  finished_at timestamptz,
  code_digits smallint not null default 6,
  kept_agents uuid[],
  left_account_id uuid constraint sign_in_left_account_fkey references market.account on delete set null,
  constraint sign_in_flow_hash_is_sha256 check (octet_length(flow_hash) = 32),
  constraint sign_in_method_form check (method in ('google', 'apple', 'email')),
  constraint sign_in_purpose_known check (purpose in ('sign_in', 'add')),
  constraint sign_in_adds_to_account check ((purpose = 'add') = (account_id is not null)),
  constraint sign_in_verification_adds check (verification_id is null or purpose = 'add'),
  constraint sign_in_email_length check (char_length(email) between 3 and 254),
  constraint sign_in_link_hash_is_sha256 check (octet_length(link_hash) = 32),
  constraint sign_in_code_hash_is_sha256 check (octet_length(code_hash) = 32),
  constraint sign_in_email_whole check (
    num_nonnulls(link_hash, code_hash) = case method when 'email' then 2 else 0 end
    and (email is not null) = (method = 'email' and finished_at is null)),
  constraint sign_in_tries_range check (tries between 0 and 5),
  constraint sign_in_code_digits_known check (code_digits in (6, 9, 12)),
  constraint sign_in_keeps_own_agents check (kept_agents is null or purpose = 'add'),
  constraint sign_in_kept_agents_length check (cardinality(kept_agents) <= 25),
  constraint sign_in_leaves_by_signing_in check (left_account_id is null or purpose = 'sign_in')
);
create index sign_in_account_id_idx on market.sign_in (account_id);
create index sign_in_left_account_id_idx on market.sign_in (left_account_id);
create index sign_in_verification_id_idx on market.sign_in (verification_id);
-- When an account is deleted, the sign-in attempts mailed to its e-mail addresses are deleted, too.
create index sign_in_email_idx on market.sign_in (email) where email is not null;
-- Used to purge old attempts.
create index sign_in_expires_at_idx on market.sign_in (expires_at);

comment on table market.sign_in is
  'One row is one attempt to sign in or to prove a method, bound to the browser that began it. It contains hashes of '
  'secrets, but no secret.';
comment on column market.sign_in.flow_hash is 'SHA-256 of the secret that only the browser that began the attempt has.';
comment on column market.sign_in.purpose is 'sign_in, or add: prove a method for the account in account_id.';
comment on column market.sign_in.account_id is 'The account that the method is to be added to; null when signing in.';
comment on column market.sign_in.verification_id is
  'The agent''s verification that this attempt would complete; null when there is none.';
comment on column market.sign_in.email is
  'The e-mail address that the link and the code were sent to; null once the attempt has succeeded.';
comment on column market.sign_in.link_hash is 'SHA-256 of the secret in the mailed link.';
comment on column market.sign_in.code_hash is
  'SHA-256 of the browser''s secret and the mailed code together, so the code is useless in another browser.';
comment on column market.sign_in.tries is 'Number of wrong codes so far; at most five.';
comment on column market.sign_in.expires_at is
  'When the attempt expires: 15 minutes after it began, or with its verification.';
comment on column market.sign_in.finished_at is 'When the attempt succeeded. It can succeed only once.';
comment on column market.sign_in.code_digits is
  'How many digits the mailed code has: 6, and 9 or 12 while many wrong codes are entered.';
comment on column market.sign_in.kept_agents is
  'The agents that the person checked, and that go on acting for the account. Success removes the others. Null when '
  'the page listed none, and then none is removed.';
comment on column market.sign_in.left_account_id is
  'The account without a method that this browser leaves by signing in to another one, as the person chose. Success '
  'removes its agents. Null when the browser leaves none.';
