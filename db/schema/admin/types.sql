-- The types that functions of this schema return.

create type admin.account_limit as (action text, cap integer, earned boolean);

create type admin.finding
  as (kind text, id uuid, title text, status text, at timestamptz, offer_id uuid, account_id uuid);

create type admin.conversation_words
  as (id uuid, kind text, sender text, account_id uuid, text text, created_at timestamptz);

comment on type admin.conversation_words is 'What one side wrote in a conversation.';
comment on column admin.conversation_words.kind is 'message or proposal.';
comment on column admin.conversation_words.sender is 'The side that wrote it: publisher or inquirer.';
comment on column admin.conversation_words.account_id is 'The account of this side; null when it was deleted.';
comment on column admin.conversation_words.text is
  'The message, or the place and the note of a proposal; null when they were erased or removed, or there are none.';
comment on type admin.account_limit is
  'A rate limit of an account: how often each of its agents may call an action within an hour.';
comment on column admin.account_limit.action is
  'publish_offer, create_ask, preview_offer, manage, report_offer, search_offers or converse.';
comment on column admin.account_limit.cap is 'Allowed calls an hour for each agent.';
comment on column admin.account_limit.earned is
  'Whether the limit follows from the account stats; false when a moderator set it.';
comment on type admin.finding is 'A result of a moderator''s search.';
comment on column admin.finding.kind is 'offer, account, agent, ask or report.';
comment on column admin.finding.title is 'The title, name or other label of the found object.';
comment on column admin.finding.status is 'The status of the found object.';
comment on column admin.finding.at is 'When the found object was created.';
comment on column admin.finding.offer_id is 'The found offer, or the offer of the found report.';
comment on column admin.finding.account_id is 'The found account, or the account of the found object.';
