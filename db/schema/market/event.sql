-- One row is one event: something that happened to an account. Triggers write it in the transaction of what happened,
-- and agents read it in the feed (api/list_events.sql).
--
-- The table is partitioned by week (UTC), and a partition is dropped when all its events are more than 30 days old.
-- There are no foreign keys, because a check would lock the account: a transaction that stores a match has locked the
-- ask already, and the deletion of an account locks them in the other order. internal.erase_account deletes an
-- account's events.

create table market.event (
  id uuid not null default internal.uuid_v7(),
  account_id uuid not null,
  xid xid8 not null default pg_current_xact_id(),
  type text not null,
  data jsonb not null,
  occurred_at timestamptz not null default clock_timestamp(),
  -- In the order of the feed.
  constraint event_pkey primary key (account_id, occurred_at, id),
  constraint event_type_known check (type in ('match.created', 'match.withdrawn', 'ask.read', 'offer.reviewed',
    'offer.removed', 'offer.restored', 'offer.appeal_decided', 'offer.stale', 'offer.archived',
    'verification.completed', 'verification.expired', 'agent.connected', 'agent.removed', 'account.suspended',
    'account.reinstated', 'webhook.disabled', 'conversation.opened',
    'conversation.closed', 'message.received', 'proposal.received', 'proposal.accepted',
    'proposal.declined', 'proposal.withdrawn', 'proposal.expired', 'agreement.awaiting', 'agreement.made',
    'agreement.lapsed', 'confirmation.decided', 'powers.changed'))
) partition by range (occurred_at);
-- A reader goes on after its cursor.
create index event_account_id_idx on market.event (account_id, xid, id);
-- The embedded database, which sends no notifications, asks whom the latest events concern (api.list_event_readers).
-- Rows lie in the order of time, so this index has a few bytes for a megabyte of events.
create index event_occurred_at_idx on market.event using brin (occurred_at);

create policy "an account sees its events" on market.event for select to souk_agent, souk_person
  using (account_id = (select internal.visible_account_id()));

-- The default partition takes events whose week has no partition.
create table market.event_default (
  like market.event including defaults including constraints including comments);

alter table market.event attach partition market.event_default default;

comment on table market.event is
  'One row is one event: something that happened to an account. Agents read events for 30 days.';
comment on column market.event.xid is
  'The transaction in which it happened. A cursor holds the transactions that its reader has seen.';
comment on column market.event.type is 'What happened, such as match.created or offer.removed.';
comment on column market.event.data is 'Ids and facts; never a text, contact or secret.';
comment on column market.event.occurred_at is
  'When it happened, by the server''s clock. Cursors are compared with it, so let the default set it.';
grant select on market.event to souk_agent, souk_person, souk_dba;
select internal.copy_comments('market.event_default', 'market.event');
comment on table market.event_default is
  'Events of weeks that have no partition of their own. Empty as long as the maintenance job runs.';
