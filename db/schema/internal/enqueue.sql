-- Work for the worker: jobs carry ids and nothing else, and the same work asked twice is one job.

create or replace function internal.enqueue(task text, id uuid) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- Eight attempts with graphile-worker's exponential backoff are about an hour.
  perform graphile_worker.add_job(enqueue.task, json_build_object('id', enqueue.id),
    job_key => enqueue.task || ':' || enqueue.id, max_attempts => 8,
    -- A queue does one job after the other: an embedder that hangs holds four of a worker's hands, a mail server that
    -- hangs one, and neither those that read, or see to a suspension.
    queue_name => case
      when enqueue.task in ('complete_submission', 'apply_standing') then null
      when enqueue.task like 'send\_%' then 'mail'
      else 'embed ' || (hashtext(enqueue.id::text) & 3) end);
end
$$;
comment on function internal.enqueue(text, uuid) is
  'Gives the worker a job about one row. For the market''s own functions.';
