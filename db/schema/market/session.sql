-- One row is one browser in which a person is signed in. The cookie holds the secret, here is only its hash.

create table market.session (
  id uuid default market.uuid_v7() constraint session_pkey primary key,
  account_id uuid not null constraint session_account_fkey references market.account on delete cascade,
  secret_hash bytea not null constraint session_secret_hash_key unique,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '30 days',
  signed_in_at timestamptz,
  constraint session_secret_hash_is_sha256 check (octet_length(secret_hash) = 32)
);
create index session_account_id_idx on market.session (account_id);
comment on table market.session is 'One row is one signed-in browser.';
comment on column market.session.id is 'UUIDv7.';
comment on column market.session.account_id is 'Who is signed in.';
comment on column market.session.secret_hash is 'SHA-256 of what the cookie holds.';
comment on column market.session.created_at is 'When the person signed in or approved.';
comment on column market.session.expires_at is 'When the cookie stops working.';
comment on column market.session.signed_in_at is 'When the person last proved a method in it; null when it only approved an agent.';

alter table market.session enable row level security;
alter table market.session force row level security;
create policy "the owner sees all" on market.session to souk_owner using (true) with check (true);
