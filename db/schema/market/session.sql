-- One row is one browser in which a person is signed in. The cookie holds the secret, here is only its hash. A session
-- ends 30 days after it began, and 7 days after it was last used.

create table market.session (
  id uuid default market.uuid_v7() constraint session_pkey primary key,
  account_id uuid not null constraint session_account_fkey references market.account on delete cascade,
  secret_hash bytea not null constraint session_secret_hash_key unique,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '30 days',
  signed_in_at timestamptz,
  seen_at timestamptz not null default now(),
  constraint session_secret_hash_is_sha256 check (octet_length(secret_hash) = 32)
);
create index session_account_id_idx on market.session (account_id);
-- For forgetting what ended.
create index session_expires_at_idx on market.session (expires_at);
create index session_seen_at_idx on market.session (seen_at);
comment on table market.session is 'One row is one signed-in browser.';
comment on column market.session.id is 'UUIDv7.';
comment on column market.session.account_id is 'Who is signed in.';
comment on column market.session.secret_hash is 'SHA-256 of what the cookie holds.';
comment on column market.session.created_at is 'When the person signed in or approved.';
comment on column market.session.expires_at is 'When the cookie stops working, however often it is used.';
comment on column market.session.signed_in_at is 'When the person signed in by a proved method; null when this browser only approved an agent.';
comment on column market.session.seen_at is 'When it was last used, to the hour; 7 days later it has ended.';

alter table market.session enable row level security;
alter table market.session force row level security;
create policy "the owner sees all" on market.session to souk_owner using (true) with check (true);
create policy "a person sees the sessions of the account" on market.session for select to souk_person
  using (account_id = (select market.account_id()));
create policy "a person signs out" on market.session for delete to souk_person
  using (account_id = (select market.account_id()));
grant select (id, account_id, created_at, expires_at, signed_in_at, seen_at), delete on market.session to souk_person;

create or replace function market.find_session(
  secret_hash bytea, out session_id uuid, out account_id uuid, out signed_in_at timestamptz
)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  select s.id, s.account_id, s.signed_in_at into session_id, account_id, signed_in_at
  from market.session s
  where s.secret_hash = find_session.secret_hash and s.expires_at > now() and s.seen_at > now() - interval '7 days';
end
$$;
comment on function market.find_session(bytea) is
  'The live session whose secret has this SHA-256, with its account and when its person signed in; nulls when there is none.';
grant execute on function market.find_session(bytea) to souk_api;

create or replace function market.sessions_key(account_id uuid) returns bigint
  language sql immutable
as $$ select hashtextextended('sessions ' || sessions_key.account_id, 0) $$;
comment on function market.sessions_key(uuid) is
  'The advisory lock on the sessions of an account: taken before the account by whoever ends several of them.';

create or replace function market.lock_sessions(account_id uuid) returns void
  language plpgsql volatile
as $$
begin
  -- Entering writes to a session before anything else is locked: who ends all of them waits here, holding nothing yet.
  perform pg_advisory_xact_lock(market.sessions_key(lock_sessions.account_id));
end
$$;
comment on function market.lock_sessions(uuid) is 'Waits until nobody else of the account writes to its sessions in a transaction that goes on.';
grant execute on function market.sessions_key(uuid), market.lock_sessions(uuid) to souk_person;

create or replace function market.keep_session(session_id uuid) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  -- Once an hour is enough.
  due uuid := (select s.account_id from market.session s
    where s.id = keep_session.session_id and s.seen_at <= now() - interval '1 hour');
begin
  -- Where nothing can be written (a replica, a pool that reads), the next request that can writes it; and requests of one
  -- account must not queue for it.
  if due is not null and not current_setting('transaction_read_only')::boolean
      and pg_try_advisory_xact_lock(market.sessions_key(due)) then
    update market.session s set seen_at = now()
    where s.id = (select o.id from market.session o where o.id = keep_session.session_id for update skip locked);
  end if;
end
$$;
comment on function market.keep_session(uuid) is 'Remembers that a session is used, to the hour.';
grant execute on function market.keep_session(uuid) to souk_api;

create or replace function market.needs_sign_in(account_id uuid, signed_in_at timestamptz) returns boolean
  language plpgsql stable
as $$
begin
  return exists (select from market.proved_method m where m.account_id = needs_sign_in.account_id)
    and (needs_sign_in.signed_in_at is null or needs_sign_in.signed_in_at <= now() - interval '15 minutes');
end
$$;
comment on function market.needs_sign_in(uuid, timestamptz) is
  'Whether a session that signed in then has to do so again before what cannot be undone: 15 minutes, for accounts that have a method.';
grant execute on function market.needs_sign_in(uuid, timestamptz) to souk_person;
