-- Verifications: their moves, their links, and which methods there are.

create or replace function internal.keep_final_verification() returns trigger
  language plpgsql volatile
as $$
begin
  if old.status <> 'pending' then
    perform internal.raise_problem(409, 'invalid_state',
      format('This verification is %s, and that is final.', old.status));
  end if;
  return new;
end
$$;
comment on function internal.keep_final_verification() is 'completed, expired and cancelled are final.';
grant execute on function internal.keep_final_verification() to souk_agent, souk_person;

create or replace function internal.verification_secret(link_key bytea, verification_id uuid) returns text
  language sql immutable parallel safe
as $$
  -- Made from a key that only the agent's token yields, so the same link can be given again and is stored nowhere.
  select encode(sha256(verification_secret.link_key || uuid_send(verification_secret.verification_id)), 'hex')
$$;
comment on function internal.verification_secret(bytea, uuid) is
  'The secret in a verification''s link: SHA-256 over the agent''s link key and the verification''s id, in hex.';
grant execute on function internal.verification_secret(bytea, uuid) to souk_agent, souk_person;

create or replace function internal.verification_document(
  verification market.verification, base_url text, link_key bytea
) returns jsonb
  language plpgsql stable
as $$
declare
  status text := case when verification.status = 'pending' and verification.expires_at <= now()
    then 'expired' else verification.status end;
begin
  return jsonb_build_object(
    'id', verification.id,
    'method', verification.method,
    'status', status,
    'expires_in', case when status = 'pending'
      then ceil(extract(epoch from verification.expires_at - now()))::integer else 0 end,
    'summary', case status
      when 'pending' then
        'Give this link to the person you act for and do not open it yourself. Then read this verification until its '
        'status is no longer pending.'
      when 'completed' then 'The method is proved. The limits of the account have risen.'
      when 'expired' then 'The link ran out of time. Start a new verification when the person is ready.'
      else 'The person cancelled. Ask before you start a new one.'
    end)
    -- Another agent of the account sees the verification, but cannot make its link.
    || case when status = 'pending' and verification.agent_id = internal.agent_id() then jsonb_build_object('url',
      verification_document.base_url || '/verify/' || internal.verification_secret(link_key, verification.id))
      else '{}' end;
end
$$;
comment on function internal.verification_document(market.verification, text, bytea) is
  'A verification as clients see it; the link only while pending.';
grant execute on function internal.verification_document(market.verification, text, bytea) to souk_agent, souk_person;

create or replace function internal.sign_in_methods(available boolean) returns jsonb
  language plpgsql stable
as $$
begin
  return (select coalesce(jsonb_agg(m.method order by m.position), '[]')
    from market.sign_in_method m where m.available = sign_in_methods.available);
end
$$;
comment on function internal.sign_in_methods(boolean) is
  'The sign-in methods that can be started now, or those that cannot.';
grant execute on function internal.sign_in_methods(boolean) to souk_agent, souk_person;

create or replace function internal.verified_methods() returns jsonb
  language plpgsql stable
as $$
begin
  return (select coalesce(jsonb_agg(p.method order by p.method), '[]')
    from market.proved_method p where p.account_id = (select internal.account_id()));
end
$$;
comment on function internal.verified_methods() is 'The methods that the account acted for has proved.';
grant execute on function internal.verified_methods() to souk_agent, souk_person;

create or replace function internal.missing_session(account_id uuid, session_account uuid) returns text
  language plpgsql stable
as $$
begin
  return case
    when missing_session.session_account = missing_session.account_id then null
    when exists (select from market.proved_method p where p.account_id = missing_session.account_id) then 'sign_in'
    -- The agent has the link, too: without the browser of its person it would make the account its own.
    when exists (select from market.account a where a.id = missing_session.account_id and a.claimed_at is not null)
      and exists (select from market.session s
        where s.account_id = missing_session.account_id and internal.is_session_alive(s)) then 'browser'
    when missing_session.session_account is not null then 'sign_out' end;
end
$$;
comment on function internal.missing_session(uuid, uuid) is
  'What whoever has this account''s session, or none, has to do before proving a method of an account by its agent''s '
  'link: sign_in to it, come with the browser in which its agent was approved, or sign_out of another account; null '
  'when nothing is missing.';

create or replace function internal.check_verification(
  verification market.verification, account_id uuid, session_hash bytea
) returns void
  language plpgsql stable
as $$
declare
  missing text := internal.missing_session(verification.account_id,
    (internal.find_session(check_verification.session_hash)).account_id);
begin
  if verification.id is null then
    perform internal.raise_problem(404, 'not_found', 'There is no such link. Check that it was copied whole.');
  elsif verification.status = 'expired' or verification.status = 'pending' and verification.expires_at <= now() then
    perform internal.raise_problem(410, 'link_expired', 'This link no longer works. Ask your agent for a new one.');
  elsif verification.status <> 'pending' then
    perform internal.raise_problem(409, 'invalid_state',
      format('This request of your agent is %s, and that is final.', verification.status));
  elsif verification.account_id is distinct from check_verification.account_id then
    perform internal.raise_problem(409, 'invalid_state',
      'Your agent has moved to another account since. Open its link again.');
  elsif missing = 'sign_in' then
    perform internal.raise_problem(401, 'unauthorized',
      'This link is for an account that has a sign-in method already. Sign in to that account, then open the link '
      'again.');
  elsif missing = 'browser' then
    perform internal.raise_problem(409, 'invalid_state',
      'This link works only in the browser in which you approved your agent. Open it there.');
  elsif missing = 'sign_out' then
    perform internal.raise_problem(409, 'invalid_state',
      'You are signed in to another account than the one that this agent acts for. Sign out, then open the link '
      'again.');
  end if;
end
$$;
comment on function internal.check_verification(market.verification, uuid, bytea) is
  'Refuses a link that is unknown (404), over (410), decided or of another account (409), and whoever is not signed in '
  'to its account (internal.missing_session): 401 once that has a method, else 409.';
