-- Runs when an extractor has read the text of a submission. One transaction publishes, changes, previews or refuses the
-- offer or ask, and completes the submission. A notification wakes the waiting API process. A retry with the same
-- idempotency key gets the response that is stored here.

create or replace function jobs.complete_submission(
  id uuid, extractions jsonb, embedding text default null, model text default null, addressed jsonb default '[]'
) returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  submission market.submission;
  outcome record;
  readings jsonb := complete_submission.extractions;
  orders jsonb := complete_submission.addressed;
begin
  -- A worker of the previous release sends one extraction, whose offsets count from 1. It does not say where the text
  -- addresses software: the empty span stands for that.
  if jsonb_typeof(readings) = 'object' then
    orders := case when readings -> 'addresses_agents' = 'true' then '[{"start": 0, "end": 0}]' else '[]' end::jsonb;
    readings := jsonb_build_array(reading.zero_based(readings));
  end if;
  -- Lock the account first, as internal.erase_account does, so that a text of a deleted account is not published.
  perform from market.account a
  where a.id = (select s.account_id from market.submission s where s.id = complete_submission.id) for key share;
  select * into submission from market.submission s where s.id = complete_submission.id for update;
  if submission.id is null or not internal.awaits_extraction(submission) then
    return false;
  end if;
  -- Set the claims of the agent or person who sent the text, so that the audit log names them.
  perform set_config('market.account_id', submission.account_id::text, true),
    set_config('market.agent_id', coalesce(submission.agent_id::text, ''), true),
    set_config('market.request_id', coalesce(submission.request_id, ''), true);
  -- A submission is not published if its agent was removed while its text was read. An ask that was already answered is
  -- still filled in, because it belongs to the account.
  perform from market.agent a where a.id = submission.agent_id for share;
  if submission.completed_at is null
    and exists (select from market.agent a where a.id = submission.agent_id and a.removed_at is not null) then
    perform internal.store_answer(submission.id, 401,
      jsonb_build_object('code', 'unauthorized', 'detail', 'This agent was removed.'));
    return true;
  end if;
  if submission.kind in ('create_ask', 'update_ask') then
    outcome := internal.complete_ask(submission, readings, orders, complete_submission.embedding,
      complete_submission.model);
  else
    outcome := internal.complete_offer(submission, readings, orders);
  end if;
  perform internal.store_answer(submission.id, outcome.status, outcome.body);
  return true;
end
$$;
comment on function jobs.complete_submission(uuid, jsonb, text, text, jsonb) is
  'Completes a submission from the extractions of its text (an ask also with its vector); returns false when there was '
  'nothing left to do. `addressed`: the spans of the text that are addressed to software.';
grant execute on function jobs.complete_submission(uuid, jsonb, text, text, jsonb) to souk_worker;
