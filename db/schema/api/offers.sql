-- Reading and reporting offers; listing, changing, archiving and republishing own offers.

create or replace function api.get_offer(id uuid) returns jsonb
  language plpgsql stable
as $$
declare
  offer market.offer;
begin
  select * into offer from market.offer o where o.id = get_offer.id;
  if not found then
    perform internal.raise_problem(404, 'not_found', 'There is no such offer, or it is not visible to you.');
  end if;
  if offer.status <> 'published' then
    return internal.owner_offer_document(offer);
  end if;
  return internal.search_result_document(offer)
    || jsonb_build_object('status', offer.status, 'domain', offer.domain, 'category', offer.category,
      'offer_kind', offer.offer_kind, 'updated_at', internal.utc(offer.updated_at))
    || case when offer.account_id = internal.account_id() then
      jsonb_build_object('owner', internal.owner_offer_document(offer)) else '{}' end;
end
$$;
comment on function api.get_offer(uuid) is
  'Returns a published offer to every caller (with owner for its owner), and an unpublished one to its owner. Raises '
  '404 otherwise.';
grant execute on function api.get_offer(uuid) to souk_api;

create or replace function api.list_offers(status text, page_size integer, cursor text) returns jsonb
  language plpgsql stable
as $$
declare
  list constant text := 'offers ' || coalesce(status, '');
  after uuid := (internal.position_of(cursor, list) ->> 'id')::uuid;
  results jsonb;
  last_id uuid;
  more boolean;
begin
  select coalesce(
    jsonb_agg(internal.owner_offer_document(p.offer) order by p.id desc) filter (where p.n <= list_offers.page_size),
    '[]'),
    (array_agg(p.id order by p.id desc) filter (where p.n <= list_offers.page_size))[list_offers.page_size],
    count(*) > list_offers.page_size
  into results, last_id, more
  from (
    select o as offer, o.id, row_number() over (order by o.id desc) as n from market.offer o
    where o.account_id = internal.account_id()
      and (list_offers.status is null or o.status = list_offers.status)
      and (after is null or o.id < after)
    order by o.id desc limit list_offers.page_size + 1) as p;
  return jsonb_build_object('results', results,
    'page', internal.page(jsonb_build_object('list', list, 'id', last_id), more));
end
$$;
comment on function api.list_offers(text, integer, text) is
  'Returns a page of the account''s own offers as OwnerOffers, newest first.';
grant execute on function api.list_offers(text, integer, text) to souk_api;

create or replace function api.update_offer(id uuid, body jsonb, errors jsonb) returns jsonb
  language plpgsql volatile
as $$
declare
  offer market.offer;
begin
  perform internal.require_permission('manage_offers',
    internal.rate_limit_headers(internal.own_usage('publish_offer')));
  offer := internal.own_offer(update_offer.id);
  if offer.status not in ('published', 'archived', 'pending_review') then
    perform internal.raise_problem(409, 'invalid_state',
      format('This offer is %s, so it cannot be changed.', offer.status));
  end if;
  -- Members that the request omits are copied from the offer, so two changes at the same time would undo each other.
  if exists (select from market.submission s where s.target_id = offer.id and s.completed_at is null) then
    perform internal.raise_problem(409, 'invalid_state',
      'Another change of this offer is being read. Try again in a second.',
      jsonb_build_object('retry_after', 1, 'headers',
        internal.rate_limit_headers(internal.own_usage('publish_offer'))));
  end if;
  return internal.create_submission('update_offer', 'publish_offer',
    -- The text is always extracted again, because every published field must be stated in the published text.
    jsonb_build_object('text', offer.text, 'images', to_jsonb(offer.images)) || body, null, null,
    case when errors = '[]' then internal.submission_errors(body) else errors end, offer.id);
end
$$;
comment on function api.update_offer(uuid, jsonb, jsonb) is
  'Admits a new text or new images of an own offer, and counts it as publishing. Returns {submission, headers}. Raises '
  '404 for an offer of another account, and 409 invalid_state when the offer is removed or rejected or another change '
  'is in progress.';
grant execute on function api.update_offer(uuid, jsonb, jsonb) to souk_api;

create or replace function api.archive_offer(id uuid) returns jsonb
  language plpgsql volatile
as $$
declare
  offer market.offer;
begin
  perform internal.require_permission('manage_offers');
  offer := internal.own_offer(archive_offer.id);
  if offer.status <> 'archived' then
    update market.offer o set status = 'archived' where o.id = offer.id returning * into offer;
  end if;
  return internal.owner_offer_document(offer);
end
$$;
comment on function api.archive_offer(uuid) is
  'Archives an own offer; an archived one stays as it is. Raises 409 invalid_state for a removed or rejected one.';
grant execute on function api.archive_offer(uuid) to souk_api;

create or replace function api.republish_offer(id uuid) returns jsonb
  language plpgsql volatile
as $$
declare
  offer market.offer;
begin
  perform internal.require_permission('manage_offers');
  offer := internal.own_offer(republish_offer.id);
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
  'Publishes an own archived offer again, which counts as publishing; a published one stays as it is. Raises 409 '
  'invalid_state for a removed or rejected one, or one that waits for review.';
grant execute on function api.republish_offer(uuid) to souk_api;

create or replace function api.report_offer(id uuid, reason text, comment text) returns jsonb
  language plpgsql volatile
as $$
begin
  perform internal.require_permission('report_offer');
  if not exists (select from market.offer o where o.id = report_offer.id and o.status = 'published') then
    perform internal.raise_problem(404, 'not_found', 'There is no such offer, or it is not visible to you.');
  elsif exists (select from market.offer o where o.id = report_offer.id and o.account_id = internal.account_id()) then
    perform internal.raise_problem(409, 'invalid_state',
      'This is an offer of your own account. Change it, or archive it.');
  end if;
  perform internal.lock_own_account();
  insert into market.report as r (offer_id, account_id, agent_id, reason, comment)
  values (report_offer.id, internal.account_id(), internal.agent_id(), report_offer.reason,
    nullif(btrim(report_offer.comment), ''))
  on conflict on constraint report_once do update
    set agent_id = excluded.agent_id, reason = excluded.reason, comment = excluded.comment, created_at = now(),
      completed_at = null
    where r.completed_at is not null;
  return jsonb_build_object('offer_id', report_offer.id, 'status', 'received',
    'summary', 'A moderator will look at this offer. Reporting it again before that changes nothing.');
end
$$;
comment on function api.report_offer(uuid, text, text) is
  'Reports a published offer of another account to the moderators. An account has one open report for each offer. '
  'Raises 404 when the offer is not visible, and 409 invalid_state for an own offer or while the account is suspended.';
grant execute on function api.report_offer(uuid, text, text) to souk_api;
