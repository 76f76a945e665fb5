-- A moderator's decision on an offer. The function locks the case, changes the status of the offer, completes its
-- reports and stores the decision. While a change of a published or archived offer waits, the moderator publishes or
-- rejects the change, and the offer keeps its status; or the moderator removes the offer with its change.

create or replace function internal.lock_case(offer_id uuid) returns market.review_case
  language plpgsql volatile
as $$
declare
  review market.review_case;
begin
  select * into review from market.review_case c
  where c.offer_id = lock_case.offer_id and c.closed_at is null for update;
  if review.held_by <> internal.moderator_id() and review.held_until > now()
      and exists (select from market.moderator m where m.account_id = review.held_by) then
    perform internal.raise_problem(409, 'invalid_state', 'case_taken',
      jsonb_build_object('until', to_char(review.held_until at time zone 'UTC', 'HH24:MI')));
  end if;
  return review;
end
$$;
comment on function internal.lock_case(uuid) is
  'Locks and returns an offer''s open case; a row of nulls when there is none. Raises 409 while another moderator '
  'holds the case.';
grant execute on function internal.lock_case(uuid) to souk_moderator;

create or replace function internal.decide_offer(
  id uuid, action text, expected_updated_at timestamptz, expected_reports integer, reason text, sentence text
) returns admin.offer
  language plpgsql volatile
as $$
declare
  offer market.offer;
  review market.review_case;
  becomes text := case decide_offer.action when 'remove' then 'removed' when 'restore' then 'published'
    when 'publish' then 'published' when 'reject' then 'rejected' end;
  may_be constant text[] := case when decide_offer.action in ('keep', 'remove') then array['published', 'archived']
    when decide_offer.action in ('publish', 'reject') then array['pending_review'] else array['removed'] end;
  note text := internal.visible_sentence(decide_offer.sentence);
  change market.offer_change;
  waits boolean;
begin
  perform internal.lock_offer_account(decide_offer.id);
  select * into offer from market.offer o where o.id = decide_offer.id for no key update;
  if not found then
    perform internal.raise_problem(404, 'not_found', 'no_offer');
  end if;
  perform internal.check_may_decide(offer.id, offer.account_id);
  perform internal.lock_deals(array[offer.id]);
  review := internal.lock_case(offer.id);
  select * into change from market.offer_change c where c.offer_id = offer.id;
  waits := change.offer_id is not null and change.rejected_at is null;
  -- As in admin.offer: the moderator saw the offer with its change.
  if greatest(offer.updated_at, change.created_at) is distinct from decide_offer.expected_updated_at then
    perform internal.raise_problem(409, 'invalid_state',
      'offer_changed_meanwhile', jsonb_build_object('status', replace(offer.status, '_', ' ')));
  elsif coalesce(review.reports, 0) <> decide_offer.expected_reports then
    perform internal.raise_problem(409, 'invalid_state', 'offer_reported_meanwhile');
  elsif waits and decide_offer.action = 'keep' then
    perform internal.raise_problem(409, 'invalid_state', 'change_waits');
  elsif offer.status <> all (may_be)
    and not (waits and decide_offer.action in ('publish', 'reject')) then
    perform internal.raise_problem(409, 'invalid_state',
      'decision_needs_status', jsonb_build_object('status', replace(offer.status, '_', ' '),
        'needed', replace(array_to_string(may_be, ' or '), '_', ' ')));
  elsif decide_offer.action = 'uphold' and 'appeal' <> all (coalesce(review.causes, '{}')) then
    perform internal.raise_problem(409, 'invalid_state', 'no_appeal');
  elsif decide_offer.action in ('remove', 'reject')
    and not exists (select from market.reason r where r.code = decide_offer.reason) then
    perform internal.raise_problem(400, 'bad_request', 'reason_unknown');
  elsif char_length(note) > 500 then
    perform internal.raise_problem(400, 'bad_request', 'sentence_too_long');
  elsif becomes = 'published' and offer.account_id is null then
    perform internal.raise_problem(409, 'invalid_state', 'offer_of_deleted_account');
  end if;

  if decide_offer.action in ('remove', 'reject') then
    note := coalesce(note, (select r.sentence from market.reason r where r.code = decide_offer.reason));
  end if;
  if waits and decide_offer.action in ('publish', 'reject') then
    perform internal.decide_change(offer.id, decide_offer.action = 'publish', decide_offer.reason, note);
  else
    update market.offer o set
      status = coalesce(becomes, o.status),
      reviewed = decide_offer.action in ('keep', 'restore', 'publish'),
      review_reason = case when decide_offer.action in ('remove', 'reject') then decide_offer.reason
        when decide_offer.action = 'uphold' then o.review_reason end,
      review_note = case when decide_offer.action in ('remove', 'reject') then note
        when decide_offer.action = 'uphold' then coalesce(note, o.review_note) end
    where o.id = offer.id;
  end if;
  update market.appeal a set decided_at = now()
  where a.offer_id = offer.id and a.removed_at = offer.removed_at and a.decided_at is null and offer.status = 'removed';
  update market.report r set completed_at = now() where r.offer_id = offer.id and r.completed_at is null;
  update market.review_case c set closed_at = now(), reports = 0, held_by = null, held_until = null
  where c.offer_id = offer.id and c.closed_at is null;
  perform internal.review_conversations(offer.id);
  insert into market.decision (moderator_id, action, offer_id, account_id, reason, sentence)
  values (internal.moderator_id(), decide_offer.action, offer.id, offer.account_id, decide_offer.reason, note);
  return (select o from admin.offer o where o.id = offer.id);
end
$$;
comment on function internal.decide_offer(uuid, text, timestamptz, integer, text, text) is
  'Makes one decision on an offer, completes its reports and closes its case; returns the offer. Raises 400 for a '
  'missing reason or a long sentence, 404 when there is no such offer, and 409 invalid_state when the offer or its '
  'reports have changed, another moderator holds the case, or the status does not allow the decision.';
grant execute on function internal.decide_offer(uuid, text, timestamptz, integer, text, text) to souk_moderator;
