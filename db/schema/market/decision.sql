create table market.decision (
  id uuid default internal.uuid_v7() constraint decision_pkey primary key,
  moderator_id uuid constraint decision_moderator_fkey references market.account on delete set null,
  action text not null,
  offer_id uuid constraint decision_offer_fkey references market.offer on delete cascade,
  account_id uuid constraint decision_account_fkey references market.account on delete set null,
  agent_id uuid constraint decision_agent_fkey references market.agent on delete set null,
  conversation_id uuid constraint decision_conversation_fkey references market.conversation on delete cascade,
  reason text constraint decision_reason_fkey references market.reason on delete restrict,
  sentence text,
  created_at timestamptz not null default now(),
  constraint decision_action_known check (action in ('keep', 'remove', 'restore', 'uphold', 'publish', 'reject',
    'suspend', 'reinstate', 'remove_agent', 'override_cap', 'settle', 'remove_message')),
  constraint decision_sentence_length check (char_length(sentence) between 1 and 500)
);
create index decision_moderator_id_idx on market.decision (moderator_id, id desc);
create index decision_offer_id_idx on market.decision (offer_id, id desc);
create index decision_account_id_idx on market.decision (account_id, id desc);
create index decision_agent_id_idx on market.decision (agent_id) where agent_id is not null;
create index decision_conversation_id_idx on market.decision (conversation_id) where conversation_id is not null;
create index decision_reason_idx on market.decision (reason) where reason is not null;

comment on table market.decision is
  'One row is one decision of a moderator. Nothing changes or deletes decisions; an offer''s history is read from '
  'them.';
comment on column market.decision.moderator_id is 'The moderator; null when the account no longer exists.';
comment on column market.decision.action is
  'On an offer: keep, remove, restore, uphold, publish or reject. On an account or agent: suspend, reinstate, '
  'remove_agent or override_cap. On a conversation: settle (its reports are completed) or remove_message.';
comment on column market.decision.offer_id is 'The offer that was decided on; null for accounts and agents.';
comment on column market.decision.account_id is 'The account that was decided on, or that owns the offer or agent.';
comment on column market.decision.agent_id is 'The agent that was removed; null for other actions.';
comment on column market.decision.conversation_id is 'The conversation that was decided on; null for other actions.';
comment on column market.decision.sentence is
  'The reason in words: a sentence for the owner, or a note for other moderators.';
