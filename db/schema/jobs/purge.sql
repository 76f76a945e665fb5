-- Purges that the crontab runs every minute. Each call deletes a bounded number of rows, so that it does not hold locks
-- for long, and returns how many. The worker calls again as long as a batch may have been full
-- (worker/tasks/batches.ts); the smallest has a thousand rows. Each skips rows that another transaction has locked, and
-- leaves them to a later run. The rows are chosen first, in the order of an index, and into an array: so the cost of a
-- batch does not depend on what the planner knows of the table.

create or replace function jobs.purge_keys() returns integer
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  gone integer;
  purged integer := 0;
begin
  delete from market.idempotency_key k
  where k.ctid = any (array(
    select o.ctid from market.idempotency_key o
    where o.created_at <= now() - interval '24 hours' order by o.created_at limit 5000 for update skip locked));
  get diagnostics gone = row_count;
  purged := purged + gone;
  delete from market.submission s
  where s.id = any (array(
    select o.id from market.submission o
    -- Submissions that wait to be read are kept, however long no worker runs.
    where o.created_at <= now() - interval '24 hours' and not internal.awaits_extraction(o)
      -- Skip submissions that still have a key: the cascade would wait if another transaction has locked the key.
      and not exists (select from market.idempotency_key k where k.submission_id = o.id)
      limit 5000 for update skip locked));
  get diagnostics gone = row_count;
  purged := purged + gone;
  delete from market.rate_limit_hit c
  where c.id = any (array(
    select o.id from market.rate_limit_hit o where o.called_at <= now() - interval '1 day'
    order by o.called_at limit 20000 for update skip locked));
  get diagnostics gone = row_count;
  purged := purged + gone;
  update market.connection c set address = null
  where c.agent_id = any (array(
    select o.agent_id from market.connection o
    where o.address is not null and o.created_at <= now() - interval '1 day' order by o.created_at
    limit 5000 for update skip locked));
  get diagnostics gone = row_count;
  purged := purged + gone;
  delete from market.query_embedding q
  where q.ctid = any (array(
    select o.ctid from market.query_embedding o
    where o.created_at <= now() - interval '30 days' order by o.created_at limit 5000 for update skip locked));
  get diagnostics gone = row_count;
  purged := purged + gone;
  -- Replicas that far behind are not used. Nothing else changes, deletes or locks these rows. Every change of an
  -- account makes one, so the batch is large; it takes less than a second.
  delete from internal.recent_write w
  where w.ctid = any (array(
    select o.ctid from internal.recent_write o
    where o.written_at <= now() - interval '5 minutes' order by o.written_at limit 100000));
  get diagnostics gone = row_count;
  purged := purged + gone;
  -- Unclaimed accounts whose agent moved to a person's account, or was deleted. The batch is smaller,
  -- because for each account PostgreSQL searches every table that refers to accounts.
  delete from market.account a
  where a.id = any (array(
    select o.id from market.account o
    where o.claimed_at is null and o.created_at <= now() - interval '24 hours'
      and not exists (select from market.agent g where g.account_id = o.id)
      -- Skip accounts that still have submissions, until these are purged: the cascade would wait if another
      -- transaction has locked one.
      and not exists (select from market.submission s where s.account_id = o.id) limit 1000 for update skip locked));
  get diagnostics gone = row_count;
  purged := purged + gone;
  return purged;
end
$$;
comment on function jobs.purge_keys() is
  'Deletes idempotency keys, completed submissions, counted calls, and unclaimed accounts without an agent, all older '
  'than 24 hours, query vectors older than 30 days, and notes of writes older than five minutes. Forgets the networks '
  'that requested links 24 hours ago. Returns the number of rows.';

create or replace function jobs.purge_sign_ins() returns integer
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  gone integer;
  purged integer := 0;
begin
  -- Keep a sign-in attempt for a day after it expires, so that the page of an old link can say what happened to it.
  delete from market.sign_in s
  where s.id = any (array(
    select o.id from market.sign_in o where o.expires_at <= now() - interval '1 day'
    order by o.expires_at limit 10000 for update skip locked));
  get diagnostics gone = row_count;
  purged := purged + gone;
  -- A message that could not be sent for a day is given up, with its address.
  delete from market.notice n
  where n.id = any (array(
    select o.id from market.notice o where o.created_at <= now() - interval '1 day' order by o.created_at
    limit 10000 for update skip locked));
  get diagnostics gone = row_count;
  purged := purged + gone;
  -- Browsers keep a cookie for no longer.
  delete from market.known_browser k
  where k.ctid = any (array(
    select o.ctid from market.known_browser o where o.seen_at <= now() - interval '400 days' order by o.seen_at
    limit 10000 for update skip locked));
  get diagnostics gone = row_count;
  purged := purged + gone;
  delete from market.kept_record k
  where k.id = any (array(
    select o.id from market.kept_record o where o.kept_until <= now() order by o.kept_until
    limit 10000 for update skip locked));
  get diagnostics gone = row_count;
  purged := purged + gone;
  delete from market.session s
  where s.id = any (array(
    select o.id from market.session o
    where o.signed_in_at is null and o.seen_at <= now() - interval '400 days'
      or o.signed_in_at is not null and (o.expires_at <= now() or o.seen_at <= now() - interval '7 days')
    limit 10000 for update skip locked));
  get diagnostics gone = row_count;
  purged := purged + gone;
  update market.verification v set status = 'expired'
  where v.id = any (array(
    select o.id from market.verification o
    where o.status = 'pending' and o.expires_at <= now() order by o.expires_at limit 10000 for update skip locked));
  get diagnostics gone = row_count;
  purged := purged + gone;
  delete from market.verification v
  where v.id = any (array(
    select o.id from market.verification o
    where o.status <> 'pending' and o.expires_at <= now() - interval '30 days'
      -- Skip verifications that still have sign-in attempts: the cascade would wait if another transaction has locked
      -- one.
      and not exists (select from market.sign_in s where s.verification_id = o.id) limit 10000 for update skip locked));
  get diagnostics gone = row_count;
  purged := purged + gone;
  return purged;
end
$$;
comment on function jobs.purge_sign_ins() is
  'Deletes sign-in attempts a day after they expire, messages about accounts that could not be sent for a day, '
  'sessions that have ended, browsers that a mailbox knew 400 days ago, verifications 30 days after they expire, and '
  'records of former accounts after twelve months, and marks pending verifications as expired when their time is over; '
  'returns the number of rows.';

create or replace function jobs.purge_agents() returns integer
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  abandoned uuid[];
  purged integer;
begin
  -- Lock the account too. Deleting an agent deletes its verifications, and other transactions lock verifications after
  -- the account.
  abandoned := array(
    select o.id from market.agent o join market.account a on a.id = o.account_id
    where o.connected_at is null and o.disconnected_at is null and o.created_at <= now() - interval '7 days'
      and internal.is_abandoned(o)
    limit 1000 for update of a, o skip locked);
  delete from market.verification v
  where v.id = any (array(
    select o.id from market.verification o
    where o.agent_id = any (abandoned) and o.created_at <= now() - interval '7 days'
      and not exists (select from market.sign_in s where s.verification_id = o.id) for update skip locked));
  -- Check again, because an agent may have written something before the locks were taken. jobs.purge_keys deletes the
  -- account, unless a person has claimed it.
  delete from market.agent a
  where a.id = any (abandoned) and internal.is_abandoned(a)
    and not exists (select from market.verification v where v.agent_id = a.id);
  get diagnostics purged = row_count;
  return purged;
end
$$;
comment on function jobs.purge_agents() is
  'Deletes agents that nobody approved, 7 days after they were created or last did more than read; returns their '
  'number.';

create or replace function jobs.purge_oauth() returns integer
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  unfinished uuid[];
  clients integer;
  assertions integer;
begin
  -- Their agents never had a token, so nothing but the link and the account belongs to them. The account is locked
  -- first, as in internal.lock_connection; jobs.purge_keys deletes it, unless a person has claimed it.
  unfinished := array(
    select g.agent_id from market.oauth_grant g
    join market.agent o on o.id = g.agent_id join market.account a on a.id = o.account_id
    where g.family_hash is null and g.created_at <= now() - interval '24 hours'
    limit 1000 for update of a, o skip locked);
  delete from market.agent a where a.id = any (unfinished);
  delete from market.oauth_client c
  where c.id = any (array(
    select o.id from market.oauth_client o
    where o.finished_at is null and o.created_at <= now() - interval '24 hours'
      and not exists (select from market.oauth_grant g where g.client_id = o.id::text)
    limit 10000 for update skip locked));
  get diagnostics clients = row_count;
  delete from market.used_assertion u
  where u.ctid = any (array(
    select o.ctid from market.used_assertion o where o.expires_at <= now() order by o.expires_at
    limit 10000 for update skip locked));
  get diagnostics assertions = row_count;
  return cardinality(unfinished) + clients + assertions;
end
$$;
comment on function jobs.purge_oauth() is
  'Deletes requests for authorization whose client got no token within a day, with their agents, clients that '
  'registered and never finished, and used assertions that have expired; returns the number of all.';

create or replace function jobs.purge_deliveries() returns integer
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  gone integer;
  purged integer := 0;
begin
  -- If the agent of a webhook stays disconnected, its deliveries are given up after the time that attempts take.
  update market.webhook_delivery d set next_attempt_at = null, leased_until = null
  where d.id = any (array(
    select o.id from market.webhook_delivery o where o.next_attempt_at < now() - interval '7 days'
    order by o.next_attempt_at limit 10000 for update skip locked));
  get diagnostics gone = row_count;
  purged := purged + gone;
  delete from market.webhook_delivery d
  where d.id = any (array(
    select o.id from market.webhook_delivery o
    where o.next_attempt_at is null and o.created_at <= now() - interval '7 days' order by o.created_at
    limit 10000 for update skip locked));
  get diagnostics gone = row_count;
  purged := purged + gone;
  return purged;
end
$$;
comment on function jobs.purge_deliveries() is
  'Gives up deliveries that have waited for seven days, and deletes those that ended and are older than seven days; '
  'returns the number of both.';
