-- What the API needs while a request waits for its submission to be completed.

create or replace function api.get_answer(submission_id uuid) returns jsonb
  language plpgsql volatile
as $$
begin
  if not exists (select from market.submission s
    where s.id = get_answer.submission_id and internal.is_own_submission(s)) then
    perform internal.raise_problem(503, 'service_unavailable', 'submission_lost', extra => '{"retry_after": 1}');
  end if;
  return coalesce(internal.submission_answer(get_answer.submission_id), '{}');
end
$$;
comment on function api.get_answer(uuid) is
  'Returns status and body of the response to a submission of the caller; {} while it is not completed. Raises 503 '
  'when there is none, because a crash of the server has lost its admission.';

create or replace function api.withdraw_submission(submission_id uuid) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from market.submission s
    where s.id = withdraw_submission.submission_id and internal.is_own_submission(s)) then
    perform internal.withdraw_submission(withdraw_submission.submission_id);
  end if;
  return coalesce(internal.submission_answer(withdraw_submission.submission_id), '{}');
end
$$;
comment on function api.withdraw_submission(uuid) is
  'Withdraws a submission of the caller whose deadline has passed, unless it has just been completed. Returns status '
  'and body of its response in both cases.';
