-- What happens to a submission whose text was not extracted before the deadline. An offer is not published or changed,
-- and its idempotency key can be used again. An ask is stored with its text only. The worker fills in the other fields
-- when it has extracted the text.

create or replace function internal.withdraw_submission(id uuid) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  submission market.submission;
  ask market.ask;
begin
  -- Lock the account first, as jobs.complete_submission does.
  perform from market.account a
  where a.id = (select s.account_id from market.submission s where s.id = withdraw_submission.id) for key share;
  select * into submission from market.submission s
  where s.id = withdraw_submission.id and s.completed_at is null for update;
  if not found then
    return;
  end if;
  perform internal.lock_target(submission);
  if internal.answer_if_superseded(submission) then
    return;
  end if;
  if submission.kind in ('create_ask', 'update_ask') then
    -- The old extraction does not belong to the new text of the ask, so clear it.
    update market.ask a set text = submission.text, read_at = null, updated_at = now(),
      title = null, domain = null, category = null, ask_kind = null, language = null, criteria = '{}',
      keywords_query = null, exclude_query = null, must_query = null, place_query = null, price_max_thousandths = null,
      price_currency = null, latitude = null, longitude = null, radius_km = null
    where a.id = submission.target_id and a.account_id = submission.account_id
    returning * into ask;
    perform internal.lock_matches(array[ask.id]);
    delete from market.match m where m.ask_id = ask.id;
    perform internal.store_answer(submission.id, case submission.kind when 'create_ask' then 201 else 200 end,
      internal.ask_document(ask));
    perform internal.supersede_earlier(submission.id);
  else
    delete from market.idempotency_key k where k.submission_id = submission.id;
    perform internal.store_answer(submission.id, 503,
      jsonb_build_object('code', 'service_unavailable', 'retry_after', 5,
      'detail', internal.sentence('text_not_read_in_time')));
  end if;
end
$$;
comment on function internal.withdraw_submission(uuid) is
  'Completes a submission whose text was not extracted in time. The response is the ask without extracted fields, or '
  '503 for an offer. Does nothing when the submission is already completed.';
