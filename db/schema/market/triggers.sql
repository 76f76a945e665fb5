-- All triggers of schema market, table by table, except those of the audit log. PostgreSQL fires triggers of the same
-- event in alphabetical order of their names.

create trigger keep_used_offer_kind before delete or update of offer_kind on market.offer_kind
  for each row execute function internal.keep_used_offer_kind();

create trigger check_offer_kinds before insert or update of kinds on market.domain
  for each row execute function internal.check_offer_kinds('kinds');
create trigger check_offer_kinds before insert or update of answered_by on market.ask_kind
  for each row execute function internal.check_offer_kinds('answered_by');

create trigger note_change after insert or update or delete or truncate on market.domain
  for each statement execute function reading.note_change();

create trigger note_change after insert or update or delete or truncate on market.category
  for each statement execute function reading.note_change();

create trigger create_account_stats after insert on market.account
  for each row execute function internal.create_account_stats();
create trigger refresh_publisher after update of prior_removals on market.account
  for each row execute function internal.refresh_publisher('id');

create trigger set_publisher before insert or update on market.account_stats
  for each row execute function internal.set_publisher();

create trigger forget_kept_suspension after update of suspended_at on market.account
  for each row when (old.suspended_at is not null and new.suspended_at is null)
  execute function internal.forget_kept_suspension();

create trigger keep_method before delete on market.proved_method
  for each row execute function internal.keep_method();
create trigger resume_record after insert on market.proved_method
  for each row execute function internal.resume_record();
create trigger refresh_publisher after insert or delete on market.proved_method
  for each row execute function internal.refresh_publisher('account_id');

create trigger end_removed_agent after update of removed_at on market.agent
  for each row when (old.removed_at is null and new.removed_at is not null)
  execute function internal.end_removed_agent();

create trigger keep_final_verification before update of status on market.verification
  for each row when (old.status is distinct from new.status) execute function internal.keep_final_verification();

create trigger check_appointment before insert on market.moderator
  for each row execute function internal.check_appointment();

create trigger hide_contacts after update of value on market.setting for each row
  when (new.name = 'least_contact_visibility' and old.value <> new.value)
  execute function internal.hide_contacts();

create trigger set_sandbox before insert on market.offer for each row execute function internal.set_sandbox();
create trigger set_offer_concepts before insert or update of title, text, language on market.offer
  for each row execute function reading.set_offer_concepts();
create trigger review_changed_offer after update on market.offer for each row
  when (new.status in ('published', 'archived') and new.account_id is not null
    and ((old.text, old.images) <> (new.text, new.images) or old.sent_text is distinct from new.sent_text))
  execute function internal.review_changed_offer();
create trigger review_withdrawn_offer after update on market.offer for each row
  when (old.status = 'pending_review' and new.status = 'archived')
  execute function internal.review_withdrawn_offer();
create trigger publish_new_offer before insert on market.offer for each row
  when (new.status = 'published') execute function internal.publish_in_good_standing();
-- Triggers fire in the order of their names. So move_offer, which refuses forbidden status changes, fires first.
create trigger publish_moved_offer before update on market.offer for each row
  when (new.status = 'published' and old.status <> 'published') execute function internal.publish_in_good_standing();
-- An update of only the concepts (jobs.refresh_concepts) or of the freshness (api.confirm_offer, jobs.age_offers) does
-- not count as a change of the offer.
create trigger move_offer before update on market.offer for each row
  when (old.concepts = new.concepts
    and old.confirmed_at = new.confirmed_at and old.stale_at is not distinct from new.stale_at
    or old.status <> new.status
    or old.account_id is distinct from new.account_id
    or (old.title, old.text) <> (new.title, new.text) or old.language is distinct from new.language)
  execute function internal.move_offer();
create trigger refresh_confirmation before update on market.offer for each row
  when (old.status <> new.status or (old.text, old.images) <> (new.text, new.images)
    or old.sent_text is distinct from new.sent_text or old.confirmed_at <> new.confirmed_at)
  execute function internal.refresh_confirmation();
-- Always, as a generated column would be: no way to write an offer leaves its document behind.
create trigger keep_document after insert or delete on market.offer
  for each row execute function search.keep_document();
-- The columns that search.document_of reads.
create trigger keep_changed_document after update on market.offer for each row
  when (old.status <> new.status or new.status = 'published' and (
    (old.account_id, old.sandbox_id, old.published_at, old.stale_at, old.title, old.text, old.language, old.concepts,
      old.domain, old.category, old.offer_kind, old.price_thousandths, old.price_currency, old.price_period,
      old.price_unit, old.location_text, old.metadata, old.contact, old.images, old.reviewed, old.sent_text,
      old.contact_visibility, old.withheld_spans, old.withheld_images)
    is distinct from
    (new.account_id, new.sandbox_id, new.published_at, new.stale_at, new.title, new.text, new.language, new.concepts,
      new.domain, new.category, new.offer_kind, new.price_thousandths, new.price_currency, new.price_period,
      new.price_unit, new.location_text, new.metadata, new.contact, new.images, new.reviewed, new.sent_text,
      new.contact_visibility, new.withheld_spans, new.withheld_images)))
  execute function search.keep_document();
alter table market.offer enable always trigger keep_document, enable always trigger keep_changed_document;
create trigger count_new_offer after insert or delete on market.offer
  for each row execute function internal.count_offer();
create trigger count_moved_offer after update on market.offer for each row
  when (old.status is distinct from new.status or old.published_at is distinct from new.published_at)
  execute function internal.count_offer();
create trigger refresh_new_offer after insert on market.offer for each row execute function internal.refresh_offer();
create trigger refresh_changed_offer after update on market.offer for each row
  when (old.status is distinct from new.status or old.text is distinct from new.text
    or old.title is distinct from new.title or old.metadata is distinct from new.metadata
    or old.language is distinct from new.language or old.domain is distinct from new.domain
    or old.category is distinct from new.category or old.offer_kind is distinct from new.offer_kind
    or old.contact_visibility <> new.contact_visibility)
  execute function internal.refresh_offer();

create trigger end_deals after update on market.offer for each row
  when (old.status = 'published' and new.status <> 'published') execute function internal.end_offer_deals();

create trigger set_sandbox before insert on market.ask for each row execute function internal.set_sandbox();
create trigger move_ask before update of status on market.ask for each row execute function internal.move_ask();
create trigger refresh_ask after update on market.ask for each row
  when (new.status = 'active' and new.read_at is not null
    and (old.status <> 'active' or new.watch_enabled and not old.watch_enabled))
  execute function internal.refresh_ask();

create trigger keep_document_vector after insert or update or delete on market.offer_embedding
  for each row execute function search.keep_document_vector();
alter table market.offer_embedding enable always trigger keep_document_vector;

create trigger keep_ask after insert or update or delete on market.ask
  for each row execute function search.keep_ask();
alter table market.ask enable always trigger keep_ask;
create trigger keep_ask_vector after insert or update or delete on market.ask_embedding
  for each row execute function search.keep_ask_vector();
alter table market.ask_embedding enable always trigger keep_ask_vector;

create trigger count_report before insert on market.report for each row execute function internal.count_report();
create trigger count_report_again before update on market.report for each row
  when (old.completed_at is not null and new.completed_at is null)
  execute function internal.count_report();
create trigger review_reported_offer after insert or delete on market.report
  for each row execute function internal.review_reported_offer();
create trigger review_offer_reported_again after update on market.report for each row
  when (old.completed_at is not null and new.completed_at is null)
  execute function internal.review_reported_offer();

create trigger review_reported_conversation after insert or update of completed_at or delete
  on market.conversation_report for each row execute function internal.review_reported_conversation();

create trigger review_appeal after insert on market.appeal for each row execute function internal.review_appeal();

do $$
declare
  machine text;
begin
  foreach machine in array '{conversation,proposal,agreement,confirmation}'::text[] loop
    execute format('create trigger check_new before insert on market.%I
      for each row execute function internal.check_move()', machine);
    execute format('create trigger check_move before update on market.%I
      for each row when (old.status <> new.status) execute function internal.check_move()', machine);
  end loop;
end
$$;

create trigger enqueue_submission after insert on market.submission
  for each row execute function internal.enqueue_submission();

-- Reads on replicas: these triggers note which accounts a transaction changes (internal/platform/note_write.sql). A
-- test lists the tables that need none.

create constraint trigger note_write after update on market.account deferrable initially deferred
  for each row execute function internal.note_account_write();
create constraint trigger note_write after insert on market.rate_limit_hit deferrable initially deferred
  for each row execute function internal.note_hit_write();

do $$
declare
  noted record;
begin
  for noted in
    select t.name, 'insert or update or delete' as events
    from unnest(
      '{agent,appeal,ask,block,cap_override,confirmation,moderator,offer,offer_change,profile,proved_method,report,'
      'session,webhook}'::text[]) as t (name)
    union all
    -- Deleting these is left to purges, long after they are shown no more.
    select t.name, 'insert or update' from unnest('{submission,verification}'::text[]) as t (name)
  loop
    execute format('create constraint trigger note_write after %s on market.%I deferrable initially deferred
      for each row execute function internal.note_write()', noted.events, noted.name);
  end loop;
end
$$;

create constraint trigger note_write after insert or update or delete on market.conversation
  deferrable initially deferred for each row execute function internal.note_conversation_write();
create constraint trigger note_write after insert or update or delete on market.power
  deferrable initially deferred for each row execute function internal.note_power_write();

-- Events of accounts (internal/feed/event.sql).

create trigger note_new_matches after insert on market.match referencing new table as added
  for each statement execute function internal.note_new_matches();
create trigger note_lost_matches after delete on market.match referencing old table as lost
  for each statement execute function internal.note_lost_matches();
create trigger note_read after update on market.ask for each row
  when (new.read_at is not null and old.read_at is distinct from new.read_at)
  execute function internal.note_event('ask.read', 'ask_id=id');
create trigger note_reviewed after insert on market.decision for each row
  when (new.action in ('keep', 'publish', 'reject') and new.offer_id is not null and new.account_id is not null)
  execute function internal.note_event('offer.reviewed', 'offer_id=offer_id', 'decision=action');
create trigger note_removed after update on market.offer for each row
  when (old.status <> 'removed' and new.status = 'removed' and new.account_id is not null)
  execute function internal.note_event('offer.removed', 'offer_id=id', 'reason=review_reason');
create trigger note_restored after update on market.offer for each row
  when (old.status = 'removed' and new.status = 'published' and new.account_id is not null)
  execute function internal.note_event('offer.restored', 'offer_id=id');
create trigger note_stale after update on market.offer for each row
  when (old.stale_at is null and new.stale_at is not null and new.account_id is not null)
  execute function internal.note_event('offer.stale', 'offer_id=id');
create trigger note_archived after update on market.offer for each row
  when (old.status <> 'archived' and new.status = 'archived' and new.account_id is not null)
  execute function internal.note_event('offer.archived', 'offer_id=id');
create trigger note_decided_appeal after update on market.appeal for each row
  when (old.decided_at is null and new.decided_at is not null) execute function internal.note_decided_appeal();
create trigger note_completed after update on market.verification for each row
  when (old.status <> 'completed' and new.status = 'completed')
  execute function internal.note_event('verification.completed', 'verification_id=id', 'method=method');
create trigger note_expired after update on market.verification for each row
  when (old.status <> 'expired' and new.status = 'expired')
  execute function internal.note_event('verification.expired', 'verification_id=id', 'method=method');
create trigger note_connected after update on market.agent for each row
  when (old.connected_at is null and new.connected_at is not null)
  execute function internal.note_event('agent.connected', 'agent_id=id');
create trigger note_removed after update on market.agent for each row
  when (old.removed_at is null and new.removed_at is not null)
  execute function internal.note_event('agent.removed', 'agent_id=id');
create trigger note_suspended after update on market.account for each row
  when (old.suspended_at is null and new.suspended_at is not null)
  execute function internal.note_event('account.suspended');
create trigger note_reinstated after update on market.account for each row
  when (old.suspended_at is not null and new.suspended_at is null)
  execute function internal.note_event('account.reinstated');
create trigger wake_readers after insert on market.event referencing new table as added
  for each statement execute function internal.wake_readers();
create trigger wake_changed_agent after update on market.agent for each row
  when ((old.account_id, old.token_hash) is distinct from (new.account_id, new.token_hash)
    or old.token_expires_at is distinct from new.token_expires_at or old.removed_at is distinct from new.removed_at
    or (old.connected_at is null) <> (new.connected_at is null)
    or (old.disconnected_at is null) <> (new.disconnected_at is null))
  execute function internal.wake_agent();
create trigger wake_deleted_agent after delete on market.agent
  for each row execute function internal.wake_agent();

-- Webhooks (internal/feed/webhook.sql).

create trigger note_disabled after update on market.webhook for each row
  when (old.disabled_at is null and new.disabled_at is not null)
  execute function internal.note_event('webhook.disabled', 'webhook_id=id', 'reason=disabled_reason');
create trigger clear_deliveries after delete on market.webhook for each row
  execute function internal.clear_deliveries();
create trigger queue_deliveries after insert on market.event referencing new table as added
  for each statement execute function internal.queue_deliveries();
