-- Every file of the schema in reading order: the table of contents. Runs as one transaction.

--!include roles.sql

-- The market: helpers that tables need
--!include market/uuid_v7.sql
--!include market/fold.sql
--!include market/claims.sql
--!include market/fail.sql
--!include market/setting.sql
--!include market/taxonomy.sql
--!include market/vocabulary.sql
--!include market/vocabulary_data.sql
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
--!include market/enter.sql
--!include market/permission.sql

-- What: offers, asks, what answers what
--!include market/offer.sql
--!include market/ask.sql
--!include market/embedding.sql
--!include market/reembedding.sql
--!include market/match.sql
--!include market/report.sql

-- Limits, keys, and texts on their way
--!include market/call.sql
--!include market/call_cap.sql
--!include market/own_figures.sql
--!include market/submission.sql
--!include market/admit.sql
--!include market/enqueue.sql
--!include market/offer_moves.sql

-- Rules of reading, showing, finding and matching
--!include market/page.sql
--!include market/documents.sql
--!include market/grounding.sql
--!include market/image_links.sql
--!include market/questions.sql
--!include market/read_offer.sql
--!include market/query_terms.sql
--!include market/passes.sql
--!include market/agreement.sql
--!include market/candidates.sql
--!include market/search.sql
--!include market/classify_query.sql
--!include market/matching.sql

-- The worker's door
--!include jobs/get_vocabulary.sql
--!include jobs/get_submission.sql
--!include jobs/embedding.sql
--!include jobs/reembedding.sql
--!include jobs/finish_reading.sql
--!include market/withdraw.sql
--!include jobs/upkeep.sql
--!include jobs/heartbeat.sql

-- The HTTP layer's door
--!include api/get_vocabulary.sql
--!include api/connect_agent.sql
--!include api/connection.sql
--!include api/remove_agent.sql
--!include api/get_taxonomy.sql
--!include api/get_me.sql
--!include api/verification.sql
--!include api/check_call.sql
--!include api/submit_offer.sql
--!include api/submission.sql
--!include api/offers.sql
--!include api/asks.sql
--!include api/search_offers.sql
--!include api/query_embedding.sql

reset role;
