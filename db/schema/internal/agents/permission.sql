-- What a caller may do. market.permission says what each permission needs. GET /v1/me lists them, and each function
-- that needs a permission checks it here.

create or replace function internal.approval_obstacle() returns text
  language sql stable
as $$
  select case when internal.link_is_over() then internal.sentence('next_new_link') else internal.disconnection() end
$$;
comment on function internal.approval_obstacle() is
  'Returns the sentence for an agent that no person approved and whose link cannot approve it; null when the link can.';
grant execute on function internal.approval_obstacle() to souk_agent, souk_person;

create or replace function internal.approval_step(with_link text) returns jsonb
  language sql stable
as $$
  select case when internal.link_is_over() then internal.next_step('next_new_link', 'POST', '/v1/connect')
    else internal.next_step(coalesce(internal.disconnection(), approval_step.with_link), 'GET', '/v1/me') end
$$;
comment on function internal.approval_step(text) is
  'Returns what an agent that no person approved does next: {summary, method, path}. with_link: the name of the '
  'sentence while its link works.';
grant execute on function internal.approval_step(text) to souk_agent, souk_person;

create or replace function internal.require_connected(permission text, headers jsonb default '{}') returns void
  language plpgsql stable
as $$
begin
  if not internal.connected() then
    perform internal.raise_problem(403, 'verification_required',
      coalesce(internal.approval_obstacle(),
        (select p.detail from market.permission p where p.permission = require_connected.permission)),
      extra => jsonb_build_object(
        'headers', headers,
        'permission', permission,
        'connected', false,
        'verified', internal.verified_methods(),
        -- Proving a sign-in method would not help: a person has to approve the agent.
        'accepted_methods', '[]'::jsonb,
        'options', '[]'::jsonb,
        'next', jsonb_build_array(internal.approval_step('next_connection_link'))));
  end if;
end
$$;
comment on function internal.require_connected(text, jsonb) is
  'Raises 403 verification_required, with the permission''s name, when no person has approved the agent.';
grant execute on function internal.require_connected(text, jsonb) to souk_agent, souk_person;

create or replace function internal.lacks_method() returns boolean
  language sql stable
as $$ select internal.session_id() is not null and internal.verified_methods() = '[]' $$;
comment on function internal.lacks_method() is
  'Returns whether the caller is a person in the browser whose account has proved no sign-in method.';
grant execute on function internal.lacks_method() to souk_agent, souk_person;

create or replace function internal.method_advice() returns text
  language sql stable
as $$
  select internal.sentence(case internal.sign_in_methods(true) when '[]' then 'method_needed_and_none_offered'
    else 'method_needed' end)
$$;
comment on function internal.method_advice() is
  'Returns the sentence for a person in the browser whose account has proved no sign-in method: why the call is '
  'refused and what to do.';
grant execute on function internal.method_advice() to souk_agent, souk_person;

create or replace function internal.require_method(permission text, headers jsonb default '{}') returns void
  language plpgsql stable
as $$
declare
  methods constant jsonb := internal.sign_in_methods(true);
begin
  if internal.lacks_method() then
    perform internal.raise_problem(403, 'verification_required', internal.method_advice(),
      extra => jsonb_build_object(
        'headers', headers,
        'permission', permission,
        'connected', true,
        'verified', '[]'::jsonb,
        'accepted_methods', methods,
        'options', (
          select coalesce(jsonb_agg(jsonb_build_object('method', m.method,
            'summary', internal.sentence('add_method', jsonb_build_object('method', internal.method_name(m.method))),
            'call', jsonb_build_object('method', 'GET', 'path', '/settings/methods')) order by m.position), '[]')
          from market.sign_in_method m where m.available),
        'next', jsonb_build_array(case methods when '[]' then
          internal.next_step('next_create_agent', 'POST', '/v1/connect')
          else internal.next_step('next_add_method', 'GET', '/settings/methods') end)));
  end if;
end
$$;
comment on function internal.require_method(text, jsonb) is
  'Raises 403 verification_required, with the permission''s name, when the caller is a person in the browser whose '
  'account has proved no sign-in method. `options` names the page where each method is added.';
grant execute on function internal.require_method(text, jsonb) to souk_agent, souk_person;

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
  if needed.needs_method then
    perform internal.require_method(needed.permission, require_permission.headers);
  end if;
  if needed.power is not null then
    perform internal.require_power(needed.power, require_permission.headers);
  end if;
  if needed.writes then
    perform internal.require_good_standing(require_permission.headers);
  end if;
end
$$;
comment on function internal.require_permission(text, jsonb) is
  'Checks that the caller has a permission. Raises 403 verification_required when no person has approved the agent, or '
  'when the permission needs a sign-in method and the person in the browser has proved none, 403 power_required when '
  'the person does not let the agent do it, and 409 invalid_state when the permission is one that writes and the '
  'account is suspended.';
grant execute on function internal.require_permission(text, jsonb) to souk_agent, souk_person;

create or replace function internal.own_ceiling(permission text) returns jsonb
  language plpgsql stable
as $$
declare
  agree constant jsonb := case when permission = 'agree' and internal.agent_id() is not null
    and internal.sandbox_id() is null
    then internal.power_document(internal.power_of(internal.agent_id(), 'agree')) end;
begin
  return case when agree is null then '{}' else jsonb_strip_nulls(jsonb_build_object(
    'needs_confirmation', agree ->> 'allowed' = 'ask_me', 'ceiling', agree -> 'ceiling')) end;
end
$$;
comment on function internal.own_ceiling(text) is
  'Returns how far the calling agent may agree alone: {needs_confirmation, ceiling}; {} for other permissions.';
grant execute on function internal.own_ceiling(text) to souk_agent, souk_person;

create or replace function internal.permissions(suspension text) returns jsonb
  language plpgsql stable
as $$
declare
  connected constant boolean := internal.connected();
  obstacle constant text := case when not connected then internal.approval_obstacle() end;
  lacks_method constant boolean := internal.lacks_method();
begin
  return (
    select jsonb_object_agg(p.permission, case
      when p.needs_approval and not connected
        then jsonb_build_object('allowed', false, 'accepted_methods', '[]'::jsonb,
          'summary', coalesce(obstacle, p.summary))
      when p.needs_method and lacks_method
        then jsonb_build_object('allowed', false, 'accepted_methods', internal.sign_in_methods(true),
          'summary', internal.method_advice())
      when connected and internal.agent_id() is not null
        and (internal.power_of(internal.agent_id(), p.power)).allowed = 'never'
        then jsonb_build_object('allowed', false, 'accepted_methods', '[]'::jsonb,
          'summary', internal.sentence('power_never'))
      when p.writes and suspension is not null
        then jsonb_build_object('allowed', false, 'accepted_methods', '[]'::jsonb, 'summary', suspension)
      else jsonb_build_object('allowed', true) || internal.own_ceiling(p.permission) end)
    from market.permission p);
end
$$;
comment on function internal.permissions(text) is
  'Returns the caller''s permissions by name: {allowed}, and for a refused permission also accepted_methods and '
  'summary. `suspension` is the summary to use while the account is suspended, and null otherwise.';
grant execute on function internal.permissions(text) to souk_agent, souk_person;
