-- Submissions. The API checks, counts and stores a text. The worker extracts its fields and completes the submission,
-- or the deadline withdraws it.

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
  'Admits a text and stores it for the worker: returns {submission, headers}, or {status, body, headers} for a replay. '
  'Raises what internal.admit raises.';
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
comment on function internal.enqueue_submission() is 'Enqueues a job for every new submission.';

create or replace function internal.awaits_extraction(submission market.submission) returns boolean
  language plpgsql stable
as $$
begin
  -- An ask is filled in even after its caller got a response, as long as the ask still has this text.
  return submission.completed_at is null or submission.kind in ('create_ask', 'update_ask') and exists (
    select from market.ask a
    where a.id = submission.target_id and a.read_at is null and a.text = submission.text);
end
$$;
comment on function internal.awaits_extraction(market.submission) is
  'Returns whether extracting the text of a submission still has an effect.';

create or replace function internal.is_own_submission(submission market.submission) returns boolean
  language sql stable
as $$
  -- A submission of an agent belongs to the agent. A submission that a person sent in the browser belongs to the
  -- person.
  select submission.agent_id is not distinct from internal.agent_id()
    and (internal.agent_id() is not null or submission.account_id = internal.account_id())
$$;
comment on function internal.is_own_submission(market.submission) is 'Returns whether the caller sent this submission.';
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
  'Returns the response of a submission as {status, body}; null when it is not completed or not the caller''s.';
grant execute on function internal.submission_answer(uuid) to souk_agent, souk_person;

create or replace function internal.store_answer(id uuid, status integer, body jsonb) returns void
  language plpgsql volatile
as $$
begin
  update market.submission s
    set completed_at = clock_timestamp(), status = store_answer.status, body = store_answer.body
  where s.id = store_answer.id and s.completed_at is null;
  perform pg_notify('submission', store_answer.id::text);
end
$$;
comment on function internal.store_answer(uuid, integer, jsonb) is
  'Stores the response of a submission, unless it already has one, and notifies the waiting API process.';
