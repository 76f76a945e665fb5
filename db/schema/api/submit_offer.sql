-- Publishing from plain text: checked, counted, written down and given to the worker, in one statement. What the text
-- says is read by the worker; the answer is the submission's.

create or replace function market.text_errors(text text) returns jsonb
  language plpgsql immutable
as $$
begin
  return (select coalesce(jsonb_agg(jsonb_build_object('pointer', '/text', 'detail', e.detail)), '[]')
  from (values
    (case when coalesce(market.first_line(text), '') = '' then 'The text is empty.' end),
    (case when char_length(normalize(text, NFC)) > 4000 then 'A text may have at most 4,000 characters.' end),
    (market.contains_secret(text))) as e (detail)
  where e.detail is not null);
end
$$;
comment on function market.text_errors(text) is 'What is wrong with a text before it is read: [{pointer, detail}].';
grant execute on function market.text_errors(text) to souk_agent, souk_person;

create or replace function market.submission_errors(body jsonb) returns jsonb
  language plpgsql stable
as $$
begin
  return case when body ? 'text' then market.text_errors(body ->> 'text') else jsonb '[]' end
    || case when body ? 'images' then market.image_errors(body -> 'images') else jsonb '[]' end
    || case when body ->> 'origin_ask_id' is not null and not exists (
        select from market.ask a
        where a.id::text = lower(body ->> 'origin_ask_id') and a.account_id = market.account_id())
      then jsonb '[{"pointer": "/origin_ask_id", "detail": "This is not the id of one of your asks. Leave it out, or send an id that GET /v1/asks lists."}]'
      else jsonb '[]' end;
end
$$;
comment on function market.submission_errors(jsonb) is 'What is wrong with an OfferSubmission of the right shape: [{pointer, detail}].';
grant execute on function market.submission_errors(jsonb) to souk_agent, souk_person;

create or replace function market.submit(kind text, action text, body jsonb, idempotency_key text, request_hash bytea, errors jsonb, target_id uuid)
  returns jsonb
  language plpgsql volatile
as $$
declare
  admission jsonb;
  submission_id uuid := market.uuid_v7();
begin
  admission := market.admit(submit.action, submit.idempotency_key, submit.request_hash, submit.errors);
  if admission ? 'status' then
    return admission;
  end if;
  if submit.kind = 'create_ask' then
    insert into market.ask (id, account_id, agent_id, text, watch_enabled)
    values (submit.target_id, market.account_id(), market.agent_id(), normalize(body ->> 'text', NFC),
      coalesce((body ->> 'watch_enabled')::boolean, true));
  end if;
  insert into market.submission (id, kind, account_id, agent_id, target_id, origin_ask_id, text, images)
  values (submission_id, submit.kind, market.account_id(), market.agent_id(), submit.target_id,
    (body ->> 'origin_ask_id')::uuid, normalize(body ->> 'text', NFC), market.image_links(coalesce(body -> 'images', '[]')));
  perform market.note_activity();
  if submit.idempotency_key is not null then
    perform market.hold_answer(submit.idempotency_key, submission_id);
  end if;
  return admission || jsonb_build_object('submission', submission_id);
end
$$;
comment on function market.submit(text, text, jsonb, text, bytea, jsonb, uuid) is
  'Admits a text and has it read: {submission, headers}, or {status, body, headers} when a key replays.';
grant execute on function market.submit(text, text, jsonb, text, bytea, jsonb, uuid) to souk_agent, souk_person;

create or replace function api.submit_offer(body jsonb, idempotency_key text, request_hash bytea, errors jsonb) returns jsonb
  language plpgsql volatile
as $$
begin
  perform market.require_connected('publish_offer', market.rate_headers(market.own_figures('publish_offer')));
  return market.submit('publish_offer', 'publish_offer', body, submit_offer.idempotency_key, submit_offer.request_hash,
    case when errors = '[]' then market.submission_errors(body) else errors end, market.uuid_v7());
end
$$;
comment on function api.submit_offer(jsonb, text, bytea, jsonb) is
  'Takes an OfferSubmission: {submission, headers} to wait for, or a replay. errors: what the edge found wrong with the body.';
grant execute on function api.submit_offer(jsonb, text, bytea, jsonb) to souk_api;

create or replace function api.preview_offer(body jsonb, errors jsonb) returns jsonb
  language plpgsql volatile
as $$
begin
  return market.submit('preview_offer', 'preview_offer', body, null, null,
    case when errors = '[]' then market.submission_errors(body) else errors end, null);
end
$$;
comment on function api.preview_offer(jsonb, jsonb) is 'Takes a text to be read and not published: {submission, headers}.';
grant execute on function api.preview_offer(jsonb, jsonb) to souk_api;
