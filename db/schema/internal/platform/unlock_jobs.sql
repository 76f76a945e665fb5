-- Jobs whose worker is gone are unlocked, so that another worker runs them.

create or replace function internal.unlock_jobs(pool_ids text[]) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform graphile_worker.force_unlock_workers(unlock_jobs.pool_ids);
  -- When work is enqueued whose job is running, graphile-worker makes a new job, and takes key and attempts from the
  -- running one, so that it never runs again. If that one fails, or its end cannot be stored, it would stay forever as
  -- a job that permanently failed.
  perform graphile_worker.complete_jobs(array_agg(j.id)) from graphile_worker.jobs j
  where j.key is null and j.flags ? 'keyed' and j.attempts >= j.max_attempts and j.locked_at is null
  having count(*) > 0;
  -- graphile-worker locks and unlocks a queue together with its job. But a pool that counted as dead may end a job that
  -- another pool has taken over. Then the job is gone, and the other pool never unlocks the queue. The age is checked
  -- again after waiting for another transaction, so a queue that was locked meanwhile stays locked.
  update graphile_worker._private_job_queues q set locked_by = null, locked_at = null
  where q.locked_at < clock_timestamp() - interval '1 second'
    and not exists (
      select from graphile_worker._private_jobs j where j.job_queue_id = q.id and j.locked_by = q.locked_by);
end
$$;
comment on function internal.unlock_jobs(text[]) is
  'Unlocks the jobs of pools that work on none any more, so that others run them, and queues in which no job runs. '
  'Jobs that were replaced by newer ones while they ran, and did not succeed, are removed.';
