-- Verifications: their status changes, their links, and the available and the proved sign-in methods.

create or replace function internal.keep_final_verification() returns trigger
  language plpgsql volatile
as $$
begin
  if old.status <> 'pending' then
    perform internal.raise_problem(409, 'invalid_state',
      'verification_final', jsonb_build_object('status', old.status));
  end if;
  return new;
end
$$;
comment on function internal.keep_final_verification() is
  'Refuses to change a completed, expired or cancelled verification (409 invalid_state).';
grant execute on function internal.keep_final_verification() to souk_agent, souk_person;

create or replace function internal.verification_secret(link_key bytea, verification_id uuid) returns text
  language sql immutable parallel safe
as $$
  -- The link key is derived from the agent's token. So the agent can get the same link again, although the database
  -- stores no secret.
  select encode(sha256(verification_secret.link_key || uuid_send(verification_secret.verification_id)), 'hex')
$$;
comment on function internal.verification_secret(bytea, uuid) is
  'Returns the secret in a verification''s link: SHA-256 over the agent''s link key and the verification''s id, in '
  'hex.';
grant execute on function internal.verification_secret(bytea, uuid) to souk_agent, souk_person;

create or replace function internal.makes_link(verification market.verification, link_key bytea) returns boolean
  language sql immutable parallel safe
as $$
  select coalesce(verification.secret_hash
    = sha256(convert_to(internal.verification_secret(makes_link.link_key, verification.id), 'UTF8')), false)
$$;
comment on function internal.makes_link(market.verification, bytea) is
  'Returns whether a verification''s link is the one that is derived from this link key.';
grant execute on function internal.makes_link(market.verification, bytea) to souk_agent, souk_person;

create or replace function internal.renew_link(verification_id uuid, link_key bytea) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  update market.verification v
  set secret_hash = sha256(convert_to(internal.verification_secret(renew_link.link_key, v.id), 'UTF8'))
  where v.id = renew_link.verification_id and v.agent_id = internal.agent_id() and v.status = 'pending'
    and not internal.makes_link(v, renew_link.link_key);
end
$$;
comment on function internal.renew_link(uuid, bytea) is
  'Gives a pending verification of the calling agent a new link, if the present token of the agent does not make its '
  'link: access tokens of OAuth change. The former link ends.';
grant execute on function internal.renew_link(uuid, bytea) to souk_agent;

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
    'summary', internal.sentence(case status
      when 'pending' then 'verification_pending'
      when 'completed' then 'verification_completed'
      when 'expired' then 'verification_expired'
      else 'verification_cancelled' end))
    -- Another agent of the account sees the verification, but cannot make its link. Nor can the agent itself with a
    -- later access token of OAuth (api.start_verification).
    || case when status = 'pending' and verification.agent_id = internal.agent_id()
      and internal.makes_link(verification, link_key) then jsonb_build_object('url',
      verification_document.base_url || '/verify/' || internal.verification_secret(link_key, verification.id))
      else '{}' end;
end
$$;
comment on function internal.verification_document(market.verification, text, bytea) is
  'Returns a verification as clients see it, with its link only while it is pending and to its own agent.';
grant execute on function internal.verification_document(market.verification, text, bytea) to souk_agent, souk_person;

create or replace function internal.sign_in_methods(available boolean) returns jsonb
  language plpgsql stable
as $$
begin
  return (select coalesce(jsonb_agg(m.method order by m.position), '[]')
    from market.sign_in_method m
    -- A test agent has no person who could prove one.
    where (m.available and internal.sandbox_id() is null) = sign_in_methods.available);
end
$$;
comment on function internal.sign_in_methods(boolean) is
  'Returns the sign-in methods that can be started now (true), or those that cannot (false).';
grant execute on function internal.sign_in_methods(boolean) to souk_agent, souk_person;

create or replace function internal.verified_methods() returns jsonb
  language plpgsql stable
as $$
begin
  return (select coalesce(jsonb_agg(p.method order by p.method), '[]')
    from market.proved_method p where p.account_id = (select internal.account_id()));
end
$$;
comment on function internal.verified_methods() is 'Returns the methods that the caller''s account has proved.';
grant execute on function internal.verified_methods() to souk_agent, souk_person;

create or replace function internal.own_methods(out verified jsonb, out available jsonb, out unavailable jsonb)
  language plpgsql stable
as $$
begin
  select coalesce(jsonb_agg(m.method order by m.method) filter (where p.method is not null), '[]'),
    coalesce(jsonb_agg(m.method order by m.position) filter (where m.can_start), '[]'),
    coalesce(jsonb_agg(m.method order by m.position) filter (where not m.can_start), '[]')
  into verified, available, unavailable
  from (select m.*, m.available and internal.sandbox_id() is null as can_start from market.sign_in_method m) as m
  left join market.proved_method p on p.method = m.method and p.account_id = internal.account_id();
end
$$;
comment on function internal.own_methods() is
  'Returns the sign-in methods that the caller''s account has proved (internal.verified_methods), those that can be '
  'started now and those that cannot (internal.sign_in_methods), in one query.';
grant execute on function internal.own_methods() to souk_agent, souk_person;
