-- A text has been read: publish, change, preview or refuse, and settle the submission, all in one transaction. Its
-- caller is told by a notification, and a key replays what is settled here.

create or replace function jobs.complete_submission(
  id uuid, extraction jsonb, embedding text default null, model text default null
) returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  submission market.submission;
  outcome record;
begin
  -- The account's row first, as internal.erase_account locks it: what is deleted meanwhile is not published.
  perform from market.account a
  where a.id = (select s.account_id from market.submission s where s.id = complete_submission.id) for key share;
  select * into submission from market.submission s where s.id = complete_submission.id for update;
  if submission.id is null or not internal.awaits_extraction(submission) then
    return false;
  end if;
  -- A text is published in the name of whoever sent it, so that is who the audit log names.
  perform set_config('market.account_id', submission.account_id::text, true),
    set_config('market.agent_id', coalesce(submission.agent_id::text, ''), true),
    set_config('market.request_id', coalesce(submission.request_id, ''), true);
  -- Whatever the removal of an agent meets half way is not published; an ask that was answered belongs to the account.
  perform from market.agent a where a.id = submission.agent_id for share;
  if submission.completed_at is null
    and exists (select from market.agent a where a.id = submission.agent_id and a.removed_at is not null) then
    perform internal.complete_submission(submission.id, 401,
      jsonb_build_object('code', 'unauthorized', 'detail', 'This agent was removed.'));
    return true;
  end if;
  if submission.kind in ('create_ask', 'update_ask') then
    outcome := internal.complete_ask(submission, complete_submission.extraction, complete_submission.embedding,
      complete_submission.model);
  else
    outcome := internal.publish_offer(submission, complete_submission.extraction);
  end if;
  perform internal.complete_submission(submission.id, outcome.status, outcome.body);
  return true;
end
$$;
comment on function jobs.complete_submission(uuid, jsonb, text, text) is
  'Settles a submission by its grounded reading (for an ask with its vector, where there is one); false when it was '
  'settled before.';
grant execute on function jobs.complete_submission(uuid, jsonb, text, text) to souk_worker;
