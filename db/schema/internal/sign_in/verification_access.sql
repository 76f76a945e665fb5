-- Who may use the link of a verification.

create or replace function internal.missing_session(verification market.verification, session_account uuid) returns text
  language plpgsql stable
as $$
begin
  return case
    when missing_session.session_account = verification.account_id then null
    when exists (select from market.proved_method p where p.account_id = verification.account_id) then 'sign_in'
    -- The agent has the link too. If any browser could use it while a person's browser has a session, the agent could
    -- take over the account. An agent that may not write must not get the right to by recovering the account.
    when internal.is_recovery(verification, missing_session.session_account) and (
      exists (select from market.session s
        where s.account_id = verification.account_id and internal.is_session_alive(s))
      or not exists (select from market.agent a
        where a.id = verification.agent_id and a.connected_at is not null and a.removed_at is null)) then 'browser'
    when missing_session.session_account is not null then 'sign_out' end;
end
$$;
comment on function internal.missing_session(market.verification, uuid) is
  'Returns what a visitor with this session (null: none) has to do before proving a method of an account by its '
  'agent''s link: ''sign_in'', ''browser'' (use the browser in which the agent was approved), ''sign_out'' (of another '
  'account); null when nothing is missing.';

create or replace function internal.check_verification(
  verification market.verification, account_id uuid, session_hash bytea
) returns void
  language plpgsql stable
as $$
declare
  missing text := internal.missing_session(verification,
    (internal.find_session(check_verification.session_hash)).account_id);
begin
  if verification.id is null then
    perform internal.raise_problem(404, 'not_found', 'link_unknown');
  elsif verification.status = 'expired' or verification.status = 'pending' and verification.expires_at <= now() then
    perform internal.raise_problem(410, 'link_expired', 'verification_link_over');
  elsif verification.status <> 'pending' then
    perform internal.raise_problem(409, 'invalid_state',
      'request_final', jsonb_build_object('status', verification.status));
  elsif verification.account_id is distinct from check_verification.account_id then
    perform internal.raise_problem(409, 'invalid_state', 'verification_agent_moved');
  elsif missing = 'sign_in' then
    perform internal.raise_problem(401, 'unauthorized', 'verification_needs_sign_in');
  elsif missing = 'browser' then
    perform internal.raise_problem(409, 'invalid_state', 'verification_in_other_browser');
  elsif missing = 'sign_out' then
    perform internal.raise_problem(409, 'invalid_state', 'verification_in_other_account');
  end if;
end
$$;
comment on function internal.check_verification(market.verification, uuid, bytea) is
  'Raises 404 for an unknown link, 410 for an expired one, and 409 for one that is completed, cancelled or of another '
  'account. For a visitor without a session of the account (internal.missing_session), raises 401 when the account has '
  'a method, otherwise 409.';
