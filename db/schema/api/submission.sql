-- Waiting for the response of a submission.

create or replace function api.get_answer(submission_id uuid) returns jsonb
  language plpgsql stable
as $$
begin
  return coalesce(internal.submission_answer(get_answer.submission_id), '{}');
end
$$;
comment on function api.get_answer(uuid) is
  'Returns status and body of the response of a submission of the caller; {} while it is not decided.';
grant execute on function api.get_answer(uuid) to souk_api;

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
  'Called when the deadline has passed: cancels a submission of the caller that is not decided. Returns status and '
  'body of its response, which may have been decided in the meantime.';
grant execute on function api.withdraw_submission(uuid) to souk_api;
