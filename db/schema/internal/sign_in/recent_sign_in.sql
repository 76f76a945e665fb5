-- For an act that cannot be undone, the person must have signed in recently in this browser.

create or replace function internal.check_recent_sign_in(account_id uuid, signed_in_at timestamptz) returns void
  language plpgsql stable
as $$
begin
  if internal.needs_sign_in(check_recent_sign_in.account_id, check_recent_sign_in.signed_in_at) then
    perform internal.raise_problem(401, 'unauthorized', 'recent_sign_in_needed',
      extra => '{"sign_in_again": true}');
  end if;
end
$$;
comment on function internal.check_recent_sign_in(uuid, timestamptz) is
  'Takes an account and the time at which the person signed in. Raises 401 (sign_in_again) when the person has to sign '
  'in again (internal.needs_sign_in).';
grant execute on function internal.check_recent_sign_in(uuid, timestamptz) to souk_person;

create or replace function internal.require_recent_sign_in() returns void
  language plpgsql stable
as $$
declare
  signed_in_at timestamptz;
begin
  select s.signed_in_at into signed_in_at from market.session s
  where s.id = internal.session_id() and s.account_id = internal.account_id();
  if not found then
    perform internal.raise_problem(401, 'unauthorized', 'person_needed');
  end if;
  perform internal.check_recent_sign_in(internal.account_id(), signed_in_at);
end
$$;
comment on function internal.require_recent_sign_in() is
  'Raises 401 (sign_in_again) when the calling person has a sign-in method and did not sign in in the last 15 minutes. '
  'Raises 401 when the caller is not a person.';
grant execute on function internal.require_recent_sign_in() to souk_person;
