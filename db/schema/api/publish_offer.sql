-- Publishing from plain text. One statement checks the request, counts it, stores the submission and adds a job. The
-- worker extracts the fields and decides the response of the submission.

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
  'Admits an OfferSubmission. Returns {submission, headers} of a submission to wait for, or the response to replay for '
  'a repeated Idempotency-Key. errors: problems that the HTTP layer found in the body.';

create or replace function api.preview_offer(body jsonb, errors jsonb) returns jsonb
  language plpgsql volatile
as $$
begin
  -- An agent may before a person approves it, and a person in the browser only if they may publish.
  perform internal.require_method('publish_offer', internal.rate_limit_headers(internal.own_usage('preview_offer')));
  return internal.create_submission('preview_offer', 'preview_offer', body, null, null,
    case when errors = '[]' then internal.submission_errors(body) else errors end, null);
end
$$;
comment on function api.preview_offer(jsonb, jsonb) is
  'Admits a text that is extracted but not published. Returns {submission, headers}.';
