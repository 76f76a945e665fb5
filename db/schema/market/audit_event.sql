-- The audit log: who did what to which row, written by triggers in the same transaction, and changed by nobody.
--
--   actor     agent, person, moderator   as the claims of the request say, which count in the service's own roles alone
--             job                        the worker's own upkeep; a text that it reads is its sender's act
--             dba                        anybody else, by the role that logged in
--   subject   the account whose row it was, which is what a person reads as the activity of the account
--   before, after   the columns that changed, of those that the trigger names: never a text, a name, a contact or a
-- hash
--
-- Partitioned by month (UTC): a month that is twelve months gone is dropped whole. No foreign key, since what is logged
-- outlives what it is about.

create table market.audit_event (
  id uuid not null default internal.uuid_v7(),
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

alter table market.audit_event enable row level security;
alter table market.audit_event force row level security;
create policy "the owner sees all" on market.audit_event to souk_owner using (true) with check (true);
create policy "a person sees what was done in its account" on market.audit_event for select to souk_person
  using (subject_account_id = (select internal.account_id()));

-- The net: what falls into no month is still written down.
create table market.audit_event_default (
  like market.audit_event including defaults including constraints including comments);

alter table market.audit_event attach partition market.audit_event_default default;
alter table market.audit_event_default enable row level security;
alter table market.audit_event_default force row level security;
create policy "the owner sees all" on market.audit_event_default to souk_owner using (true) with check (true);

-- Reloaded: grants and comments from here on are loaded again whenever a file of db/schema changes.

comment on table market.audit_event is
  'One row is one change of one row that matters: append-only, kept for 12 months.';
comment on column market.audit_event.id is 'UUIDv7.';
comment on column market.audit_event.at is 'When.';
comment on column market.audit_event.actor_type is 'person, agent, moderator, job or dba.';
comment on column market.audit_event.account_id is 'Who acted, or for whom its agent did.';
comment on column market.audit_event.agent_id is 'The agent that acted.';
comment on column market.audit_event.sql_role is 'The role that the statement ran as; of a dba, the login.';
comment on column market.audit_event.action is
  'What was done: offer.published, agent.removed, ...; else the table with created, updated or deleted.';
comment on column market.audit_event.table_name is 'Which table of schema market.';
comment on column market.audit_event.row_id is
  'Which row: its id, or what it has for one (the method, the switch, the capped action, the offer of an appeal or a '
  'case, the account of a profile); all where the table was emptied.';
comment on column market.audit_event.subject_account_id is 'Whose row it was.';
comment on column market.audit_event.before is 'What changed, as it was; null for a new row.';
comment on column market.audit_event.after is 'What changed, as it is; null for a deleted row.';
comment on column market.audit_event.request_id is
  'The Request-Id of the call that did it, or job and the id of the worker''s job; null for a dba.';
-- Not who a moderator is, nor what the log says of values.
grant select (id, at, actor_type, agent_id, action, table_name, row_id, subject_account_id) on market.audit_event
  to souk_person;
comment on table market.audit_event_default is
  'The events of no month that has a part of its own; empty while the upkeep runs.';
