-- The audit log: who did what to which row, written by triggers in the same transaction, and changed by nobody.
--
--   actor     agent, person, moderator   as the claims of the request say, which count in the service's own roles alone
--             job                        the worker's own upkeep; a text that it reads is its sender's act
--             dba                        anybody else, by the role that logged in
--   subject   the account whose row it was, which is what a person reads as the activity of the account
--   before, after   the columns that changed, of those that the trigger names: never a text, a name, a contact or a hash
--
-- Partitioned by month (UTC): a month that is twelve months gone is dropped whole. No foreign key, since what is logged
-- outlives what it is about.

create table market.audit_event (
  id uuid not null default market.uuid_v7(),
  at timestamptz not null default clock_timestamp(),
  actor_type text not null,
  account_id uuid,
  agent_id uuid,
  sql_role text not null,
  action text not null,
  table_name text not null,
  row_id text not null,
  subject_account_id uuid,
  before jsonb,
  after jsonb,
  request_id text,
  constraint audit_event_pkey primary key (id, at),
  constraint audit_event_actor_type_known check (actor_type in ('person', 'agent', 'moderator', 'job', 'dba')),
  constraint audit_event_sql_role_length check (char_length(sql_role) between 1 and 63),
  constraint audit_event_action_length check (char_length(action) between 1 and 60),
  constraint audit_event_table_name_length check (char_length(table_name) between 1 and 63),
  constraint audit_event_row_id_length check (char_length(row_id) between 1 and 60),
  constraint audit_event_request_id_length check (char_length(request_id) between 1 and 100)
) partition by range (at);
create index audit_event_subject_idx on market.audit_event (subject_account_id, at desc, id desc);
create index audit_event_row_id_idx on market.audit_event (row_id, at desc);
-- As moderators read the log: an id sorts by when it was made.
create index audit_event_account_id_idx on market.audit_event (account_id, id desc);
create index audit_event_actor_type_idx on market.audit_event (actor_type, id desc);
create index audit_event_action_idx on market.audit_event (action, id desc);
comment on table market.audit_event is 'One row is one change of one row that matters: append-only, kept for 12 months.';
comment on column market.audit_event.id is 'UUIDv7.';
comment on column market.audit_event.at is 'When.';
comment on column market.audit_event.actor_type is 'person, agent, moderator, job or dba.';
comment on column market.audit_event.account_id is 'Who acted, or for whom its agent did.';
comment on column market.audit_event.agent_id is 'The agent that acted.';
comment on column market.audit_event.sql_role is 'The role that the statement ran as; of a dba, the login.';
comment on column market.audit_event.action is 'What was done: offer.published, agent.removed, ...; else the table with created, updated or deleted.';
comment on column market.audit_event.table_name is 'Which table of schema market.';
comment on column market.audit_event.row_id is 'Which row: its id, or what it has for one (the method, the switch, the capped action, the offer of an appeal or a case, the account of a profile); all where the table was emptied.';
comment on column market.audit_event.subject_account_id is 'Whose row it was.';
comment on column market.audit_event.before is 'What changed, as it was; null for a new row.';
comment on column market.audit_event.after is 'What changed, as it is; null for a deleted row.';
comment on column market.audit_event.request_id is 'The Request-Id of the call that did it, or job and the id of the worker''s job; null for a dba.';

alter table market.audit_event enable row level security;
alter table market.audit_event force row level security;
create policy "the owner sees all" on market.audit_event to souk_owner using (true) with check (true);
create policy "a person sees what was done in its account" on market.audit_event for select to souk_person
  using (subject_account_id = (select market.account_id()));
-- Not who a moderator is, nor what the log says of values.
grant select (id, at, actor_type, agent_id, action, table_name, row_id, subject_account_id) on market.audit_event to souk_person;

-- The net: what falls into no month is still written down.
create table market.audit_event_default (like market.audit_event including defaults including constraints including comments);
comment on table market.audit_event_default is 'The events of no month that has a part of its own; empty while the upkeep runs.';
alter table market.audit_event attach partition market.audit_event_default default;
alter table market.audit_event_default enable row level security;
alter table market.audit_event_default force row level security;
create policy "the owner sees all" on market.audit_event_default to souk_owner using (true) with check (true);

create or replace function jobs.keep_audit_partitions() returns integer
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  -- Whoever writes to the log waits behind this for its lock: better to try again in an hour.
  set lock_timeout = '1s'
as $$
declare
  this_month timestamp := date_trunc('month', now() at time zone 'UTC');
  month timestamp;
  name text;
  changed integer := 0;
begin
  for ahead in 0..1 loop
    month := this_month + make_interval(months => ahead);
    name := 'audit_event_' || to_char(month, 'YYYY_MM');
    continue when to_regclass('market.' || name) is not null;
    -- Made apart and then attached, which unlike "partition of" lets others write to the log meanwhile.
    execute format('create table market.%I (like market.audit_event including defaults including constraints including comments)', name);
    execute format('comment on table market.%I is %L', name,
      'The events of ' || to_char(month, 'YYYY-MM') || ' (UTC), a part of market.audit_event.');
    execute format('alter table market.%I enable row level security', name);
    execute format('alter table market.%I force row level security', name);
    execute format('create policy "the owner sees all" on market.%I to souk_owner using (true) with check (true)', name);
    execute format('with moved as (delete from market.audit_event_default where at >= %1$L and at < %2$L returning *)
      insert into market.%3$I select * from moved', month at time zone 'UTC', (month + interval '1 month') at time zone 'UTC', name);
    execute format('alter table market.audit_event attach partition market.%I for values from (%L) to (%L)',
      name, month at time zone 'UTC', (month + interval '1 month') at time zone 'UTC');
    changed := changed + 1;
  end loop;
  for name in
    select c.relname from pg_catalog.pg_inherits i join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'market.audit_event'::regclass and c.relname ~ '^audit_event_\d{4}_\d{2}$'
      and to_date(right(c.relname, 7), 'YYYY_MM') + interval '13 months' <= this_month
  loop
    execute format('drop table market.%I', name);
    changed := changed + 1;
  end loop;
  delete from market.audit_event_default d where d.at < now() - interval '12 months';
  return changed;
end
$$;
comment on function jobs.keep_audit_partitions() is
  'Makes the partitions of this and the next month, and drops those that are over 12 months gone; gives how many it made and dropped.';
grant execute on function jobs.keep_audit_partitions() to souk_worker;

do $$ begin perform jobs.keep_audit_partitions(); end $$;

create or replace function market.audit() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  was jsonb := case when tg_op in ('UPDATE', 'DELETE') then to_jsonb(old) end;
  becomes jsonb := case when tg_op in ('INSERT', 'UPDATE') then to_jsonb(new) end;
  subject uuid := coalesce(becomes ->> 'account_id', was ->> 'account_id',
    case when tg_table_name = 'account' then coalesce(becomes ->> 'id', was ->> 'id') end)::uuid;
  status text := case when tg_op = 'INSERT' or was -> 'status' <> becomes -> 'status' then becomes ->> 'status' end;
  login text := coalesce(nullif(current_setting('role'), 'none'), session_user);
  -- Who has entered a request or a job. Anybody may set the claims by hand; of others they say nothing.
  entered boolean := login in ('souk_api', 'souk_agent', 'souk_person', 'souk_moderator', 'souk_worker');
  moderator uuid := case when entered then nullif(current_setting('market.moderator_id', true), '')::uuid end;
  agent uuid := case
    -- Nobody has entered: it is an agent that makes itself.
    when login = 'souk_api' and tg_table_name = 'agent' and tg_op = 'INSERT' then (becomes ->> 'id')::uuid
    when entered then market.agent_id() end;
  account uuid := coalesce(moderator, case when entered then market.account_id() end);
  actor text;
  before jsonb;
  after jsonb;
begin
  -- Nobody does these: a clock, and the job that follows a suspension.
  if was - array['updated_at', 'hiding'] = becomes - array['updated_at', 'hiding'] then
    return null;
  end if;
  actor := case
    when moderator is not null then 'moderator'
    when agent is not null then 'agent'
    when account is not null then 'person'
    when login = 'souk_worker' then 'job'
    -- Nobody has entered: it is a person whom the secret of a link admits.
    when login = 'souk_api' then 'person'
    else 'dba' end;
  select jsonb_object_agg(c.name, was -> c.name), jsonb_object_agg(c.name, becomes -> c.name) into before, after
  from unnest(tg_argv) as c (name) where coalesce(was -> c.name, 'null') <> coalesce(becomes -> c.name, 'null');
  insert into market.audit_event (actor_type, account_id, agent_id, sql_role, action, table_name, row_id,
    subject_account_id, before, after, request_id)
  values (actor, case when login = 'souk_api' then coalesce(account, subject) else account end, agent,
    case actor when 'dba' then session_user else login end,
    case
      when tg_op = 'TRUNCATE' then tg_table_name || '.truncated'
      when tg_table_name = 'offer' and status = 'published' and was ->> 'status' = 'removed' then 'offer.restored'
      when tg_table_name = 'offer' and status is not null then 'offer.' || status
      when tg_table_name = 'offer' and not (was ->> 'reviewed')::boolean and (becomes ->> 'reviewed')::boolean then 'offer.kept'
      when tg_table_name = 'ask' and tg_op = 'UPDATE' and status is not null
        then 'ask.' || case status when 'active' then 'reopened' else status end
      when tg_table_name = 'agent' and was ->> 'removed_at' is null and becomes ->> 'removed_at' is not null then 'agent.removed'
      when tg_table_name = 'agent' and was ->> 'connected_at' is null and becomes ->> 'connected_at' is not null then 'agent.connected'
      when tg_table_name = 'account' and was ->> 'suspended_at' is null and becomes ->> 'suspended_at' is not null then 'account.suspended'
      when tg_table_name = 'account' and was ->> 'suspended_at' is not null and becomes ->> 'suspended_at' is null then 'account.reinstated'
      when tg_table_name = 'account' and was ->> 'claimed_at' is null and becomes ->> 'claimed_at' is not null then 'account.claimed'
      when tg_table_name in ('account', 'profile') and tg_op <> 'DELETE' then 'profile.updated'
      when tg_table_name = 'appeal' and was ->> 'decided_at' is null and becomes ->> 'decided_at' is not null and tg_op = 'UPDATE'
        then 'appeal.decided'
      when tg_table_name = 'review_case' and tg_op = 'UPDATE'
        then 'review_case.' || case when becomes ->> 'held_by' is null then 'released' else 'claimed' end
      when tg_table_name = 'proved_method' then case tg_op when 'DELETE' then 'method.removed' else 'method.proved' end
      else tg_table_name || case tg_op when 'INSERT' then '.created' when 'UPDATE' then '.updated' else '.deleted' end
    end,
    tg_table_name,
    case when tg_op = 'TRUNCATE' then 'all' else
      coalesce(becomes ->> 'id', was ->> 'id', becomes ->> 'method', was ->> 'method', becomes ->> 'name', was ->> 'name',
        becomes ->> 'action', was ->> 'action', becomes ->> 'offer_id', was ->> 'offer_id', subject::text) end,
    subject,
    case when was is not null then before end, case when becomes is not null then after end,
    case when actor <> 'dba' then nullif(current_setting('market.request_id', true), '') end);
  return null;
end
$$;
comment on function market.audit() is
  'Writes one change into the audit log. Its arguments are the columns whose values may stand there: none that a person wrote.';

create or replace trigger audit after insert or update or delete on market.offer for each row execute function market.audit(
  'account_id', 'agent_id', 'origin_ask_id', 'status', 'language', 'domain', 'category', 'offer_kind', 'price_hundredths',
  'price_currency', 'price_period', 'reviewed', 'published_at', 'removed_at', 'review_reason', 'suspended_at');
create or replace trigger audit after insert or delete on market.ask for each row execute function market.audit(
  'account_id', 'agent_id', 'status', 'watch_enabled');
create or replace trigger audit_change after update on market.ask for each row
  -- That a text has now been read is part of what its sender did.
  when (old.read_at is not null or new.read_at is null or old.status <> new.status or old.text <> new.text)
  execute function market.audit(
    'account_id', 'agent_id', 'status', 'watch_enabled', 'language', 'domain', 'category', 'ask_kind', 'price_max_hundredths', 'price_currency');
create or replace trigger audit after insert or update or delete on market.agent for each row execute function market.audit(
  'account_id', 'connected_at', 'removed_at');
-- Every agent comes with an account: what counts is that a person claims it.
create or replace trigger audit after update or delete on market.account for each row execute function market.audit(
  'claimed_at', 'suspended_at', 'suspension_reason');
create or replace trigger audit after insert or update or delete on market.proved_method for each row execute function market.audit(
  'method', 'proved_at');
create or replace trigger audit after insert or update or delete on market.profile for each row execute function market.audit();
create or replace trigger audit after insert or update or delete on market.setting for each row execute function market.audit(
  'value');
create or replace trigger audit after insert or update or delete on market.report for each row execute function market.audit(
  'offer_id', 'account_id', 'agent_id', 'reason', 'settled_at');
create or replace trigger audit after insert or delete on market.moderator for each row execute function market.audit(
  'account_id', 'appointed_by');
create or replace trigger audit after insert or update or delete on market.cap_override for each row execute function market.audit(
  'action', 'cap');
create or replace trigger audit after insert or update or delete on market.appeal for each row execute function market.audit(
  'offer_id', 'account_id', 'agent_id', 'removed_at', 'decided_at');
create or replace trigger audit after insert or delete on market.decision for each row execute function market.audit(
  'moderator_id', 'action', 'offer_id', 'account_id', 'agent_id', 'reason');
create or replace trigger audit_change after update on market.decision for each row
  -- An account or an agent that goes is taken out of decisions, which changes none of them.
  when (old.action <> new.action or old.offer_id is distinct from new.offer_id or old.reason is distinct from new.reason
    or old.sentence is distinct from new.sentence or old.created_at <> new.created_at
    or old.moderator_id <> new.moderator_id or old.account_id <> new.account_id or old.agent_id <> new.agent_id)
  execute function market.audit('moderator_id', 'action', 'offer_id', 'account_id', 'agent_id', 'reason');
-- What opens and closes a case is in the log by itself; that a moderator takes it is not.
create or replace trigger audit after delete on market.review_case for each row execute function market.audit(
  'held_by', 'held_until');
create or replace trigger audit_change after update on market.review_case for each row
  when (old.closed_at is null and new.closed_at is null
    and (old.held_by, old.held_until) is distinct from (new.held_by, new.held_until))
  execute function market.audit('held_by', 'held_until');

-- Emptying a table fires none of these.
create or replace trigger audit_truncate after truncate on market.offer for each statement execute function market.audit();
create or replace trigger audit_truncate after truncate on market.ask for each statement execute function market.audit();
create or replace trigger audit_truncate after truncate on market.agent for each statement execute function market.audit();
create or replace trigger audit_truncate after truncate on market.account for each statement execute function market.audit();
create or replace trigger audit_truncate after truncate on market.proved_method for each statement execute function market.audit();
create or replace trigger audit_truncate after truncate on market.profile for each statement execute function market.audit();
create or replace trigger audit_truncate after truncate on market.setting for each statement execute function market.audit();
create or replace trigger audit_truncate after truncate on market.report for each statement execute function market.audit();
create or replace trigger audit_truncate after truncate on market.moderator for each statement execute function market.audit();
create or replace trigger audit_truncate after truncate on market.cap_override for each statement execute function market.audit();
create or replace trigger audit_truncate after truncate on market.appeal for each statement execute function market.audit();
create or replace trigger audit_truncate after truncate on market.decision for each statement execute function market.audit();
create or replace trigger audit_truncate after truncate on market.review_case for each statement execute function market.audit();
