-- Submissions: a text is checked, counted and written down; the worker extracts what it says and completes it, or the
-- deadline withdraws it.

create or replace function internal.text_errors(text text) returns jsonb
  language plpgsql immutable
as $$
begin
  return (select coalesce(jsonb_agg(jsonb_build_object('pointer', '/text', 'detail', e.detail)), '[]')
  from (values
    (case when coalesce(reading.first_line(text), '') = '' then 'The text is empty.' end),
    (case when char_length(normalize(text, nfc)) > 4000 then 'A text may have at most 4,000 characters.' end),
    (internal.contains_secret(text))) as e (detail)
  where e.detail is not null);
end
$$;
comment on function internal.text_errors(text) is 'What is wrong with a text before it is read: [{pointer, detail}].';
grant execute on function internal.text_errors(text) to souk_agent, souk_person;

create or replace function internal.submission_errors(body jsonb) returns jsonb
  language plpgsql stable
as $$
begin
  return case when body ? 'text' then internal.text_errors(body ->> 'text') else jsonb '[]' end
    || case when body ? 'images' then internal.image_errors(body -> 'images') else jsonb '[]' end
    || case when body ->> 'origin_ask_id' is not null and not exists (
        select from market.ask a
        where a.id::text = lower(body ->> 'origin_ask_id') and a.account_id = internal.account_id())
      then
      jsonb '[{"pointer": "/origin_ask_id", "detail": "This is not the id of one of your asks. Leave it out, or send '
        'an id that GET /v1/asks lists."}]'
      else jsonb '[]' end;
end
$$;
comment on function internal.submission_errors(jsonb) is
  'What is wrong with an OfferSubmission of the right shape: [{pointer, detail}].';
grant execute on function internal.submission_errors(jsonb) to souk_agent, souk_person;

create or replace function internal.create_submission(
  kind text, action text, body jsonb, idempotency_key text, request_hash bytea, errors jsonb, target_id uuid
) returns jsonb
  language plpgsql volatile
as $$
declare
  admission jsonb;
  submission_id uuid := internal.uuid_v7();
begin
  admission := internal.admit(create_submission.action, create_submission.idempotency_key,
    create_submission.request_hash, create_submission.errors);
  if admission ? 'status' then
    return admission;
  end if;
  if create_submission.kind = 'create_ask' then
    insert into market.ask (id, account_id, agent_id, text, watch_enabled)
    values (create_submission.target_id, internal.account_id(), internal.agent_id(), normalize(body ->> 'text', nfc),
      coalesce((body ->> 'watch_enabled')::boolean, true));
  end if;
  insert into market.submission (id, kind, account_id, agent_id, target_id, origin_ask_id, text, images)
  values (submission_id, create_submission.kind, internal.account_id(), internal.agent_id(),
    create_submission.target_id,
    (body ->> 'origin_ask_id')::uuid, normalize(body ->> 'text', nfc),
    internal.image_links(coalesce(body -> 'images', '[]')));
  perform internal.note_activity();
  if create_submission.idempotency_key is not null then
    perform internal.bind_idempotency_key(create_submission.idempotency_key, submission_id);
  end if;
  return admission || jsonb_build_object('submission', submission_id);
end
$$;
comment on function internal.create_submission(text, text, jsonb, text, bytea, jsonb, uuid) is
  'Admits a text and has it read: {submission, headers}, or {status, body, headers} when a key replays.';
grant execute on function internal.create_submission(text, text, jsonb, text, bytea, jsonb, uuid)
  to souk_agent, souk_person;

create or replace function internal.enqueue_submission() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform internal.enqueue('complete_submission', new.id);
  return new;
end
$$;
comment on function internal.enqueue_submission() is 'Every submission is read.';

create or replace function internal.awaits_extraction(submission market.submission) returns boolean
  language plpgsql stable
as $$
begin
  -- An ask is filled in even after its caller was answered, as long as it still has this text.
  return submission.completed_at is null or submission.kind in ('create_ask', 'update_ask') and exists (
    select from market.ask a
    where a.id = submission.target_id and a.read_at is null and a.text = submission.text);
end
$$;
comment on function internal.awaits_extraction(market.submission) is
  'Whether reading the text of a submission still has an effect.';

create or replace function internal.is_own_submission(submission market.submission) returns boolean
  language sql stable
as $$
  -- Of an account's texts an agent has those that it sent, and the person those sent in the browser.
  select submission.agent_id is not distinct from internal.agent_id()
    and (internal.agent_id() is not null or submission.account_id = internal.account_id())
$$;
comment on function internal.is_own_submission(market.submission) is 'Whether the caller sent this text.';
grant execute on function internal.is_own_submission(market.submission) to souk_agent, souk_person;

create or replace function internal.submission_answer(submission_id uuid) returns jsonb
  language plpgsql stable
as $$
begin
  return (
    select jsonb_build_object('status', s.status, 'body', s.body)
    from market.submission s
    where s.id = submission_answer.submission_id and s.completed_at is not null and internal.is_own_submission(s));
end
$$;
comment on function internal.submission_answer(uuid) is
  'The settled answer of one of the caller''s submissions, else null.';
grant execute on function internal.submission_answer(uuid) to souk_agent, souk_person;

create or replace function internal.complete_submission(id uuid, status integer, body jsonb) returns void
  language plpgsql volatile
as $$
begin
  update market.submission s
    set completed_at = clock_timestamp(), status = complete_submission.status, body = complete_submission.body
  where s.id = complete_submission.id and s.completed_at is null;
  perform pg_notify('submission', complete_submission.id::text);
end
$$;
comment on function internal.complete_submission(uuid, integer, jsonb) is
  'Writes down the answer of a submission, the first one for good, and wakes whoever waits for it.';

create or replace function internal.withdraw_submission(id uuid) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  submission market.submission;
  ask market.ask;
begin
  -- The account's row first, as in jobs.complete_submission.
  perform from market.account a
  where a.id = (select s.account_id from market.submission s where s.id = withdraw_submission.id) for key share;
  select * into submission from market.submission s
  where s.id = withdraw_submission.id and s.completed_at is null for update;
  if not found then
    return;
  end if;
  if submission.kind in ('create_ask', 'update_ask') then
    -- Nothing is known yet of the text that stands there now.
    update market.ask a set text = submission.text, read_at = null, updated_at = now(),
      title = null, domain = null, category = null, ask_kind = null, language = null, criteria = '{}',
      keywords_query = null, exclude_query = null, place_query = null, price_max_hundredths = null,
      price_currency = null
    where a.id = submission.target_id and a.account_id = submission.account_id
    returning * into ask;
    delete from market.match m where m.ask_id = ask.id;
    perform internal.complete_submission(submission.id, case submission.kind when 'create_ask' then 201 else 200 end,
      internal.ask_document(ask));
  else
    delete from market.idempotency_key k where k.submission_id = submission.id;
    perform internal.complete_submission(submission.id, 503,
      jsonb_build_object('code', 'service_unavailable', 'retry_after', 5,
      'detail', 'The text could not be read in time, and nothing was published. Send it again in a few seconds.'));
  end if;
end
$$;
comment on function internal.withdraw_submission(uuid) is
  'Settles a submission that was not read in time; does nothing when it is settled.';
