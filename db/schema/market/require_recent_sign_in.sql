-- What cannot be taken back needs a person who has just shown, in this browser, who they are.

create or replace function market.refuse_stale_sign_in(account_id uuid, signed_in_at timestamptz) returns void
  language plpgsql stable
as $$
begin
  if market.needs_sign_in(refuse_stale_sign_in.account_id, refuse_stale_sign_in.signed_in_at) then
    perform market.fail(401, 'unauthorized', 'To be sure that it is you, sign in again. Then repeat what you were doing.',
      '{"sign_in_again": true}');
  end if;
end
$$;
comment on function market.refuse_stale_sign_in(uuid, timestamptz) is
  'Refuses (401, sign_in_again) when who signed in to the account then has to do so again (market.needs_sign_in).';
grant execute on function market.refuse_stale_sign_in(uuid, timestamptz) to souk_person;

create or replace function market.require_recent_sign_in() returns void
  language plpgsql stable
as $$
declare
  signed_in_at timestamptz;
begin
  select s.signed_in_at into signed_in_at from market.session s
  where s.id = market.session_id() and s.account_id = market.account_id();
  if not found then
    perform market.fail(401, 'unauthorized', 'Only a person who is signed in on the website can do this.');
  end if;
  perform market.refuse_stale_sign_in(market.account_id(), signed_in_at);
end
$$;
comment on function market.require_recent_sign_in() is
  'Refuses (401, sign_in_again) a person who has a sign-in method and did not sign in within 15 minutes, and (401) whoever is not a person.';
grant execute on function market.require_recent_sign_in() to souk_person;
