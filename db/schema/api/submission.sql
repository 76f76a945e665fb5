-- Waiting for a text to be read.

create or replace function market.is_own(submission market.submission) returns boolean
  language sql stable
as $$
  -- Of an account's texts an agent has those that it sent, and the person those sent in the browser.
  select submission.agent_id is not distinct from market.agent_id()
    and (market.agent_id() is not null or submission.account_id = market.account_id())
$$;
comment on function market.is_own(market.submission) is 'Whether the caller sent this text.';

create or replace function market.answer_of(submission_id uuid) returns jsonb
  language sql stable
as $$
  select jsonb_build_object('status', s.status, 'body', s.body)
  from market.submission s
  where s.id = answer_of.submission_id and s.settled_at is not null and market.is_own(s)
$$;
comment on function market.answer_of(uuid) is 'The settled answer of one of the caller''s submissions, else null.';
grant execute on function market.is_own(market.submission), market.answer_of(uuid) to souk_agent, souk_person;

create or replace function api.get_answer(submission_id uuid) returns jsonb
  language plpgsql stable
as $$
begin
  return coalesce(market.answer_of(get_answer.submission_id), '{}');
end
$$;
comment on function api.get_answer(uuid) is 'status and body of a submission''s answer; {} while it is being read.';
grant execute on function api.get_answer(uuid) to souk_api;

create or replace function api.withdraw_submission(submission_id uuid) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from market.submission s where s.id = withdraw_submission.submission_id and market.is_own(s)) then
    perform market.withdraw(withdraw_submission.submission_id);
  end if;
  return coalesce(market.answer_of(withdraw_submission.submission_id), '{}');
end
$$;
comment on function api.withdraw_submission(uuid) is
  'The deadline passed: cancels what is not yet decided, and gives the answer, which may have been decided in the meantime.';
grant execute on function api.withdraw_submission(uuid) to souk_api;
