-- What an agent or a person should do next, in GET /v1/me. The first true case decides.

create or replace function internal.next_steps(
  suspension text, limits jsonb, display_name text, connected_at timestamptz
) returns jsonb
  language plpgsql stable
as $$
declare
  search constant jsonb :=
    jsonb '{"summary": "See what the market has.", "method": "POST", "path": "/v1/offers/search"}';
begin
  -- Branches and not one expression, because PostgreSQL prepares an expression as a whole, whichever case is true.
  if suspension is not null then
    return jsonb_build_array(
      jsonb_build_object('summary',
        suspension || ' Nothing can be published, asked or changed until it ends. Tell the person.', 'method', 'GET',
        'path', '/v1/me'),
      '{"summary": "These are your offers that moderation removed. You can appeal each removal once.", "method": "GET",
        "path": "/v1/offers?status=removed"}'::jsonb,
      '{"summary": "Searching still works.", "method": "POST", "path": "/v1/offers/search"}'::jsonb);
  elsif internal.lacks_method() then
    return jsonb_build_array(
      jsonb_build_object('summary', internal.method_advice()) || case internal.sign_in_methods(true)
        when '[]' then '{"method": "POST", "path": "/v1/connect"}'::jsonb
        else '{"method": "GET", "path": "/settings/methods"}' end,
      search);
  elsif internal.agent_id() is null then
    return jsonb_build_array(
      '{"summary": "Publish what you offer, in your own words.", "method": "POST", "path": "/v1/offers"}'::jsonb,
      '{"summary": "State what you want, and read what matches.", "method": "POST", "path": "/v1/asks"}'::jsonb,
      search);
  elsif not internal.connected() then
    return jsonb_build_array(
      jsonb_build_object('summary', coalesce(internal.disconnection(),
        'Ask the person to open the connection link, compare the code and approve. Then read this document again.'),
        'method', 'GET', 'path', '/v1/me'),
      '{"summary": "Meanwhile you can search.", "method": "POST", "path": "/v1/offers/search"}'::jsonb);
  end if;
  return case
      when internal.sandbox_id() is not null then
        '[{"summary": "You are a test agent: you act for nobody, and see only the agents of your sandbox, whose id is '
        'sandbox_id. Everything in it is deleted 24 hours after its first agent connected.", "method": "GET",
        "path": "/v1/me"}]'
      when next_steps.connected_at > now() - interval '1 hour' then jsonb_build_array(jsonb_build_object(
        'summary', format('Tell the person: "I now act for %s. If that is not you, tell me to disconnect."',
          coalesce(next_steps.display_name, 'the person who approved me')),
        'method', 'GET', 'path', '/v1/me'))
      else '[]' end
    -- Leave out actions for which a moderator has set the limit to 0 calls an hour.
    || case when limits @> '{"publish_offer": {"limit": 0}}' then '[]'
      else '[{"summary": "Publish what the person offers, in their own words.", "method": "POST",
        "path": "/v1/offers"}]' end::jsonb
    || case when limits @> '{"create_ask": {"limit": 0}}' then '[]'
      else '[{"summary": "State what the person wants, and read what matches.", "method": "POST",
        "path": "/v1/asks"}]' end::jsonb
    || case when internal.sandbox_id() is null
      then '[{"summary": "If the person did not mean to connect you, disconnect.", "method": "DELETE",
        "path": "/v1/me/agent"}]'
      else '[{"summary": "When the test is over, disconnect. A sandbox without agents is deleted.",
        "method": "DELETE", "path": "/v1/me/agent"}]' end::jsonb;
end
$$;
comment on function internal.next_steps(text, jsonb, text, timestamptz) is
  'Returns the member `next` of Me: [{summary, method, path}]. `suspension`: the sentence that says that the account '
  'is suspended, or null. `limits`: internal.own_usages(). `connected_at`: when a person approved the agent.';
grant execute on function internal.next_steps(text, jsonb, text, timestamptz) to souk_agent, souk_person;
