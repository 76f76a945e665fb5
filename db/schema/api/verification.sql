-- An agent requests that its person proves a sign-in method. The person does it on a page of this service, so no secret
-- passes through the agent.

create or replace function api.start_verification(method text, base_url text, link_key bytea) returns jsonb
  language plpgsql volatile
as $$
declare
  verification market.verification;
  started boolean := false;
  new_id uuid := internal.uuid_v7();
begin
  if internal.agent_id() is null then
    perform internal.raise_problem(409, 'invalid_state',
      'verification_without_agent', jsonb_build_object('base_url', start_verification.base_url));
  end if;
  if not internal.sign_in_methods(true) ? start_verification.method then
    perform internal.raise_problem(400, 'unknown_method', case
      when internal.sandbox_id() is not null then 'verification_in_sandbox'
      when internal.sign_in_methods(true) = '[]' then 'no_method_offered'
      else 'method_not_offered' end,
      extra => jsonb_build_object('options', internal.sign_in_methods(true)));
  end if;
  -- The lock keeps other transactions from proving or removing a sign-in method of the account.
  perform internal.lock_own_agent();
  if exists (select from market.proved_method p
      where p.account_id = internal.account_id() and p.method = start_verification.method)
    -- An agent that sees nothing of the account knows only the outcome of its own links.
    or internal.visible_account_id() is null and exists (select from market.verification v
      where v.account_id = internal.account_id() and v.agent_id = internal.agent_id()
        and v.method = start_verification.method and v.status = 'completed') then
    -- The method is already proved, so the verification is completed from the start.
    select * into verification from market.verification v
    where v.account_id = internal.account_id() and v.method = start_verification.method and v.status = 'completed'
    order by v.id desc limit 1;
    if not found then
      insert into market.verification (id, account_id, agent_id, method, secret_hash, status)
      values (new_id, internal.account_id(), internal.agent_id(), start_verification.method,
        sha256(convert_to(internal.verification_secret(link_key, new_id), 'UTF8')), 'completed')
      returning * into verification;
    end if;
    return jsonb_build_object('status', 200, 'body',
      internal.verification_document(verification, start_verification.base_url, start_verification.link_key)
        || jsonb_build_object('summary', internal.sentence('verification_needless')));
  end if;
  update market.verification v set status = 'expired'
  where v.agent_id = internal.agent_id() and v.method = start_verification.method and v.status = 'pending'
    and v.expires_at <= now();
  insert into market.verification (id, account_id, agent_id, method, secret_hash)
  values (new_id, internal.account_id(), internal.agent_id(), start_verification.method,
    sha256(convert_to(internal.verification_secret(link_key, new_id), 'UTF8')))
  on conflict do nothing;
  started := found;
  perform internal.renew_link(v.id, start_verification.link_key) from market.verification v
  where v.agent_id = internal.agent_id() and v.method = start_verification.method and v.status = 'pending';
  -- The pending verification; if another transaction has just decided it, the latest one.
  select * into verification from market.verification v
  where v.agent_id = internal.agent_id() and v.method = start_verification.method
  order by v.status = 'pending' desc, v.id desc limit 1;
  return jsonb_build_object('status', case when started and verification.status = 'pending' then 201 else 200 end,
    'body', internal.verification_document(verification, start_verification.base_url, start_verification.link_key));
end
$$;
comment on function api.start_verification(text, text, bytea) is
  'Returns the Verification, with status 201 and a new link, 200 and the same link while a verification is pending, or '
  '200 and "completed" if the account has proved the method. Raises 400 unknown_method for a method that cannot be '
  'started (a test agent can start none), 401 if the agent was just removed, and 409 if the caller is a person, or the '
  'agent was just approved.';

create or replace function api.get_verification(id uuid, base_url text, link_key bytea) returns jsonb
  language plpgsql stable
as $$
declare
  verification market.verification;
begin
  select * into verification from market.verification v
  where v.id = get_verification.id and v.account_id = internal.account_id();
  if not found then
    perform internal.raise_problem(404, 'not_found', 'no_verification');
  end if;
  return internal.verification_document(verification, get_verification.base_url, get_verification.link_key);
end
$$;
comment on function api.get_verification(uuid, text, bytea) is
  'Returns a verification of the caller''s account. Raises 404 if the account has no verification with this id.';
