-- Every file of the schema in reading order: the table of contents. Runs as one transaction.

--!include roles.sql
--!include logins.sql

-- Whatever is made from here on belongs to it.
set local role souk_owner;

-- The market: helpers that tables need
--!include market/uuid_v7.sql
--!include market/fold.sql
--!include market/visible_name.sql
--!include market/claims.sql
--!include market/fail.sql
--!include market/setting.sql
--!include market/taxonomy.sql
--!include market/vocabulary.sql
--!include market/vocabulary_data.sql
--!include market/example.sql
--!include market/ask_example_data.sql
--!include market/offer_example_data.sql
--!include market/classifier.sql
--!include market/reason.sql
--!include market/wide_place.sql
--!include market/synonym.sql
--!include market/synonym_data.sql

-- Who: accounts, agents, how they connect, and what they proved
--!include market/account.sql
--!include market/publisher.sql
--!include market/agent.sql
--!include market/connection.sql
--!include market/session.sql
--!include market/verification.sql
--!include market/require_recent_sign_in.sql
--!include market/account_label.sql
--!include market/sign_in.sql
--!include market/profile.sql
--!include market/enter.sql
--!include market/permission.sql
--!include market/moderator.sql

-- What: offers, asks, what answers what
--!include market/facets.sql
--!include market/offer.sql
--!include market/ask.sql
--!include market/embedding.sql
--!include market/reembedding.sql
--!include market/match.sql
--!include market/report.sql

-- What moderators look at, and what they decide
--!include market/review_case.sql
--!include market/decision.sql
--!include market/appeal.sql
--!include market/suspension.sql
--!include market/cap_override.sql

-- Limits, keys, and texts on their way
--!include market/call.sql
--!include market/call_cap.sql
--!include market/own_figures.sql
--!include market/submission.sql
--!include market/admit.sql
--!include market/enqueue.sql
--!include market/offer_moves.sql
--!include market/audit.sql

-- Rules of reading, showing, finding and matching
--!include market/page.sql
--!include market/documents.sql
--!include market/grounding.sql
--!include market/image_links.sql
--!include market/questions.sql
--!include market/read_offer.sql
--!include market/suspicious_link.sql
--!include market/query_terms.sql
--!include market/passes.sql
--!include market/agreement.sql
--!include market/candidates.sql
--!include market/search.sql
--!include market/classify_query.sql
--!include market/matching.sql

-- The worker's door
--!include jobs/get_vocabulary.sql
--!include jobs/learn.sql
--!include jobs/get_submission.sql
--!include jobs/embedding.sql
--!include jobs/reembedding.sql
--!include jobs/finish_reading.sql
--!include market/withdraw.sql
--!include jobs/upkeep.sql
--!include jobs/heartbeat.sql
--!include jobs/suspension.sql
--!include jobs/approval_notice.sql

-- The HTTP layer's door
--!include api/get_vocabulary.sql
--!include api/connect_agent.sql
--!include api/connection.sql
--!include api/agents.sql
--!include api/get_taxonomy.sql
--!include api/get_me.sql
--!include api/activity.sql
--!include api/account.sql
--!include api/export_account.sql
--!include api/verification.sql
--!include api/verification_page.sql
--!include api/sign_in.sql
--!include api/viewer.sql
--!include api/check_call.sql
--!include api/submit_offer.sql
--!include api/submission.sql
--!include api/offers.sql
--!include api/asks.sql
--!include api/search_offers.sql
--!include api/query_embedding.sql
--!include api/appeal_offer.sql
--!include api/moderator_link.sql

-- What a DBA looks at
--!include inspect/rights.sql
--!include inspect/agents.sql
--!include inspect/queue.sql
--!include inspect/requests.sql
--!include inspect/embedding.sql
--!include inspect/tables.sql
--!include inspect/reading.sql
--!include inspect/server.sql
--!include inspect/invariant.sql
--!include inspect/check.sql
--!include inspect/check_moderation.sql
--!include inspect/state.sql
--!include jobs/check_invariants.sql

-- The moderators' door
--!include market/moderation_access.sql
--!include market/may_decide.sql
--!include admin/moderators.sql
--!include admin/accounts.sql
--!include admin/offers.sql
--!include admin/cases.sql
--!include admin/decisions.sql
--!include admin/measures.sql
--!include admin/settings.sql
--!include admin/search.sql
--!include admin/audit.sql

reset role;
