-- What a caller may do. market.permission says what each permission needs. GET /v1/me lists them, and each function
-- that needs a permission checks it here.

create or replace function internal.require_connected(permission text, headers jsonb default '{}') returns void
  language plpgsql stable
as $$
begin
  if not internal.connected() then
    perform internal.raise_problem(403, 'verification_required',
      (select p.detail from market.permission p where p.permission = require_connected.permission),
      jsonb_build_object(
        'headers', headers,
        'permission', permission,
        'connected', false,
        'verified', internal.verified_methods(),
        -- At present no permission requires a sign-in method, so proving one would not help.
        'accepted_methods', '[]'::jsonb,
        'options', '[]'::jsonb,
        'next', jsonb_build_array(jsonb_build_object(
          'summary', 'Ask the person to open the connection link you were given, then read your permissions.',
          'method', 'GET', 'path', '/v1/me'))));
  end if;
end
$$;
comment on function internal.require_connected(text, jsonb) is
  'Raises 403 verification_required, with the permission''s name, when no person has approved the agent.';
grant execute on function internal.require_connected(text, jsonb) to souk_agent, souk_person;

create or replace function internal.require_permission(permission text, headers jsonb default '{}') returns void
  language plpgsql stable
as $$
declare
  needed market.permission;
begin
  select * into strict needed from market.permission p where p.permission = require_permission.permission;
  if needed.needs_approval then
    perform internal.require_connected(needed.permission, require_permission.headers);
  end if;
  if needed.writes then
    perform internal.require_good_standing(require_permission.headers);
  end if;
end
$$;
comment on function internal.require_permission(text, jsonb) is
  'Checks that the caller has a permission. Raises 403 verification_required when no person has approved the agent, '
  'and 409 invalid_state when the permission is to write and the account is suspended.';
grant execute on function internal.require_permission(text, jsonb) to souk_agent, souk_person;

create or replace function internal.permissions(suspension text) returns jsonb
  language plpgsql stable
as $$
declare
  connected constant boolean := internal.connected();
begin
  return (
    select jsonb_object_agg(p.permission, case
      when p.needs_approval and not connected
        then jsonb_build_object('allowed', false, 'accepted_methods', '[]'::jsonb, 'summary', p.summary)
      when p.writes and suspension is not null
        then jsonb_build_object('allowed', false, 'accepted_methods', '[]'::jsonb, 'summary', suspension)
      else jsonb_build_object('allowed', true) end)
    from market.permission p);
end
$$;
comment on function internal.permissions(text) is
  'Returns the caller''s permissions by name: {allowed}, and for a refused permission also accepted_methods and '
  'summary. `suspension` is the summary to use while the account is suspended, and null otherwise.';
grant execute on function internal.permissions(text) to souk_agent, souk_person;
