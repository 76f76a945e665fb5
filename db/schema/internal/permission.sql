-- What an agent may do: everything that only reads, and everything else once a person has approved it and while the
-- account is not suspended.

create or replace function internal.require_connected(permission text, headers jsonb default '{}') returns void
  language plpgsql stable
as $$
begin
  if not internal.connected() then
    perform internal.raise_problem(403, 'verification_required',
      'No person has approved this agent yet. Ask the person you act for to open the connection link and compare the code; then try again.',
      jsonb_build_object(
        'headers', headers,
        'permission', permission,
        'connected', false,
        'verified', internal.verified_methods(),
        -- No permission requires a method at present, so no method would lift the refusal.
        'accepted_methods', '[]'::jsonb,
        'options', '[]'::jsonb,
        'next', jsonb_build_array(jsonb_build_object(
          'summary', 'Ask the person to open the connection link you were given, then read your permissions.',
          'method', 'GET', 'path', '/v1/me'))));
  end if;
  perform internal.require_good_standing(require_connected.headers);
end
$$;
comment on function internal.require_connected(text, jsonb) is
  'Refuses with 403 verification_required, naming the permission, until a person has approved the agent, and with 409 invalid_state while the account is suspended.';
grant execute on function internal.require_connected(text, jsonb) to souk_agent, souk_person;
