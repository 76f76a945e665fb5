-- The part of the audit log that a person reads: the events of the account.

create or replace function internal.activity_target(table_name text, row_id text) returns jsonb
  language plpgsql stable
as $$
begin
  -- The title is the present title of the object, not that of the time of the event. A deleted object has none.
  return case
    when table_name in ('offer', 'offer_change') then jsonb_build_object('type', 'offer', 'id', row_id,
      'title', (select o.title from market.offer o where o.id = row_id::uuid))
    when table_name = 'ask' then jsonb_build_object('type', 'ask', 'id', row_id,
      'title', (select a.title from market.ask a where a.id = row_id::uuid))
    when table_name = 'confirmation' then jsonb_build_object('type', 'agreement', 'id', row_id,
      'title', (
        select internal.deal_offer(c) ->> 'title'
        from market.confirmation n
        join market.agreement a on a.id = n.agreement_id
        join market.conversation c on c.id = a.conversation_id
        where n.id = row_id::uuid))
    when table_name in ('agent', 'power') then jsonb_build_object('type', 'agent', 'id', row_id,
      'title', (select a.name from market.agent a where a.id = row_id::uuid))
    when table_name = 'proved_method' then jsonb_build_object('type', 'method', 'id', row_id, 'title', row_id)
  end;
end
$$;
comment on function internal.activity_target(text, text) is
  'Returns the object of an audit event as {type, id, title}; null when the object is the account itself.';
grant execute on function internal.activity_target(text, text) to souk_person;

create or replace function internal.own_activity(page_size integer, cursor text) returns jsonb
  language plpgsql stable
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_sort = off
as $$
declare
  list constant text := 'activity';
  last_seen jsonb := internal.position_of(cursor, list);
  activity jsonb;
  last_at timestamptz;
  last_id uuid;
  more boolean;
begin
  with page as (
    select e.*, row_number() over (order by e.at desc, e.id desc) as n
    from (
      select e.id, e.at, e.actor_type, e.agent_id, e.action, e.table_name, e.row_id from market.audit_event e
      where e.subject_account_id = internal.account_id()
        and e.at >= greatest(now() - interval '12 months', internal.shown_since())
        and e.table_name in ('offer', 'offer_change', 'ask', 'agent', 'account', 'profile', 'proved_method',
          'confirmation', 'power')
        -- A change is deleted when it is published or replaced, or its offer removed. Other events show that.
        and e.action <> 'offer_change.deleted'
        and (last_seen is null or (e.at, e.id) < ((last_seen ->> 'time')::timestamptz, (last_seen ->> 'id')::uuid))
      order by e.at desc, e.id desc limit own_activity.page_size + 1) as e
  )
  select
    coalesce(jsonb_agg(jsonb_build_object(
      'at', internal.utc(p.at), 'action', p.action,
      'agent', (select jsonb_build_object('id', a.id, 'name', a.name) from market.agent a where a.id = p.agent_id),
      'target', internal.activity_target(p.table_name, p.row_id))
      || case when p.actor_type in ('moderator', 'job', 'dba') then jsonb_build_object('by', p.actor_type) else '{}' end
      order by p.n) filter (where p.n <= own_activity.page_size), '[]'),
    coalesce(max(p.n) > own_activity.page_size, false),
    (array_agg(p.at order by p.n) filter (where p.n <= own_activity.page_size))[own_activity.page_size],
    (array_agg(p.id order by p.n) filter (where p.n <= own_activity.page_size))[own_activity.page_size]
  into activity, more, last_at, last_id
  from page p;
  return jsonb_build_object('activity', activity,
    'page', internal.page(jsonb_build_object('list', list, 'time', last_at, 'id', last_id), more));
end
$$;
comment on function internal.own_activity(integer, text) is
  'Returns a page of the audit events of the last 12 months in the calling person''s account, newest first: {activity, '
  'page}. Raises 400 for a cursor of another list.';
grant execute on function internal.own_activity(integer, text) to souk_person;
