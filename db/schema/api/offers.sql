-- Reading and reporting offers; listing, changing, archiving and republishing own offers.

create or replace function api.get_offer(id uuid) returns jsonb
  language plpgsql stable
as $$
declare
  read record;
begin
  select o.status, coalesce(o.account_id = internal.visible_account_id(), false) as own,
    internal.search_result_document(d, s, jsonb_build_object('status', o.status, 'domain', o.domain,
      'category', o.category, 'offer_kind', o.offer_kind, 'updated_at', internal.utc(o.updated_at))) as document
  into read
  from market.offer o left join search.document d on d.id = o.id
  left join market.account_stats s on s.account_id = o.account_id
  where o.id = get_offer.id;
  if not found or read.document is null and not read.own then
    perform internal.raise_problem(404, 'not_found', 'offer_not_visible');
  end if;
  if read.document ? 'addresses_agents' then
    read.document := read.document
      || jsonb_build_object('notices', internal.notices_about(jsonb_build_array(read.document)));
  end if;
  if not read.own then
    return read.document;
  end if;
  return (select case o.status when 'published'
      then read.document || jsonb_build_object('owner', internal.owner_offer_document(o))
      else internal.owner_offer_document(o) end
    from market.offer o where o.id = get_offer.id);
end
$$;
comment on function api.get_offer(uuid) is
  'Returns a published offer to every caller (with owner for its owner), and an unpublished one to its owner. Raises '
  '404 otherwise.';

create or replace function api.list_offers(status text, page_size integer, cursor text) returns jsonb
  language plpgsql stable
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_sort = off
as $$
declare
  list constant text := 'offers ' || coalesce(status, '');
  -- A first page comes after the highest possible id. So one index has the next page, however deep it is.
  after constant uuid := coalesce((internal.position_of(cursor, list) ->> 'id')::uuid, repeat('f', 32)::uuid);
  -- One more than a page has. Two queries, because one for both could not use the index of the status.
  ids constant uuid[] := case when list_offers.status is null
    then array(
      select o.id from market.offer o
      where o.account_id = internal.visible_account_id() and o.id < after order by o.id desc limit page_size + 1)
    else array(
      select o.id from market.offer o
      where o.account_id = internal.visible_account_id() and o.status = list_offers.status and o.id < after
      order by o.id desc limit page_size + 1) end;
begin
  return jsonb_build_object(
    'results', (
      select coalesce(jsonb_agg(internal.owner_offer_document(o) order by o.id desc), '[]')
      from market.offer o where o.id = any (ids[:page_size])),
    'page', internal.page(jsonb_build_object('list', list, 'id', ids[page_size]), cardinality(ids) > page_size));
end
$$;
comment on function api.list_offers(text, integer, text) is
  'Returns a page of the account''s own offers as OwnerOffers, newest first.';

create or replace function api.update_offer(id uuid, body jsonb, errors jsonb) returns jsonb
  language plpgsql volatile
as $$
declare
  offer market.offer;
  last record;
  headers constant jsonb := internal.rate_limit_headers(internal.own_usage('publish_offer'));
begin
  perform internal.require_permission('manage_offers', headers);
  -- The new text is read like that of a new offer.
  perform internal.require_method('publish_offer', headers);
  offer := internal.own_offer(update_offer.id);
  if offer.status not in ('published', 'archived', 'pending_review') then
    perform internal.raise_problem(409, 'invalid_state',
      'offer_not_changeable', jsonb_build_object('status', offer.status));
  end if;
  if body ? 'contact_visibility' and not body ?| array['text', 'images'] then
    return internal.admit('manage', null, null, errors || internal.visibility_errors(body ->> 'contact_visibility'))
      || jsonb_build_object('status', 200, 'body',
        internal.with_web_url(internal.change_contact_visibility(offer, body ->> 'contact_visibility')));
  end if;
  -- Members that the request omits come from the last change: this caller's that is still being read, or one that waits
  -- for a moderator. Another agent's change is not taken over before it counts: that agent may have been removed.
  select l.text, l.images into last from (
    (select 1 as place, s.text, s.images from market.submission s
      where s.target_id = offer.id and s.completed_at is null and s.agent_id is not distinct from internal.agent_id()
      order by s.id desc limit 1)
    union all
    select 2, coalesce(c.sent_text, c.text), c.images from market.offer_change c
    where c.offer_id = offer.id and c.rejected_at is null
    union all
    select 3, internal.sent_text(offer), offer.images) as l
  order by l.place limit 1;
  return internal.create_submission('update_offer', 'publish_offer',
    -- The text is always extracted again, because every published field must be stated in the published text.
    jsonb_build_object('text', last.text, 'images', to_jsonb(last.images)) || body, null, null,
    case when errors = '[]' then internal.submission_errors(body) else errors end, offer.id,
    array(select m from unnest('{text,images}'::text[]) as m where body ? m));
end
$$;
comment on function api.update_offer(uuid, jsonb, jsonb) is
  'Admits a new text or new images of an own offer, and counts it as publishing. Returns {submission, headers}. Who '
  'sees the contact is changed at once if nothing else is: then it returns {status, body, headers}. Raises 404 for an '
  'offer of another account, and 409 invalid_state when the offer is removed or rejected.';

create or replace function api.archive_offer(id uuid) returns jsonb
  language plpgsql volatile
as $$
declare
  offer market.offer;
begin
  perform internal.require_permission('manage_offers');
  offer := internal.own_offer(archive_offer.id);
  perform internal.admit('manage', null, null, '[]');
  -- An offer that a suspension archived would go live again when the suspension ends. Its owner says that it must not.
  if offer.status <> 'archived' or offer.suspended_at is not null then
    update market.offer o set status = 'archived' where o.id = offer.id returning * into offer;
  end if;
  return internal.owner_offer_document(offer);
end
$$;
comment on function api.archive_offer(uuid) is
  'Archives an own offer; an archived one stays as it is. Raises 409 invalid_state for a removed or rejected one.';

create or replace function api.republish_offer(id uuid) returns jsonb
  language plpgsql volatile
as $$
declare
  offer market.offer;
begin
  perform internal.require_permission('manage_offers');
  offer := internal.own_offer(republish_offer.id);
  perform internal.admit('manage', null, null, '[]');
  if offer.status <> 'published' then
    if offer.status = 'archived' then
      perform internal.admit('publish_offer', null, null, '[]');
    end if;
    update market.offer o set status = 'published' where o.id = offer.id returning * into offer;
  end if;
  return internal.owner_offer_document(offer);
end
$$;
comment on function api.republish_offer(uuid) is
  'Publishes an own archived offer again, which counts as publishing besides the limit of manage; a published one '
  'stays as it is. Raises 409 invalid_state for a removed or rejected one, or one that waits for review.';

create or replace function api.report_offer(id uuid, reason text, comment text) returns jsonb
  language plpgsql volatile
as $$
declare
  errors constant jsonb := internal.report_errors(report_offer.reason, report_offer.comment);
begin
  perform internal.require_permission('report_offer');
  if errors <> '[]' then
    perform internal.raise_field_problems(errors);
  end if;
  if not exists (select from market.offer o where o.id = report_offer.id and o.status = 'published') then
    perform internal.raise_problem(404, 'not_found', 'offer_not_visible');
  elsif exists (select from market.offer o
    where o.id = report_offer.id and o.account_id = internal.visible_account_id()) then
    perform internal.raise_problem(409, 'invalid_state', 'report_of_own_offer');
  end if;
  perform internal.lock_own_account();
  perform internal.admit('report_offer', null, null, '[]');
  if internal.sandbox_id() is not null then
    return jsonb_build_object('offer_id', report_offer.id, 'status', 'received',
      'summary', internal.sentence('report_in_sandbox'));
  end if;
  -- While this call waited for the account, the offer may have been archived or removed. The policy of the table is
  -- checked with the same snapshot as this query.
  insert into market.report (offer_id, account_id, agent_id, reason, comment)
  select o.id, internal.visible_account_id(), internal.agent_id(), report_offer.reason,
    nullif(btrim(report_offer.comment), '')
  from market.offer o where o.id = report_offer.id and o.status = 'published'
  on conflict do nothing;
  if not found then
    if not exists (select from market.offer o where o.id = report_offer.id and o.status = 'published') then
      perform internal.raise_problem(404, 'not_found', 'offer_not_visible');
    end if;
    -- The policy leaves only the report that this caller or its account made before.
    update market.report r set agent_id = internal.agent_id(), reason = report_offer.reason,
      comment = nullif(btrim(report_offer.comment), ''), created_at = now(), completed_at = null
    where r.offer_id = report_offer.id and r.completed_at is not null;
  end if;
  return jsonb_build_object('offer_id', report_offer.id, 'status', 'received',
    'summary', internal.sentence('report_received'));
end
$$;
comment on function api.report_offer(uuid, text, text) is
  'Reports a published offer of another account to the moderators. An account has one open report for each offer. '
  'Raises 404 when the offer is not visible, 409 invalid_state for an own offer or while the account is suspended, and '
  '429 beyond the limit of report_offer.';
