--! Previous: sha1:4a54674c13398bb898e24298eb30a505179d73c1
--! Hash: sha1:65a6a01ba3c14fa5c91c04a5730d1d425f4bb18f
--! Message: bounded-costs

-- Enter migration here

-- Costs that grew with what one account has. What is counted or listed by a state has an index that knows this state.
set local role souk_owner;
-- squawk-ignore require-concurrent-index-creation
create index webhook_delivery_leased_idx on market.webhook_delivery (webhook_id, leased_until)
  where leased_until is not null;
-- squawk-ignore require-concurrent-index-creation
create index webhook_delivery_test_idx on market.webhook_delivery (webhook_id)
  where type = 'webhook.test' and next_attempt_at is not null;
-- squawk-ignore require-concurrent-index-creation
create index ask_account_status_idx on market.ask (account_id, status, id desc);
-- squawk-ignore require-concurrent-index-creation
create index offer_account_status_id_idx on market.offer (account_id, status, id desc);
-- squawk-ignore require-concurrent-index-deletion
drop index market.offer_stale_idx;
-- squawk-ignore require-concurrent-index-creation
create index offer_stale_idx on market.offer (stale_at)
  where status = 'published' and stale_at is not null and sandbox_id is null;
reset role;
