-- Withdraws submissions that no worker has completed, so that their idempotency keys can be used again.

create or replace function jobs.sweep_submissions() returns integer
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  swept integer;
begin
  -- The caller got a 503 long ago, and a lost job must not keep the key in flight.
  with stuck as (
    select s.id, s.target_id from market.submission s join market.account a on a.id = s.account_id
    where s.completed_at is null and s.created_at <= now() - interval '10 minutes'
    limit 1000 for key share of a skip locked for update of s skip locked
  ), keys as materialized (
    select k.submission_id from market.idempotency_key k join stuck on stuck.id = k.submission_id
    for update of k skip locked
  ), targets as materialized (
    select a.id from stuck join lateral (
      select a.id from market.ask a where a.id = stuck.target_id for no key update skip locked) as a on true
    union all
    select o.id from stuck join lateral (
      select o.id from market.offer o where o.id = stuck.target_id for no key update skip locked) as o on true
  ), matches as materialized (
    select m.ask_id, m.offer_id from market.match m join stuck on stuck.target_id = m.ask_id
    for update of m skip locked
  )
  -- What another transaction has locked keeps only its own submission from being withdrawn, until a later run.
  select count(internal.withdraw_submission(stuck.id))::integer into swept from stuck
  where not exists (
    select from market.idempotency_key k
    where k.submission_id = stuck.id and k.submission_id not in (select l.submission_id from keys l)
    union all
    select from market.ask a where a.id = stuck.target_id and a.id not in (select l.id from targets l)
    union all
    select from market.offer o where o.id = stuck.target_id and o.id not in (select l.id from targets l)
    union all
    select from market.match m
    where m.ask_id = stuck.target_id and (m.ask_id, m.offer_id) not in (select l.ask_id, l.offer_id from matches l));
  -- The API may answer the request for an ask before a worker has read its text. Such a text must still be read. A job
  -- that will be tried again is left alone, because enqueueing it again would forget its attempts and their pauses.
  perform internal.enqueue('complete_submission', unread.id)
  from (select missed.id from (
    select s.id, s.account_id, row_number() over (partition by s.account_id order by a.id) as turn
    from market.ask a join market.submission s on s.target_id = a.id and s.text = a.text and s.completed_at is not null
    where a.read_at is null and not exists (
      select from graphile_worker.jobs j
      where j.key = 'complete_submission:' || s.id and j.attempts < j.max_attempts)
    -- Each account's first, then each account's second.
    order by turn
    limit 1000) as missed
  -- The order in which internal.enqueue locks accounts.
  order by missed.account_id, missed.turn) as unread;
  return swept;
end
$$;
comment on function jobs.sweep_submissions() is
  'Withdraws submissions that have waited for 10 minutes, which frees their keys, and enqueues asks that were never '
  'read and have no job that will be tried; returns the number of withdrawn submissions.';
