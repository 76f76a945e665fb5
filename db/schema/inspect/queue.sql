-- The queue and who works it. graphile-worker's tables come after the migrations and may change with its versions, so
-- they are read in a function, which looks them up when it runs, and only through the view that its makers document.

create or replace function inspect.read_jobs()
  returns table (job_id bigint, task text, row_id uuid, state text, attempts integer, max_attempts integer,
    created_at timestamptz, run_at timestamptz, locked_at timestamptz, locked_by text, last_error text)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select j.id, j.task_identifier, substring(j.key from ':([0-9a-f-]{36})$')::uuid,
    case
      when j.locked_by is not null and exists (
        select from market.worker_heartbeat h
        where h.pool_id = j.locked_by and h.beat_at > now() - interval '30 seconds') then 'running'
      when j.locked_by is not null then 'held by a dead worker'
      when j.attempts >= j.max_attempts then 'failed for good'
      when j.run_at > now() then 'scheduled'
      else 'waiting'
    end,
    j.attempts::integer, j.max_attempts::integer, j.created_at, j.run_at, j.locked_at, j.locked_by, j.last_error
  from graphile_worker.jobs j;
end
$$;
comment on function inspect.read_jobs() is 'What inspect.jobs shows.';
grant execute on function inspect.read_jobs() to souk_dba;

create or replace view inspect.jobs with (security_invoker = true) as
select j.job_id, j.task, j.row_id, j.state, j.attempts, j.max_attempts, now() - j.created_at as age, j.run_at,
  now() - j.locked_at as locked_for, j.locked_by, j.last_error
from inspect.read_jobs() as j;
comment on view inspect.jobs is
  'When work does not get done: every job that is not done. Failing: where attempts > 0; given up: where state = '
  '''failed for good''; of dead workers: where state = ''held by a dead worker''.';
comment on column inspect.jobs.job_id is 'As graphile_worker.reschedule_jobs and complete_jobs take it.';
comment on column inspect.jobs.task is 'complete_submission, embed_offer, embed_ask, or a task of the clock.';
comment on column inspect.jobs.row_id is 'The submission, offer or ask that it is about.';
comment on column inspect.jobs.state is
  'waiting, scheduled (to be tried later), running, held by a dead worker, or failed for good.';
comment on column inspect.jobs.attempts is 'How often it was begun.';
comment on column inspect.jobs.max_attempts is 'After so many it is given up: eight take about an hour.';
comment on column inspect.jobs.age is 'How long ago it was asked for.';
comment on column inspect.jobs.run_at is 'Not before.';
comment on column inspect.jobs.locked_for is 'How long it has been worked on, null when it is not.';
comment on column inspect.jobs.locked_by is 'The pool of workers that has it: see inspect.workers.';
comment on column inspect.jobs.last_error is 'What its last attempt failed with.';
grant select on inspect.jobs to souk_dba;

create or replace view inspect.queue with (security_invoker = true) as
select j.task, j.state, count(*) as jobs, max(j.age) as oldest, max(j.attempts) as most_attempts,
  max(j.last_error) as an_error
from inspect.jobs j
group by j.task, j.state;
comment on view inspect.queue is
  'When answers are late or vectors are missing, first of all: how much waits, how long, and whether it fails. Growing '
  'numbers with live workers: more workers are needed.';
comment on column inspect.queue.task is 'What is to be done.';
comment on column inspect.queue.state is 'As in inspect.jobs.';
comment on column inspect.queue.jobs is 'How many.';
comment on column inspect.queue.oldest is 'How long ago the oldest was asked for.';
comment on column inspect.queue.most_attempts is 'How often one of them was begun, at most.';
comment on column inspect.queue.an_error is 'One of the errors, if there is any.';
grant select on inspect.queue to souk_dba;

create or replace view inspect.workers with (security_invoker = true) as
select coalesce(h.pool_id, j.locked_by) as pool_id, h.beat_at, now() - h.beat_at as silent_for,
  coalesce(h.beat_at > now() - interval '30 seconds', false) as alive, coalesce(j.jobs, 0) as jobs, j.longest
from market.worker_heartbeat h
full join (
  select j.locked_by, count(*) as jobs, max(j.locked_for) as longest
  from inspect.jobs j where j.locked_by is not null group by j.locked_by) as j on j.locked_by = h.pool_id;
comment on view inspect.workers is
  'When nothing is read or embedded: which pools of workers live, and which have died with jobs in their hands. No row '
  'that is alive: no worker runs.';
comment on column inspect.workers.pool_id is 'As graphile_worker.force_unlock_workers takes it.';
comment on column inspect.workers.beat_at is
  'Its last heartbeat, one every ten seconds; null when it has none any more.';
comment on column inspect.workers.silent_for is 'How long ago that was.';
comment on column inspect.workers.alive is
  'Whether it has said so within 30 seconds. A live worker frees the jobs of dead ones within ten more.';
comment on column inspect.workers.jobs is 'Jobs that it holds.';
comment on column inspect.workers.longest is 'For how long it has held the oldest of them.';
grant select on inspect.workers to souk_dba;
