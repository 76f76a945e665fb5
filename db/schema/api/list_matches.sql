-- An ask's matches, and with "since" the new ones only. No reader misses a match that is found while it reads.
-- Matches commit in another order than they are made, so a since says which transactions were finished when the matches
-- were read (internal/platform/horizon.sql), as the cursors of events do. The matches of all other transactions are
-- new, and so are those found after that time: after a crash or a restored backup, other transactions may reuse the
-- numbers.
--
--   seen, as_of    in a since: what was read, and when
--   until, as_of   in the cursor of a page: the same; all pages of one reading share it
--
-- Call this function on the primary only. A standby does not know which transactions are open, and it may not have a
-- match yet that the feed on the primary has already reported.

create or replace function api.list_matches(id uuid, since text, page_size integer, cursor text) returns jsonb
  language plpgsql stable
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_sort = off
as $$
declare
  ask market.ask := internal.own_ask(list_matches.id);
  list constant text := 'matches ' || ask.id;
  own constant text := '/v1/asks/' || ask.id;
  after constant jsonb := internal.position_of(cursor, list);
  given constant jsonb := internal.position_of(since, list, 'since');
  present constant pg_snapshot := pg_current_snapshot();
  until constant text := coalesce(after ->> 'until', internal.horizon_of(present), internal.horizon_of(present, array(
    select m.xid from market.match m where m.ask_id = ask.id and m.xid >= pg_snapshot_xmin(present) order by m.xid
    limit 1000)));
  as_of constant timestamptz := coalesce((after ->> 'as_of')::timestamptz, clock_timestamp());
  new_to_reader constant int8multirange := internal.beyond(given ->> 'seen');
  left_out constant int8multirange := internal.beyond(until);
  results jsonb;
  last jsonb;
  more boolean;
  notices jsonb;
begin
  with page as (
    select m.score, d.is_stale, m.offer_id, m.first_matched_at, m.reasons,
      row_number() over (order by m.score desc, d.is_stale, m.offer_id) as n
    from market.match m join search.document d on d.id = m.offer_id
    where m.ask_id = ask.id and d.account_id is distinct from ask.account_id
      -- A number that is still to come here is that of a match restored from another server: it is read already.
      and (since is null or m.xid < pg_snapshot_xmax(present) and m.xid::text::bigint <@ new_to_reader
        or m.first_matched_at > (given ->> 'as_of')::timestamptz)
      and (m.xid >= pg_snapshot_xmax(present) or not m.xid::text::bigint <@ left_out)
      and (after is null or (-m.score, d.is_stale, m.offer_id)
        > (-(after ->> 'score')::real, coalesce((after ->> 'is_stale')::boolean, false), (after ->> 'id')::uuid))
    order by m.score desc, d.is_stale, m.offer_id limit list_matches.page_size + 1
  )
  select coalesce(jsonb_agg(internal.search_result_document(d, s, jsonb_build_object(
          'score', round(p.score::numeric, 4), 'rank', coalesce((after ->> 'rank')::integer, 0) + p.n,
          'match', jsonb_build_object('first_matched_at', internal.utc(p.first_matched_at), 'reasons',
            case when d.open_document is null then p.reasons else internal.withheld_reasons(p.reasons, d.document) end))
        || search.distance_member(search.distance_km(d.latitude, d.longitude, ask.latitude, ask.longitude)))
      order by p.n) filter (where p.n <= list_matches.page_size), '[]'),
    max(p.n) > list_matches.page_size,
    -- The position of the last result, after which the next page begins.
    jsonb_agg(
      jsonb_build_object('list', list, 'until', until, 'as_of', as_of, 'id', p.offer_id, 'score', p.score,
      'is_stale', p.is_stale, 'rank', coalesce((after ->> 'rank')::integer, 0) + p.n)) filter (
        where p.n = list_matches.page_size) -> 0
  into results, more, last
  from page p join search.document d on d.id = p.offer_id
  left join market.account_stats s on s.account_id = d.account_id;
  notices := internal.notices_about(results);
  return jsonb_build_object(
    'ask_id', ask.id, 'status', ask.status, 'watch_enabled', ask.watch_enabled, 'results', results,
    'since', internal.cursor_of(jsonb_build_object('list', list, 'seen', until, 'as_of', as_of)),
    'page', internal.page(last, coalesce(more, false)),
    'next', case
      when ask.ask_kind in ('sell', 'lease_out')
        then jsonb_build_array(internal.next_step('next_publish_instead', 'POST', '/v1/offers'))
      when ask.read_at is null
        then jsonb_build_array(internal.next_step('next_look_in_a_minute', 'GET', own || '/matches'))
      when ask.ask_kind is null or ask.domain is null
        then jsonb_build_array(internal.next_step('next_clearer_ask', 'PATCH', own))
      when ask.status <> 'active' then jsonb_build_array(
        internal.next_step('next_reopen', 'POST', own || '/reopen', jsonb_build_object('status', ask.status)))
      when results = '[]' and not ask.watch_enabled
        then jsonb_build_array(internal.next_step('next_watch', 'PATCH', own))
      when results = '[]' then jsonb_build_array(internal.next_step('next_look_later', 'GET', own || '/matches'))
      else jsonb_build_array(internal.next_step('next_show_matches', 'POST', own || '/fulfill')) end)
    || case when notices = '[]' then '{}' else jsonb_build_object('notices', notices) end;
end
$$;
comment on function api.list_matches(uuid, text, integer, text) is
  'Returns a page of the published offers that match an own ask, best first, each with its reasons. since: the cursor '
  'of an earlier response; offers that had matched by then are left out.';
