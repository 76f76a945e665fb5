-- The table of contents: the files of the schema in the order in which a new database is made from them. A folder
-- stands for its files that no line names. db/README.md says what is structure and what is code (loaded again when it
-- changes).

-- These two need a login that may create roles. They run in a transaction of their own, before graphile-worker makes
-- its tables (src/install/structure.ts).
--!include roles.sql
--!include logins.sql

-- souk_owner owns every object created from here on.
set local role souk_owner;
-- Some functions are created before the tables that they read, so function bodies are not checked.
set local check_function_bodies = off;

--!include schemas.sql
--!include migrations.sql
--!include queue.sql

-- Functions and types that table definitions use: in defaults, generated columns, indexes and policies
--!include internal/platform/uuid_v7.sql
--!include internal/platform/letters.sql
--!include internal/offers/visible_name.sql
--!include internal/agents/claims.sql
--!include internal/platform/origin.sql
--!include internal/platform/copy_comments.sql
--!include internal/platform/guard_table.sql
--!include reading/fold.sql
--!include reading/price_units.sql
--!include reading/note_change.sql
--!include reading/note_synonym_change.sql
--!include search/lexemes.sql
--!include search/buckets.sql
--!include internal/moderation/suspension.sql
--!include search/types.sql
--!include admin/types.sql

-- Tables
--!include internal/platform/loaded.sql
--!include internal/platform/deleted_row.sql
--!include internal/platform/recent_write.sql
--!include internal/platform/numbering.sql
--!include market/setting.sql
--!include market/permission.sql
--!include market/sentence.sql
--!include market/taxonomy.sql
--!include reading/vocabulary_change.sql
--!include reading/concept.sql
--!include reading/label.sql
--!include reading/place.sql
--!include reading/place_name.sql
--!include reading/place_member.sql
--!include reading/example.sql
--!include reading/classifier.sql
--!include reading/meaning.sql
--!include market/reason.sql
--!include reading/concept_refresh.sql
--!include market/sandbox.sql
--!include market/account.sql
--!include market/account_stats.sql
--!include market/agent.sql
--!include market/power.sql
--!include market/connection.sql
--!include market/oauth_client.sql
--!include market/oauth_grant.sql
--!include market/used_assertion.sql
--!include market/session.sql
--!include market/sign_in_method.sql
--!include market/proved_method.sql
--!include market/known_browser.sql
--!include market/verification.sql
--!include market/sign_in.sql
--!include market/notice.sql
--!include market/profile.sql
--!include market/digest.sql
--!include market/moderator.sql
--!include market/offer.sql
--!include market/offer_change.sql
--!include market/ask.sql
--!include market/embedding_model.sql
--!include market/ranking.sql
--!include market/offer_embedding.sql
--!include market/ask_embedding.sql
--!include market/query_embedding.sql
--!include market/reembedding.sql
--!include market/match.sql
--!include market/report.sql
--!include market/review_case.sql
--!include market/appeal.sql
--!include market/cap_override.sql
--!include market/move.sql
--!include market/conversation.sql
--!include market/message.sql
--!include market/proposal.sql
--!include market/agreement.sql
--!include market/confirmation.sql
--!include market/block.sql
--!include market/conversation_report.sql
--!include market/decision.sql
--!include market/rate_limit_hit.sql
--!include market/hash_key.sql
--!include market/kept_record.sql
--!include market/submission.sql
--!include market/idempotency_key.sql
--!include market/audit_event.sql
--!include market/event.sql
--!include market/webhook.sql
--!include market/webhook_delivery.sql
--!include reading/question.sql
--!include reading/price_reason.sql
--!include market/worker_heartbeat.sql
--!include market/invariant.sql
--!include search/document.sql
--!include search/ask.sql
--!include market/row_security.sql
--!include market/autovacuum.sql
--!include market/moderator_access.sql
--!include market/dba_access.sql

-- All functions that are not named elsewhere. Their order does not matter, because bodies are not checked.
--!include internal
--!include reading
--!include search
--!include jobs
--!include api

-- Triggers, which need their functions
--!include market/triggers.sql
--!include market/audit_triggers.sql
--!include market/origin_triggers.sql

-- Views for a DBA, each after those that it reads
--!include inspect/queue.sql
--!include inspect

-- Views for moderators, and the functions that return their rows
--!include admin/moderators.sql
--!include admin/accounts.sql
--!include admin/offers.sql
--!include admin/cases.sql
--!include internal/moderation/decide_offer.sql
--!include admin/settings.sql
--!include admin

-- What is right for all functions of a schema
--!include grants.sql

-- The first partitions of the audit log and of the events
--!include market/partitions.sql

reset role;
