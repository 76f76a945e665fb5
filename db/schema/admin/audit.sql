-- The audit log, for moderators.

create or replace view admin.audit_event with (security_invoker) as
  select e.id, e.at, e.actor_type, e.account_id, e.agent_id, e.sql_role, e.action, e.table_name, e.row_id,
    e.subject_account_id, e.before, e.after, e.request_id
  from market.audit_event e;
comment on view admin.audit_event is
  E'@primaryKey id\nSomething that somebody changed. Nobody can change or delete what stands here.';
comment on column admin.audit_event.id is 'UUIDv7: sorts by age.';
comment on column admin.audit_event.at is 'When.';
comment on column admin.audit_event.actor_type is E'@behavior +filterBy\nperson, agent, moderator, job or dba.';
comment on column admin.audit_event.account_id is E'@behavior +filterBy\nWho acted, or for whom its agent did.';
comment on column admin.audit_event.agent_id is 'The agent that acted.';
comment on column admin.audit_event.sql_role is 'The role in the database.';
comment on column admin.audit_event.action is E'@behavior +filterBy\nWhat was done, as offer.removed.';
comment on column admin.audit_event.table_name is 'What kind of thing it was done to.';
comment on column admin.audit_event.row_id is E'@behavior +filterBy\nTo which.';
comment on column admin.audit_event.subject_account_id is E'@behavior +filterBy\nWhose it was.';
comment on column admin.audit_event.before is 'What changed, as it was.';
comment on column admin.audit_event.after is 'What changed, as it is.';
comment on column admin.audit_event.request_id is
  'The request that did it, or job and the id of a job; empty for a dba.';
grant select on admin.audit_event to souk_moderator;
