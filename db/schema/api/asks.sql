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

create or replace function api.get_ask(id uuid) returns jsonb
  language plpgsql stable
as $$
begin
  return internal.ask_document(internal.own_ask(get_ask.id));
end
$$;
comment on function api.get_ask(uuid) is 'Returns an own ask. Raises 404 for any other id.';

create or replace function api.list_asks(status text, page_size integer, cursor text) returns jsonb
  language plpgsql stable
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_sort = off
as $$
declare
  list constant text := 'asks ' || coalesce(status, '');
  -- A first page comes after the highest possible id. So one index has the next page, however deep it is.
  after constant uuid := coalesce((internal.position_of(cursor, list) ->> 'id')::uuid, repeat('f', 32)::uuid);
  -- One more than a page has. Two queries, because one for both could not use the index of the status.
  ids constant uuid[] := case when list_asks.status is null
    then array(
      select a.id from market.ask a
      where a.account_id = internal.account_id() and a.id < after order by a.id desc limit page_size + 1)
    else array(
      select a.id from market.ask a
      where a.account_id = internal.account_id() and a.status = list_asks.status and a.id < after
      order by a.id desc limit page_size + 1) end;
begin
  return jsonb_build_object(
    'results', (
      select coalesce(jsonb_agg(internal.ask_document(a) order by a.id desc), '[]')
      from market.ask a where a.id = any (ids[:page_size])),
    'page', internal.page(jsonb_build_object('list', list, 'id', ids[page_size]), cardinality(ids) > page_size));
end
$$;
comment on function api.list_asks(text, integer, text) is 'Returns a page of the account''s own asks, newest first.';

create or replace function api.update_ask(id uuid, body jsonb, errors jsonb) returns jsonb
  language plpgsql volatile
as $$
declare
  ask market.ask;
  headers constant jsonb := internal.rate_limit_headers(internal.own_usage('create_ask'));
begin
  perform internal.require_permission('manage_asks', headers);
  ask := internal.lock_own_ask(update_ask.id);
  if errors <> '[]' then
    perform internal.raise_field_problems(errors, headers);
  end if;
  if body ? 'text' then
    -- The new text is read like that of a new ask.
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
