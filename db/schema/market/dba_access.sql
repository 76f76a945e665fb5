-- The rights of a DBA. A DBA can read all rows, because incidents concern single rows, but not all columns. A DBA
-- cannot read hashes and codes, what people wrote (texts, titles, contacts, comments) and what is derived from it
-- (search words, criteria, reasons of matches, vectors), names of people, and network addresses. There are two
-- exceptions: a DBA can read the networks in the rate limit windows of the last day, and which amounts of a text the
-- built-in extractor considered as its price, with words that the training set has (reading.price_reason).

grant select (id, claimed_at, created_at, suspended_at, suspension_reason, hiding, prior_removals, recovered_at,
  sandbox_id) on market.account to souk_dba;
grant select on market.account_stats to souk_dba;
grant select (id, account_id, name, created_at, connected_at, removed_at, disconnected_at, token_expires_at, sandbox_id)
  on market.agent to souk_dba;
grant select (agent_id, created_at, expires_at, approved_at, declined_at, mispicked_at, notified_at)
  on market.connection
  to souk_dba;
grant select (id, created_at, finished_at) on market.oauth_client to souk_dba;
grant select (agent_id, client_id, signs, created_at, refreshed_at) on market.oauth_grant to souk_dba;
grant select (expires_at) on market.used_assertion to souk_dba;
grant select (id, account_id, created_at, expires_at, signed_in_at, seen_at) on market.session to souk_dba;
grant select (account_id, updated_at) on market.profile to souk_dba;
grant select (account_id, enabled, changed_at, due_at, sent_at) on market.digest to souk_dba;
grant select on market.sign_in_method to souk_dba;
grant select (account_id, method, proved_at) on market.proved_method to souk_dba;
grant select (method, seen_at) on market.known_browser to souk_dba;
grant select (id, account_id, agent_id, method, status, created_at, expires_at) on market.verification to souk_dba;
grant select (id, method, purpose, account_id, verification_id, tries, created_at, expires_at, finished_at)
  on market.sign_in to souk_dba;
grant select (id, act, method, sign_in_id, created_at) on market.notice to souk_dba;
grant select on market.setting, market.sentence, market.offer_kind, market.domain, market.category, market.ask_kind,
  market.embedding_model, market.ranking to souk_dba;
grant select (id, account_id, agent_id, origin_ask_id, status, language, domain, category, offer_kind,
  price_thousandths,
  price_currency, price_period, price_unit, missing_fields, reviewed, review_reason, created_at, updated_at,
  published_at,
  removed_at,
  suspended_at, confirmed_at, stale_at, expired_at, contact_visibility, visibility_chosen_at, sandbox_id)
  on market.offer to souk_dba;
grant select (id, account_id, agent_id, status, watch_enabled, language, domain, category, ask_kind,
  price_max_thousandths,
  price_currency, read_at, created_at, updated_at, sandbox_id) on market.ask to souk_dba;
grant select (id, account_id, sandbox_id, published_at, is_stale, domain, category, offer_kind, price_thousandths,
  price_currency, price_period, model, facet_values, contact_visibility) on search.document to souk_dba;
grant select (offer_id, model) on market.offer_embedding to souk_dba;
grant select (ask_id, model) on market.ask_embedding to souk_dba;
grant select (id, account_id, sandbox_id, domain, category, ask_kind, watch_enabled, model) on search.ask to souk_dba;
grant select (model, created_at) on market.query_embedding to souk_dba;
grant select (ask_id, offer_id, score, first_matched_at, xid) on market.match to souk_dba;
grant select (id, offer_id, account_id, agent_id, reason, created_at, completed_at, counted) on market.report
  to souk_dba;
grant select on market.rate_limit_hit to souk_dba;
grant select (id, kind, account_id, agent_id, target_id, origin_ask_id, created_at, completed_at, status,
  model_readings, changes, kind_confirmed, contact_visibility)
  on market.submission to souk_dba;
grant select (owner_id, key, submission_id, created_at) on market.idempotency_key to souk_dba;
grant select on market.worker_heartbeat, market.audit_event, market.reembedding to souk_dba;
-- A DBA sees moderators' decisions, but not their sentences.
grant select on market.reason, market.moderator, market.review_case, market.cap_override to souk_dba;
grant select (created_at, expires_at) on market.moderator_link to souk_dba;
grant select (id, moderator_id, action, offer_id, account_id, agent_id, conversation_id, reason, created_at)
  on market.decision
  to souk_dba;
grant select (offer_id, removed_at, account_id, agent_id, created_at, decided_at) on market.appeal to souk_dba;
grant select (id) on market.hash_key to souk_dba;
grant select (removed_offers, suspended_at, suspension_reason, kept_until, account_id, caps, id) on market.kept_record
  to souk_dba;
grant select (offer_id, account_id, agent_id, language, domain, category, offer_kind, price_thousandths, price_currency,
  price_period, price_unit, missing_fields, created_at, rejected_at, review_reason, contact_visibility)
  on market.offer_change to souk_dba;
-- Knowing a sandbox's id is enough to join it. That gives a DBA nothing: it holds a day's tests.
grant select on market.sandbox to souk_dba;
