-- Submissions. The API checks, counts and stores a text. The worker extracts its fields and completes the submission,
-- or the deadline withdraws it.

create or replace function internal.superseded(kind text) returns text
  language sql immutable
as $$ select case kind when 'update_offer' then 'change_superseded_offer' else 'change_superseded_ask' end $$;
comment on function internal.superseded(text) is
  'Returns the name of the sentence with which a change of an offer or ask is refused that a later change has '
  'overtaken. Its parameter is the id.';
grant execute on function internal.superseded(text) to souk_agent, souk_person;

create or replace function internal.arrived_at() returns timestamptz
  language sql stable
as $$
  select now() - coalesce(nullif(current_setting('market.waited', true), '')::integer, 0) * interval '1 millisecond'
$$;
comment on function internal.arrived_at() is
  'Returns when the service received the request: the arrival of its statement here, less the milliseconds that it had '
  'waited in the API (setting market.waited). So only the database''s clock counts.';
grant execute on function internal.arrived_at() to souk_agent, souk_person;

create or replace function internal.create_submission(
  kind text, action text, body jsonb, idempotency_key text, request_hash bytea, errors jsonb, target_id uuid,
  changes text[] default '{text,images}'
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
  -- The admission is on the disk with the answer at the latest (make_durable.sql).
  perform set_config('synchronous_commit', 'off', true);
  -- A change that arrived earlier may be admitted later: its process may have waited for a connection, and a new
  -- connection needs many milliseconds to plan statements that others have planned already.
  if exists (
    select from market.submission s
    where s.target_id = create_submission.target_id and s.created_at > internal.arrived_at()
      and s.changes && create_submission.changes and coalesce(s.status, 200) between 200 and 299) then
    perform internal.raise_problem(409, 'invalid_state',
      internal.superseded(create_submission.kind), jsonb_build_object('id', create_submission.target_id));
  end if;
  -- Both before the submission, whose trigger takes the last lock of this transaction (internal.enqueue).
  perform internal.lock_own_account();
  perform internal.note_activity();
  if create_submission.kind = 'create_ask' then
    insert into market.ask (id, account_id, agent_id, text, watch_enabled)
    values (create_submission.target_id, internal.account_id(), internal.agent_id(),
      internal.visible_text(body ->> 'text'),
      coalesce((body ->> 'watch_enabled')::boolean, true));
  end if;
  insert into market.submission (id, created_at, kind, account_id, agent_id, target_id, origin_ask_id, text, images,
    changes, kind_confirmed, contact_visibility)
  values (submission_id, internal.arrived_at(), create_submission.kind, internal.account_id(), internal.agent_id(),
    create_submission.target_id,
    (body ->> 'origin_ask_id')::uuid, internal.visible_text(body ->> 'text'),
    internal.image_links(coalesce(body -> 'images', '[]')), create_submission.changes,
    coalesce((body ->> 'kind_confirmed')::boolean, false), body ->> 'contact_visibility');
  if create_submission.idempotency_key is not null then
    perform internal.bind_idempotency_key(create_submission.idempotency_key, submission_id);
  end if;
  return admission || jsonb_build_object('submission', submission_id);
end
$$;
comment on function internal.create_submission(text, text, jsonb, text, bytea, jsonb, uuid, text[]) is
  'Admits a text and stores it for the worker: returns {submission, headers}, or {status, body, headers} for a replay. '
  'Raises what internal.admit raises, and 409 invalid_state when a change that arrived later was admitted before.';
grant execute on function internal.create_submission(text, text, jsonb, text, bytea, jsonb, uuid, text[])
  to souk_agent, souk_person;

create or replace function internal.enqueue_submission() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- Agents that no person has approved cost nothing to make. So their texts are read when nobody else waits: an account
  -- may have a thousand texts before one of its own (internal.enqueue).
  perform internal.enqueue('complete_submission', new.id,
    case when internal.is_of_stranger(new) then 2000 else 0 end);
  return new;
end
$$;
comment on function internal.enqueue_submission() is
  'Enqueues a job for every new submission. Strangers'' submissions come last.';

create or replace function internal.is_of_stranger(submission market.submission) returns boolean
  language plpgsql stable
as $$
begin
  return exists (
    select from market.agent a where a.id = submission.agent_id
      and (a.sandbox_id is not null or submission.kind = 'preview_offer' and a.connected_at is null));
end
$$;
comment on function internal.is_of_stranger(market.submission) is
  'Returns whether a submission is from an agent that no person has approved: a preview, or a text of a test agent.';

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
  -- A submission belongs to the agent that sent it, or to the person who sent it in the browser.
  select submission.agent_id is not distinct from internal.agent_id()
    and (internal.agent_id() is not null or submission.account_id = internal.account_id())
$$;
comment on function internal.is_own_submission(market.submission) is 'Returns whether the caller sent this submission.';
grant execute on function internal.is_own_submission(market.submission) to souk_agent, souk_person;

create or replace function internal.submission_answer(submission_id uuid) returns jsonb
  language plpgsql volatile
as $$
declare
  answer constant jsonb := (
    select jsonb_build_object('status', s.status, 'body', internal.with_web_url(s.body))
    from market.submission s
    where s.id = submission_answer.submission_id and s.completed_at is not null and internal.is_own_submission(s));
begin
  if answer is not null then
    perform internal.make_durable();
  end if;
  return answer;
end
$$;
comment on function internal.submission_answer(uuid) is
  'Returns the response of a submission as {status, body}; null when it is not completed or not the caller''s. A crash '
  'of the server after this transaction does not lose it.';
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
  'Stores a submission''s response, unless it already has one, and notifies the waiting API process.';

create or replace function internal.refuse_submission(submission market.submission, status integer, body jsonb)
  returns void
  language plpgsql volatile
as $$
begin
  -- An ask is there from its admission on. If another agent has changed it since, it is that agent's, too.
  perform internal.lock_matches(array[submission.target_id]);
  delete from market.ask a
  where submission.kind = 'create_ask' and a.id = submission.target_id and not exists (
    select from market.submission s
    where s.target_id = submission.target_id and s.id > submission.id and coalesce(s.status, 200) between 200 and 299);
  perform internal.store_answer(submission.id, refuse_submission.status, refuse_submission.body);
end
$$;
comment on function internal.refuse_submission(market.submission, integer, jsonb) is
  'Completes a submission whose caller may no longer do this, and deletes the ask that it was to create.';

create or replace function internal.act_as_sender(submission market.submission) returns void
  language plpgsql volatile
as $$
begin
  perform set_config('market.account_id', submission.account_id::text, true),
    set_config('market.agent_id', coalesce(submission.agent_id::text, ''), true),
    set_config('market.sandbox_id',
      coalesce((select g.sandbox_id from market.agent g where g.id = submission.agent_id)::text, ''), true),
    set_config('market.request_id', coalesce(submission.request_id, ''), true);
end
$$;
comment on function internal.act_as_sender(market.submission) is
  'Sets the claims of the agent or person who sent a text, so that the audit log names them.';

create or replace function internal.refuse_if_removed(submission market.submission) returns boolean
  language plpgsql volatile
as $$
declare
  agent market.agent;
begin
  select * into agent from market.agent a where a.id = submission.agent_id for share;
  if submission.completed_at is not null then
    -- An ask that was already answered is still filled in, because it belongs to the account.
    return false;
  elsif agent.removed_at is not null then
    perform internal.refuse_submission(submission, 401,
      jsonb_build_object('code', 'unauthorized', 'detail', internal.sentence('agent_was_removed')));
    return true;
  elsif submission.kind <> 'preview_offer' and internal.disconnection() is not null then
    perform internal.refuse_submission(submission, 403, jsonb_build_object('code', 'verification_required',
      'detail', internal.disconnection(), 'permission', case submission.kind when 'create_ask' then 'create_ask'
        when 'update_ask' then 'manage_asks' when 'update_offer' then 'manage_offers' else 'publish_offer' end,
      'connected', false, 'verified', '[]'::jsonb, 'accepted_methods', '[]'::jsonb, 'options', '[]'::jsonb));
    return true;
  end if;
  return false;
end
$$;
comment on function internal.refuse_if_removed(market.submission) is
  'Refuses a submission whose agent was removed or disconnected while its text was read, and returns whether it did.';

create or replace function internal.lock_submission(id uuid) returns market.submission
  language plpgsql volatile
as $$
declare
  submission market.submission;
begin
  -- The account first, as internal.erase_account and a suspension do, so that no text of a deleted or suspended account
  -- is published.
  perform from market.account a
  where a.id = (select s.account_id from market.submission s where s.id = lock_submission.id) for share;
  select * into submission from market.submission s where s.id = lock_submission.id for update;
  perform internal.lock_target(submission);
  return submission;
end
$$;
comment on function internal.lock_submission(uuid) is
  'Locks the account of a submission, the submission and the offer or ask that it changes, and returns the submission; '
  'nulls when there is none.';

create or replace function internal.lock_target(submission market.submission) returns void
  language plpgsql volatile
as $$
begin
  perform from market.offer o where o.id = submission.target_id for no key update;
  perform from market.ask a where a.id = submission.target_id for no key update;
end
$$;
comment on function internal.lock_target(market.submission) is
  'Locks the offer or ask that a submission changes, so that of several changes one after the other takes effect.';

create or replace function internal.answer_superseded(submission market.submission, later market.submission)
  returns void
  language plpgsql volatile
as $$
begin
  if submission.kind = 'create_ask' then
    perform internal.store_answer(submission.id, 201, internal.ask_document(a))
    from market.ask a where a.id = submission.target_id;
  elsif ('text' <> all (submission.changes) or submission.text = later.text)
    and ('images' <> all (submission.changes) or submission.images = later.images)
    and (submission.contact_visibility is null or submission.contact_visibility = later.contact_visibility) then
    -- The later change contains everything that this one changes, so this one has taken effect with it.
    perform internal.store_answer(submission.id, later.status, later.body);
  else
    perform internal.store_answer(submission.id, 409, jsonb_build_object('code', 'invalid_state', 'detail',
      internal.sentence(internal.superseded(submission.kind), jsonb_build_object('id', submission.target_id))));
  end if;
end
$$;
comment on function internal.answer_superseded(market.submission, market.submission) is
  'Completes a submission that was not read before a later one took effect: with the response of the later one if that '
  'contains everything that the submission changes, otherwise with 409 invalid_state. The creation of an ask gets 201 '
  'with the ask as it is now.';

create or replace function internal.answer_if_superseded(submission market.submission) returns boolean
  language plpgsql volatile
as $$
declare
  later market.submission;
begin
  if submission.completed_at is null then
    -- Ids are in the order in which the changes were admitted. The last one says what counts now.
    select * into later from market.submission s
    where s.target_id = submission.target_id and s.id > submission.id and s.status between 200 and 299
    order by s.id desc limit 1;
    if found then
      perform internal.answer_superseded(submission, later);
      return true;
    end if;
  end if;
  return false;
end
$$;
comment on function internal.answer_if_superseded(market.submission) is
  'Completes a waiting submission when a later change of the same offer or ask has taken effect, and returns whether '
  'it did. Call internal.lock_target first.';

create or replace function internal.supersede_earlier(id uuid) returns void
  language plpgsql volatile
as $$
declare
  later market.submission;
begin
  select * into later from market.submission s where s.id = supersede_earlier.id;
  -- A submission that is locked is being completed or withdrawn right now. It waits for the lock on the target, and
  -- then answers itself (internal.answer_if_superseded).
  perform internal.answer_superseded(e, later) from (
    select s as e from market.submission s
    where s.target_id = later.target_id and s.id < later.id and s.completed_at is null
    for update skip locked) as earlier;
end
$$;
comment on function internal.supersede_earlier(uuid) is
  'Completes the waiting changes that were admitted before a change that has taken effect. So their callers need not '
  'wait for texts that no longer count, and nobody reads these texts.';
