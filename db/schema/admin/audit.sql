-- The audit log, for moderators.

create or replace view admin.audit_event with (security_invoker) as
  select e.id, e.at, e.actor_type, e.account_id, e.agent_id, e.sql_role, e.action, e.table_name, e.row_id,
    e.subject_account_id, e.before, e.after, e.request_id
  from market.audit_event e;
comment on view admin.audit_event is
  E'@primaryKey id\nAn event of the audit log: one change by one actor. Nobody can change or delete events.';
select internal.copy_comments('admin.audit_event', 'market.audit_event');
comment on column admin.audit_event.actor_type is E'@behavior +filterBy\nperson, agent, moderator, job or dba.';
comment on column admin.audit_event.account_id is
  E'@behavior +filterBy\nThe account that acted, itself or through its agent.';
comment on column admin.audit_event.agent_id is 'The agent that acted.';
comment on column admin.audit_event.action is E'@behavior +filterBy\nWhat was done, such as offer.removed.';
comment on column admin.audit_event.table_name is 'The table of the changed row.';
comment on column admin.audit_event.row_id is E'@behavior +filterBy\nThe id of the changed row.';
comment on column admin.audit_event.subject_account_id is
  E'@behavior +filterBy\nThe account to which the changed row belongs.';
grant select on admin.audit_event to souk_moderator;
