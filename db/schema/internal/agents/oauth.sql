-- What the functions of OAuth share: which addresses a browser may be sent back to, how a client proves itself, and how
-- a grant ends. A grant is an
-- agent, so it ends by the removal of the agent, which ends all its tokens at once.

create or replace function internal.redirect_uri_fault(uri text) returns text
  language sql immutable
as $$
  select case
    when uri is null or char_length(uri) > 2000 or uri !~ '^[A-Za-z0-9._~:/?@!$&''()*+,;=%\[\]-]+$'
      then 'redirect_uri_characters'
    -- No "@": a browser would take what stands before it as a user name, and go to the host after it.
    when uri ~ '^https://[A-Za-z0-9.-]+(:[0-9]{1,5})?([/?]|$)' then null
    when uri ~ '^http://(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?([/?]|$)' then null
    -- A scheme that a browser or the system opens itself names no app, and another browser would open the address in
    -- it. No list of browsers is complete, so an app's URI contains no other address, and the page of the person shows
    -- the whole URI.
    when internal.lower_case(uri)
      ~ ('^(https?|javascript|data|vbscript|file|filesystem|blob|about|view-source|ftp|wss?|mailto|tel|sms|ssh|sftp'
        '|intent|android-app|jar|feed|resource|shell|search|search-ms|ms-[a-z0-9-]+|shortcuts|itms(-[a-z]+)?|devtools'
        '|chrome|edge|(chrome|moz|safari-web)-extension|[a-z0-9.+-]+-https?|googlechromes?(-[a-z-]+)?|chromium'
        '|firefox(-[a-z-]+)?|microsoft-edge|brave(browser)?|vivaldi|opera[a-z-]*|duckduckgo|ddgquicklink|ddglaunch'
        '|ya(ndex)?browser(-[a-z-]+)?|ucbrowser|mqqbrowser|mttbrowser|samsunginternet|baidu[a-z]*|quark|ohttps?'
        '|puffins?|dolphin|maxthon|icab(mobile)?|arc|ecosia|orion|aloha(browser)?|kiwi(browser)?|ghostery|coast|safari'
        '|torbrowser|x-web-search):')
        or internal.lower_case(uri) ~ '^[a-z][a-z0-9+.-]+:.*(:|%(25)*3a)(/|%(25)*2f)'
      then 'redirect_uri_scheme'
    when uri ~ '^[a-z][a-z0-9+.-]+:/' then null
    else 'redirect_uri_not_whole' end
$$;
comment on function internal.redirect_uri_fault(text) is
  'Returns what is wrong with a redirect URI that a client names; null when a browser may be sent there.';

create or replace function internal.is_redirect_uri(registered text[], given text) returns boolean
  language sql immutable
as $$
  -- A program on the person's computer listens on whatever port is free (RFC 8252, section 7.3).
  select internal.redirect_uri_fault(given) is null and exists (
    select from unnest(registered) as r (uri)
    where internal.redirect_uri_fault(r.uri) is null and (r.uri = given
      or given ~ '^http://(localhost|127\.0\.0\.1|\[::1\])[:/?]'
        and regexp_replace(r.uri, '^(http://(localhost|127\.0\.0\.1|\[::1\])):[0-9]+', '\1')
          = regexp_replace(given, '^(http://(localhost|127\.0\.0\.1|\[::1\])):[0-9]+', '\1')))
$$;
comment on function internal.is_redirect_uri(text[], text) is
  'Returns whether a redirect URI is one of those that the client registered: exactly, except for the port on the '
  'person''s own computer.';

create or replace function internal.registered_id(client_id text) returns uuid
  language sql immutable
as $$
  select case when client_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then client_id::uuid end
$$;
comment on function internal.registered_id(text) is
  'Returns the id of the market.oauth_client that a client_id may name; null when it has another form.';

create or replace function internal.find_client(
  client_id text, document jsonb, out name text, out redirect_uris text[], out signs boolean
)
  language plpgsql stable
as $$
declare
  -- Whatever the client prefers: it is served by the least that it allows.
  methods constant text[] :=
    array(select jsonb_array_elements_text(coalesce(find_client.document -> 'auth_methods', '["none"]')));
begin
  signs := not 'none' = any (methods);
  if signs and not ('private_key_jwt' = any (methods) and (find_client.document ->> 'can_sign')::boolean is true) then
    perform internal.raise_problem(400, 'bad_request', 'oauth_client_without_proof',
      extra => '{"error": "invalid_client"}');
  end if;
  if find_client.document is not null then
    name := find_client.document ->> 'client_name';
    redirect_uris := array(select jsonb_array_elements_text(find_client.document -> 'redirect_uris'));
  else
    select c.name, c.redirect_uris into name, redirect_uris
    from market.oauth_client c where c.id = internal.registered_id(find_client.client_id);
  end if;
  if redirect_uris is null then
    perform internal.raise_problem(400, 'bad_request', 'oauth_client_unknown',
      extra => '{"error": "invalid_client"}');
  end if;
end
$$;
comment on function internal.find_client(text, jsonb) is
  'Returns the name and the redirect URIs of a client: those in the document that it publishes, or as it registered; '
  'and whether it has to sign, because PKCE alone is not enough for it. Raises 400 when it is unknown, or allows no '
  'way to prove itself.';

create or replace function internal.assertion_fault(granted market.oauth_grant, proof jsonb) returns text
  language plpgsql volatile
as $$
declare
  claims constant jsonb := proof -> 'claims';
  issuer constant text := proof ->> 'issuer';
  -- Clocks of clients differ from ours.
  leeway constant integer := 60;
  -- Ten times what clients use. As long, the jti is remembered.
  longest constant integer := 3600;
  epoch constant numeric := extract(epoch from now());
begin
  if claims is null then
    return case when granted.signs then 'assertion_missing' end;
  elsif claims ->> 'iss' <> granted.client_id or claims ->> 'sub' <> granted.client_id then
    return 'assertion_of_other_client';
  -- Older clients name the endpoint (RFC 7523, section 3).
  elsif claims ->> 'aud' not in (issuer, issuer || '/', issuer || '/oauth/token') then
    return 'assertion_for_other_audience';
  elsif (claims ->> 'exp')::numeric <= epoch - leeway then
    return 'assertion_expired';
  elsif (claims ->> 'exp')::numeric > epoch + longest or (claims ->> 'iat')::numeric < epoch - longest
      or (claims ->> 'iat')::numeric > epoch + leeway or (claims ->> 'nbf')::numeric > epoch + leeway then
    return 'assertion_times_wrong';
  end if;
  insert into market.used_assertion (hash, expires_at)
  values (sha256(convert_to(format('%s %s', granted.client_id, claims ->> 'jti'), 'UTF8')),
    to_timestamp(((claims ->> 'exp')::numeric + leeway)::double precision))
  on conflict do nothing;
  return case when not found then 'assertion_used' end;
end
$$;
comment on function internal.assertion_fault(market.oauth_grant, jsonb) is
  'Returns the sentence for what is wrong with the proof of a grant''s client; null if nothing is. The proof has the '
  'address of this service (issuer) and the claims of the client''s assertion, whose signature was checked (RFC 7523); '
  'it is null if the client sent none. An assertion counts once, and is noted as used.';

create or replace function internal.check_redirect_uri(redirect_uris text[], redirect_uri text) returns void
  language plpgsql stable
as $$
begin
  if not internal.is_redirect_uri(check_redirect_uri.redirect_uris, check_redirect_uri.redirect_uri) then
    perform internal.raise_problem(400, 'bad_request', 'redirect_uri_not_registered',
      extra => '{"error": "invalid_request"}');
  end if;
end
$$;
comment on function internal.check_redirect_uri(text[], text) is
  'Raises 400 when the redirect URI of a request is not one of its client''s.';

create or replace function internal.oauth_error(error text, sentence text) returns jsonb
  language sql stable
as $$ select jsonb_build_object('error', error, 'error_description', internal.sentence(sentence)) $$;
comment on function internal.oauth_error(text, text) is
  'Returns an error of OAuth. It is returned and not raised, because its consequences must be committed.';

create or replace function internal.end_grant(agent market.agent) returns void
  language plpgsql volatile
as $$
begin
  -- The audit log names the agent itself, because its client called.
  perform set_config('market.agent_id', coalesce(agent.id::text, ''), true),
    set_config('market.account_id', coalesce(agent.account_id::text, ''), true);
  update market.agent a set removed_at = now() where a.id = agent.id and a.removed_at is null;
end
$$;
comment on function internal.end_grant(market.agent) is
  'Ends a grant in the name of its client: removes the agent, so that none of its tokens works. The caller has locked '
  'the agent. Nulls end nothing.';

create or replace function internal.give_tokens(
  agent_id uuid, token_hash bytea, family_hash bytea, refresh_token_hash bytea
) returns jsonb
  language plpgsql volatile
as $$
declare
  hour constant integer := 3600;
begin
  -- The previous access token ends. So a client has one at a time, and counts as one caller.
  update market.agent a
  set token_hash = give_tokens.token_hash, token_expires_at = now() + make_interval(secs => hour), used_at = now()
  where a.id = give_tokens.agent_id;
  update market.oauth_grant g
  set family_hash = give_tokens.family_hash, refresh_token_hash = give_tokens.refresh_token_hash, state = null
  where g.agent_id = give_tokens.agent_id;
  return jsonb_build_object('expires_in', hour, 'scope', 'market');
end
$$;
comment on function internal.give_tokens(uuid, bytea, bytea, bytea) is
  'Gives an agent another access token, which lasts an hour, and another refresh token. Returns {expires_in, scope}.';
