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
-- Triggers fire in the order of their names. So move_offer, which refuses forbidden status changes, fires first.
create trigger publish_moved_offer before update on market.offer for each row
  when (new.status = 'published' and old.status <> 'published') execute function internal.publish_in_good_standing();
-- An update of only the concepts (jobs.refresh_concepts) does not count as a change of the offer.
create trigger move_offer before update on market.offer for each row
  when (old.concepts = new.concepts or old.status <> new.status or old.account_id is distinct from new.account_id
    or (old.title, old.text) <> (new.title, new.text) or old.language is distinct from new.language)
  execute function internal.move_offer();
create trigger count_new_offer after insert or delete on market.offer
  for each row execute function internal.count_offer();
create trigger count_moved_offer after update on market.offer for each row
  when (old.status is distinct from new.status or old.published_at is distinct from new.published_at)
  execute function internal.count_offer();
create trigger refresh_new_offer after insert on market.offer for each row execute function internal.refresh_offer();
create trigger refresh_changed_offer after update on market.offer for each row
  when (old.status is distinct from new.status or old.text is distinct from new.text
    or old.title is distinct from new.title)
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

-- Tables of shipped rows: these triggers record which rows an operator changed or deleted. Arguments: the columns of
-- the key, and the other columns that an upgrade changes.

create trigger forget_deletion after insert on market.offer_kind referencing new table as added
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.forget_deletion('offer_kind');
create trigger keep_origin before update or delete on market.offer_kind
  for each row when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.keep_origin('offer_kind', 'position');
create trigger remember_truncate before truncate on market.offer_kind
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.remember_truncate('offer_kind');

create trigger forget_deletion after insert on market.domain referencing new table as added
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.forget_deletion('domain');
create trigger keep_origin before update or delete on market.domain
  for each row when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.keep_origin('domain', 'kinds,position');
create trigger remember_truncate before truncate on market.domain
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.remember_truncate('domain');

create trigger forget_deletion after insert on market.category referencing new table as added
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.forget_deletion('domain,category');
create trigger keep_origin before update or delete on market.category
  for each row when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.keep_origin('domain,category', 'position');
create trigger remember_truncate before truncate on market.category
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.remember_truncate('domain,category');

create trigger forget_deletion after insert on market.ask_kind referencing new table as added
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.forget_deletion('ask_kind');
create trigger keep_origin before update or delete on market.ask_kind
  for each row when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.keep_origin('ask_kind', 'answered_by');
create trigger remember_truncate before truncate on market.ask_kind
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.remember_truncate('ask_kind');

create trigger forget_deletion after insert on market.permission referencing new table as added
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.forget_deletion('permission');
create trigger keep_origin before update or delete on market.permission
  for each row when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.keep_origin('permission', 'needs_approval,writes,summary,detail');
create trigger remember_truncate before truncate on market.permission
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.remember_truncate('permission');

create trigger forget_deletion after insert on market.reason referencing new table as added
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.forget_deletion('code');
create trigger keep_origin before update or delete on market.reason
  for each row when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.keep_origin('code', 'rank,summary,sentence');
create trigger remember_truncate before truncate on market.reason
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.remember_truncate('code');

create trigger forget_deletion after insert on market.setting referencing new table as added
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.forget_deletion('name');
create trigger keep_origin before update or delete on market.setting
  for each row when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.keep_origin('name', 'summary,least,most');
create trigger remember_truncate before truncate on market.setting
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.remember_truncate('name');

create trigger forget_deletion after insert on market.sign_in_method referencing new table as added
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.forget_deletion('method');
create trigger keep_origin before update or delete on market.sign_in_method
  for each row when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.keep_origin('method', 'position');
create trigger remember_truncate before truncate on market.sign_in_method
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.remember_truncate('method');

create trigger forget_deletion after insert on market.embedding_model referencing new table as added
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.forget_deletion('model');
create trigger keep_origin before update or delete on market.embedding_model
  for each row when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.keep_origin('model', 'min_similarity,match_min_similarity,similarity_weight');
create trigger remember_truncate before truncate on market.embedding_model
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.remember_truncate('model');

create trigger forget_deletion after insert on market.invariant referencing new table as added
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.forget_deletion('invariant');
create trigger keep_origin before update or delete on market.invariant
  for each row when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.keep_origin('invariant', 'sampled,summary,remedy');
create trigger remember_truncate before truncate on market.invariant
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.remember_truncate('invariant');
