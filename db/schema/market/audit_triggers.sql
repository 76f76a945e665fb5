-- The audited tables, and the columns whose values the audit log may contain. None of these columns contains text that
-- a person wrote.

create trigger audit after insert or update or delete on market.offer for each row execute function internal.audit(
  'account_id', 'agent_id', 'origin_ask_id', 'status', 'language', 'domain', 'category', 'offer_kind',
  'price_hundredths',
  'price_currency', 'price_period', 'reviewed', 'published_at', 'removed_at', 'review_reason', 'suspended_at');
create trigger audit after insert or update or delete on market.offer_change
  for each row execute function internal.audit(
  'account_id', 'agent_id', 'language', 'domain', 'category', 'offer_kind', 'price_hundredths', 'price_currency',
  'price_period', 'rejected_at', 'review_reason');
create trigger audit after insert or delete on market.ask for each row execute function internal.audit(
  'account_id', 'agent_id', 'status', 'watch_enabled');
create trigger audit_change after update on market.ask for each row
  -- An update that only stores the extraction of the text is not logged, because the log already has the event of the
  -- text itself.
  when (old.read_at is not null or new.read_at is null or old.status <> new.status or old.text <> new.text)
  execute function internal.audit(
    'account_id', 'agent_id', 'status', 'watch_enabled', 'language', 'domain', 'category', 'ask_kind',
    'price_max_hundredths', 'price_currency');
create trigger audit after insert or update or delete on market.agent for each row execute function internal.audit(
  'account_id', 'connected_at', 'removed_at', 'disconnected_at');
-- Inserts are not logged, because every agent comes with a provisional account. A person's claim of an
-- account is an update, so it is logged.
create trigger audit after update or delete on market.account for each row execute function internal.audit(
  'claimed_at', 'suspended_at', 'suspension_reason', 'recovered_at');
create trigger audit after insert or update or delete on market.proved_method
  for each row execute function internal.audit(
  'method', 'proved_at');
create trigger audit after insert or update or delete on market.profile for each row execute function internal.audit();
-- Rows that an upgrade loads are not logged, because no person, agent or moderator changed them.
create trigger audit after insert or update or delete on market.setting for each row
  when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.audit('value');
create trigger audit after insert or update or delete on market.report for each row execute function internal.audit(
  'offer_id', 'account_id', 'agent_id', 'reason', 'completed_at');
create trigger audit after insert or delete on market.moderator for each row execute function internal.audit(
  'account_id', 'appointed_by');
create trigger audit after insert or update or delete on market.cap_override
  for each row execute function internal.audit(
  'action', 'cap');
create trigger audit after insert or update or delete on market.appeal for each row execute function internal.audit(
  'offer_id', 'account_id', 'agent_id', 'removed_at', 'decided_at');
create trigger audit after insert or delete on market.decision for each row execute function internal.audit(
  'moderator_id', 'action', 'offer_id', 'account_id', 'agent_id', 'reason');
create trigger audit_change after update on market.decision for each row
  -- When an account or agent is deleted, the columns that refer to it become null. This is not a change of the
  -- decision, so it is not logged.
  when (old.action <> new.action or old.offer_id is distinct from new.offer_id or old.reason is distinct from new.reason
    or old.sentence is distinct from new.sentence or old.created_at <> new.created_at
    or old.moderator_id <> new.moderator_id or old.account_id <> new.account_id or old.agent_id <> new.agent_id)
  execute function internal.audit('moderator_id', 'action', 'offer_id', 'account_id', 'agent_id', 'reason');
-- Other events of the log show when a case opens and closes. These triggers log only what no
-- other event shows: that a moderator claims or releases a case, and that a case is deleted.
create trigger audit after delete on market.review_case for each row execute function internal.audit(
  'held_by', 'held_until');
create trigger audit_change after update on market.review_case for each row
  when (old.closed_at is null and new.closed_at is null
    and (old.held_by, old.held_until) is distinct from (new.held_by, new.held_until))
  execute function internal.audit('held_by', 'held_until');
-- TRUNCATE does not fire the row triggers above.
create trigger audit_truncate after truncate on market.offer for each statement execute function internal.audit();
create trigger audit_truncate after truncate on market.offer_change
  for each statement execute function internal.audit();
create trigger audit_truncate after truncate on market.ask for each statement execute function internal.audit();
create trigger audit_truncate after truncate on market.agent for each statement execute function internal.audit();
create trigger audit_truncate after truncate on market.account for each statement execute function internal.audit();
create trigger audit_truncate after truncate on market.proved_method
  for each statement execute function internal.audit();
create trigger audit_truncate after truncate on market.profile for each statement execute function internal.audit();
create trigger audit_truncate after truncate on market.setting for each statement execute function internal.audit();
create trigger audit_truncate after truncate on market.report for each statement execute function internal.audit();
create trigger audit_truncate after truncate on market.moderator for each statement execute function internal.audit();
create trigger audit_truncate after truncate on market.cap_override
  for each statement execute function internal.audit();
create trigger audit_truncate after truncate on market.appeal for each statement execute function internal.audit();
create trigger audit_truncate after truncate on market.decision for each statement execute function internal.audit();
create trigger audit_truncate after truncate on market.review_case for each statement execute function internal.audit();
create trigger audit after insert or delete on market.webhook for each row execute function internal.audit(
  'account_id', 'agent_id', 'disabled_at', 'disabled_reason');
create trigger audit_truncate after truncate on market.webhook for each statement execute function internal.audit();
