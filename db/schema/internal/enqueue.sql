-- Jobs for the worker. The payload of a job is only an id. Enqueueing the same work twice makes one job.

create or replace function internal.enqueue(task text, id uuid) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- Eight attempts with graphile-worker's exponential backoff take about an hour.
  perform graphile_worker.add_job(enqueue.task, json_build_object('id', enqueue.id),
    job_key => enqueue.task || ':' || enqueue.id, max_attempts => 8,
    -- A queue runs one job at a time. So an embedder that hangs occupies at most four of the workers' slots, and a mail
    -- server that hangs occupies one. Jobs that extract texts or apply a suspension have no queue, so they never wait
    -- for an embedder or a mail server.
    queue_name => case
      when enqueue.task in ('complete_submission', 'apply_standing') then null
      when enqueue.task like 'send\_%' then 'mail'
      else 'embed ' || (hashtext(enqueue.id::text) & 3) end);
end
$$;
comment on function internal.enqueue(text, uuid) is
  'Enqueues a job about one row for the worker. Only the market''s own functions call it.';
