-- The feed of an account's events. No reader misses an event, and none is returned twice.
--
-- Transactions commit in another order than they begin, so neither times nor ids tell which events a reader has seen.
-- A cursor says instead which transactions were finished when the page was read (internal/platform/horizon.sql). The
-- next page has the events of all other transactions that are finished by then, however long ago they began. A
-- transaction that is held open delays only its own events.
-- After a crash, PostgreSQL reuses the numbers of transactions that had not reached the disk (make_durable.sql) or were
-- rolled back. So a cursor also holds when it was read, and an event that happened later is new whatever its number.
--
--   seen, seen_at    what earlier readings returned: the events of these transactions that happened up to this time
--   until, as_of     what this reading returns, in the same form, on all its pages; set while has_more
--   time, id         the last event returned; set while has_more
-- A page is in the order in which events happened. Only an event whose transaction ended late comes after later ones.
--
-- The function is for the primary: in a snapshot of a standby, pg_snapshot does not say which transactions are open.

create or replace function api.list_events(after text, page_size integer, wait integer) returns jsonb
  language plpgsql volatile
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_sort = off
as $$
declare
  list constant text := 'events';
  present constant pg_snapshot := pg_current_snapshot();
  place jsonb := case when after is distinct from 'now' then internal.position_of(after, list, 'after') end;
  seen text;
  seen_at timestamptz;
  until text;
  as_of timestamptz;
  -- The numbers of the transactions that the reader has not seen, and of those that are left to the next reading.
  new_to_reader int8multirange;
  left_out int8multirange;
  -- Whether there are events already that this reading leaves to the next one, so that nobody need wait for them.
  is_behind boolean := place ? 'until';
  -- No event of this page happened earlier.
  earliest timestamptz;
  since timestamptz := now() - interval '30 days';
  events jsonb;
  last jsonb;
  more boolean;
begin
  until := coalesce(place ->> 'until', internal.horizon_of(present));
  if until is null then
    until := internal.horizon_of(present, array(
      select e.xid from market.event e
      where e.account_id = internal.visible_account_id() and e.xid >= pg_snapshot_xmin(present)
      order by e.xid limit 1000));
    left_out := internal.beyond(until);
    is_behind := exists (select from market.event e
      where e.account_id = internal.visible_account_id() and e.xid >= split_part(until, ',', 1)::xid8
        and e.xid::text::bigint <@ left_out and pg_visible_in_snapshot(e.xid, present));
  end if;
  seen := case when after = 'now' then until else place ->> 'seen' end;
  seen_at := case when after = 'now' then clock_timestamp() else (place ->> 'seen_at')::timestamptz end;
  -- Never before an earlier reading: the server's clock may have been set back.
  as_of := coalesce((place ->> 'as_of')::timestamptz, greatest(clock_timestamp(), seen_at));
  new_to_reader := internal.beyond(seen);
  left_out := internal.beyond(until);
  if internal.agent_id() is null then
    since := greatest(since, internal.shown_since());
  end if;
  -- A new event happened after the last reading, or its transaction was not finished then.
  earliest := coalesce((place ->> 'time')::timestamptz, least(seen_at, (
    -- Without "offset 0", the planner may walk all events in their order to find the earliest.
    select min(n.occurred_at) from (
      select e.occurred_at from market.event e
      where e.account_id = internal.visible_account_id() and e.xid >= split_part(seen, ',', 1)::xid8
        and e.xid::text::bigint <@ new_to_reader and e.occurred_at >= since offset 0) as n)));
  with page as (
    select e.id, e.type, e.data, e.occurred_at, row_number() over (order by e.occurred_at, e.id) as n
    from market.event e
    where e.account_id = internal.visible_account_id() and e.occurred_at >= greatest(since, earliest)
      and (seen is null or e.xid::text::bigint <@ new_to_reader or e.occurred_at > seen_at)
      and not e.xid::text::bigint <@ left_out and e.occurred_at <= as_of
      and (place ->> 'id' is null
        or (e.occurred_at, e.id) > ((place ->> 'time')::timestamptz, (place ->> 'id')::uuid))
    order by e.occurred_at, e.id limit list_events.page_size + 1
  )
  select coalesce(jsonb_agg(internal.event_document(p.id, p.type, p.occurred_at, p.data)
    order by p.n) filter (where p.n <= list_events.page_size), '[]'),
    jsonb_agg(jsonb_build_object('time', p.occurred_at, 'id', p.id)) filter (where p.n = list_events.page_size) -> 0,
    coalesce(max(p.n) > list_events.page_size, false)
  into events, last, more from page p;
  if events <> '[]' then
    perform internal.make_durable();
  end if;
  return jsonb_build_object('events', events, 'has_more', more,
    'cursor', internal.cursor_of(jsonb_build_object('list', list) || case when more
      then last || jsonb_strip_nulls(jsonb_build_object(
        'seen', seen, 'seen_at', seen_at, 'until', until, 'as_of', as_of))
      else jsonb_build_object('seen', until, 'seen_at', as_of) end))
    || case when wait > 0 and events = '[]'
      and is_behind is not true then jsonb_build_object('waits', internal.event_waits(present))
      else '{}' end;
end
$$;
comment on function api.list_events(text, integer, integer) is
  'Returns events of the account that the cursor `after` has not seen, in the order in which they happened: {events, '
  'cursor, has_more}. Without a cursor, those of the last 30 days; with "now", none. With wait above 0 and no event '
  'also `waits` (internal.event_waits).';

create or replace function api.list_event_readers(snapshot text) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if snapshot is null then
    return null;
  end if;
  return jsonb_build_object('snapshot', pg_current_snapshot()::text, 'readers', (
    select coalesce(jsonb_agg(distinct r.reader), '[]')
    from market.event e cross join lateral unnest(internal.event_readers(e)) as r (reader)
    where e.xid >= pg_snapshot_xmin(list_event_readers.snapshot::pg_snapshot)
      and not pg_visible_in_snapshot(e.xid, list_event_readers.snapshot::pg_snapshot)
      -- Nobody waits for so long. Only the embedded database sends no notifications, and it runs one transaction at a
      -- time, so an event that its reader lacks is younger.
      and e.occurred_at >= now() - interval '5 minutes'));
end
$$;
comment on function api.list_event_readers(text) is
  'Returns {snapshot, readers}: the present snapshot, and whom the events concern that the given one lacks (null '
  'without one). For processes that get no notifications.';
