-- Requests whose text is not extracted yet, and their idempotency keys.

create or replace view inspect.submissions_waiting with (security_invoker = true) as
select s.id as submission_id, s.kind, s.agent_id, s.account_id, s.target_id, now() - s.created_at as age,
  now() - s.created_at > interval '10 minutes' as stuck,
  j.job_id, coalesce(j.state, 'no job') as job_state, j.attempts, j.last_error
from market.submission s
left join inspect.jobs j on j.row_id = s.id and j.task = 'complete_submission'
where s.completed_at is null;
comment on view inspect.submissions_waiting is
  'When POST /v1/offers or /v1/asks answers late or with 503: the texts that are not extracted yet, and the state of '
  'their jobs. To see the oldest first, add order by age desc.';
comment on column inspect.submissions_waiting.submission_id is
  'The submission. In inspect.jobs, its job has this id as row_id.';
comment on column inspect.submissions_waiting.kind is
  'publish_offer, update_offer, preview_offer, create_ask or update_ask.';
comment on column inspect.submissions_waiting.age is
  'How long the submission has waited. The caller gets a response after EXTRACTION_DEADLINE_MS at the latest.';
comment on column inspect.submissions_waiting.stuck is
  'Whether the sweep should have completed the submission already. The sweep is a job that runs every minute and '
  'completes submissions that are ten minutes old.';
comment on column inspect.submissions_waiting.job_id is
  'The job that will extract the text; null when there is none, so that the sweep will complete the submission.';
comment on column inspect.submissions_waiting.job_state is 'The state as in inspect.jobs, or "no job".';
comment on column inspect.submissions_waiting.attempts is 'How often the job was started.';
comment on column inspect.submissions_waiting.last_error is 'The error of the last attempt.';
grant select on inspect.submissions_waiting to souk_dba;

create or replace view inspect.keys_in_flight with (security_invoker = true) as
select k.owner_id, k.key, k.submission_id, s.kind, now() - k.created_at as age,
  now() - k.created_at > interval '10 minutes' as stuck
from market.submission s join market.idempotency_key k on k.submission_id = s.id
where s.completed_at is null
union all
select k.owner_id, k.key, null, null, now() - k.created_at, true
from market.idempotency_key k
where k.submission_id is null;
comment on view inspect.keys_in_flight is
  'When an agent keeps getting idempotency_in_flight (409): the keys whose first request has no response yet, and '
  'their age.';
comment on column inspect.keys_in_flight.owner_id is
  'The owner of the key: an agent, or the account of a person in the browser.';
comment on column inspect.keys_in_flight.key is 'The key as sent.';
comment on column inspect.keys_in_flight.submission_id is
  'The submission that the key waits for: see inspect.submissions_waiting. Null when the key has no submission; then '
  'delete the key.';
comment on column inspect.keys_in_flight.kind is 'The kind of request.';
comment on column inspect.keys_in_flight.age is 'How long ago the key was first sent.';
comment on column inspect.keys_in_flight.stuck is 'Whether the sweep should have freed the key already.';
grant select on inspect.keys_in_flight to souk_dba;
