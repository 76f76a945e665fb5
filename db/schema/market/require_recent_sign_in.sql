-- What cannot be taken back needs a person who has just shown who they are.

create or replace function market.require_recent_sign_in() returns void
  language plpgsql stable security definer set search_path = ''
as $$
begin
  if market.account_id() is null or market.agent_id() is not null
    or exists (select from market.proved_method m where m.account_id = market.account_id())
      and not exists (select from market.session s
        where s.account_id = market.account_id() and s.signed_in_at > now() - interval '15 minutes') then
    perform market.fail(401, 'unauthorized', 'Sign in again to do this: it needs a sign-in of the last 15 minutes.',
      '{"sign_in_again": true}');
  end if;
end
$$;
comment on function market.require_recent_sign_in() is
  'Refuses a person with a proved method whose sign-in is older than 15 minutes: 401 with sign_in_again.';
grant execute on function market.require_recent_sign_in() to souk_person;
