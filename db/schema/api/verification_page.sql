-- The page behind an agent's verification link. Reading it changes nothing. The secret in the link authorizes the
-- caller as long as the account has no proved method and no live session of a person. After that, a session of the
-- account is required. If a person has claimed the account, proving the method recovers it
-- (internal/accounts/recover_account.sql), and until then the page shows nothing of the account.

create or replace function api.get_verification_page(secret_hash bytea, session_hash bytea) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  verification market.verification;
  session_account uuid := (internal.find_session(get_verification_page.session_hash)).account_id;
  mine boolean;
  missing text;
  agent market.agent;
begin
  select * into verification from market.verification v where v.secret_hash = get_verification_page.secret_hash;
  if not found then
    perform internal.raise_problem(404, 'not_found', 'link_unknown');
  end if;
  mine := coalesce(session_account = verification.account_id, false);
  missing := internal.missing_session(verification, session_account);
  select * into agent from market.agent a where a.id = verification.agent_id;
  return (
    select jsonb_build_object(
      'status', d.document -> 'status',
      'method', verification.method,
      'agent_id', agent.id,
      'agent_name', agent.name,
      'agent_removed', agent.removed_at is not null,
      'agent_connected', agent.connected_at is not null,
      -- Another visitor may be the agent itself.
      'account_label', case when mine then internal.account_label(verification.account_id) end,
      'requires', case when missing is null then 'nothing' else 'session' end,
      'missing', missing,
      'mine', mine,
      'recovers', missing is null and internal.is_recovery(verification, session_account),
      'expires_in', d.document -> 'expires_in')
    from (select internal.verification_document(verification, '', '') as document) as d);
end
$$;
comment on function api.get_verification_page(bytea, bytea) is
  'Returns what the page of a verification link shows: status, method, agent_id, agent_name, agent_removed, '
  'agent_connected, account_label (null unless mine), requires (nothing or session), missing (as '
  'internal.missing_session), mine, recovers (proving the method recovers the account), expires_in (seconds). Raises '
  '404 when there is no such link. Changes nothing.';

create or replace function api.cancel_verification(secret_hash bytea, session_hash bytea) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  verification market.verification;
begin
  select * into verification from market.verification v
  where v.secret_hash = cancel_verification.secret_hash for update;
  if verification.status is distinct from 'cancelled' then
    perform internal.check_verification(verification, verification.account_id, cancel_verification.session_hash);
    update market.verification v set status = 'cancelled' where v.id = verification.id;
  end if;
  return jsonb '{}';
end
$$;
comment on function api.cancel_verification(bytea, bytea) is
  '"Not now": cancels a pending verification; repeated, it does nothing. Raises 401, 404, 409 or 410 when the link '
  'does not work for this session.';

create or replace function api.continue_verification(secret_hash bytea) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  page jsonb := api.get_verification_page(continue_verification.secret_hash, null);
begin
  if page ->> 'status' = 'pending' then
    perform internal.raise_problem(409, 'verification_incomplete', 'sign_in_unfinished');
  end if;
  return jsonb_build_object('status', page -> 'status');
end
$$;
comment on function api.continue_verification(bytea) is
  'Returns the final status of a verification. Raises 409 verification_incomplete while it is pending, and 404 when '
  'there is none.';
