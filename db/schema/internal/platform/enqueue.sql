-- Jobs for the worker. The payload of a job is an id, and the request's position in its trace, if there is one.
-- Enqueueing the same work twice makes one job.

create or replace function internal.texts_ahead(submission_id uuid, out account_id uuid, out texts integer)
  language plpgsql stable
as $$
declare
  submission market.submission;
begin
  select * into submission from market.submission s where s.id = texts_ahead.submission_id;
  account_id := submission.account_id;
  -- More than a thousand make no difference.
  select count(*)::integer into texts from (
    select from market.submission s
    where s.account_id = submission.account_id and s.completed_at is null and s.id <> submission.id
    union all
    -- Asks that were answered before they were read.
    select from market.ask a
    where a.account_id = submission.account_id and a.read_at is null and a.id < submission.target_id
      and not exists (select from market.submission s where s.target_id = a.id and s.completed_at is null)
    limit 1000) as ahead;
end
$$;
comment on function internal.texts_ahead(uuid) is
  'Returns a submission''s account, and how many other texts of this account wait to be read: those that were not '
  'answered, and older asks that were answered but not read.';

create or replace function internal.enqueue(
  task text, id uuid, priority integer default 0, run_at timestamptz default null
) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  account_id uuid;
  ahead integer;
begin
  if enqueue.task = 'complete_submission' then
    -- Texts of one account that arrive at the same time must see each other. After this lock a transaction waits for no
    -- other, except one that takes it for several accounts, in the order of their ids.
    perform pg_advisory_xact_lock(hashtextextended('texts ' || s.account_id, 0))
    from market.submission s where s.id = enqueue.id;
    select a.account_id, a.texts into account_id, ahead from internal.texts_ahead(enqueue.id) as a;
  end if;
  -- A job that permanently failed is replaced. graphile-worker would keep it forever, without its key.
  perform graphile_worker.complete_jobs(array[j.id]) from graphile_worker.jobs j
  where j.key = enqueue.task || ':' || enqueue.id and j.attempts >= j.max_attempts and j.locked_at is null;
  -- Eight attempts with graphile-worker's exponential backoff take about an hour.
  perform graphile_worker.add_job(enqueue.task,
    json_strip_nulls(json_build_object('id', enqueue.id,
      'traceparent', nullif(current_setting('market.traceparent', true), ''))),
    job_key => enqueue.task || ':' || enqueue.id, max_attempts => 8,
    run_at => enqueue.run_at,
    -- Marks a job that has lost its key as replaced by a newer one (internal.unlock_jobs).
    flags => array['keyed'],
    -- Accounts take turns: the first waiting text of each account is read before the second of any. So an account with
    -- many texts does not hold up others.
    priority => enqueue.priority + coalesce(ahead, 0),
    -- A queue runs one job at a time. So an embedder that hangs occupies at most four of the workers' slots, and a mail
    -- server that hangs occupies one. Jobs that extract texts or apply a suspension never wait for an embedder or a
    -- mail server. An account that has two texts waiting gets two queues for its others, so it occupies at most four of
    -- eight slots, however long its texts take. The number of queues is bounded, because graphile-worker keeps each of
    -- them.
    queue_name => case
      when enqueue.task = 'apply_standing' or ahead < 2 then null
      when enqueue.task = 'complete_submission' then
        format('read %s %s', hashtext(account_id::text) & 255, ahead & 1)
      when enqueue.task like 'send\_%' then 'mail'
      else 'embed ' || (hashtext(enqueue.id::text) & 3) end);
end
$$;
comment on function internal.enqueue(text, uuid, integer, timestamptz) is
  'Enqueues a job about one row for the worker, which runs it now, or not before a time. Jobs with a lower priority '
  'number run first. Only the market''s own functions call it.';
