-- Work for the worker: jobs carry ids and nothing else, and the same work asked twice is one job.

create or replace function market.enqueue(task text, id uuid) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- Eight attempts with graphile-worker's exponential backoff are about an hour.
  perform graphile_worker.add_job(enqueue.task, json_build_object('id', enqueue.id),
    job_key => enqueue.task || ':' || enqueue.id, max_attempts => 8,
    -- A queue does one job after the other: an embedder that hangs holds four of a worker's hands, a mail server that
    -- hangs one, and neither those that read, or see to a suspension.
    queue_name => case
      when enqueue.task in ('read_submission', 'settle_standing') then null
      when enqueue.task like 'send\_%' then 'mail'
      else 'embed ' || (hashtext(enqueue.id::text) & 3) end);
end
$$;
comment on function market.enqueue(text, uuid) is 'Gives the worker a job about one row. For the market''s own functions.';

create or replace function market.enqueue_reading() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform market.enqueue('read_submission', new.id);
  return new;
end
$$;
comment on function market.enqueue_reading() is 'Every submission is read.';
create or replace trigger enqueue_reading after insert on market.submission
  for each row execute function market.enqueue_reading();
