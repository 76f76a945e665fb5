-- The export of an account for its person. It is delivered in pieces, so that no process has to hold it in memory as a
-- whole.

create or replace function api.export_account(part text default 'account', cursor text default null) returns jsonb
  language plpgsql stable
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_sort = off
as $$
declare
  list constant text := 'export ' || export_account.part;
  -- Agents can read the offers and asks of the account. The rest belongs only to the person who holds the account now.
  since constant timestamptz := internal.shown_since();
  after uuid;
  -- A hundred offers with their extractions have about half a megabyte.
  size constant integer := 100;
  activity jsonb;
  items jsonb;
  last_id uuid;
begin
  perform internal.require_recent_sign_in();
  if part = 'account' then
    return jsonb_build_object('items', (internal.own_account() - 'available_methods' - 'unavailable_methods')
      || internal.own_record()
      || internal.own_blocks()
      || jsonb_build_object('id', internal.account_id(), 'digest', internal.own_digest(), 'sessions', (
        select coalesce(jsonb_agg(jsonb_build_object('created_at', internal.utc(s.created_at),
          'signed_in_at', internal.utc(s.signed_in_at), 'seen_at', internal.utc(s.seen_at),
          'expires_at', internal.utc(internal.session_end(s.signed_in_at, s.expires_at, s.seen_at)))
          order by s.created_at), '[]')
        from market.session s where s.account_id = internal.account_id())), 'next_cursor', null);
  elsif part = 'activity' then
    activity := internal.own_activity(size, cursor);
    return jsonb_build_object('items', activity -> 'activity', 'next_cursor', activity -> 'page' -> 'next_cursor');
  elsif part = 'messages' then
    return internal.own_messages(size, cursor);
  end if;
  after := (internal.position_of(cursor, list) ->> 'id')::uuid;
  -- Only the branch of the requested part returns rows. Each branch can use its table's index by account.
  with page as (
    select a.id, jsonb_build_object('id', a.id, 'name', a.name, 'created_at', internal.utc(a.created_at),
      'connected_at', internal.utc(a.connected_at), 'removed_at', internal.utc(a.removed_at),
      'address', internal.own_connection_address(a.id), 'powers', internal.powers_document(a.id))
      || internal.own_client(a.id) as item
    from market.agent a
    where part = 'agents' and a.account_id = internal.account_id() and (after is null or a.id < after)
      and (a.removed_at is null or a.removed_at >= since)
    union all (
    select o.id,
      internal.owner_offer_document(o)
      || coalesce((select jsonb_build_object('change', internal.change_document(o.id) || jsonb_build_object(
        'agent_id', c.agent_id, 'extraction', c.extraction, 'warnings', to_jsonb(c.warnings)))
        from market.offer_change c where c.offer_id = o.id), '{}')
      || jsonb_build_object('agent_id', o.agent_id, 'origin_ask_id', o.origin_ask_id,
      'extraction', o.extraction, 'warnings', to_jsonb(o.warnings), 'reviewed', o.reviewed,
      'appeals',
      (select coalesce(jsonb_agg(jsonb_build_object('comment', p.comment, 'created_at', internal.utc(p.created_at))
        order by p.created_at), '[]') from market.appeal p where p.offer_id = o.id and p.created_at >= since)) as item
    from market.offer o
    where part = 'offers' and o.account_id = internal.account_id() and (after is null or o.id < after)
    order by o.id desc limit size)
    union all (
    select a.id, internal.ask_document(a)
      || jsonb_build_object('agent_id', a.agent_id, 'matches', internal.matched_offers(a.id)) as item
    from market.ask a where part = 'asks' and a.account_id = internal.account_id() and (after is null or a.id < after)
    order by a.id desc limit size)
    union all
    select c.id, internal.exported_conversation(c) as item
    from internal.own_conversations(after, size) as c where part = 'conversations'
    union all (
    select r.id, jsonb_build_object('id', r.id, 'offer_id', r.offer_id, 'agent_id', r.agent_id, 'reason', r.reason,
      'comment', r.comment, 'created_at', internal.utc(r.created_at)) as item
    from market.report r
    where part = 'reports' and r.account_id = internal.account_id() and (after is null or r.id < after)
      and r.created_at >= since
    order by r.id desc limit size)
    union all (
    select v.id, jsonb_build_object('id', v.id, 'agent_id', v.agent_id, 'method', v.method, 'status', v.status,
      'created_at', internal.utc(v.created_at)) as item
    from market.verification v
    where part = 'verifications' and v.account_id = internal.account_id() and (after is null or v.id < after)
      and v.created_at >= since
    order by v.id desc limit size)
    union all (
    select e.id, internal.event_document(e.id, e.type, e.occurred_at, e.data) as item
    from market.event e
    where part = 'events' and e.account_id = internal.account_id() and (after is null or e.id < after)
      and e.occurred_at >= since
    order by e.id desc limit size)
    union all
    select w.id, internal.webhook_document(w.id) as item from market.webhook w
    where part = 'webhooks' and w.account_id = internal.account_id() and (after is null or w.id < after)
    union all
    select d.id, d.item from internal.own_decisions(after, size) as d where part = 'decisions'
  )
  select coalesce(jsonb_agg(p.item order by p.id desc), '[]'), min(p.id::text)::uuid into items, last_id
  from (select * from page order by id desc limit size) as p;
  return jsonb_build_object('items', items, 'next_cursor', case when jsonb_array_length(items) = size
    then internal.cursor_of(jsonb_build_object('list', list, 'id', last_id)) end);
end
$$;
comment on function api.export_account(text, text) is
  'Returns one piece of the export: items of a part (account, agents, offers, asks, conversations, messages, reports, '
  'verifications, decisions, events, webhooks, activity) and next_cursor for the next piece. Raises 401 with '
  'sign_in_again when the sign-in is not recent.';
