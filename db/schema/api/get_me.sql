-- GET /v1/me: one document with everything that an agent needs to continue its work. The person's e-mail address and
-- phone number are in it only when the person calls from the browser. The role souk_agent may not call
-- internal.own_contact, so a mistake in this function cannot show them to an agent. The policies hide the account from
-- a disconnected agent, which therefore reads what an agent reads that nobody has approved.

create or replace function api.get_me(base_url text, link_key bytea) returns jsonb
  language plpgsql stable
as $$
declare
  agent market.agent;
  account market.account;
  stats market.account_stats;
  connected boolean := internal.connected();
  suspended boolean;
  suspension text;
  acts_for text;
  email text;
  phone text;
  limits jsonb;
begin
  if internal.agent_id() is null then
    select c.email, c.phone into email, phone from internal.own_contact() as c;
  end if;
  select a.id, a.account_id, a.name, null::bytea, a.created_at, a.connected_at, a.removed_at,
    a.disconnected_at, null::timestamptz, null::uuid into agent
  from market.agent a where a.id = internal.agent_id();
  select * into account from market.account a where a.id = internal.account_id();
  select * into stats from market.account_stats p where p.account_id = internal.visible_account_id();
  suspended := account.suspended_at is not null;
  suspension := 'This account is suspended by moderation. '
    || coalesce(account.suspension_note, 'The reason was not stated.');
  acts_for := coalesce(account.display_name, 'the person who approved me');
  limits := internal.own_usages();
  return jsonb_build_object(
    'id', internal.account_id(),
    'display_name', coalesce(account.display_name, ''),
    'account', jsonb_build_object(
      'connected', connected,
      'verified', internal.verified_methods(),
      'available_methods', internal.sign_in_methods(true),
      'unavailable_methods', internal.sign_in_methods(false),
      'published_offers', coalesce(stats.lifetime, 0),
      'member_since', internal.utc(coalesce(account.created_at, agent.created_at)),
      'profile_url', get_me.base_url || '/settings'),
    'permissions', internal.permissions(case when suspended then suspension end),
    'limits', limits,
    'pending_verifications', (
      select coalesce(jsonb_agg(internal.verification_document(v, get_me.base_url, get_me.link_key) order by v.id),
        '[]')
      from market.verification v
      where v.account_id = internal.account_id() and v.status = 'pending' and v.expires_at > now()),
    'activity', jsonb_build_object(
      'asks_active', (select count(*) from market.ask a where a.account_id = account.id and a.status = 'active'),
      'offers_published', coalesce(stats.active, 0),
      'offers_pending_review',
      (select count(*) from market.offer o where o.account_id = account.id and o.status = 'pending_review')
      + (select count(*) from market.offer_change c where c.account_id = account.id and c.rejected_at is null)),
    'next', case
      when suspended then jsonb_build_array(
        jsonb_build_object('summary',
          suspension || ' Nothing can be published, asked or changed until it ends. Tell the person.', 'method', 'GET',
          'path', '/v1/me'),
        jsonb_build_object('summary', 'What moderation took down is among your offers, and can be appealed once each.',
          'method', 'GET', 'path', '/v1/offers?status=removed'),
        jsonb_build_object('summary', 'Searching still works.', 'method', 'POST', 'path', '/v1/offers/search'))
      when internal.lacks_method() then jsonb_build_array(
        case internal.sign_in_methods(true) when '[]'
          then jsonb_build_object('summary', internal.method_advice(), 'method', 'POST', 'path', '/v1/connect')
          else jsonb_build_object('summary', internal.method_advice(), 'method', 'GET', 'path',
            '/settings/methods') end,
        jsonb_build_object('summary', 'See what the market has.', 'method', 'POST', 'path', '/v1/offers/search'))
      when internal.agent_id() is null then jsonb_build_array(
        jsonb_build_object('summary', 'Publish what you offer, in your own words.', 'method', 'POST', 'path',
          '/v1/offers'),
        jsonb_build_object('summary', 'State what you want, and read what matches.', 'method', 'POST', 'path',
          '/v1/asks'),
        jsonb_build_object('summary', 'See what the market has.', 'method', 'POST', 'path', '/v1/offers/search'))
      when not connected then jsonb_build_array(
        jsonb_build_object('summary', coalesce(internal.disconnection(),
          'Ask the person to open the connection link, compare the code and approve. Then read this document again.'),
          'method', 'GET', 'path', '/v1/me'),
        jsonb_build_object('summary', 'Meanwhile you can search.', 'method', 'POST', 'path', '/v1/offers/search'))
      else case when internal.sandbox_id() is not null then jsonb_build_array(
        jsonb_build_object('summary',
          'You are a test agent: you act for nobody, and see only the agents of your sandbox, whose id is sandbox_id. '
          'Everything in it is deleted 24 hours after its first agent connected.', 'method', 'GET', 'path', '/v1/me'))
        when agent.connected_at > now() - interval '1 hour' then jsonb_build_array(
        jsonb_build_object('summary',
          format('Tell the person: "I now act for %s. If that is not you, tell me to disconnect."', acts_for), 'method',
          'GET', 'path', '/v1/me')) else '[]' end
      -- Leave out actions for which a moderator has set the limit to 0 calls an hour.
      || case when (limits -> 'publish_offer' ->> 'limit')::integer = 0 then '[]' else jsonb_build_array(
        jsonb_build_object('summary', 'Publish what the person offers, in their own words.', 'method', 'POST', 'path',
          '/v1/offers')) end
      || case when (limits -> 'create_ask' ->> 'limit')::integer = 0 then '[]' else jsonb_build_array(
        jsonb_build_object('summary', 'State what the person wants, and read what matches.', 'method', 'POST', 'path',
          '/v1/asks')) end
      || jsonb_build_array(
        jsonb_build_object('summary', case when internal.sandbox_id() is null
          then 'If the person did not mean to connect you, disconnect.'
          else 'When the test is over, disconnect. A sandbox without agents is deleted.' end, 'method', 'DELETE',
          'path', '/v1/me/agent')) end)
    || jsonb_strip_nulls(jsonb_build_object('sandbox_id', internal.sandbox_id()))
    || case when agent.id is not null
      then jsonb_build_object('agent', jsonb_build_object('id', agent.id, 'name', agent.name, 'connected', connected))
      else jsonb_strip_nulls(jsonb_build_object('email', email, 'phone', phone)) end;
end
$$;
comment on function api.get_me(text, bytea) is
  'Returns Me: account, permissions, limits, pending verifications, activity and next steps. For an agent it also '
  'contains agent. For a person it also contains email and phone.';
grant execute on function api.get_me(text, bytea) to souk_api;
