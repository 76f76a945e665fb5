-- Decisions on offers. Each call names the state that the moderator saw (expected_updated_at and expected_reports). It
-- raises 409 when another moderator, the owner or a reporter has changed that state in the meantime.

create or replace function admin.keep_offer(
  id uuid, expected_updated_at timestamptz, note text default null, expected_reports integer default null
) returns admin.offer
  language plpgsql volatile
as $$
begin
  return internal.decide_offer(keep_offer.id, 'keep', keep_offer.expected_updated_at, keep_offer.expected_reports, null,
    keep_offer.note);
end
$$;
comment on function admin.keep_offer(uuid, timestamptz, text, integer) is
  'Keeps a published or archived offer: it counts as reviewed, and its reports are completed. The note is for other '
  'moderators. Raises 409 while a change of the offer waits: publish or reject the change.';

create or replace function admin.remove_offer(
  id uuid, expected_updated_at timestamptz, reason text, sentence text default null,
  expected_reports integer default null
) returns admin.offer
  language plpgsql volatile
as $$
begin
  return internal.decide_offer(remove_offer.id, 'remove', remove_offer.expected_updated_at,
    remove_offer.expected_reports, remove_offer.reason, remove_offer.sentence);
end
$$;
comment on function admin.remove_offer(uuid, timestamptz, text, text, integer) is
  'Removes a published or archived offer, with its change, for a reason. The owner reads your sentence, or the '
  'sentence of the reason, and may appeal once.';

create or replace function admin.restore_offer(
  id uuid, expected_updated_at timestamptz, note text default null, expected_reports integer default null
) returns admin.offer
  language plpgsql volatile
as $$
begin
  return internal.decide_offer(restore_offer.id, 'restore', restore_offer.expected_updated_at,
    restore_offer.expected_reports, null, restore_offer.note);
end
$$;
comment on function admin.restore_offer(uuid, timestamptz, text, integer) is
  'Publishes a removed offer again. The note is for other moderators.';

create or replace function admin.uphold_removal(
  id uuid, expected_updated_at timestamptz, sentence text default null, expected_reports integer default null
) returns admin.offer
  language plpgsql volatile
as $$
begin
  return internal.decide_offer(uphold_removal.id, 'uphold', uphold_removal.expected_updated_at,
    uphold_removal.expected_reports, null, uphold_removal.sentence);
end
$$;
comment on function admin.uphold_removal(uuid, timestamptz, text, integer) is
  'Declines an appeal: the offer stays removed. Your sentence, if given, replaces the one that the owner reads.';

create or replace function admin.publish_offer(
  id uuid, expected_updated_at timestamptz, note text default null, expected_reports integer default null
) returns admin.offer
  language plpgsql volatile
as $$
begin
  return internal.decide_offer(publish_offer.id, 'publish', publish_offer.expected_updated_at,
    publish_offer.expected_reports, null, publish_offer.note);
end
$$;
comment on function admin.publish_offer(uuid, timestamptz, text, integer) is
  'Publishes an offer that waits for review, or the waiting change of an offer, which keeps its status. The note is '
  'for other moderators.';

create or replace function admin.reject_offer(
  id uuid, expected_updated_at timestamptz, reason text, sentence text default null,
  expected_reports integer default null
) returns admin.offer
  language plpgsql volatile
as $$
begin
  return internal.decide_offer(reject_offer.id, 'reject', reject_offer.expected_updated_at,
    reject_offer.expected_reports, reject_offer.reason, reject_offer.sentence);
end
$$;
comment on function admin.reject_offer(uuid, timestamptz, text, text, integer) is
  'Rejects an offer that waits for review, which is final, or the waiting change of an offer, which stays as it was. '
  'The owner reads your sentence, or the sentence of the reason.';
grant execute on function
  admin.keep_offer(uuid, timestamptz, text, integer),
  admin.remove_offer(uuid, timestamptz, text, text, integer),
  admin.restore_offer(uuid, timestamptz, text, integer),
  admin.uphold_removal(uuid, timestamptz, text, integer),
  admin.publish_offer(uuid, timestamptz, text, integer),
  admin.reject_offer(uuid, timestamptz, text, text, integer)
  to souk_moderator;
