-- What happens when a row changes: every trigger but those of the audit log, table by table. Triggers of one moment run in
-- the order of their names.

create trigger note_change after insert or update or delete or truncate on market.domain
  for each statement execute function reading.note_change();

create trigger note_change after insert or update or delete or truncate on market.category
  for each statement execute function reading.note_change();

create trigger create_account_stats after insert on market.account for each row execute function internal.create_account_stats();

create trigger end_removed_agent after update of removed_at on market.agent
  for each row when (old.removed_at is null and new.removed_at is not null)
  execute function internal.end_removed_agent();

create trigger keep_final_verification before update of status on market.verification
  for each row when (old.status is distinct from new.status) execute function internal.keep_final_verification();

create trigger check_appointment before insert on market.moderator
  for each row execute function internal.check_appointment();

create trigger set_offer_concepts before insert or update of title, text, language on market.offer
  for each row execute function reading.set_offer_concepts();
create trigger sync_embedding_facets after update on market.offer
  for each row when (old.facets is distinct from new.facets) execute function search.sync_embedding_facets();
create trigger review_changed_offer after update on market.offer for each row
  when (new.status in ('published', 'archived') and new.account_id is not null
    and (old.text <> new.text or old.images <> new.images))
  execute function internal.review_changed_offer();
create trigger review_withdrawn_offer after update on market.offer for each row
  when (old.status = 'pending_review' and new.status = 'archived')
  execute function internal.review_withdrawn_offer();
create trigger publish_new_offer before insert on market.offer for each row
  when (new.status = 'published') execute function internal.publish_in_good_standing();
-- By its name it runs after move_offer, which says whether the move exists at all.
create trigger publish_moved_offer before update on market.offer for each row
  when (new.status = 'published' and old.status <> 'published') execute function internal.publish_in_good_standing();
create trigger move_offer before update on market.offer for each row execute function internal.move_offer();
create trigger count_new_offer after insert or delete on market.offer for each row execute function internal.count_offer();
create trigger count_moved_offer after update on market.offer for each row
  when (old.status is distinct from new.status or old.published_at is distinct from new.published_at)
  execute function internal.count_offer();
create trigger refresh_new_offer after insert on market.offer for each row execute function internal.refresh_offer();
create trigger refresh_changed_offer after update on market.offer for each row
  when (old.status is distinct from new.status or old.text is distinct from new.text or old.title is distinct from new.title)
  execute function internal.refresh_offer();

create trigger move_ask before update of status on market.ask for each row execute function internal.move_ask();
create trigger refresh_ask after update on market.ask for each row
  when (new.status = 'active' and new.read_at is not null
    and (old.status <> 'active' or new.watch_enabled and not old.watch_enabled))
  execute function internal.refresh_ask();

create trigger copy_offer_facets before insert or update on market.offer_embedding
  for each row execute function search.copy_offer_facets();

create trigger count_report before insert on market.report for each row execute function internal.count_report();
create trigger count_report_again before update on market.report for each row
  when (old.completed_at is not null and new.completed_at is null)
  execute function internal.count_report();
create trigger review_reported_offer after insert or delete on market.report
  for each row execute function internal.review_reported_offer();
create trigger review_offer_reported_again after update on market.report for each row
  when (old.completed_at is not null and new.completed_at is null)
  execute function internal.review_reported_offer();

create trigger review_appeal after insert on market.appeal for each row execute function internal.review_appeal();

create trigger enqueue_submission after insert on market.submission
  for each row execute function internal.enqueue_submission();
