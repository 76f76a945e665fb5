-- Records of an account that its person sees nowhere else: for the export.

create or replace function internal.own_record() returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  account market.account;
  since constant timestamptz := internal.shown_since();
begin
  select * into account from market.account a where a.id = internal.account_id();
  return jsonb_build_object(
    'suspension', case when account.suspended_at is not null then jsonb_build_object(
      'suspended_at', case when account.suspended_at >= since then internal.utc(account.suspended_at) end, 'reason',
      account.suspension_reason,
      'note', account.suspension_note) end,
    -- The setting of each cap is named after its action.
    'caps', (
      select coalesce(jsonb_agg(jsonb_build_object('action', c.action, 'calls_an_hour',
        internal.rate_limit(account.id, c.action), 'set_by_moderator_at',
        case when o.changed_at >= since then internal.utc(o.changed_at) end)
        order by c.action), '[]')
      from (select left(s.name, -4) as action from market.setting s where s.name like '%\_cap') as c
      left join market.cap_override o on o.account_id = account.id and o.action = c.action),
    'removals_of_earlier_accounts', (
      select coalesce(jsonb_agg(jsonb_build_object('offer_id', o.id, 'removed_at', internal.utc(o.removed_at))
        order by o.removed_at desc), '[]')
      from market.offer o where o.id = any (account.prior_removals) and o.removed_at >= since),
    'removed_methods', (
      select coalesce(jsonb_agg(jsonb_build_object('kept_until', internal.utc(k.kept_until)) order by k.kept_until),
        '[]')
      from market.kept_record k
      where k.account_id = account.id and k.kept_until > now() and k.kept_until - interval '12 months' >= since),
    'moderator_since', (select internal.utc(m.appointed_at) from market.moderator m where m.account_id = account.id),
    'sign_ins', (
      select coalesce(jsonb_agg(jsonb_build_object('method', s.method, 'email', s.email,
        'created_at', internal.utc(s.created_at), 'finished_at', internal.utc(s.finished_at))
        order by s.created_at), '[]')
      from market.sign_in s
      where s.account_id = account.id and s.created_at >= since),
    'known_browsers', (
      select coalesce(jsonb_agg(jsonb_build_object('seen_at', internal.utc(k.seen_at)) order by k.seen_at), '[]')
      from market.known_browser k
      join market.proved_method p on p.method = k.method and p.subject_hash = k.subject_hash
      where p.account_id = account.id));
end
$$;
comment on function internal.own_record() is
  'Returns what is kept about the caller''s account beside its profile: suspension, caps, '
  'removals_of_earlier_accounts, removed_methods (until when the hash of each is kept), moderator_since, sign_ins '
  '(attempts of the last day to add a method), and known_browsers (those that signed in to its mailbox).';
grant execute on function internal.own_record() to souk_person;

create or replace function internal.own_connection_address(agent_id uuid) returns text
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return (select c.address from market.connection c join market.agent a on a.id = c.agent_id
    where a.id = own_connection_address.agent_id and a.account_id = internal.account_id()
      and c.created_at >= internal.shown_since());
end
$$;
comment on function internal.own_connection_address(uuid) is
  'Returns the network that requested the link of an agent of the caller''s account; null a day later, and when that '
  'was before the account was recovered.';
grant execute on function internal.own_connection_address(uuid) to souk_person;

create or replace function internal.own_client(agent_id uuid) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce((
    select jsonb_build_object('client_id', g.client_id, 'redirect_uri', g.redirect_uri)
    from market.oauth_grant g join market.agent a on a.id = g.agent_id
    where a.id = own_client.agent_id and a.account_id = internal.account_id()
      and g.created_at >= internal.shown_since()), '{}');
end
$$;
comment on function internal.own_client(uuid) is
  'Returns client_id and redirect_uri of an agent of the caller''s account that came by OAuth; an empty object for any '
  'other agent, and when that was before the account was recovered.';
grant execute on function internal.own_client(uuid) to souk_person;

create or replace function internal.own_decisions(after uuid, size integer) returns table (id uuid, item jsonb)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- Not the moderator: who decided is a fact about another person.
  return query
    select d.id, jsonb_build_object('id', d.id, 'action', d.action, 'offer_id', d.offer_id, 'agent_id', d.agent_id,
      'reason', d.reason, 'sentence', d.sentence, 'created_at', internal.utc(d.created_at))
    from market.decision d
    where d.account_id = internal.account_id() and (own_decisions.after is null or d.id < own_decisions.after)
      and d.created_at >= internal.shown_since()
    order by d.id desc limit own_decisions.size;
end
$$;
comment on function internal.own_decisions(uuid, integer) is
  'Returns a page of the decisions of moderators about the caller''s account and its offers and agents since the '
  'account was recovered, newest first.';
grant execute on function internal.own_decisions(uuid, integer) to souk_person;
