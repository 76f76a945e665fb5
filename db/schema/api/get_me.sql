-- GET /v1/me: one document with everything that an agent needs to continue its work. The person's e-mail address and
-- phone number are in it only when the person calls from the browser. The role souk_agent may not call
-- internal.own_contact, so a mistake in this function cannot show them to an agent. The policies hide the account from
-- a disconnected agent, which therefore reads only what an unapproved agent reads.

create or replace function api.get_me(base_url text, link_key bytea) returns jsonb
  language plpgsql stable
as $$
declare
  connected constant boolean := internal.connected();
  limits constant jsonb := internal.own_usages();
  own record;
  caller jsonb;
  methods record;
  suspension text;
begin
  -- One statement reads all rows of the caller, because starting a statement takes longer than reading a row.
  select c.account_id, c.agent_id, g.name as agent_name, g.created_at as agent_created_at, g.connected_at,
    a.display_name,
    a.created_at, a.suspended_at, a.suspension_note, coalesce(s.lifetime, 0) as lifetime,
    coalesce(s.active, 0) as active,
    (select count(*) from market.ask k where k.account_id = a.id and k.status = 'active') as asks,
    (select count(*) from market.offer o where o.account_id = a.id and o.status = 'pending_review')
      + (select count(*) from market.offer_change h where h.account_id = a.id and h.rejected_at is null) as in_review,
    (select coalesce(jsonb_agg(internal.verification_document(v, get_me.base_url, get_me.link_key) order by v.id), '[]')
      from market.verification v
      where v.account_id = c.account_id and v.status = 'pending' and v.expires_at > now()) as verifications
  into own
  from (select internal.account_id() as account_id, internal.agent_id() as agent_id) as c
  left join market.agent g on g.id = c.agent_id
  left join market.account a on a.id = c.account_id
  left join market.account_stats s on s.account_id = internal.visible_account_id();
  if own.suspended_at is not null then
    suspension := internal.sentence('own_suspension', jsonb_build_object('reason',
      coalesce(own.suspension_note, internal.sentence('suspension_without_reason'))));
  end if;
  methods := internal.own_methods();
  if own.agent_id is null then
    caller := (select jsonb_strip_nulls(jsonb_build_object('email', c.email, 'phone', c.phone))
      from internal.own_contact() as c);
  else
    caller := jsonb_build_object('agent', jsonb_build_object('id', own.agent_id, 'name', own.agent_name, 'connected',
      connected));
  end if;
  return jsonb_build_object(
    'id', own.account_id,
    'display_name', coalesce(own.display_name, ''),
    'account', jsonb_build_object(
      'connected', connected,
      'verified', methods.verified,
      'available_methods', methods.available,
      'unavailable_methods', methods.unavailable,
      'published_offers', own.lifetime,
      'member_since', internal.utc(coalesce(own.created_at, own.agent_created_at)),
      'profile_url', get_me.base_url || '/settings'),
    'permissions', internal.permissions(suspension),
    'limits', limits,
    'pending_verifications', own.verifications,
    'pending_confirmations', internal.pending_confirmations(),
    'activity', jsonb_build_object('asks_active', own.asks, 'offers_published', own.active,
      'offers_pending_review', own.in_review),
    'next', internal.next_steps(suspension, limits, own.display_name, own.connected_at))
    || case when internal.sandbox_id() is null then '{}'
      else jsonb_build_object('sandbox_id', internal.sandbox_id()) end
    || caller;
end
$$;
comment on function api.get_me(text, bytea) is
  'Returns Me: account, permissions, limits, pending verifications, activity and next steps. For an agent it also '
  'contains agent. For a person it also contains email and phone.';
