-- What an agent or a person should do next, in GET /v1/me. The first true case decides.

create or replace function internal.next_steps(
  suspension text, limits jsonb, display_name text, connected_at timestamptz
) returns jsonb
  language plpgsql stable
as $$
begin
  -- Branches and not one expression, because PostgreSQL prepares an expression as a whole, whichever case is true.
  if suspension is not null then
    return jsonb_build_array(
      internal.next_step('next_of_suspended', 'GET', '/v1/me', jsonb_build_object('suspension', suspension)),
      internal.next_step('next_appeal', 'GET', '/v1/offers?status=removed'),
      internal.next_step('next_search_still', 'POST', '/v1/offers/search'));
  elsif internal.lacks_method() then
    return jsonb_build_array(
      case internal.sign_in_methods(true)
        when '[]' then internal.next_step(internal.method_advice(), 'POST', '/v1/connect')
        else internal.next_step(internal.method_advice(), 'GET', '/settings/methods') end,
      internal.next_step('next_search', 'POST', '/v1/offers/search'));
  elsif internal.agent_id() is null then
    return jsonb_build_array(
      internal.next_step('next_publish_own', 'POST', '/v1/offers'),
      internal.next_step('next_ask_own', 'POST', '/v1/asks'),
      internal.next_step('next_search', 'POST', '/v1/offers/search'));
  elsif not internal.connected() then
    return jsonb_build_array(
      internal.approval_step('next_approval'),
      internal.next_step('next_search_meanwhile', 'POST', '/v1/offers/search'));
  end if;
  return case
      when internal.sandbox_id() is not null
        then jsonb_build_array(internal.next_step('next_in_sandbox', 'GET', '/v1/me'))
      when next_steps.connected_at > now() - interval '1 hour' then jsonb_build_array(case
        when next_steps.display_name is null then internal.next_step('next_tell_approver', 'GET', '/v1/me')
        else internal.next_step('next_tell_person', 'GET', '/v1/me') end)
      else '[]' end
    -- Leave out actions for which a moderator has set the limit to 0 calls an hour.
    || case when limits @> '{"publish_offer": {"limit": 0}}' then '[]'
      else jsonb_build_array(internal.next_step('next_publish', 'POST', '/v1/offers')) end
    || case when limits @> '{"create_ask": {"limit": 0}}' then '[]'
      else jsonb_build_array(internal.next_step('next_ask', 'POST', '/v1/asks')) end
    || jsonb_build_array(case when internal.sandbox_id() is null
      then internal.next_step('next_disconnect', 'DELETE', '/v1/me/agent')
      else internal.next_step('next_end_test', 'DELETE', '/v1/me/agent') end);
end
$$;
comment on function internal.next_steps(text, jsonb, text, timestamptz) is
  'Returns the member `next` of Me: [{summary, method, path}]. `suspension`: the sentence that says that the account '
  'is suspended, or null. `limits`: internal.own_usages(). `connected_at`: when a person approved the agent.';
grant execute on function internal.next_steps(text, jsonb, text, timestamptz) to souk_agent, souk_person;
