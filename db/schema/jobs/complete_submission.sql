-- Runs when an extractor has read a submission's text. One transaction publishes, changes, previews or refuses the
-- offer or ask, and completes the submission. A notification wakes the waiting API process. A retry with the same
-- idempotency key gets the response that is stored here. Of two changes of one text the later one counts, whichever is
-- read first.

create or replace function jobs.complete_submission(
  id uuid, extractions jsonb, embedding text default null, model text default null, addressed jsonb default '[]',
  embeds_offer boolean default false
) returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  submission market.submission;
  outcome record;
begin
  -- Lock the account first, as internal.erase_account and a suspension do, so that no text of a deleted or suspended
  -- account is published.
  perform from market.account a
  where a.id = (select s.account_id from market.submission s where s.id = complete_submission.id) for share;
  select * into submission from market.submission s where s.id = complete_submission.id for update;
  perform internal.lock_target(submission);
  if submission.id is null or not internal.awaits_extraction(submission) then
    return false;
  elsif internal.answer_if_superseded(submission) then
    return true;
  end if;
  -- Set the claims of the agent or person who sent the text, so that the audit log names them.
  perform set_config('market.account_id', submission.account_id::text, true),
    set_config('market.agent_id', coalesce(submission.agent_id::text, ''), true),
    set_config('market.sandbox_id',
      coalesce((select g.sandbox_id from market.agent g where g.id = submission.agent_id)::text, ''), true),
    set_config('market.request_id', coalesce(submission.request_id, ''), true),
    set_config('market.embeds_offer', complete_submission.embeds_offer::text, true);
  -- A submission is not published if its agent was removed or disconnected while its text was read. An ask that was
  -- already answered is still filled in, because it belongs to the account.
  perform from market.agent a where a.id = submission.agent_id for share;
  if submission.completed_at is null
    and exists (select from market.agent a where a.id = submission.agent_id and a.removed_at is not null) then
    perform internal.refuse_submission(submission, 401,
      jsonb_build_object('code', 'unauthorized', 'detail', internal.sentence('agent_was_removed')));
    return true;
  elsif submission.completed_at is null and submission.kind <> 'preview_offer'
    and internal.disconnection() is not null then
    perform internal.refuse_submission(submission, 403, jsonb_build_object('code', 'verification_required',
      'detail', internal.disconnection(), 'permission', case submission.kind when 'create_ask' then 'create_ask'
        when 'update_ask' then 'manage_asks' when 'update_offer' then 'manage_offers' else 'publish_offer' end,
      'connected', false, 'verified', '[]'::jsonb, 'accepted_methods', '[]'::jsonb, 'options', '[]'::jsonb));
    return true;
  end if;
  if submission.kind in ('create_ask', 'update_ask') then
    outcome := internal.complete_ask(submission, complete_submission.extractions, complete_submission.addressed,
      complete_submission.embedding, complete_submission.model);
  else
    outcome := internal.complete_offer(submission, complete_submission.extractions,
      complete_submission.addressed);
  end if;
  if outcome.status is null then
    return false;
  end if;
  perform internal.store_answer(submission.id, outcome.status, outcome.body);
  if outcome.status < 300 then
    perform internal.supersede_earlier(submission.id);
  end if;
  return true;
end
$$;
comment on function jobs.complete_submission(uuid, jsonb, text, text, jsonb, boolean) is
  'Completes a submission from the extractions of its text (an ask also with its vector); returns false when there was '
  'nothing left to do. `addressed`: the spans of the text that are addressed to software. `embeds_offer`: the same job '
  'embeds the offer afterwards, so no other job is enqueued for that.';
