-- The audit log: who changed which row. Triggers write it in the transaction of the change, and no role changes it.
--
--   actor     agent, person, moderator   from the claims of the request, which count only for the roles of this service
--             job                        the worker's own maintenance; completing a text counts as its sender's act
--             dba                        any other role, recorded by the name of its login
--   subject   the account to which the changed row belongs; a person reads its events as the activity of the account
--   before, after   values of the changed columns that the trigger names: no texts, names, contacts, hashes
--
-- The table is partitioned by month (UTC), and a partition is dropped twelve months after its month has ended. There
-- are no foreign keys, because an event outlives the row that it is about.

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
-- A person's own list of what was done (internal/accounts/activity.sql), and what is deleted with an account.
create index audit_event_subject_idx on market.audit_event (subject_account_id, at desc, id desc);
-- The page of the log about one row, and the runbook.
create index audit_event_row_id_idx on market.audit_event (row_id, at desc);
-- Moderators read the log newest first. Ids are in the order of time.
create index audit_event_account_id_idx on market.audit_event (account_id, id desc);
create index audit_event_actor_type_idx on market.audit_event (actor_type, id desc);
create index audit_event_action_idx on market.audit_event (action, id desc);

create policy "a person sees what was done in its account" on market.audit_event for select to souk_person
  using (subject_account_id = (select internal.account_id()));

-- The default partition takes events whose month has no partition.
create table market.audit_event_default (
  like market.audit_event including defaults including constraints including comments);

alter table market.audit_event attach partition market.audit_event_default default;

comment on table market.audit_event is
  'One row is one change of one audited row. The log is append-only and kept for 12 months.';
comment on column market.audit_event.at is 'When the change happened.';
comment on column market.audit_event.actor_type is 'person, agent, moderator, job or dba.';
comment on column market.audit_event.account_id is 'The account that acted, itself or through its agent.';
comment on column market.audit_event.sql_role is 'The SQL role of the statement; for a dba, the login role.';
comment on column market.audit_event.action is
  'What was done, such as offer.published or agent.removed. An action without a name of its own is the table name with '
  'created, updated, deleted or truncated.';
comment on column market.audit_event.table_name is 'The changed table of schema market.';
comment on column market.audit_event.row_id is
  'The id of the changed row. For tables without an id: the method, the name of the setting, the capped action, the '
  'offer of an appeal or a review case, or the account of a profile. "all" when the table was truncated.';
comment on column market.audit_event.subject_account_id is 'The account to which the row belongs.';
comment on column market.audit_event.before is 'The changed values before the change; null for a new row.';
comment on column market.audit_event.after is 'The changed values after the change; null for a deleted row.';
comment on column market.audit_event.request_id is
  'The Request-Id of the call that made the change, or "job" and the id of the worker''s job; null for a dba.';
-- A person sees neither which moderator acted nor the logged values.
grant select (id, at, actor_type, agent_id, action, table_name, row_id, subject_account_id) on market.audit_event
  to souk_person;
select internal.copy_comments('market.audit_event_default', 'market.audit_event');
comment on table market.audit_event_default is
  'Events of months that have no partition of their own. Empty as long as the maintenance job runs.';
