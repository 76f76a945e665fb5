-- Sessions: which are live, how their last use is noted, and when a person has to sign in again.

create or replace function internal.session_end(
  signed_in_at timestamptz, expires_at timestamptz, seen_at timestamptz
) returns timestamptz
  language sql stable
as $$
  -- Without a sign-in method, nobody can sign in again. So these sessions last as long as browsers keep a cookie.
  select case when session_end.signed_in_at is null then session_end.seen_at + interval '400 days'
    else least(session_end.expires_at, session_end.seen_at + interval '7 days') end
$$;
comment on function internal.session_end(timestamptz, timestamptz, timestamptz) is
  'Returns when a session ends. In an account without a sign-in method (signed_in_at is null): 400 days after its last '
  'use. Otherwise: 30 days after it began (expires_at), or 7 days after its last use, whichever comes first. '
  'jobs.purge_sign_ins repeats this rule, in the form that its indexes need.';
grant execute on function internal.session_end(timestamptz, timestamptz, timestamptz) to souk_person;

create or replace function internal.is_session_alive(session market.session) returns boolean
  language sql stable
as $$ select internal.session_end(session.signed_in_at, session.expires_at, session.seen_at) > now() $$;
comment on function internal.is_session_alive(market.session) is
  'Returns whether a session is live (internal.session_end).';

create or replace function internal.find_session(
  secret_hash bytea, out session_id uuid, out account_id uuid, out signed_in_at timestamptz
)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  select s.id, s.account_id, s.signed_in_at into session_id, account_id, signed_in_at
  from market.session s
  where s.secret_hash = find_session.secret_hash and internal.is_session_alive(s);
end
$$;
comment on function internal.find_session(bytea) is
  'Returns the live session whose secret has this SHA-256, with its account and the time of sign-in; nulls when there '
  'is none.';
grant execute on function internal.find_session(bytea) to souk_api;

create or replace function internal.touch_session(session_id uuid) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  -- Noting the use once an hour is enough.
  due uuid := (select s.account_id from market.session s
    where s.id = touch_session.session_id and s.seen_at <= now() - interval '1 hour');
begin
  -- On a replica or a read-only connection nothing can be written. Then the next request that can write notes the use.
  -- Requests of one account must not wait for each other, so this function does not wait for the lock.
  if due is not null and not current_setting('transaction_read_only')::boolean
      and pg_try_advisory_xact_lock(internal.sessions_key(due)) then
    update market.session s set seen_at = now()
    where s.id = (select o.id from market.session o where o.id = touch_session.session_id for update skip locked);
  end if;
end
$$;
comment on function internal.touch_session(uuid) is 'Notes a session''s last use, at most once an hour.';
grant execute on function internal.touch_session(uuid) to souk_api;

create or replace function internal.needs_sign_in(account_id uuid, signed_in_at timestamptz) returns boolean
  language plpgsql stable
as $$
begin
  return exists (select from market.proved_method m where m.account_id = needs_sign_in.account_id)
    and (needs_sign_in.signed_in_at is null or needs_sign_in.signed_in_at <= now() - interval '15 minutes');
end
$$;
comment on function internal.needs_sign_in(uuid, timestamptz) is
  'Returns whether a person has to sign in again before an act that cannot be undone. This is so when the account has '
  'a sign-in method and the person did not sign in in the last 15 minutes.';
grant execute on function internal.needs_sign_in(uuid, timestamptz) to souk_person;
