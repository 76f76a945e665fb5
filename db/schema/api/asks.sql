-- Asks: creating, reading and changing them, and reading their matches.

create or replace function api.create_ask(body jsonb, idempotency_key text, request_hash bytea, errors jsonb)
  returns jsonb
  language plpgsql volatile
as $$
begin
  perform internal.require_permission('create_ask', internal.rate_limit_headers(internal.own_usage('create_ask')));
  return
    internal.create_submission('create_ask', 'create_ask', body, create_ask.idempotency_key, create_ask.request_hash,
    case when errors = '[]' then internal.text_errors(body ->> 'text') else errors end, internal.uuid_v7());
end
$$;
comment on function api.create_ask(jsonb, text, bytea, jsonb) is
  'Admits an AskCreate. Returns {submission, headers} of a submission to wait for, or the response to replay for a '
  'repeated Idempotency-Key. errors: problems that the HTTP layer found in the body.';
grant execute on function api.create_ask(jsonb, text, bytea, jsonb) to souk_api;

create or replace function api.get_ask(id uuid) returns jsonb
  language plpgsql stable
as $$
begin
  return internal.ask_document(internal.own_ask(get_ask.id));
end
$$;
comment on function api.get_ask(uuid) is 'Returns an own ask. Raises 404 for any other id.';
grant execute on function api.get_ask(uuid) to souk_api;

create or replace function api.list_asks(status text, page_size integer, cursor text) returns jsonb
  language plpgsql stable
as $$
declare
  list constant text := 'asks ' || coalesce(status, '');
  after uuid := (internal.position_of(cursor, list) ->> 'id')::uuid;
  results jsonb;
  last_id uuid;
  more boolean;
begin
  select coalesce(jsonb_agg(internal.ask_document(p.ask) order by p.id desc) filter (where p.n <= list_asks.page_size),
    '[]'),
    (array_agg(p.id order by p.id desc) filter (where p.n <= list_asks.page_size))[list_asks.page_size],
    count(*) > list_asks.page_size
  into results, last_id, more
  from (
    select a as ask, a.id, row_number() over (order by a.id desc) as n from market.ask a
    where a.account_id = internal.account_id()
      and (list_asks.status is null or a.status = list_asks.status)
      and (after is null or a.id < after)
    order by a.id desc limit list_asks.page_size + 1) as p;
  return jsonb_build_object('results', results,
    'page', internal.page(jsonb_build_object('list', list, 'id', last_id), more));
end
$$;
comment on function api.list_asks(text, integer, text) is 'Returns a page of the account''s own asks, newest first.';
grant execute on function api.list_asks(text, integer, text) to souk_api;

create or replace function api.update_ask(id uuid, body jsonb, errors jsonb) returns jsonb
  language plpgsql volatile
as $$
declare
  ask market.ask;
  headers constant jsonb := internal.rate_limit_headers(internal.own_usage('create_ask'));
begin
  perform internal.require_permission('manage_asks', headers);
  perform internal.lock_own_account();
  ask := internal.own_ask(update_ask.id);
  if errors <> '[]' then
    perform internal.raise_field_problems(errors, headers);
  end if;
  if body ? 'text' then
    -- The new text is read as that of a new ask is.
    perform internal.require_method('create_ask', headers);
  end if;
  if body ? 'watch_enabled' then
    perform internal.admit('manage', null, null, '[]');
    update market.ask a set watch_enabled = (body ->> 'watch_enabled')::boolean, updated_at = now()
    where a.id = ask.id returning * into ask;
  end if;
  if body ? 'text' then
    return internal.create_submission('update_ask', 'create_ask', body, null, null,
      internal.text_errors(body ->> 'text'), ask.id);
  end if;
  return jsonb_build_object('status', 200, 'headers', headers, 'body', internal.ask_document(ask));
end
$$;
comment on function api.update_ask(uuid, jsonb, jsonb) is
  'Changes watch_enabled at once, which counts in the limit of manage. A new text is extracted again and counted in '
  'the rate limit like a new ask; the ask keeps its id. Returns {submission, headers} for a text, otherwise the '
  'response.';
grant execute on function api.update_ask(uuid, jsonb, jsonb) to souk_api;

create or replace function api.archive_ask(id uuid) returns jsonb
  language plpgsql volatile
as $$ begin return internal.set_ask_status(archive_ask.id, 'archived'); end $$;
comment on function api.archive_ask(uuid) is 'Archives an own ask.';

create or replace function api.fulfill_ask(id uuid) returns jsonb
  language plpgsql volatile
as $$ begin return internal.set_ask_status(fulfill_ask.id, 'fulfilled'); end $$;
comment on function api.fulfill_ask(uuid) is 'Marks an own ask as fulfilled.';

create or replace function api.reopen_ask(id uuid) returns jsonb
  language plpgsql volatile
as $$ begin return internal.set_ask_status(reopen_ask.id, 'active'); end $$;
comment on function api.reopen_ask(uuid) is 'Makes an own ask active again.';
grant execute on function api.archive_ask(uuid), api.fulfill_ask(uuid), api.reopen_ask(uuid) to souk_api;

create or replace function api.list_matches(id uuid, since text, page_size integer, cursor text) returns jsonb
  language plpgsql stable
as $$
declare
  ask market.ask := internal.own_ask(list_matches.id);
  list constant text := 'matches ' || ask.id;
  after jsonb := internal.position_of(cursor, list);
  -- Each cursor of this list also contains the highest match sequence that its reader has seen. With the parameter
  -- "since", only matches with a higher sequence are returned.
  seen bigint := (internal.position_of(since, list, 'since') ->> 'sequence')::bigint;
  newest bigint;
  results jsonb;
  last jsonb;
  more boolean;
begin
  select coalesce((after ->> 'sequence')::bigint, max(m.sequence), 0) into newest from market.match m
  where m.ask_id = ask.id;
  with page as (
    select m.score, o.stale_at is not null as is_stale, m.offer_id, m.first_matched_at, m.reasons,
      row_number() over (order by m.score desc, o.stale_at is not null, m.offer_id) as n
    from market.match m join market.offer o on o.id = m.offer_id
    where m.ask_id = ask.id and o.status = 'published' and o.account_id is distinct from ask.account_id
      and (seen is null or m.sequence > seen) and m.sequence <= newest
      and (after is null or (-m.score, o.stale_at is not null, m.offer_id)
        > (-(after ->> 'score')::real, coalesce((after ->> 'is_stale')::boolean, false), (after ->> 'id')::uuid))
    order by m.score desc, o.stale_at is not null, m.offer_id limit list_matches.page_size + 1
  )
  select coalesce(jsonb_agg(internal.search_result_document(o, s, jsonb_build_object(
          'score', round(p.score::numeric, 4), 'rank', coalesce((after ->> 'rank')::integer, 0) + p.n,
          'match', jsonb_build_object('first_matched_at', internal.utc(p.first_matched_at), 'reasons', p.reasons))
        || search.distance_member(search.distance_km(o.latitude, o.longitude, ask.latitude, ask.longitude)))
      order by p.n) filter (where p.n <= list_matches.page_size), '[]'),
    max(p.n) > list_matches.page_size,
    -- The place of the last result, from which the next page goes on.
    jsonb_agg(jsonb_build_object('list', list, 'sequence', newest, 'id', p.offer_id, 'score', p.score,
      'is_stale', p.is_stale,
      'rank', coalesce((after ->> 'rank')::integer, 0) + p.n)) filter (where p.n = list_matches.page_size) -> 0
  into results, more, last
  from page p join market.offer o on o.id = p.offer_id
  left join market.account_stats s on s.account_id = o.account_id;
  return jsonb_build_object(
    'ask_id', ask.id, 'status', ask.status, 'watch_enabled', ask.watch_enabled, 'results', results,
    'since', internal.cursor_of(jsonb_build_object('list', list, 'sequence', newest)),
    'page', internal.page(last, coalesce(more, false)),
    'next', case
      when ask.ask_kind in ('sell', 'lease_out') then jsonb_build_array(jsonb_build_object(
        'summary', 'Nothing matches an ask to sell or to let. Publish an offer, with origin_ask_id set to this ask.',
        'method', 'POST', 'path', '/v1/offers'))
      when ask.read_at is null then jsonb_build_array(jsonb_build_object(
        'summary', 'The text of this ask is still being read. Look again in a minute.',
        'method', 'GET', 'path', '/v1/asks/' || ask.id || '/matches'))
      when ask.ask_kind is null or ask.domain is null then jsonb_build_array(jsonb_build_object(
        'summary', 'The text does not say clearly what is wanted. Send a clearer one.',
        'method', 'PATCH', 'path', '/v1/asks/' || ask.id))
      when results = '[]' then jsonb_build_array(jsonb_build_object(
        'summary', 'Nothing new matches. Look again later with the since of this answer.',
        'method', 'GET', 'path', '/v1/asks/' || ask.id || '/matches'))
      else jsonb_build_array(jsonb_build_object(
        'summary', 'Show the person what matches. When one of them is taken, mark the ask as fulfilled.',
        'method', 'POST', 'path', '/v1/asks/' || ask.id || '/fulfill')) end);
end
$$;
comment on function api.list_matches(uuid, text, integer, text) is
  'Returns a page of the published offers that match an own ask, best first, each with its reasons. since: the cursor '
  'of an earlier response; offers that had matched by then are left out.';
grant execute on function api.list_matches(uuid, text, integer, text) to souk_api;
