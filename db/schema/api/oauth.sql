-- OAuth 2.1 for public clients. Each request for authorization creates an agent, which waits for approval: a person
-- decides on the page behind its link (api/connection.sql). Then the browser brings a code to the client, which
-- exchanges the code for tokens. A family is all refresh tokens that follow from one approval.

create or replace function api.register_client(
  name text, redirect_uris jsonb, address text, registrations_per_hour integer
) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  fault text := (
    select internal.redirect_uri_fault(r.uri)
    from jsonb_array_elements_text(register_client.redirect_uris) with ordinality as r (uri, n)
    where internal.redirect_uri_fault(r.uri) is not null order by r.n limit 1);
  client market.oauth_client;
begin
  if jsonb_array_length(register_client.redirect_uris) not between 1 and 10 then
    fault := 'redirect_uri_count';
  end if;
  if fault is not null then
    perform internal.raise_problem(400, 'bad_request', fault, extra => '{"error": "invalid_redirect_uri"}');
  end if;
  perform internal.count_by_address('register_client', register_client.address, register_client.registrations_per_hour,
    'too_many_clients_of_address');
  insert into market.oauth_client (name, redirect_uris)
  values (left(internal.clean_name(register_client.name), 80),
    array(select jsonb_array_elements_text(register_client.redirect_uris)))
  returning * into client;
  return jsonb_build_object('client_id', client.id,
    'client_id_issued_at', floor(extract(epoch from client.created_at))::bigint,
    'client_name', client.name, 'redirect_uris', client.redirect_uris);
end
$$;
comment on function api.register_client(text, jsonb, text, integer) is
  'Registers a client (RFC 7591): client_id, client_id_issued_at, client_name, redirect_uris. Needs no claims. Raises '
  '400 for a redirect URI to which no browser may be sent, and 429 when the address registered too many.';

create or replace function api.count_client_document(address text, documents_per_hour integer, client_id text)
  returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  -- Anybody may name a host that publishes no document. This many new clients of one host come in an hour at most.
  documents_of_host constant integer := 60;
  host constant text := internal.host_scope(count_client_document.client_id);
  -- Whoever names many clients of one host leaves some to callers from elsewhere.
  parties constant text[] := internal.origins_of(internal.network_of(count_client_document.address));
  wait integer;
begin
  perform internal.count_by_address('client_document', count_client_document.address,
    count_client_document.documents_per_hour,
    'too_many_programs_of_address');
  -- A client that somebody has connected publishes its document, so nobody can use up what it needs.
  if host is not null and not exists (select from market.oauth_grant g
    where g.client_id = count_client_document.client_id and g.family_hash is not null)
  then
    perform internal.lock_window(host, 'client_document');
    wait := internal.shared_wait(host, 'client_document', documents_of_host, parties);
    if wait is not null then
      perform internal.raise_problem(429, 'rate_limited', 'too_many_programs_of_host',
        extra => jsonb_build_object('retry_after', wait));
    end if;
    insert into market.rate_limit_hit (scope, action, parties) values (host, 'client_document', parties);
  end if;
  return jsonb '{}';
end
$$;
comment on function api.count_client_document(text, integer, text) is
  'Counts a fetch of a client''s document for a caller. Raises 429 after too many fetches for the address, or of new '
  'clients from the host.';

create or replace function api.check_client(client_id text, document jsonb, redirect_uri text) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform internal.check_redirect_uri(
    (internal.find_client(check_client.client_id, check_client.document)).redirect_uris, check_client.redirect_uri);
  return jsonb '{}';
end
$$;
comment on function api.check_client(text, jsonb, text) is
  'Raises 400 when a client is unknown, or has not registered the redirect URI.';

create or replace function api.start_authorization(
  client_id text, document jsonb, redirect_uri text, code_challenge text, state text, secret_hash bytea, code text,
  address text, connections_per_hour integer
) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  client record := internal.find_client(start_authorization.client_id, start_authorization.document);
begin
  perform internal.check_redirect_uri(client.redirect_uris, start_authorization.redirect_uri);
  perform internal.count_by_address('connect', start_authorization.address, start_authorization.connections_per_hour,
    'too_many_authorizations_of_address');
  insert into market.oauth_grant (agent_id, client_id, redirect_uri, code_challenge, signs, state)
  values (
    internal.create_agent(left(internal.clean_name(client.name), 80), null, start_authorization.secret_hash,
      start_authorization.code, start_authorization.address, null),
    start_authorization.client_id, start_authorization.redirect_uri, start_authorization.code_challenge, client.signs,
    start_authorization.state);
  return jsonb '{}';
end
$$;
comment on function api.start_authorization(text, jsonb, text, text, text, bytea, text, text, integer) is
  'Creates an agent without a token, and the link of the page on which a person decides. Needs no claims. Raises 400 '
  'when the client is unknown or has not registered the redirect URI, and 429 when the address created too many '
  'agents.';

create or replace function api.find_grant(client_id text, code_hash bytea, family_hash bytea, token_hash bytea)
  returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object('found', count(*) > 0, 'signs', bool_or(g.signs))
  from market.oauth_grant g
  where g.client_id = find_grant.client_id
    and (g.code_hash = find_grant.code_hash or g.family_hash = find_grant.family_hash
      or g.agent_id = (select a.id from market.agent a where a.token_hash = find_grant.token_hash));
end
$$;
comment on function api.find_grant(text, bytea, bytea, bytea) is
  'Returns whether a code or token belongs to a client, and whether that has to sign: {found, signs}. Keys are fetched '
  'only for a grant that is found, so that nobody makes this service call an address of which no person approved.';

create or replace function api.exchange_code(
  code_hash bytea, client_id text, redirect_uri text, code_challenge text, token_hash bytea, family_hash bytea,
  refresh_token_hash bytea, proof jsonb
) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  agent market.agent;
  granted market.oauth_grant;
  fault text;
begin
  select a.* into agent from market.agent a join market.oauth_grant g on g.agent_id = a.id
  where g.code_hash = exchange_code.code_hash for update of a;
  select * into granted from market.oauth_grant g where g.agent_id = agent.id;
  if agent.id is null or agent.removed_at is not null then
    return internal.oauth_error('invalid_grant', 'oauth_code_unknown');
  end if;
  if granted.client_id = exchange_code.client_id then
    fault := internal.assertion_fault(granted, exchange_code.proof);
  end if;
  if fault is not null then
    return internal.oauth_error('invalid_client', fault);
  end if;
  -- Whatever is wrong, somebody else may have the code, too. So neither the code nor its tokens work any more.
  if granted.code_used_at is not null or granted.code_expires_at <= now()
      or granted.client_id <> exchange_code.client_id or granted.code_challenge <> exchange_code.code_challenge
      or granted.redirect_uri <> exchange_code.redirect_uri then
    perform internal.end_grant(agent);
    return internal.oauth_error('invalid_grant', case
      when granted.code_used_at is not null
        then 'oauth_code_used'
      when granted.code_expires_at <= now() then 'oauth_code_expired'
      when granted.client_id <> exchange_code.client_id then 'oauth_code_of_other_client'
      when granted.code_challenge <> exchange_code.code_challenge
        then 'oauth_verifier_wrong' else 'oauth_redirect_uri_wrong' end);
  end if;
  update market.oauth_grant g set code_used_at = now() where g.agent_id = agent.id;
  update market.oauth_client c set finished_at = now()
  where c.id = internal.registered_id(granted.client_id) and c.finished_at is null;
  return internal.give_tokens(agent.id, exchange_code.token_hash, exchange_code.family_hash,
    exchange_code.refresh_token_hash);
end
$$;
comment on function api.exchange_code(bytea, text, text, text, bytea, bytea, bytea, jsonb) is
  'Exchanges an authorization code for tokens. The service made the tokens and passes only their hashes. Returns '
  '{expires_in, scope}, or {error, error_description}. A code works once, for 60 seconds, and only for the client that '
  'began with this challenge; any other use ends the grant, but for one without the proof that the client has to give. '
  'A null redirect_uri is not compared.';

create or replace function api.refresh_token(
  family_hash bytea, refresh_token_hash bytea, client_id text, new_token_hash bytea, new_refresh_token_hash bytea,
  proof jsonb
) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  agent market.agent;
  granted market.oauth_grant;
  fault text;
begin
  select a.* into agent from market.agent a join market.oauth_grant g on g.agent_id = a.id
  where g.family_hash = refresh_token.family_hash for update of a;
  select * into granted from market.oauth_grant g where g.agent_id = agent.id;
  if agent.id is null or agent.removed_at is not null or granted.client_id <> refresh_token.client_id then
    return internal.oauth_error('invalid_grant', 'refresh_token_unknown');
  end if;
  fault := internal.assertion_fault(granted, refresh_token.proof);
  if fault is not null then
    return internal.oauth_error('invalid_client', fault);
  elsif granted.refresh_token_hash <> refresh_token.refresh_token_hash then
    -- Two have used the token, and nobody knows which of them is the client.
    perform internal.end_grant(agent);
    return internal.oauth_error('invalid_grant', 'refresh_token_used');
  end if;
  update market.oauth_grant g set refreshed_at = now() where g.agent_id = agent.id;
  return internal.give_tokens(agent.id, refresh_token.new_token_hash, refresh_token.family_hash,
    refresh_token.new_refresh_token_hash);
end
$$;
comment on function api.refresh_token(bytea, bytea, text, bytea, bytea, jsonb) is
  'Exchanges a refresh token for new tokens. The service made the tokens and passes only their hashes. Returns '
  '{expires_in, scope}, or {error, error_description}. A refresh token works once; one that is used again ends the '
  'grant.';

create or replace function api.revoke_token(token_hash bytea, family_hash bytea, client_id text, proof jsonb)
  returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  agent market.agent;
  granted market.oauth_grant;
  fault text;
begin
  if revoke_token.family_hash is not null then
    select a.* into agent from market.agent a join market.oauth_grant g on g.agent_id = a.id
    where g.family_hash = revoke_token.family_hash and g.client_id = coalesce(revoke_token.client_id, g.client_id)
    for update of a;
  else
    select a.* into agent from market.agent a join market.oauth_grant g on g.agent_id = a.id
    where a.token_hash = revoke_token.token_hash and g.client_id = coalesce(revoke_token.client_id, g.client_id)
    for update of a;
  end if;
  if agent.id is null then
    return jsonb '{}';
  end if;
  select * into granted from market.oauth_grant g where g.agent_id = agent.id;
  fault := internal.assertion_fault(granted, revoke_token.proof);
  if fault is not null then
    return internal.oauth_error('invalid_client', fault);
  elsif revoke_token.family_hash is not null then
    perform internal.end_grant(agent);
  else
    update market.agent a set token_hash = null, token_expires_at = null where a.id = agent.id;
  end if;
  return jsonb '{}';
end
$$;
comment on function api.revoke_token(bytea, bytea, text, jsonb) is
  'Revokes a token of OAuth (RFC 7009): an access token by its hash alone, or a refresh token by the hash of its '
  'family, which ends the grant. Does nothing when the token is unknown or belongs to another client. Returns {}, or '
  '{error, error_description} when the client has to prove itself and did not.';
