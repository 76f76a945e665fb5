create table market.session (
  id uuid default internal.uuid_v7() constraint session_pkey primary key,
  account_id uuid not null constraint session_account_fkey references market.account on delete cascade,
  secret_hash bytea not null constraint session_secret_hash_key unique,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '30 days',
  signed_in_at timestamptz,
  seen_at timestamptz not null default now(),
  constraint session_secret_hash_is_sha256 check (octet_length(secret_hash) = 32)
);
create index session_account_id_idx on market.session (account_id);
-- Used to purge ended sessions. Sessions without a sign-in last much longer.
create index session_expires_at_signed_in_idx on market.session (expires_at) where signed_in_at is not null;
create index session_seen_at_signed_in_idx on market.session (seen_at) where signed_in_at is not null;
create index session_seen_at_approved_idx on market.session (seen_at) where signed_in_at is null;

create policy "a person sees the sessions of the account" on market.session for select to souk_person
  using (account_id = (select internal.account_id()));
create policy "a person signs out" on market.session for delete to souk_person
  using (account_id = (select internal.account_id()));

comment on table market.session is
  'One row is one browser session of a person. The cookie has the secret, the row only its hash. '
  'internal/sign_in/session.sql states when a session ends.';
comment on column market.session.secret_hash is 'SHA-256 of the secret in the cookie.';
comment on column market.session.created_at is 'When the person signed in, or approved an agent.';
comment on column market.session.expires_at is
  'When a session of an account with a sign-in method ends even if it is still used.';
comment on column market.session.signed_in_at is
  'When the person signed in by a proved method; null when the account has none: the browser approved an agent, or the '
  'last method was removed.';
comment on column market.session.seen_at is 'When the session was last used, accurate to an hour.';
grant select (id, account_id, created_at, expires_at, signed_in_at, seen_at), delete on market.session to souk_person;
