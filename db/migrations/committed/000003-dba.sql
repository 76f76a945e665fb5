--! Previous: sha1:055dbe7add17820554029b64267e188378c4c100
--! Hash: sha1:c903edeab09ac737b0d4c32e19d6b76652b62991
--! Message: dba

-- What a DBA needs: the role souk_dba with the schema inspect, a login for migrations, and limits for every login.

do $$
declare
  wanted record;
begin
  begin
    -- Two databases of one cluster may be migrated at once; this is the one lock that they share.
    lock table pg_catalog.pg_authid in share row exclusive mode;
  exception when insufficient_privilege then
    null;
  end;
  for wanted in
    select * from (values ('souk_dba', 'login'), ('souk_migrator', 'login noinherit')) as r (name, options)
    where not exists (select from pg_roles where rolname = r.name)
  loop
    execute format('create role %I %s', wanted.name, wanted.options);
  end loop;
end
$$;
grant souk_owner, souk_queue to souk_migrator;
grant souk_migrator to current_user;

--! Included logins.sql
-- How much each login may take: connections, and time. An operator with a larger server raises the limits
-- (`alter role souk_api connection limit 200`); later migrations leave them as they are.

-- PostgreSQL's default of 100 connections, less the 3 it keeps for superusers, is shared out whole, so that a pool that runs
-- wild leaves room for those who have to look. Two API processes: 16 reads, 16 writes and a listener each. Two workers with
-- pools of 11. Two people with two psql each. One migration: its turn, its statements and graphile-worker's, with a spare.
alter role souk_api connection limit 66;
alter role souk_worker connection limit 22;
alter role souk_dba connection limit 4;
alter role souk_migrator connection limit 5;

-- No statement of a request takes seconds; one that does must not hold others up. lock_timeout is the shorter, so that
-- a locked table is told apart from a slow statement.
alter role souk_api set statement_timeout = '5s';
alter role souk_api set lock_timeout = '2s';
alter role souk_api set idle_in_transaction_session_timeout = '5s';
-- Holding one offer against all asks may take seconds, and the nightly check of everything half a minute.
alter role souk_worker set statement_timeout = '60s';
alter role souk_worker set lock_timeout = '10s';
alter role souk_worker set idle_in_transaction_session_timeout = '60s';
-- A question of an incident that takes longer is the wrong question; a transaction that somebody forgot keeps vacuum from
-- its work. Not security, since a session may change it: that the role has no right to write is.
alter role souk_dba set statement_timeout = '60s';
alter role souk_dba set lock_timeout = '2s';
alter role souk_dba set idle_in_transaction_session_timeout = '60s';
alter role souk_dba set default_transaction_read_only = on;
-- No statement_timeout: an index over a million rows takes as long as it takes. But it may not queue others behind it.
alter role souk_migrator set lock_timeout = '5s';
alter role souk_migrator set idle_in_transaction_session_timeout = '60s';

do $$
begin
  -- States, waits and statements of other roles' sessions, and pg_stat_statements; no rows of any table.
  grant pg_read_all_stats to souk_dba;
exception when insufficient_privilege then
  raise notice 'souk_dba sees no states of sessions until a superuser runs: grant pg_read_all_stats to souk_dba';
end
$$;

do $$
begin
  -- graphile-migrate makes its schema before the first migration, as whoever runs that. Later ones are souk_migrator's.
  execute format('grant create on database %I to souk_migrator', current_database());
  if to_regclass('graphile_migrate.migrations') is not null then
    alter schema graphile_migrate owner to souk_migrator;
    alter table graphile_migrate.migrations owner to souk_migrator;
    alter table graphile_migrate.current owner to souk_migrator;
  end if;
end
$$;
--! EndIncluded logins.sql

create schema inspect authorization souk_owner;
comment on schema inspect is 'For whoever has to find out what is wrong: views that answer a question of an incident in one select, and inspect.check().';
grant usage on schema inspect, market to souk_dba;
grant usage on schema inspect to souk_api, souk_worker;

set local role souk_owner;

--! Included market/call_cap.sql
-- How many calls an hour an account's agents have: caps rise with the record and fall with removals.

create or replace function market.call_cap_terms(account_id uuid, action text)
  returns table (base integer, factor integer, settled integer, proved integer, old boolean, removed integer)
  language sql stable
as $$
  -- base: offers cost readers' attention, asks only machine time, hence twice as many, and every term doubled.
  select case call_cap_terms.action when 'publish_offer' then 60 else 120 end,
    case call_cap_terms.action when 'publish_offer' then 1 else 2 end,
    (select count(*)::integer from (
      select from market.offer o
      where o.account_id = call_cap_terms.account_id and o.status in ('published', 'archived')
        and o.published_at <= now() - interval '72 hours'
      limit 60) as settled),
    (select count(*)::integer from market.proved_method m where m.account_id = call_cap_terms.account_id),
    (select a.created_at <= now() - interval '30 days' from market.account a where a.id = call_cap_terms.account_id),
    (select count(*)::integer from (
      select from market.offer o
      where o.account_id = call_cap_terms.account_id and o.status = 'removed' and o.removed_at > now() - interval '30 days'
      limit 10) as removals)
$$;
comment on function market.call_cap_terms(uuid, text) is
  'What a cap is made from: base and factor of the action; settled offers (60 count), proved methods, whether the account is 30 days old, and listings removed in the last 30 days (10 count).';

create or replace function market.call_cap(account_id uuid, action text) returns integer
  language plpgsql stable security definer set search_path = ''
as $$
begin
  return (select greatest(
    least(t.base + t.factor * (4 * t.settled + 30 * t.proved + case when t.old then 60 else 0 end), 10 * t.base) / 2 ^ t.removed,
    t.base / 4)::integer
  from market.call_cap_terms(call_cap.account_id, call_cap.action) as t);
end
$$;
comment on function market.call_cap(uuid, text) is
  'Calls an hour: base + 4 x min(settled offers, 60) + 30 x proved methods + 60 after 30 days, at most 10 x base; each removal of the last 30 days halves it, not below base / 4. Terms are doubled for asks and previews.';
grant execute on function market.call_cap(uuid, text) to souk_agent, souk_person;
--! EndIncluded market/call_cap.sql
--! Included jobs/upkeep.sql
-- What the worker's clock does. Each in bounded batches, so that no lock is long, and past rows that somebody has locked: they
-- wait for the next minute, and nobody waits for them.

create or replace function jobs.forget_keys() returns integer
  language plpgsql volatile security definer set search_path = ''
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
    where o.created_at <= now() - interval '24 hours' and o.settled_at is not null
      -- Deleting it would delete its key, and wait for whoever has locked that.
      and not exists (select from market.idempotency_key k where k.submission_id = o.id) limit 5000 for update skip locked);
  delete from market.call c
  where c.id in (select o.id from market.call o where o.called_at <= now() - interval '1 day' limit 20000 for update skip locked);
  delete from market.query_embedding q
  where (q.model, q.query_hash) in (
    select o.model, o.query_hash from market.query_embedding o
    where o.created_at <= now() - interval '30 days' limit 5000 for update skip locked);
  -- Provisional accounts whose agent went to the account of a person who had one. Fewer: each is looked for in every table.
  delete from market.account a
  where a.id in (
    select o.id from market.account o
    where o.claimed_at is null and o.created_at <= now() - interval '24 hours'
      and not exists (select from market.agent g where g.account_id = o.id) limit 1000 for update skip locked);
  return forgotten;
end
$$;
comment on function jobs.forget_keys() is 'Forgets idempotency keys, settled submissions and counted calls of more than 24 hours ago, query vectors of more than 30 days ago, and accounts that lost their only agent before a person claimed them; gives how many keys.';
grant execute on function jobs.forget_keys() to souk_worker;

create or replace function jobs.sweep_submissions() returns integer
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  swept integer;
begin
  -- Whoever waited has long been answered: a key must not stay in flight because a job was lost.
  with stuck as (
    select s.id from market.submission s
    where s.settled_at is null and s.created_at <= now() - interval '10 minutes'
    limit 1000 for update skip locked
  )
  select count(market.withdraw(stuck.id)) into swept from stuck;
  -- An ask that was answered before its text was read is read still.
  perform market.enqueue('read_submission', s.id)
  from market.ask a join market.submission s on s.target_id = a.id and s.text = a.text and s.settled_at is not null
  where a.read_at is null
  limit 1000;
  return swept;
end
$$;
comment on function jobs.sweep_submissions() is 'Settles submissions that nobody reads any more, freeing their keys; gives how many.';
grant execute on function jobs.sweep_submissions() to souk_worker;

create or replace function jobs.forget_sign_ins() returns integer
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  forgotten integer;
begin
  -- A day longer than it works, so that an old mail's link says what happened to it.
  delete from market.sign_in s
  where s.id in (
    select o.id from market.sign_in o where o.expires_at <= now() - interval '1 day' limit 10000 for update skip locked);
  delete from market.session s
  where s.id in (
    select o.id from market.session o
    where o.expires_at <= now() or o.seen_at <= now() - interval '7 days' limit 10000 for update skip locked);
  get diagnostics forgotten = row_count;
  update market.verification v set status = 'expired'
  where v.id in (
    select o.id from market.verification o
    where o.status = 'pending' and o.expires_at <= now() limit 10000 for update skip locked);
  delete from market.verification v
  where v.id in (
    select o.id from market.verification o
    where o.status <> 'pending' and o.expires_at <= now() - interval '30 days' limit 10000 for update skip locked);
  return forgotten;
end
$$;
comment on function jobs.forget_sign_ins() is 'Forgets attempts to sign in a day after they ended, sessions that ended, and verifications that ended 30 days ago; notes which verifications ran out. Gives how many sessions.';
grant execute on function jobs.forget_sign_ins() to souk_worker;

create or replace function jobs.forget_agents() returns integer
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  forgotten integer;
begin
  -- The account goes with jobs.forget_keys, unless a person proved a method on it. A report keeps its reporter.
  delete from market.agent a
  where a.id in (
    select o.id from market.agent o join market.publisher p on p.account_id = o.account_id
    where o.connected_at is null and o.created_at <= now() - interval '7 days'
      and p.last_active_at <= now() - interval '7 days'
      and not exists (select from market.report r where r.account_id = o.account_id)
      and not exists (select from market.submission s where s.agent_id = o.id)
      and not exists (select from market.verification v
        where v.agent_id = o.id and v.created_at > now() - interval '7 days')
    limit 1000 for update of o skip locked);
  get diagnostics forgotten = row_count;
  return forgotten;
end
$$;
comment on function jobs.forget_agents() is 'Forgets agents that nobody approved, 7 days after they were made or last did more than read; gives how many.';
grant execute on function jobs.forget_agents() to souk_worker;
--! EndIncluded jobs/upkeep.sql
--! Included inspect/rights.sql
-- What a DBA may read: every row of every table, since an incident is about rows, but not every column. Closed are hashes
-- and codes, what people wrote (texts, titles, contacts, comments, and whatever is made from them: words for search,
-- criteria, reasons, vectors), what a person is called, and where calls came from, but for the windows of the last day.

grant select (id, claimed_at, created_at) on market.account to souk_dba;
grant select on market.publisher to souk_dba;
grant select (id, account_id, name, created_at, connected_at, removed_at) on market.agent to souk_dba;
grant select (agent_id, created_at, expires_at, approved_at, declined_at, notified_at) on market.connection to souk_dba;
grant select (id, account_id, created_at, expires_at, signed_in_at, seen_at) on market.session to souk_dba;
grant select (account_id, updated_at) on market.profile to souk_dba;
grant select on market.sign_in_method to souk_dba;
grant select (account_id, method, proved_at) on market.proved_method to souk_dba;
grant select (id, account_id, agent_id, method, status, created_at, expires_at) on market.verification to souk_dba;
grant select (id, method, purpose, account_id, verification_id, tries, created_at, expires_at, finished_at)
  on market.sign_in to souk_dba;
grant select on market.setting, market.domain, market.category, market.ask_kind, market.vocabulary, market.question,
  market.embedding_model to souk_dba;
grant select (id, account_id, agent_id, origin_ask_id, status, language, domain, category, offer_kind, price_hundredths,
  price_currency, price_period, missing_fields, reviewed, created_at, updated_at, published_at, removed_at)
  on market.offer to souk_dba;
grant select (id, account_id, agent_id, status, watch_enabled, language, domain, category, ask_kind, price_max_hundredths,
  price_currency, read_at, created_at, updated_at) on market.ask to souk_dba;
grant select (offer_id, model) on market.offer_embedding to souk_dba;
grant select (ask_id, model) on market.ask_embedding to souk_dba;
grant select (model, created_at) on market.query_embedding to souk_dba;
grant select (ask_id, offer_id, sequence, score, first_matched_at) on market.match to souk_dba;
grant select (id, offer_id, account_id, agent_id, reason, created_at) on market.report to souk_dba;
grant select on market.call to souk_dba;
grant select (id, kind, account_id, agent_id, target_id, origin_ask_id, created_at, settled_at, status)
  on market.submission to souk_dba;
grant select (owner_id, key, submission_id, created_at) on market.idempotency_key to souk_dba;
grant select on market.worker_heartbeat, market.audit_event to souk_dba;

create policy "a dba reads all" on market.account for select to souk_dba using (true);
create policy "a dba reads all" on market.publisher for select to souk_dba using (true);
create policy "a dba reads all" on market.agent for select to souk_dba using (true);
create policy "a dba reads all" on market.connection for select to souk_dba using (true);
create policy "a dba reads all" on market.session for select to souk_dba using (true);
create policy "a dba reads all" on market.profile for select to souk_dba using (true);
create policy "a dba reads all" on market.sign_in for select to souk_dba using (true);
create policy "a dba reads all" on market.sign_in_method for select to souk_dba using (true);
create policy "a dba reads all" on market.proved_method for select to souk_dba using (true);
create policy "a dba reads all" on market.verification for select to souk_dba using (true);
create policy "a dba reads all" on market.setting for select to souk_dba using (true);
create policy "a dba reads all" on market.domain for select to souk_dba using (true);
create policy "a dba reads all" on market.category for select to souk_dba using (true);
create policy "a dba reads all" on market.ask_kind for select to souk_dba using (true);
create policy "a dba reads all" on market.vocabulary for select to souk_dba using (true);
create policy "a dba reads all" on market.question for select to souk_dba using (true);
create policy "a dba reads all" on market.embedding_model for select to souk_dba using (true);
create policy "a dba reads all" on market.offer for select to souk_dba using (true);
create policy "a dba reads all" on market.ask for select to souk_dba using (true);
create policy "a dba reads all" on market.offer_embedding for select to souk_dba using (true);
create policy "a dba reads all" on market.ask_embedding for select to souk_dba using (true);
create policy "a dba reads all" on market.query_embedding for select to souk_dba using (true);
create policy "a dba reads all" on market.match for select to souk_dba using (true);
create policy "a dba reads all" on market.report for select to souk_dba using (true);
create policy "a dba reads all" on market.call for select to souk_dba using (true);
create policy "a dba reads all" on market.submission for select to souk_dba using (true);
create policy "a dba reads all" on market.idempotency_key for select to souk_dba using (true);
create policy "a dba reads all" on market.worker_heartbeat for select to souk_dba using (true);
create policy "a dba reads all" on market.audit_event for select to souk_dba using (true);

-- What a view asks is then what the API itself asks.
grant execute on function market.call_cap(uuid, text), market.call_cap_terms(uuid, text),
  market.window_figures(text, text, integer, interval), market.window_wait(text, text, integer, interval),
  market.setting(text) to souk_dba;
--! EndIncluded inspect/rights.sql
--! Included inspect/agents.sql
-- Who calls, how much, and who is refused. Views run with the rights of whoever asks (security_invoker), so that they show
-- no column that inspect/rights.sql has not opened.

create view inspect.agents with (security_invoker = true) as
select a.id as agent_id, a.account_id, a.name, a.created_at, a.connected_at, a.removed_at,
  c.calls_last_hour, c.calls_last_day, c.last_call_at,
  (select count(*) from market.submission s where s.agent_id = a.id and s.settled_at is null) as submissions_waiting,
  (select count(*) from market.idempotency_key k where k.owner_id = a.id) as keys
from market.agent a
cross join lateral (
  select count(*) filter (where c.called_at > now() - interval '1 hour') as calls_last_hour,
    count(*) as calls_last_day, max(c.called_at) as last_call_at
  from market.call c where c.scope = 'agent:' || a.id and c.called_at > now() - interval '1 day') as c;
comment on view inspect.agents is
  'When somebody names an agent or an account: what it is, since when, and what it does. Select by agent_id or account_id; without either it visits every agent.';
comment on column inspect.agents.agent_id is 'As in the answer of POST /v1/connect, and in GET /v1/me.';
comment on column inspect.agents.account_id is 'Whom it acts for.';
comment on column inspect.agents.name is 'What it calls itself: a stranger''s words.';
comment on column inspect.agents.created_at is 'When it called POST /v1/connect.';
comment on column inspect.agents.connected_at is 'When a person approved it; null: its writes are refused with 403.';
comment on column inspect.agents.removed_at is 'When it was removed; not null: its calls are refused with 401.';
comment on column inspect.agents.calls_last_hour is 'Counted calls: publishing, asking, previewing. Reads and searches are not counted.';
comment on column inspect.agents.calls_last_day is 'The same over a day, which is as long as they are kept.';
comment on column inspect.agents.last_call_at is 'Its latest counted call, null when there was none within a day.';
comment on column inspect.agents.submissions_waiting is 'Texts of it that are being read now.';
comment on column inspect.agents.keys is 'Idempotency keys that it has used within a day.';
grant select on inspect.agents to souk_dba;

create view inspect.why_429 with (security_invoker = true) as
select a.id as agent_id, action.name as action, w.used >= cap.calls as refused, w.used, cap.calls as cap, wait.seconds as next_slot_in,
  clock_timestamp() + wait.seconds * interval '1 second' as next_slot_at,
  t.base, t.factor, t.settled as settled_offers, t.proved as proved_methods, coalesce(t.old, false) as account_is_old,
  t.removed as recent_removals,
  format('%s of %s calls of the last hour are used%s. The cap: %s + %s x (4 x %s settled offers + 30 x %s proved methods + %s for an account of 30 days), at most %s%s.',
    w.used, cap.calls,
    case when w.used >= cap.calls then format(', so the next is refused with 429; in %s seconds a slot is free', wait.seconds) else ', so the next is admitted' end,
    t.base, t.factor, t.settled, t.proved, case when t.old then 60 else 0 end, 10 * t.base,
    case when t.removed > 0 then format(', halved %s times for offers removed within 30 days, but not below %s', t.removed, t.base / 4) else '' end) as reason
from market.agent a
cross join (values ('publish_offer'), ('create_ask'), ('preview_offer')) as action (name)
cross join lateral market.call_cap_terms(a.account_id, action.name) as t
cross join lateral market.call_cap(a.account_id, action.name) as cap (calls)
cross join lateral (
  select (market.window_figures('agent:' || a.id, action.name, cap.calls) ->> 'used')::integer as used) as w
cross join lateral (
  select coalesce(market.window_wait('agent:' || a.id, action.name, cap.calls), 0) as seconds) as wait;
comment on view inspect.why_429 is
  'When an agent is told rate_limited (429): one row an action with what it has used, what it may use, what the cap is made from, and when the next slot is free. Select by agent_id. A 429 of POST /v1/connect has no agent yet: see inspect.windows.';
comment on column inspect.why_429.agent_id is 'The agent that is refused.';
comment on column inspect.why_429.action is 'publish_offer (also updating and republishing), create_ask (also updating) or preview_offer: each has a window of its own.';
comment on column inspect.why_429.refused is 'Whether a call made now is refused.';
comment on column inspect.why_429.used is 'Calls admitted within the last hour; refusals and replays do not count.';
comment on column inspect.why_429.cap is 'Calls an hour, as market.call_cap has it.';
comment on column inspect.why_429.next_slot_in is 'Whole seconds until a call is admitted; 0 when one is now.';
comment on column inspect.why_429.next_slot_at is 'The same as a time.';
comment on column inspect.why_429.base is 'The cap of an account without a record.';
comment on column inspect.why_429.factor is 'What the terms of the record are multiplied by.';
comment on column inspect.why_429.settled_offers is 'Offers published at least 72 hours ago and not removed; 60 count.';
comment on column inspect.why_429.proved_methods is 'Sign-in methods that the account has proved.';
comment on column inspect.why_429.account_is_old is 'Whether the account is 30 days old.';
comment on column inspect.why_429.recent_removals is 'Offers that moderation took down within 30 days: each halves the cap.';
comment on column inspect.why_429.reason is 'All of it in a sentence, fit to be sent on.';
grant select on inspect.why_429 to souk_dba;

create view inspect.windows with (security_invoker = true) as
select c.scope, c.action,
  count(*) filter (where c.called_at > now() - interval '1 hour') as used_last_hour, count(*) as used_last_day,
  min(c.called_at) filter (where c.called_at > now() - interval '1 hour') + interval '1 hour' as next_leaves_at,
  max(c.called_at) as last_call_at
from market.call c
where c.called_at > now() - interval '1 day'
group by c.scope, c.action;
comment on view inspect.windows is
  'When the load is unusual, or POST /v1/connect answers 429: every rolling window that holds a call. The busiest first: order by used_last_hour desc. An address is stopped by CONNECTIONS_PER_HOUR calls of connect within an hour, or three of decline within a day.';
comment on column inspect.windows.scope is 'agent:<id>, or address:<network> for connect and decline.';
comment on column inspect.windows.action is 'publish_offer, create_ask, preview_offer, connect or decline.';
comment on column inspect.windows.used_last_hour is 'Calls within the last hour.';
comment on column inspect.windows.used_last_day is 'Calls within the last day.';
comment on column inspect.windows.next_leaves_at is 'When the oldest call leaves the window of an hour.';
comment on column inspect.windows.last_call_at is 'The latest call.';
grant select on inspect.windows to souk_dba;
--! EndIncluded inspect/agents.sql
--! Included inspect/queue.sql
-- The queue and who works it. graphile-worker's tables come after the migrations and may change with its versions, so they
-- are read in a function, which looks them up when it runs, and only through the view that its makers document.

create or replace function inspect.read_jobs()
  returns table (job_id bigint, task text, row_id uuid, state text, attempts integer, max_attempts integer,
    created_at timestamptz, run_at timestamptz, locked_at timestamptz, locked_by text, last_error text)
  language plpgsql stable security definer set search_path = ''
as $$
begin
  return query
  select j.id, j.task_identifier, substring(j.key from ':([0-9a-f-]{36})$')::uuid,
    case
      when j.locked_by is not null and exists (
        select from market.worker_heartbeat h
        where h.pool_id = j.locked_by and h.beat_at > now() - interval '30 seconds') then 'running'
      when j.locked_by is not null then 'held by a dead worker'
      when j.attempts >= j.max_attempts then 'failed for good'
      when j.run_at > now() then 'scheduled'
      else 'waiting'
    end,
    j.attempts::integer, j.max_attempts::integer, j.created_at, j.run_at, j.locked_at, j.locked_by, j.last_error
  from graphile_worker.jobs j;
end
$$;
comment on function inspect.read_jobs() is 'What inspect.jobs shows.';
grant execute on function inspect.read_jobs() to souk_dba;

create view inspect.jobs with (security_invoker = true) as
select j.job_id, j.task, j.row_id, j.state, j.attempts, j.max_attempts, now() - j.created_at as age, j.run_at,
  now() - j.locked_at as locked_for, j.locked_by, j.last_error
from inspect.read_jobs() as j;
comment on view inspect.jobs is
  'When work does not get done: every job that is not done. Failing: where attempts > 0; given up: where state = ''failed for good''; of dead workers: where state = ''held by a dead worker''.';
comment on column inspect.jobs.job_id is 'As graphile_worker.reschedule_jobs and complete_jobs take it.';
comment on column inspect.jobs.task is 'read_submission, embed_offer, embed_ask, or a task of the clock.';
comment on column inspect.jobs.row_id is 'The submission, offer or ask that it is about.';
comment on column inspect.jobs.state is 'waiting, scheduled (to be tried later), running, held by a dead worker, or failed for good.';
comment on column inspect.jobs.attempts is 'How often it was begun.';
comment on column inspect.jobs.max_attempts is 'After so many it is given up: eight take about an hour.';
comment on column inspect.jobs.age is 'How long ago it was asked for.';
comment on column inspect.jobs.run_at is 'Not before.';
comment on column inspect.jobs.locked_for is 'How long it has been worked on, null when it is not.';
comment on column inspect.jobs.locked_by is 'The pool of workers that has it: see inspect.workers.';
comment on column inspect.jobs.last_error is 'What its last attempt failed with.';
grant select on inspect.jobs to souk_dba;

create view inspect.queue with (security_invoker = true) as
select j.task, j.state, count(*) as jobs, max(j.age) as oldest, max(j.attempts) as most_attempts, max(j.last_error) as an_error
from inspect.jobs j
group by j.task, j.state;
comment on view inspect.queue is
  'When answers are late or vectors are missing, first of all: how much waits, how long, and whether it fails. Growing numbers with live workers: more workers are needed.';
comment on column inspect.queue.task is 'What is to be done.';
comment on column inspect.queue.state is 'As in inspect.jobs.';
comment on column inspect.queue.jobs is 'How many.';
comment on column inspect.queue.oldest is 'How long ago the oldest was asked for.';
comment on column inspect.queue.most_attempts is 'How often one of them was begun, at most.';
comment on column inspect.queue.an_error is 'One of the errors, if there is any.';
grant select on inspect.queue to souk_dba;

create view inspect.workers with (security_invoker = true) as
select coalesce(h.pool_id, j.locked_by) as pool_id, h.beat_at, now() - h.beat_at as silent_for,
  coalesce(h.beat_at > now() - interval '30 seconds', false) as alive, coalesce(j.jobs, 0) as jobs, j.longest
from market.worker_heartbeat h
full join (
  select j.locked_by, count(*) as jobs, max(j.locked_for) as longest
  from inspect.jobs j where j.locked_by is not null group by j.locked_by) as j on j.locked_by = h.pool_id;
comment on view inspect.workers is
  'When nothing is read or embedded: which pools of workers live, and which have died with jobs in their hands. No row that is alive: no worker runs.';
comment on column inspect.workers.pool_id is 'As graphile_worker.force_unlock_workers takes it.';
comment on column inspect.workers.beat_at is 'Its last heartbeat, one every ten seconds; null when it has none any more.';
comment on column inspect.workers.silent_for is 'How long ago that was.';
comment on column inspect.workers.alive is 'Whether it has said so within 30 seconds. A live worker frees the jobs of dead ones within ten more.';
comment on column inspect.workers.jobs is 'Jobs that it holds.';
comment on column inspect.workers.longest is 'For how long it has held the oldest of them.';
grant select on inspect.workers to souk_dba;
--! EndIncluded inspect/queue.sql
--! Included inspect/requests.sql
-- Requests whose text waits to be read, and the keys that wait with them.

create view inspect.submissions_waiting with (security_invoker = true) as
select s.id as submission_id, s.kind, s.agent_id, s.account_id, s.target_id, now() - s.created_at as age,
  now() - s.created_at > interval '10 minutes' as stuck,
  j.job_id, coalesce(j.state, 'no job') as job_state, j.attempts, j.last_error
from market.submission s
left join inspect.jobs j on j.row_id = s.id and j.task = 'read_submission'
where s.settled_at is null;
comment on view inspect.submissions_waiting is
  'When POST /v1/offers or /v1/asks answers late or with 503: the texts that wait to be read, and how their jobs stand. Oldest first: order by age desc.';
comment on column inspect.submissions_waiting.submission_id is 'The submission, and the row of its job.';
comment on column inspect.submissions_waiting.kind is 'publish_offer, update_offer, preview_offer, create_ask or update_ask.';
comment on column inspect.submissions_waiting.agent_id is 'Who sent it; null: the account''s person.';
comment on column inspect.submissions_waiting.account_id is 'For whom.';
comment on column inspect.submissions_waiting.target_id is 'The offer or ask that it will become or change.';
comment on column inspect.submissions_waiting.age is 'How long it has waited. Its caller is answered after EXTRACTION_DEADLINE_MS.';
comment on column inspect.submissions_waiting.stuck is 'Whether the sweep, which comes every minute for what is ten minutes old, should have settled it.';
comment on column inspect.submissions_waiting.job_id is 'The job that will read it; null: nobody will, and the sweep settles it.';
comment on column inspect.submissions_waiting.job_state is 'As in inspect.jobs, or no job.';
comment on column inspect.submissions_waiting.attempts is 'How often its reading was begun.';
comment on column inspect.submissions_waiting.last_error is 'Why the last attempt failed.';
grant select on inspect.submissions_waiting to souk_dba;

create view inspect.keys_in_flight with (security_invoker = true) as
select k.owner_id, k.key, k.submission_id, s.kind, now() - k.created_at as age,
  now() - k.created_at > interval '10 minutes' as stuck
from market.submission s join market.idempotency_key k on k.submission_id = s.id
where s.settled_at is null
union all
select k.owner_id, k.key, null, null, now() - k.created_at, true
from market.idempotency_key k
where k.submission_id is null;
comment on view inspect.keys_in_flight is
  'When an agent keeps getting idempotency_in_flight (409): its keys whose first request has no answer yet, and how old they are.';
comment on column inspect.keys_in_flight.owner_id is 'Whose key: an agent, or the account of a person in the browser.';
comment on column inspect.keys_in_flight.key is 'As it was sent.';
comment on column inspect.keys_in_flight.submission_id is 'The text that it waits for: see inspect.submissions_waiting. Null: it waits for nothing and has to be deleted.';
comment on column inspect.keys_in_flight.kind is 'What the request was.';
comment on column inspect.keys_in_flight.age is 'Since when.';
comment on column inspect.keys_in_flight.stuck is 'Whether the sweep should have freed it.';
grant select on inspect.keys_in_flight to souk_dba;
--! EndIncluded inspect/requests.sql
--! Included inspect/embedding.sql
-- How far the vectors are.

create view inspect.embedding_progress with (security_invoker = true) as
with item as (
  select 'offer' as kind, 'embed_offer' as task, e.model
  from market.offer o left join market.offer_embedding e on e.offer_id = o.id where o.status = 'published'
  union all
  select 'ask' as kind, 'embed_ask' as task, e.model
  from market.ask a left join market.ask_embedding e on e.ask_id = a.id where a.status = 'active' and a.read_at is not null
), counted as (
  select i.kind, i.task, count(*) as items,
    count(*) filter (where to_jsonb(i.model) = f.value) as with_vector,
    count(*) filter (where to_jsonb(i.model) <> f.value) as of_another_model,
    count(*) filter (where i.model is null) as without_vector
  from item i cross join (select s.value from market.setting s where s.name = 'embedding_model') as f
  group by i.kind, i.task
)
select c.kind, market.setting('embedding_model') #>> '{}' as model, c.items, c.with_vector, c.of_another_model, c.without_vector,
  round(100.0 * c.with_vector / c.items, 1) as percent, coalesce(q.jobs, 0) as jobs, coalesce(q.failed, 0) as jobs_failed,
  q.oldest, q.an_error
from counted c
left join (
  select q.task, sum(q.jobs) as jobs, coalesce(sum(q.jobs) filter (where q.state = 'failed for good'), 0) as failed,
    max(q.oldest) as oldest, max(q.an_error) as an_error
  from inspect.queue q group by q.task) as q on q.task = c.task;
comment on view inspect.embedding_progress is
  'When searches go by words only, or the embedding model was changed: how many live offers and active asks have a vector of the model in force, and what still waits. Visits every live offer: about a second for a million.';
comment on column inspect.embedding_progress.kind is 'offer or ask.';
comment on column inspect.embedding_progress.model is 'The model in force.';
comment on column inspect.embedding_progress.items is 'Live offers, or active asks that were read.';
comment on column inspect.embedding_progress.with_vector is 'Of them, with a vector of the model in force.';
comment on column inspect.embedding_progress.of_another_model is 'With a vector that is not compared any more; found by words until it is replaced.';
comment on column inspect.embedding_progress.without_vector is 'With none; found by words.';
comment on column inspect.embedding_progress.percent is 'How far it is.';
comment on column inspect.embedding_progress.jobs is 'Jobs that are to make vectors. Fewer than are missing: run jobs.use_embedding_model(model) again.';
comment on column inspect.embedding_progress.jobs_failed is 'Of them, given up.';
comment on column inspect.embedding_progress.oldest is 'How long the oldest of them has waited.';
comment on column inspect.embedding_progress.an_error is 'One of their errors.';
grant select on inspect.embedding_progress to souk_dba;
--! EndIncluded inspect/embedding.sql
--! Included inspect/tables.sql
-- Sizes, growth, and what indexes are worth.

create view inspect.table_sizes with (security_invoker = true) as
select n.nspname as schema, c.relname as table, greatest(c.reltuples, 0)::bigint as rows, s.n_dead_tup as dead_rows,
  round(100.0 * s.n_dead_tup / nullif(s.n_live_tup + s.n_dead_tup, 0), 1) as dead_percent,
  pg_size_pretty(pg_total_relation_size(c.oid)) as total, pg_size_pretty(pg_table_size(c.oid)) as data,
  pg_size_pretty(pg_indexes_size(c.oid)) as indexes, pg_total_relation_size(c.oid) as total_bytes,
  s.n_tup_ins as inserted, s.n_tup_upd as updated, s.n_tup_del as deleted, s.seq_scan as whole_scans,
  greatest(s.last_vacuum, s.last_autovacuum) as vacuumed_at, greatest(s.last_analyze, s.last_autoanalyze) as analyzed_at
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
join pg_catalog.pg_stat_user_tables s on s.relid = c.oid
where c.relkind = 'r';
comment on view inspect.table_sizes is
  'When the disk fills, or everything became slower: the tables with their sizes and their dead rows. The largest first: order by total_bytes desc. Many dead rows and an old vacuumed_at: see inspect.connections for a transaction that holds vacuum up, then vacuum (analyze) the table.';
comment on column inspect.table_sizes.schema is 'market, graphile_worker (the queue) or graphile_migrate.';
comment on column inspect.table_sizes.table is 'The table.';
comment on column inspect.table_sizes.rows is 'About how many, as of the last vacuum or analyze.';
comment on column inspect.table_sizes.dead_rows is 'Rows that vacuum has yet to take away.';
comment on column inspect.table_sizes.dead_percent is 'Their share. Above 20 autovacuum does not keep up.';
comment on column inspect.table_sizes.total is 'All of it.';
comment on column inspect.table_sizes.data is 'Rows with their long values.';
comment on column inspect.table_sizes.indexes is 'Indexes.';
comment on column inspect.table_sizes.total_bytes is 'All of it, to sort by.';
comment on column inspect.table_sizes.inserted is 'Rows since the statistics were reset.';
comment on column inspect.table_sizes.updated is 'Rows since the statistics were reset.';
comment on column inspect.table_sizes.deleted is 'Rows since the statistics were reset.';
comment on column inspect.table_sizes.whole_scans is 'How often it was read from end to end. Growing on a large table: a query lacks its index.';
comment on column inspect.table_sizes.vacuumed_at is 'When it was last vacuumed, by hand or by itself.';
comment on column inspect.table_sizes.analyzed_at is 'When its statistics were last made. Long ago after much change: plans go wrong.';
grant select on inspect.table_sizes to souk_dba;

create or replace function inspect.first_uuid(made_after timestamptz) returns uuid
  language sql immutable parallel safe
as $$
  select (lpad(to_hex((extract(epoch from first_uuid.made_after) * 1000)::bigint), 12, '0') || '00000000000000000000')::uuid
$$;
comment on function inspect.first_uuid(timestamptz) is
  'The lowest id of a time, so that "where id >= inspect.first_uuid(now() - interval ''1 hour'')" finds what is new by the primary key.';
grant execute on function inspect.first_uuid(timestamptz) to souk_dba;

create view inspect.growth with (security_invoker = true) as
select n.what, sum(n.hour) as last_hour, sum(n.day) as last_day, sum(n.week) as last_week
from (
  select 'accounts' as what, (i.id >= inspect.first_uuid(now() - interval '1 hour'))::integer as hour,
    (i.id >= inspect.first_uuid(now() - interval '1 day'))::integer as day, 1 as week
  from market.account i where i.id >= inspect.first_uuid(now() - interval '7 days')
  union all
  select 'agents' as what, (i.id >= inspect.first_uuid(now() - interval '1 hour'))::integer as hour,
    (i.id >= inspect.first_uuid(now() - interval '1 day'))::integer as day, 1 as week
  from market.agent i where i.id >= inspect.first_uuid(now() - interval '7 days')
  union all
  select 'offers' as what, (i.id >= inspect.first_uuid(now() - interval '1 hour'))::integer as hour,
    (i.id >= inspect.first_uuid(now() - interval '1 day'))::integer as day, 1 as week
  from market.offer i where i.id >= inspect.first_uuid(now() - interval '7 days')
  union all
  select 'asks' as what, (i.id >= inspect.first_uuid(now() - interval '1 hour'))::integer as hour,
    (i.id >= inspect.first_uuid(now() - interval '1 day'))::integer as day, 1 as week
  from market.ask i where i.id >= inspect.first_uuid(now() - interval '7 days')
  union all
  select 'reports' as what, (i.id >= inspect.first_uuid(now() - interval '1 hour'))::integer as hour,
    (i.id >= inspect.first_uuid(now() - interval '1 day'))::integer as day, 1 as week
  from market.report i where i.id >= inspect.first_uuid(now() - interval '7 days')
) as n
group by n.what;
comment on view inspect.growth is
  'When the load is unusual, or a disk is planned: what came in within an hour, a day and a week, by the times in the ids. For totals see inspect.table_sizes.';
comment on column inspect.growth.what is 'accounts, agents, offers, asks or reports.';
comment on column inspect.growth.last_hour is 'New within an hour.';
comment on column inspect.growth.last_day is 'New within a day.';
comment on column inspect.growth.last_week is 'New within a week.';
grant select on inspect.growth to souk_dba;

create view inspect.index_use with (security_invoker = true) as
select s.schemaname as schema, s.relname as table, s.indexrelname as index, s.idx_scan as scans,
  pg_size_pretty(pg_relation_size(s.indexrelid)) as size, pg_relation_size(s.indexrelid) as bytes,
  i.indisunique or exists (
    select from pg_catalog.pg_constraint k
    where k.conrelid = i.indrelid and k.contype = 'f' and (i.indkey::int2[])[0] = k.conkey[1]) as needed_without_scans,
  case when w.widths_known and c.reltuples > 0 and m.amname = 'btree'
    -- A row takes its key (in eighths), its header of 8 bytes and a pointer of 4; a page has 8,192 bytes of which 40 are
    -- its own, and is nine tenths full.
    then round((pg_relation_size(s.indexrelid) / (8192 * ceil(c.reltuples * (12 + w.bytes) / (8152 * 0.9)) + 8192))::numeric, 1)
  end as bloat
from pg_catalog.pg_stat_user_indexes s
join pg_catalog.pg_index i on i.indexrelid = s.indexrelid
join pg_catalog.pg_class c on c.oid = s.indexrelid
join pg_catalog.pg_am m on m.oid = c.relam
cross join lateral (
  select bool_and(a.attlen > 0) as widths_known, (sum(greatest(a.attlen, 0)) + 7)::integer / 8 * 8 as bytes
  from pg_catalog.pg_attribute a where a.attrelid = s.indexrelid and a.attnum > 0) as w;
comment on view inspect.index_use is
  'When writes are slow or the disk fills: what each index takes and whether anything uses it. Worth dropping: where scans = 0 and not needed_without_scans, on the primary and on every replica, weeks after the statistics were reset.';
comment on column inspect.index_use.schema is 'Of its table.';
comment on column inspect.index_use.table is 'Of what.';
comment on column inspect.index_use.index is 'The index.';
comment on column inspect.index_use.scans is 'How often it was used since the statistics were reset.';
comment on column inspect.index_use.size is 'What it takes.';
comment on column inspect.index_use.bytes is 'The same, to sort by.';
comment on column inspect.index_use.needed_without_scans is 'Whether it holds a uniqueness or serves a foreign key, which is not counted as a scan.';
comment on column inspect.index_use.bloat is
  'How many times as large it is as it would be if made anew; null where keys differ in width. Above 2 on a large index, after a vacuum: reindex index concurrently.';
grant select on inspect.index_use to souk_dba;
--! EndIncluded inspect/tables.sql
--! Included inspect/server.sql
-- The server: who is connected, who waits for whom, what takes its time, and how far replicas are. States and statements of
-- other roles' sessions are seen only with pg_read_all_stats (logins.sql).

create view inspect.connections with (security_invoker = true) as
select a.usename as role, a.application_name, a.state, count(*) as connections,
  nullif(r.rolconnlimit, -1) as "limit", max(now() - a.xact_start) as longest_transaction,
  max(now() - a.state_change) filter (where a.state like 'idle in%') as longest_idle_in_transaction,
  count(*) filter (where a.wait_event_type = 'Lock') as waiting_for_locks
from pg_catalog.pg_stat_activity a left join pg_catalog.pg_roles r on r.oid = a.usesysid
where a.backend_type = 'client backend' or a.backend_type is null and a.usesysid is not null
group by a.usename, a.application_name, a.state, r.rolconnlimit;
comment on view inspect.connections is
  'When connections run out ("too many connections", 503), or vacuum does not keep up: who is connected and what they do. A role at its limit: too many processes or pools. Idle in transaction for minutes: somebody forgot a commit.';
comment on column inspect.connections.role is 'Who logged in.';
comment on column inspect.connections.application_name is 'What it calls itself: souk_api, souk_api read, souk_worker, psql.';
comment on column inspect.connections.state is 'active, idle, idle in transaction; null where pg_read_all_stats is missing.';
comment on column inspect.connections.connections is 'How many.';
comment on column inspect.connections."limit" is 'How many the role may have in all, null for as many as the server has.';
comment on column inspect.connections.longest_transaction is 'Age of the oldest transaction.';
comment on column inspect.connections.longest_idle_in_transaction is 'How long one has done nothing in the middle of one.';
comment on column inspect.connections.waiting_for_locks is 'How many wait: see inspect.blocked.';
grant select on inspect.connections to souk_dba;

create view inspect.blocked with (security_invoker = true) as
select w.pid, w.usename as role, now() - w.query_start as waits_for, left(w.query, 200) as query,
  b.pid as blocked_by, b.usename as blocking_role, b.application_name as blocking_application, b.state as blocking_state,
  now() - b.xact_start as blocking_since, left(b.query, 200) as blocking_query
from pg_catalog.pg_stat_activity w
cross join lateral unnest(pg_catalog.pg_blocking_pids(w.pid)) as blocker (pid)
join pg_catalog.pg_stat_activity b on b.pid = blocker.pid
where w.wait_event_type = 'Lock';
comment on view inspect.blocked is
  'When requests answer 503 after two seconds: who waits for a lock, and who has it. The one to end is a blocked_by that is not itself in pid: select pg_terminate_backend(blocked_by), as a superuser or in that role.';
comment on column inspect.blocked.pid is 'Who waits.';
comment on column inspect.blocked.role is 'In which role.';
comment on column inspect.blocked.waits_for is 'For how long.';
comment on column inspect.blocked.query is 'With what statement; those of the service hold no values.';
comment on column inspect.blocked.blocked_by is 'Who has the lock, or stands before in the line.';
comment on column inspect.blocked.blocking_role is 'In which role.';
comment on column inspect.blocked.blocking_application is 'What it calls itself.';
comment on column inspect.blocked.blocking_state is 'idle in transaction: it has forgotten that it holds it.';
comment on column inspect.blocked.blocking_since is 'How long its transaction has lasted.';
comment on column inspect.blocked.blocking_query is 'Its present or last statement.';
grant select on inspect.blocked to souk_dba;

create view inspect.slow_functions with (security_invoker = true) as
select f.schemaname as schema, f.funcname as function, f.calls, round(f.total_time::numeric) as total_ms, round(f.self_time::numeric) as self_ms,
  round((f.total_time / nullif(f.calls, 0))::numeric, 2) as ms_a_call,
  round((100 * f.self_time / nullif(sum(f.self_time) over (), 0))::numeric, 1) as percent
from pg_catalog.pg_stat_user_functions f;
comment on view inspect.slow_functions is
  'When the service is slow: which functions the time goes to. The worst first: order by self_ms desc. Empty until a superuser has run: alter database souk set track_functions = ''pl'' (for sessions that start afterwards).';
comment on column inspect.slow_functions.schema is 'api for endpoints, jobs for the worker, market for what they share.';
comment on column inspect.slow_functions.function is 'The function.';
comment on column inspect.slow_functions.calls is 'Calls since the statistics were reset.';
comment on column inspect.slow_functions.total_ms is 'Time in it and in what it called.';
comment on column inspect.slow_functions.self_ms is 'Time in itself with its statements.';
comment on column inspect.slow_functions.ms_a_call is 'Total time of an average call.';
comment on column inspect.slow_functions.percent is 'Its share of all self times.';
grant select on inspect.slow_functions to souk_dba;

create or replace function inspect.read_statements()
  returns table (role text, calls bigint, total_ms numeric, ms_a_call numeric, slowest_ms numeric, rows bigint, statement text)
  language plpgsql stable
as $$
declare
  -- The extension may be in any schema, or in none.
  home text := (select quote_ident(n.nspname) from pg_catalog.pg_extension e
    join pg_catalog.pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_stat_statements');
begin
  if home is null then
    return;
  end if;
  for role, calls, total_ms, ms_a_call, slowest_ms, rows, statement in execute format(
    'select r.rolname::text, s.calls, round(s.total_exec_time::numeric), round(s.mean_exec_time::numeric, 2),
       round(s.max_exec_time::numeric), s.rows, left(s.query, 500)
     from %s.pg_stat_statements s join pg_catalog.pg_roles r on r.oid = s.userid
     join pg_catalog.pg_database d on d.oid = s.dbid and d.datname = current_database()', home)
  loop
    return next;
  end loop;
exception when object_not_in_prerequisite_state then
  -- Made, but not in shared_preload_libraries.
  return;
end
$$;
comment on function inspect.read_statements() is 'What inspect.slow_statements shows: nothing where pg_stat_statements is not installed.';
grant execute on function inspect.read_statements() to souk_dba;

create view inspect.slow_statements with (security_invoker = true) as
select s.role, s.calls, s.total_ms, s.ms_a_call, s.slowest_ms, s.rows, s.statement from inspect.read_statements() as s;
comment on view inspect.slow_statements is
  'When the service is slow and no function stands out: which statements the time goes to. The worst first: order by total_ms desc. Empty until pg_stat_statements is in shared_preload_libraries and a superuser has made the extension.';
comment on column inspect.slow_statements.role is 'Who ran it.';
comment on column inspect.slow_statements.calls is 'How often.';
comment on column inspect.slow_statements.total_ms is 'Time in all.';
comment on column inspect.slow_statements.ms_a_call is 'Time of an average run.';
comment on column inspect.slow_statements.slowest_ms is 'Time of the slowest.';
comment on column inspect.slow_statements.rows is 'Rows that it gave or changed in all.';
comment on column inspect.slow_statements.statement is 'The statement, with $1 for its values.';
grant select on inspect.slow_statements to souk_dba;

create view inspect.replication with (security_invoker = true) as
select r.application_name as replica, r.state, r.sync_state,
  pg_catalog.pg_wal_lsn_diff(
    case when pg_catalog.pg_is_in_recovery() then pg_catalog.pg_last_wal_replay_lsn() else pg_catalog.pg_current_wal_lsn() end,
    r.replay_lsn)::bigint as bytes_behind,
  r.replay_lag as behind
from pg_catalog.pg_stat_replication r
union all
select 'this server', 'replays', case when pg_catalog.pg_is_wal_replay_paused() then 'paused' end,
  pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_last_wal_receive_lsn(), pg_catalog.pg_last_wal_replay_lsn())::bigint,
  case when pg_catalog.pg_last_wal_receive_lsn() = pg_catalog.pg_last_wal_replay_lsn() then interval '0'
    else now() - pg_catalog.pg_last_xact_replay_timestamp() end
-- Of no use on a primary, where asking whether replay is paused is an error.
where pg_catalog.pg_is_in_recovery()
union all
select s.slot_name, 'slot, not connected', null,
  pg_catalog.pg_wal_lsn_diff(
    case when pg_catalog.pg_is_in_recovery() then pg_catalog.pg_last_wal_replay_lsn() else pg_catalog.pg_current_wal_lsn() end,
    s.restart_lsn)::bigint, null
from pg_catalog.pg_replication_slots s where not s.active;
comment on view inspect.replication is
  'When what was written is not found, DELETE /v1/me/agent hangs, or the disk fills with WAL: how far each replica is behind; on a replica, how far it is itself. A slot that nobody uses keeps WAL until the disk is full: drop it.';
comment on column inspect.replication.replica is 'Its application_name, as in synchronous_standby_names.';
comment on column inspect.replication.state is 'streaming when all is well.';
comment on column inspect.replication.sync_state is 'async, sync or quorum: a removal of an agent waits for the latter two.';
comment on column inspect.replication.bytes_behind is 'WAL that it has not replayed, or that a slot keeps.';
comment on column inspect.replication.behind is 'The same in time, null when nothing is written.';
grant select on inspect.replication to souk_dba;
--! EndIncluded inspect/server.sql
--! Included inspect/invariant.sql
-- What must always be so, by name: what is broken when inspect.check() names it, and what to do. Beside each what the
-- worker found last, for /metrics.

create table market.invariant (
  invariant text constraint invariant_pkey primary key,
  summary text not null,
  remedy text not null,
  sampled boolean not null,
  broken integer not null default 0,
  example text,
  checked_at timestamptz,
  constraint invariant_form check (invariant ~ '^[a-z_]{1,60}$'),
  constraint invariant_summary_length check (char_length(summary) between 1 and 300),
  constraint invariant_remedy_length check (char_length(remedy) between 1 and 500),
  constraint invariant_example_length check (char_length(example) <= 300),
  constraint invariant_broken_not_negative check (broken >= 0)
);
comment on table market.invariant is 'One row is one rule that holds in every database in order, and how often it was found broken.';
comment on column market.invariant.invariant is 'As inspect.check() names it.';
comment on column market.invariant.summary is 'What must be so.';
comment on column market.invariant.remedy is 'What to do when it is not.';
comment on column market.invariant.sampled is 'Whether a sample is looked at between the nightly checks of everything, because the rows grow with the market.';
comment on column market.invariant.broken is 'How many times it was found broken. Of a sampled one: until a check of everything finds less.';
comment on column market.invariant.example is 'One of the rows that break it.';
comment on column market.invariant.checked_at is 'When the worker last looked, null before the first time.';

alter table market.invariant enable row level security;
alter table market.invariant force row level security;
create policy "the owner sees all" on market.invariant to souk_owner using (true) with check (true);
create policy "a dba reads all" on market.invariant for select to souk_dba using (true);
grant select on market.invariant to souk_dba;

insert into market.invariant (invariant, sampled, summary, remedy) values
  ('account_has_record', true, 'Every account has a row of market.publisher.',
    'Insert it: insert into market.publisher (account_id) values (...), then correct its counts.'),
  ('record_equals_recount', true, 'The counts in market.publisher equal a count of the account''s offers.',
    'Find who wrote to market.offer with triggers off (session_replication_role). Then set active, lifetime and removed to what detail says.'),
  ('connected_agent_has_person', true, 'An agent that a person approved belongs to an account that a person has claimed.',
    'Half of an approval is there: remove the agent (update market.agent set removed_at = now()), so that its person connects a new one.'),
  ('approval_is_whole', true, 'A connection and its agent agree on whether a person approved.',
    'Remove the agent, so that its person connects a new one.'),
  ('removed_agent_has_no_link', true, 'An agent that was removed has no link that still works.',
    'Decline it: update market.connection set declined_at = now() where agent_id = ...'),
  ('submission_is_counted', false, 'Every text that was admitted is a counted call.',
    'Somebody deleted from market.call, or market.admit was passed by: compare the functions with db/schema. The window rights itself within the hour.'),
  ('call_is_past', false, 'No counted call lies in the future, where it would fill a window for longer than an hour.',
    'The clock was set back: delete these calls.'),
  ('window_keeps_to_cap', false, 'No agent has more counted calls within an hour than its cap, or the highest cap there is, allows.',
    'The lock in market.admit does not hold: compare the function with db/schema.'),
  ('key_has_answer', false, 'Every idempotency key has an answer once its text is settled, and within minutes.',
    'Without a submission: delete the key. Else see submission_is_settled.'),
  ('submission_is_settled', false, 'Every text is settled within minutes, if only by the sweep.',
    'No worker runs, or the sweep fails: see inspect.workers and inspect.jobs. By hand: select jobs.sweep_submissions().'),
  ('submission_has_job', false, 'A text that waits to be read has a job that will read it.',
    'The sweep settles it after ten minutes. By hand at once: select market.withdraw(id).'),
  ('answer_tells_the_truth', true, 'A text was answered with 201 if, and only if, its offer or ask is there.',
    'The offer is there without a 201: archive it. A 201 without the offer: its agent has to send it again; tell the account.'),
  ('offer_has_contact', true, 'A live offer has a contact that can be reached.',
    'Archive the offer; its owner''s agent sends it again.'),
  ('offer_has_vector', true, 'A live offer has a vector of the model in force, or a job that is making one.',
    'select jobs.use_embedding_model(model) with the model of market.setting: it asks again for all that is missing. Then see inspect.jobs.'),
  ('ask_has_vector', true, 'An active ask has a vector of the model in force, or a job that is making one.',
    'select jobs.use_embedding_model(model) with the model of market.setting: it asks again for all that is missing. Then see inspect.jobs.'),
  ('ask_is_read', false, 'An ask that stands is read within the hour.',
    'Its text is still in market.ask: ask the account''s agent to PATCH it with the same text.'),
  ('match_is_of_a_live_offer', true, 'Only published offers match.', 'Delete the match.'),
  ('match_is_of_a_read_ask', true, 'Only asks that were read match.', 'Delete the match.'),
  ('match_is_of_an_active_ask', true, 'An ask at rest keeps its matches, and gets no new ones.', 'Delete the match.'),
  ('match_is_of_its_kind', true, 'An offer matches only asks that its kind answers.',
    'select market.match_offer(offer_id): judges the offer again.'),
  ('match_is_not_ones_own', true, 'An account''s own offers never match its asks.', 'Delete the match.'),
  ('match_is_within_price', true, 'An offer above the ceiling of an ask, in the same currency and for the same period, does not match it.',
    'select market.match_offer(offer_id): judges the offer again.'),
  ('match_is_not_excluded', true, 'An offer with a word that an ask does not want does not match it.',
    'select market.match_offer(offer_id): judges the offer again.'),
  ('job_is_not_held_by_the_dead', false, 'No job is held for minutes by a worker that has died.',
    'No worker lives that could free it: start one. By hand: select graphile_worker.force_unlock_workers(array[locked_by]).'),
  ('nothing_outlives_its_time', false, 'Keys, answers, counted calls and sign-ins are forgotten a day later, sessions when they end, query vectors after thirty days.',
    'The worker''s clock stands still, or forget_keys fails: see inspect.workers and inspect.jobs.');
--! EndIncluded inspect/invariant.sql
--! Included inspect/check.sql
-- The invariants, each a query that gives the rows that break it. What grows with the market is looked at by sample when a
-- share below 100 is given; what is in flight, or of the last hour, always whole, since it is little.

create or replace function inspect.check_people(share double precision)
  returns table (invariant text, object text, detail text)
  language plpgsql stable
as $$
begin
  return query
  select 'account_has_record', 'account ' || a.id, 'no row in market.publisher'
  from market.account a tablesample system (check_people.share)
  where not exists (select from market.publisher p where p.account_id = a.id);

  return query
  select 'record_equals_recount', 'account ' || p.account_id,
    format('active, lifetime, removed are %s, %s, %s and should be %s, %s, %s',
      p.active, p.lifetime, p.removed, o.active, o.lifetime, o.removed)
  from market.publisher p tablesample system (check_people.share)
  cross join lateral (
    select count(*) filter (where o.status = 'published') as active, count(o.published_at) as lifetime,
      count(*) filter (where o.status = 'removed') as removed
    from market.offer o where o.account_id = p.account_id) as o
  where (p.active, p.lifetime, p.removed) <> (o.active, o.lifetime, o.removed);

  return query
  select 'connected_agent_has_person', 'agent ' || g.id, 'it is connected, and nobody has claimed account ' || g.account_id
  from market.agent g tablesample system (check_people.share)
  join market.account a on a.id = g.account_id
  where g.connected_at is not null and a.claimed_at is null;

  return query
  select 'approval_is_whole', 'agent ' || g.id,
    case when c.approved_at is null then 'it is connected, and nobody approved its link'
      else 'its link is approved, and it is not connected' end
  from market.connection c tablesample system (check_people.share)
  join market.agent g on g.id = c.agent_id
  where (c.approved_at is null) <> (g.connected_at is null);

  return query
  select 'removed_agent_has_no_link', 'agent ' || g.id, 'its link is open'
  from market.connection c tablesample system (check_people.share)
  join market.agent g on g.id = c.agent_id
  where g.removed_at is not null and c.approved_at is null and c.declined_at is null and c.expires_at > now();
end
$$;
comment on function inspect.check_people(double precision) is
  'Accounts, agents and their records: what breaks an invariant, in a share of 0 to 100 percent of the rows.';

create or replace function inspect.check_requests(share double precision)
  returns table (invariant text, object text, detail text)
  language plpgsql stable
as $$
begin
  return query
  select 'submission_is_counted', 'agent ' || s.agent_id,
    format('%s texts of %s within an hour, and %s counted calls within a day', s.texts, s.action, c.calls)
  from (
    select s.agent_id, a.action, count(*) as texts
    from market.submission s
    cross join lateral (select case when s.kind = 'preview_offer' then 'preview_offer'
      when s.kind like '%_ask' then 'create_ask' else 'publish_offer' end as action) as a
    where s.created_at > now() - interval '1 hour'
      -- A person's are not counted.
      and s.agent_id is not null
      -- A change of an ask without a new text comes without a submission; one with it counts.
    group by s.agent_id, a.action) as s
  cross join lateral (
    select count(*) as calls from market.call c where c.scope = 'agent:' || s.agent_id and c.action = s.action) as c
  where c.calls < s.texts;

  return query
  select 'call_is_past', 'call ' || c.id, format('a call of %s at %s', c.action, c.called_at)
  from market.call c where c.called_at > clock_timestamp() + interval '1 second';

  return query
  select 'window_keeps_to_cap', c.scope, format('%s calls of %s within an hour', c.calls, c.action)
  from (
    select c.scope, c.action, count(*) as calls from market.call c
    where c.called_at > now() - interval '1 hour' and c.scope like 'agent:%'
    -- Ten times the base is as far as a record takes an agent.
    group by c.scope, c.action having count(*) > case c.action when 'publish_offer' then 600 else 1200 end) as c
  left join market.agent g on 'agent:' || g.id = c.scope
  where c.calls > coalesce(market.call_cap(g.account_id, c.action), 0);

  return query
  -- Not the key itself, which its agent chose: this goes into logs. inspect.keys_in_flight shows it.
  select 'key_has_answer',
    case when exists (select from market.agent g where g.id = k.owner_id) then 'agent ' else 'account ' end || k.owner_id,
    case when k.submission_id is null then 'a key of ' || k.created_at || ' holds no submission'
      else 'a key has been in flight since ' || k.created_at end
  from (
    select k.* from market.idempotency_key k where k.submission_id is null
    union all
    select k.* from market.submission s join market.idempotency_key k on k.submission_id = s.id
    -- The sweep comes every minute for what is ten minutes old.
    where s.settled_at is null and s.created_at < now() - interval '15 minutes') as k;

  return query
  select 'submission_is_settled', 'submission ' || s.id, format('%s waits since %s', s.kind, s.created_at)
  from market.submission s
  where s.settled_at is null and s.created_at < now() - interval '15 minutes';

  return query
  select 'submission_has_job', 'submission ' || s.id, format('%s waits since %s, and no job reads it', s.kind, s.created_at)
  from market.submission s
  where s.settled_at is null
    and not exists (select from inspect.read_jobs() j where j.task = 'read_submission' and j.row_id = s.id);

  return query
  select 'answer_tells_the_truth', 'submission ' || s.id,
    format('%s was answered with %s, and %s %s is %s', s.kind, s.status, split_part(s.kind, '_', 2), s.target_id,
      case when f.found then 'there' else 'not there' end)
  from market.submission s tablesample system (check_requests.share)
  cross join lateral (
    select case s.kind when 'publish_offer' then exists (select from market.offer o where o.id = s.target_id)
      else exists (select from market.ask a where a.id = s.target_id) end as found) as f
  where s.settled_at is not null and (
    s.kind = 'publish_offer' and f.found <> (s.status = 201)
    or s.kind = 'create_ask' and not f.found);

  return query
  select 'nothing_outlives_its_time', o.object, o.detail from (
    (select 'idempotency keys' as object, 'the oldest is of ' || k.created_at as detail from market.idempotency_key k
      where k.created_at < now() - interval '26 hours' order by k.created_at limit 1)
    union all
    (select 'submissions', 'the oldest is of ' || s.created_at from market.submission s
      where s.created_at < now() - interval '26 hours' order by s.created_at limit 1)
    union all
    (select 'calls', 'the oldest is of ' || c.called_at from market.call c
      where c.called_at < now() - interval '26 hours' order by c.called_at limit 1)
    union all
    (select 'sign-ins', 'the oldest ended at ' || i.expires_at from market.sign_in i
      where i.expires_at < now() - interval '26 hours' order by i.expires_at limit 1)
    union all
    (select 'sessions', 'the oldest ended at ' || s.expires_at from market.session s
      where s.expires_at < now() - interval '2 hours' order by s.expires_at limit 1)
    union all
    (select 'query vectors', 'the oldest is of ' || q.created_at from market.query_embedding q
      where q.created_at < now() - interval '31 days' order by q.created_at limit 1)) as o;
end
$$;
comment on function inspect.check_requests(double precision) is
  'Texts, keys and windows: what breaks an invariant; of settled texts in a share of 0 to 100 percent.';

create or replace function inspect.is_underway(task text, id uuid) returns boolean
  language plpgsql stable
as $$
begin
  -- What takes longer than two hours is not on its way any more: eight attempts take one.
  return exists (
    select from graphile_worker.jobs j
    where j.key = is_underway.task || ':' || is_underway.id and (j.attempts < j.max_attempts or j.locked_at is not null)
      and j.created_at > now() - interval '2 hours');
end
$$;
comment on function inspect.is_underway(text, uuid) is 'Whether a job that is on its way will mend what is about this row.';

create or replace function inspect.check_market(share double precision)
  returns table (invariant text, object text, detail text)
  language plpgsql stable
as $$
declare
  model_in_force text := market.setting('embedding_model') #>> '{}';
begin
  return query
  select 'offer_has_contact', 'offer ' || o.id, 'it is published, and names no way to reach anybody'
  from market.offer o tablesample system (check_market.share)
  where o.status = 'published' and coalesce(jsonb_array_length(o.contact -> 'methods'), 0) = 0;

  return query
  select 'offer_has_vector', 'offer ' || o.id,
    format('published, %s, and no job is making one', coalesce('its vector is of ' || e.model, 'without a vector'))
  from market.offer o tablesample system (check_market.share)
  left join market.offer_embedding e on e.offer_id = o.id
  where o.status = 'published' and e.model is distinct from model_in_force and not inspect.is_underway('embed_offer', o.id);

  return query
  select 'ask_has_vector', 'ask ' || a.id,
    format('active, %s, and no job is making one', coalesce('its vector is of ' || e.model, 'without a vector'))
  from market.ask a tablesample system (check_market.share)
  left join market.ask_embedding e on e.ask_id = a.id
  -- Its job is made a moment after it was read.
  where a.status = 'active' and a.read_at < now() - interval '10 minutes' and e.model is distinct from model_in_force
    and not inspect.is_underway('embed_ask', a.id);

  return query
  select 'ask_is_read', 'ask ' || a.id, 'its text has waited since ' || a.updated_at
  from market.ask a
  where a.read_at is null and a.updated_at < now() - interval '1 hour';

  return query
  select v.invariant, format('match of ask %s and offer %s', m.ask_id, m.offer_id), v.detail
  from market.match m tablesample system (check_market.share)
  join market.offer o on o.id = m.offer_id
  join market.ask a on a.id = m.ask_id
  left join market.ask_kind k on k.ask_kind = a.ask_kind
  cross join lateral (values
    ('match_is_of_a_live_offer', false, case when o.status <> 'published' then 'the offer is ' || o.status end),
    ('match_is_of_a_read_ask', false, case when a.read_at is null then 'the ask was not read' end),
    -- A call that was matching when the ask came to rest may have ended after it.
    ('match_is_of_an_active_ask', false, case when a.status <> 'active' and m.first_matched_at > a.updated_at + interval '1 minute'
      then format('the ask has been %s since %s, and the match is of %s', a.status, a.updated_at, m.first_matched_at) end),
    ('match_is_not_ones_own', false, case when o.account_id = a.account_id then 'both are of account ' || a.account_id end),
    -- What changed a moment ago is judged again by its job; an ask at rest is judged again when it is active.
    ('match_is_of_its_kind', true, case when a.status = 'active' and not coalesce(o.offer_kind = any (k.answered_by), false)
      then format('a %s does not answer an ask to %s', coalesce(o.offer_kind, 'thing of no kind'), coalesce(a.ask_kind, 'do nothing')) end),
    ('match_is_within_price', true, case when a.status = 'active'
      and o.price_hundredths > a.price_max_hundredths and o.price_hundredths > 0 and o.price_currency = a.price_currency
      and coalesce(o.price_period = a.criteria -> 'price' ->> 'period', true)
      then format('%s is over %s hundredths of %s', o.price_hundredths, a.price_max_hundredths, a.price_currency) end),
    ('match_is_not_excluded', true, case when a.status = 'active' and o.search @@ a.exclude_query
      then 'the offer says what the ask does not want' end)) as v (invariant, mends, detail)
  where v.detail is not null
    and not (v.mends and (inspect.is_underway('embed_offer', m.offer_id) or inspect.is_underway('embed_ask', m.ask_id)));
end
$$;
comment on function inspect.check_market(double precision) is
  'Offers, asks and matches: what breaks an invariant, in a share of 0 to 100 percent of the rows.';

create or replace function inspect.check(sample integer default null)
  returns table (invariant text, object text, detail text)
  language plpgsql stable security definer set search_path = ''
as $$
declare
  -- Whole pages are drawn, so it costs what it reads, however large the table.
  share double precision := case when "check".sample is null then 100 else (
    select least(100, 100.0 * "check".sample / greatest(max(c.reltuples), 1)) from pg_catalog.pg_class c
    where c.oid in ('market.offer'::regclass, 'market.match'::regclass, 'market.publisher'::regclass, 'market.submission'::regclass))
    end;
begin
  return query select * from inspect.check_people(share);
  return query select * from inspect.check_requests(share);
  return query select * from inspect.check_market(share);
  return query
  select 'job_is_not_held_by_the_dead', 'job ' || j.job_id, format('%s is held by %s since %s', j.task, j.locked_by, j.locked_at)
  from inspect.read_jobs() j
  -- A live worker frees it within a minute.
  where j.state = 'held by a dead worker' and j.locked_at < now() - interval '5 minutes';
end
$$;
comment on function inspect.check(integer) is
  'Every broken invariant: its name (market.invariant says what it means and what to do), the row, and how it is broken. No row when all is well. Looks at everything, some twenty seconds for a million offers and as many matches; with a sample at about so many rows of each large table, drawn at random.';
grant execute on function inspect.check(integer) to souk_dba;
--! EndIncluded inspect/check.sql
--! Included inspect/state.sql
-- The figures of /metrics that only the database knows.

create or replace function inspect.state() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
begin
  return jsonb_build_object(
    'jobs', (
      select coalesce(jsonb_agg(jsonb_build_object('task', q.task, 'state', q.state, 'count', q.count, 'oldest_seconds', q.oldest)), '[]')
      from (
        select j.task, j.state, count(*) as count, extract(epoch from now() - min(j.created_at))::integer as oldest
        from inspect.read_jobs() j group by j.task, j.state) as q),
    'submissions', (
      select jsonb_build_object('waiting', count(*), 'oldest_seconds', coalesce(extract(epoch from now() - min(s.created_at)), 0)::integer)
      from market.submission s where s.settled_at is null),
    'heartbeat_age_seconds', (select extract(epoch from now() - max(h.beat_at)) from market.worker_heartbeat h),
    'workers', (select count(*) from market.worker_heartbeat h where h.beat_at > now() - interval '30 seconds'),
    'invariants', (select jsonb_object_agg(i.invariant, i.broken) from market.invariant i),
    'checked_seconds_ago', (select extract(epoch from now() - max(i.checked_at)) from market.invariant i));
end
$$;
comment on function inspect.state() is
  'Backlog, heartbeat and broken invariants, as /metrics tells them: {jobs, submissions, heartbeat_age_seconds, workers, invariants, checked_seconds_ago}. Numbers only: no id, no text.';
grant execute on function inspect.state() to souk_api, souk_worker, souk_dba;
--! EndIncluded inspect/state.sql
--! Included jobs/check_invariants.sql
-- The worker's clock looks whether everything still holds: every few minutes at a sample, every night at everything.

create or replace function jobs.check_invariants(sample integer)
  returns table (invariant text, broken integer, example text)
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  return query
  with found as (
    select c.invariant, count(*)::integer as broken, left(min(c.object || ': ' || c.detail), 300) as example
    from inspect.check(check_invariants.sample) as c
    group by c.invariant
  ), noted as (
    update market.invariant i set
      -- That a sample shows nothing does not mend what another sample has shown.
      broken = case when check_invariants.sample is not null and i.sampled
        then greatest(coalesce(f.broken, 0), i.broken) else coalesce(f.broken, 0) end,
      example = case when check_invariants.sample is not null and i.sampled then coalesce(f.example, i.example) else f.example end,
      checked_at = now()
    from market.invariant j left join found f on f.invariant = j.invariant
    where i.invariant = j.invariant
  )
  select f.invariant, f.broken, f.example from found f;
end
$$;
comment on function jobs.check_invariants(integer) is
  'Runs inspect.check with a sample, or with null over everything, keeps what it found in market.invariant, and gives it: how many rows break which invariant, with an example.';
grant execute on function jobs.check_invariants(integer) to souk_worker;
--! EndIncluded jobs/check_invariants.sql

reset role;
