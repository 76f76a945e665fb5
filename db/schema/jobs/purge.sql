-- What the worker's clock does. Each in bounded batches, so that no lock is long, and past rows that somebody has
-- locked: they wait for the next minute, and nobody waits for them.

create or replace function jobs.purge_keys() returns integer
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  forgotten integer;
begin
  delete from market.idempotency_key k
  where (k.owner_id, k.key) in (
    select o.owner_id, o.key from market.idempotency_key o
    where o.created_at <= now() - interval '24 hours' limit 5000 for update skip locked);
  get diagnostics forgotten = row_count;
  delete from market.submission s
  where s.id in (
    select o.id from market.submission o
    where o.created_at <= now() - interval '24 hours' and o.completed_at is not null
      -- Deleting it would delete its key, and wait for whoever has locked that.
      and not exists (select from market.idempotency_key k where k.submission_id = o.id)
      limit 5000 for update skip locked);
  delete from market.rate_limit_hit c
  where c.id in (select o.id from market.rate_limit_hit o where o.called_at <= now() - interval '1 day'
    limit 20000 for update skip locked);
  delete from market.query_embedding q
  where (q.model, q.query_hash) in (
    select o.model, o.query_hash from market.query_embedding o
    where o.created_at <= now() - interval '30 days' limit 5000 for update skip locked);
  -- Provisional accounts whose agent went to the account of a person who had one. Fewer: each is looked for in every
  -- table.
  delete from market.account a
  where a.id in (
    select o.id from market.account o
    where o.claimed_at is null and o.created_at <= now() - interval '24 hours'
      and not exists (select from market.agent g where g.account_id = o.id)
      -- Its texts go first: deleting them would wait for whoever has locked one.
      and not exists (select from market.submission s where s.account_id = o.id) limit 1000 for update skip locked);
  return forgotten;
end
$$;
comment on function jobs.purge_keys() is
  'Forgets idempotency keys, settled submissions and counted calls of more than 24 hours ago, query vectors of more '
  'than 30 days ago, and accounts that lost their only agent before a person claimed them; gives how many keys.';
grant execute on function jobs.purge_keys() to souk_worker;

create or replace function jobs.sweep_submissions() returns integer
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  swept integer;
begin
  -- Whoever waited has long been answered: a key must not stay in flight because a job was lost.
  with stuck as (
    select s.id from market.submission s join market.account a on a.id = s.account_id
    where s.completed_at is null and s.created_at <= now() - interval '10 minutes'
    limit 1000 for key share of a skip locked for update of s skip locked
  ), free as (
    select k.submission_id from market.idempotency_key k
    join stuck on stuck.id = k.submission_id for update of k skip locked
  )
  select count(internal.withdraw_submission(stuck.id))::integer into swept from stuck
  where stuck.id in (select f.submission_id from free f)
    or not exists (select from market.idempotency_key k where k.submission_id = stuck.id);
  -- An ask that was answered before its text was read is read still.
  perform internal.enqueue('complete_submission', s.id)
  from market.ask a join market.submission s on s.target_id = a.id and s.text = a.text and s.completed_at is not null
  where a.read_at is null
  limit 1000;
  return swept;
end
$$;
comment on function jobs.sweep_submissions() is
  'Settles submissions that nobody reads any more, freeing their keys; gives how many.';
grant execute on function jobs.sweep_submissions() to souk_worker;

create or replace function jobs.purge_sign_ins() returns integer
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  forgotten integer;
begin
  -- A day longer than it works, so that an old mail's link says what happened to it.
  delete from market.sign_in s
  where s.id in (
    select o.id from market.sign_in o where o.expires_at <= now() - interval '1 day'
    limit 10000 for update skip locked);
  delete from market.session s
  where s.id in (
    select o.id from market.session o where not internal.is_session_alive(o) limit 10000 for update skip locked);
  get diagnostics forgotten = row_count;
  update market.verification v set status = 'expired'
  where v.id in (
    select o.id from market.verification o
    where o.status = 'pending' and o.expires_at <= now() limit 10000 for update skip locked);
  delete from market.verification v
  where v.id in (
    select o.id from market.verification o
    where o.status <> 'pending' and o.expires_at <= now() - interval '30 days'
      -- Deleting it would delete these, and wait for whoever has locked one.
      and not exists (select from market.sign_in s where s.verification_id = o.id) limit 10000 for update skip locked);
  return forgotten;
end
$$;
comment on function jobs.purge_sign_ins() is
  'Forgets attempts to sign in a day after they ended, sessions that ended, and verifications that ended 30 days ago; '
  'notes which verifications ran out. Gives how many sessions.';
grant execute on function jobs.purge_sign_ins() to souk_worker;

create or replace function jobs.purge_agents() returns integer
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  abandoned uuid[];
  forgotten integer;
begin
  -- The account, too: with an agent go its verifications, which whoever has locked the account locks next.
  abandoned := array(
    select o.id from market.agent o join market.account a on a.id = o.account_id
    where o.connected_at is null and o.created_at <= now() - interval '7 days' and internal.is_abandoned(o)
    limit 1000 for update of a, o skip locked);
  delete from market.verification v
  where v.id in (
    select o.id from market.verification o
    where o.agent_id = any (abandoned) and o.created_at <= now() - interval '7 days'
      and not exists (select from market.sign_in s where s.verification_id = o.id) for update skip locked);
  -- Judged again: what was written before both were locked counts. The account goes with jobs.purge_keys, unless a
  -- person proved a method on it.
  delete from market.agent a
  where a.id = any (abandoned) and internal.is_abandoned(a)
    and not exists (select from market.verification v where v.agent_id = a.id);
  get diagnostics forgotten = row_count;
  return forgotten;
end
$$;
comment on function jobs.purge_agents() is
  'Forgets agents that nobody approved, 7 days after they were made or last did more than read; gives how many.';
grant execute on function jobs.purge_agents() to souk_worker;
