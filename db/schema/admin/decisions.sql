-- Decisions on offers. Each names the state that the moderator saw (expected_updated_at, and expected_reports), so that none
-- is made on what another moderator, the owner or a reporter has changed meanwhile.

create or replace function market.decide_offer(id uuid, action text, expected_updated_at timestamptz, expected_reports integer, reason text, sentence text)
  returns admin.offer
  language plpgsql volatile
as $$
declare
  offer market.offer;
  review market.review_case;
  becomes text := case decide_offer.action when 'remove' then 'removed' when 'restore' then 'published'
    when 'publish' then 'published' when 'reject' then 'rejected' end;
  may_be constant text[] := case when decide_offer.action in ('keep', 'remove') then array['published', 'archived']
    when decide_offer.action in ('publish', 'reject') then array['pending_review'] else array['removed'] end;
  note text := market.visible_sentence(decide_offer.sentence);
begin
  perform market.hold_owner(decide_offer.id);
  select * into offer from market.offer o where o.id = decide_offer.id for no key update;
  if not found then
    perform market.fail(404, 'not_found', 'There is no such offer.');
  end if;
  perform market.check_may_decide(offer.id, offer.account_id);
  review := market.lock_case(offer.id);
  if offer.updated_at is distinct from decide_offer.expected_updated_at then
    perform market.fail(409, 'invalid_state',
      format('This offer has changed since you looked at it, and is %s now. Look at it again, then decide.', replace(offer.status, '_', ' ')));
  elsif coalesce(review.reports, 0) <> decide_offer.expected_reports then
    perform market.fail(409, 'invalid_state',
      'This offer was reported, or decided, while you looked at it. Read the reports, then decide.');
  elsif offer.status <> all (may_be) then
    perform market.fail(409, 'invalid_state',
      format('This offer is %s; only what is %s can be decided so.', replace(offer.status, '_', ' '), replace(array_to_string(may_be, ' or '), '_', ' ')));
  elsif decide_offer.action = 'uphold' and 'appeal' <> all (coalesce(review.causes, '{}')) then
    perform market.fail(409, 'invalid_state', 'Nobody has appealed against the removal of this offer.');
  elsif decide_offer.action in ('remove', 'reject')
    and not exists (select from market.reason r where r.code = decide_offer.reason) then
    perform market.fail(400, 'bad_request', 'Give one of the reasons, by its code.');
  elsif char_length(note) > 500 then
    perform market.fail(400, 'bad_request', 'The sentence may be at most 500 characters long.');
  elsif becomes = 'published' and offer.account_id is null then
    perform market.fail(409, 'invalid_state', 'The account of this offer was deleted, so nobody could answer for it, and it stays down.');
  end if;

  if decide_offer.action in ('remove', 'reject') then
    note := coalesce(note, (select r.sentence from market.reason r where r.code = decide_offer.reason));
  end if;
  update market.offer o set
    status = coalesce(becomes, o.status),
    reviewed = decide_offer.action in ('keep', 'restore', 'publish'),
    review_reason = case when decide_offer.action in ('remove', 'reject') then decide_offer.reason when decide_offer.action = 'uphold' then o.review_reason end,
    review_note = case when decide_offer.action in ('remove', 'reject') then note when decide_offer.action = 'uphold' then coalesce(note, o.review_note) end
  where o.id = offer.id;
  update market.appeal a set decided_at = now()
  where a.offer_id = offer.id and a.removed_at = offer.removed_at and a.decided_at is null and offer.status = 'removed';
  update market.report r set settled_at = now() where r.offer_id = offer.id and r.settled_at is null;
  update market.review_case c set closed_at = now(), reports = 0, held_by = null, held_until = null
  where c.offer_id = offer.id and c.closed_at is null;
  insert into market.decision (moderator_id, action, offer_id, account_id, reason, sentence)
  values (market.moderator_id(), decide_offer.action, offer.id, offer.account_id, decide_offer.reason, note);
  return (select o from admin.offer o where o.id = offer.id);
end
$$;
comment on function market.decide_offer(uuid, text, timestamptz, integer, text, text) is
  'Makes one decision on an offer, settles its reports and closes its case; 409 invalid_state when the offer is not as expected, held by another, or not to be decided so.';
grant execute on function market.decide_offer(uuid, text, timestamptz, integer, text, text) to souk_moderator;

create or replace function admin.keep_offer(id uuid, expected_updated_at timestamptz, note text default null, expected_reports integer default null) returns admin.offer
  language plpgsql volatile
as $$ begin return market.decide_offer(keep_offer.id, 'keep', keep_offer.expected_updated_at, keep_offer.expected_reports, null, keep_offer.note); end $$;
comment on function admin.keep_offer(uuid, timestamptz, text, integer) is 'Keeps an offer up: it becomes reviewed, and its reports are settled. The note is for other moderators.';

create or replace function admin.remove_offer(id uuid, expected_updated_at timestamptz, reason text, sentence text default null, expected_reports integer default null) returns admin.offer
  language plpgsql volatile
as $$ begin return market.decide_offer(remove_offer.id, 'remove', remove_offer.expected_updated_at, remove_offer.expected_reports, remove_offer.reason, remove_offer.sentence); end $$;
comment on function admin.remove_offer(uuid, timestamptz, text, text, integer) is 'Takes an offer down for a reason. Its owner reads the sentence, or that of the reason, and may appeal once.';

create or replace function admin.restore_offer(id uuid, expected_updated_at timestamptz, note text default null, expected_reports integer default null) returns admin.offer
  language plpgsql volatile
as $$ begin return market.decide_offer(restore_offer.id, 'restore', restore_offer.expected_updated_at, restore_offer.expected_reports, null, restore_offer.note); end $$;
comment on function admin.restore_offer(uuid, timestamptz, text, integer) is 'Puts an offer up again that was taken down. The note is for other moderators.';

create or replace function admin.uphold_removal(id uuid, expected_updated_at timestamptz, sentence text default null, expected_reports integer default null) returns admin.offer
  language plpgsql volatile
as $$ begin return market.decide_offer(uphold_removal.id, 'uphold', uphold_removal.expected_updated_at, uphold_removal.expected_reports, null, uphold_removal.sentence); end $$;
comment on function admin.uphold_removal(uuid, timestamptz, text, integer) is 'Declines an appeal: the offer stays down. A sentence replaces the one its owner reads.';

create or replace function admin.publish_offer(id uuid, expected_updated_at timestamptz, note text default null, expected_reports integer default null) returns admin.offer
  language plpgsql volatile
as $$ begin return market.decide_offer(publish_offer.id, 'publish', publish_offer.expected_updated_at, publish_offer.expected_reports, null, publish_offer.note); end $$;
comment on function admin.publish_offer(uuid, timestamptz, text, integer) is 'Lets an offer go live that waits for review. The note is for other moderators.';

create or replace function admin.reject_offer(id uuid, expected_updated_at timestamptz, reason text, sentence text default null, expected_reports integer default null) returns admin.offer
  language plpgsql volatile
as $$ begin return market.decide_offer(reject_offer.id, 'reject', reject_offer.expected_updated_at, reject_offer.expected_reports, reject_offer.reason, reject_offer.sentence); end $$;
comment on function admin.reject_offer(uuid, timestamptz, text, text, integer) is 'Rejects an offer that waits for review, for good. Its owner reads the sentence, or that of the reason.';

grant execute on function admin.keep_offer(uuid, timestamptz, text, integer), admin.remove_offer(uuid, timestamptz, text, text, integer),
  admin.restore_offer(uuid, timestamptz, text, integer), admin.uphold_removal(uuid, timestamptz, text, integer),
  admin.publish_offer(uuid, timestamptz, text, integer), admin.reject_offer(uuid, timestamptz, text, text, integer) to souk_moderator;
