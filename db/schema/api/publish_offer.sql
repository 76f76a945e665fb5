-- Publishing from plain text: checked, counted, written down and given to the worker, in one statement. What the text
-- says is read by the worker; the answer is the submission's.

create or replace function api.publish_offer(body jsonb, idempotency_key text, request_hash bytea, errors jsonb)
  returns jsonb
  language plpgsql volatile
as $$
begin
  perform internal.require_permission('publish_offer',
    internal.rate_limit_headers(internal.own_usage('publish_offer')));
  return internal.create_submission('publish_offer', 'publish_offer', body, publish_offer.idempotency_key,
    publish_offer.request_hash,
    case when errors = '[]' then internal.submission_errors(body) else errors end, internal.uuid_v7());
end
$$;
comment on function api.publish_offer(jsonb, text, bytea, jsonb) is
  'Takes an OfferSubmission: {submission, headers} to wait for, or a replay. errors: what the edge found wrong with '
  'the body.';
grant execute on function api.publish_offer(jsonb, text, bytea, jsonb) to souk_api;

create or replace function api.preview_offer(body jsonb, errors jsonb) returns jsonb
  language plpgsql volatile
as $$
begin
  return internal.create_submission('preview_offer', 'preview_offer', body, null, null,
    case when errors = '[]' then internal.submission_errors(body) else errors end, null);
end
$$;
comment on function api.preview_offer(jsonb, jsonb) is
  'Takes a text to be read and not published: {submission, headers}.';
grant execute on function api.preview_offer(jsonb, jsonb) to souk_api;
