-- The queue and its workers. graphile-worker creates its tables after the migrations have run, and new versions of
-- it may change them. So a function reads the jobs, because PostgreSQL checks a function only when it runs. It reads
-- the view that graphile-worker documents, and not the tables.

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
      when j.attempts >= j.max_attempts then 'permanently failed'
      when j.run_at > now() then 'scheduled'
      else 'waiting'
    end,
    j.attempts::integer, j.max_attempts::integer, j.created_at, j.run_at, j.locked_at, j.locked_by, j.last_error
  from graphile_worker.jobs j;
end
$$;
comment on function inspect.read_jobs() is 'Returns the rows of inspect.jobs.';
grant execute on function inspect.read_jobs() to souk_dba;

create or replace view inspect.jobs with (security_invoker = true) as
select j.job_id, j.task, j.row_id, j.state, j.attempts, j.max_attempts, now() - j.created_at as age, j.run_at,
  now() - j.locked_at as locked_for, j.locked_by, j.last_error
from inspect.read_jobs() as j;
comment on view inspect.jobs is
  'When work does not get done: every job that is not finished. For failing jobs, add where attempts > 0; for jobs '
  'that are not tried again, where state = ''permanently failed''; for jobs of dead workers, where state = ''held by a '
  'dead worker''.';
comment on column inspect.jobs.job_id is 'The id that graphile_worker.reschedule_jobs and complete_jobs take.';
comment on column inspect.jobs.task is
  'The task of worker/tasks, such as complete_submission, embed_offer, embed_ask, or one of the crontab.';
comment on column inspect.jobs.row_id is
  'The row that the job is about, such as a submission, offer or ask; null for the crontab.';
comment on column inspect.jobs.state is
  'waiting, scheduled (to be tried later), running, held by a dead worker, or permanently failed.';
comment on column inspect.jobs.attempts is 'How often the job was started.';
comment on column inspect.jobs.max_attempts is
  'After this number of attempts the job is not tried again. Eight attempts take about an hour.';
comment on column inspect.jobs.age is 'How long ago the job was enqueued.';
comment on column inspect.jobs.run_at is 'The earliest time at which the job runs.';
comment on column inspect.jobs.locked_for is 'How long a worker has had the job locked; null when it is not locked.';
comment on column inspect.jobs.locked_by is 'The pool of workers that has locked the job: see inspect.workers.';
comment on column inspect.jobs.last_error is 'The error of its last attempt.';
grant select on inspect.jobs to souk_dba;

create or replace view inspect.queue with (security_invoker = true) as
select j.task, j.state, count(*) as jobs, max(j.age) as oldest, max(j.attempts) as most_attempts,
  max(j.last_error) as an_error
from inspect.jobs j
group by j.task, j.state;
comment on view inspect.queue is
  'When answers are late or vectors are missing, look here first: how many jobs wait, for how long, and whether they '
  'fail. If the numbers grow although workers are alive, more workers are needed.';
comment on column inspect.queue.state is 'The state, as in inspect.jobs.';
comment on column inspect.queue.oldest is 'How long ago the oldest of these jobs was enqueued.';
comment on column inspect.queue.most_attempts is 'The highest number of attempts of one of these jobs.';
comment on column inspect.queue.an_error is 'The error of one of these jobs; null when none has an error.';
grant select on inspect.queue to souk_dba;

create or replace view inspect.workers with (security_invoker = true) as
select coalesce(h.pool_id, j.locked_by) as pool_id, h.beat_at, now() - h.beat_at as silent_for,
  coalesce(h.beat_at > now() - interval '30 seconds', false) as alive, coalesce(j.jobs, 0) as jobs, j.longest
from market.worker_heartbeat h
full join (
  select j.locked_by, count(*) as jobs, max(j.locked_for) as longest
  from inspect.jobs j where j.locked_by is not null group by j.locked_by) as j on j.locked_by = h.pool_id;
comment on view inspect.workers is
  'When nothing is read or embedded: which pools of workers are alive, and which have died with locked jobs. If no row '
  'is alive, no worker runs.';
comment on column inspect.workers.pool_id is 'The id that graphile_worker.force_unlock_workers takes.';
comment on column inspect.workers.beat_at is
  'The last heartbeat (one every ten seconds); null when the pool is no longer registered.';
comment on column inspect.workers.silent_for is 'How long ago the last heartbeat was.';
comment on column inspect.workers.alive is
  'Whether there was a heartbeat in the last 30 seconds. Soon after, within a minute of its death, a live worker '
  'unlocks the jobs of a dead one.';
comment on column inspect.workers.jobs is 'The number of jobs that the pool has locked.';
comment on column inspect.workers.longest is 'How long the pool has had the oldest of these jobs locked.';
grant select on inspect.workers to souk_dba;
