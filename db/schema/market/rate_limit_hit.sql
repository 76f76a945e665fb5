create table market.rate_limit_hit (
  id bigint generated always as identity constraint rate_limit_hit_pkey primary key,
  scope text not null,
  action text not null,
  called_at timestamptz not null default clock_timestamp(),
  parties text[] not null default '{}',
  constraint rate_limit_hit_scope_length check (char_length(scope) between 1 and 60),
  constraint rate_limit_hit_parties_number check (cardinality(parties) <= 5),
  constraint rate_limit_hit_parties_length check (char_length(array_to_string(parties, ' ')) <= 250),
  constraint rate_limit_hit_action_length check (char_length(action) between 1 and 40)
);
-- The calls of a rolling window.
create index rate_limit_hit_scope_action_called_at_idx on market.rate_limit_hit (scope, action, called_at);
-- For jobs.purge_keys.
create index rate_limit_hit_called_at_idx on market.rate_limit_hit (called_at);

comment on table market.rate_limit_hit is
  'One row is one counted call of a rolling window (internal/limits/rate_limit_window.sql), kept for a day. All times '
  'are of the database''s clock.';
comment on column market.rate_limit_hit.id is 'The ids grow in the order in which the calls were admitted.';
comment on column market.rate_limit_hit.scope is
  'The window: agent:<id>, account:<id>, address:<network, site or region>, sign_in:<network or site>, mailbox:<hash '
  'of an e-mail address>, mailbox_at:<hash of mailbox and region>, browser:<hash of a known browser and its mailbox>, '
  'service, refuser:<hash of a refused address and the browser or network that refused>, embed:<id of an offer or '
  'ask>, and of webhooks sandbox:<id>, host:<receiving host> and network:<its network>. The hashes are keyed '
  '(internal.mark_of).';
comment on column market.rate_limit_hit.action is
  'publish_offer, create_ask, preview_offer, manage, report_offer, search_offers, connect, register_client, '
  'client_document, decline, sign_in, sign_in_mail, wrong_code_6, wrong_code_9, wrong_code_12, embed_query, embed, '
  'challenge, test_webhook or deliver.';
comment on column market.rate_limit_hit.called_at is 'When the call was admitted.';
comment on column market.rate_limit_hit.parties is
  'For whom the call was, where a window is shared: from the largest group to the single caller '
  '(internal/limits/shared_window.sql).';
