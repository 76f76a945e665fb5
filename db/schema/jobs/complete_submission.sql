-- Runs when an extractor has read a submission's text. One transaction publishes, changes, previews or refuses the
-- offer or ask, and completes the submission. A notification wakes the waiting API process. A retry with the same
-- idempotency key gets the response that is stored here. Of two changes of one text the later one counts, whichever is
-- read first.

create or replace function jobs.complete_submission(
  id uuid, extractions jsonb, embedding text default null, model text default null, addressed jsonb default '[]',
  embeds_offer boolean default false, withheld jsonb default null
) returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  submission constant market.submission := internal.lock_submission(complete_submission.id);
  outcome record;
begin
  if submission.id is null or not internal.awaits_extraction(submission) then
    return false;
  elsif internal.answer_if_superseded(submission) then
    return true;
  end if;
  perform internal.act_as_sender(submission),
    set_config('market.embeds_offer', complete_submission.embeds_offer::text, true);
  if internal.refuse_if_removed(submission) then
    return true;
  end if;
  if submission.kind in ('create_ask', 'update_ask') then
    outcome := internal.complete_ask(submission, complete_submission.extractions, complete_submission.addressed,
      complete_submission.embedding, complete_submission.model);
  else
    outcome := internal.complete_offer(submission, complete_submission.extractions,
      complete_submission.addressed, complete_submission.withheld);
  end if;
  if outcome.status is null then
    -- Another text has to be read first.
    return false;
  end if;
  perform internal.store_answer(submission.id, outcome.status, outcome.body);
  if outcome.status < 300 then
    perform internal.supersede_earlier(submission.id);
  end if;
  return true;
end
$$;
comment on function jobs.complete_submission(uuid, jsonb, text, text, jsonb, boolean, jsonb) is
  'Completes a submission from the extractions of its text (an ask also with its vector); returns false when there was '
  'nothing left to do. `addressed`: the spans of the text that are addressed to software. `embeds_offer`: the same job '
  'embeds the offer afterwards, so no other job is enqueued for that. `withheld`: what of an offer is not shown where '
  'its contact is withheld, {spans, images}.';
