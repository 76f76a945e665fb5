-- The worker changes rows of the job queue, and creates nothing there. graphile-worker makes its tables as souk_owner,
-- before this file is loaded (src/database/queue.ts), and enables row-level security without a policy.
--
-- The rights are those that graphile-worker needs to run. At its start it reads `migrations`, and if its tables are up
-- to date it does not try to change them.

create policy "the worker sees all tasks" on graphile_worker._private_tasks to souk_worker using (true);
create policy "the worker sees all queues" on graphile_worker._private_job_queues to souk_worker using (true);
create policy "the worker sees all jobs" on graphile_worker._private_jobs to souk_worker using (true);
create policy "the worker sees all times of the crontab" on graphile_worker._private_known_crontabs to souk_worker
  using (true);

grant usage on schema graphile_worker to souk_worker;
grant select on graphile_worker.migrations to souk_worker;
grant select, insert on graphile_worker._private_tasks to souk_worker;
grant select, insert, update on graphile_worker._private_job_queues, graphile_worker._private_known_crontabs
  to souk_worker;
grant select, insert, update, delete on graphile_worker._private_jobs to souk_worker;
-- The crontab adds jobs.
grant execute on function graphile_worker.add_job, graphile_worker.add_jobs to souk_worker;
