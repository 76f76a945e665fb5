create table market.proposal (
  id uuid default internal.uuid_v7() constraint proposal_pkey primary key,
  conversation_id uuid not null constraint proposal_conversation_fkey references market.conversation on delete cascade,
  -- That of the conversation, so that the pending proposals for an offer have an index.
  offer_id uuid not null,
  sender text not null,
  agent_id uuid constraint proposal_agent_fkey references market.agent on delete set null,
  by_person boolean not null,
  status text not null default 'pending',
  price_thousandths bigint,
  price_currency text,
  price_period text,
  terms jsonb not null,
  offer_digest bytea not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default clock_timestamp(),
  constraint proposal_sender_known check (sender in ('publisher', 'inquirer')),
  constraint proposal_status_known
    check (status in ('pending', 'accepted', 'declined', 'countered', 'withdrawn', 'expired')),
  constraint proposal_price_complete check ((price_thousandths is null) = (price_currency is null)),
  constraint proposal_price_positive check (price_thousandths >= 0),
  constraint proposal_price_currency_form check (price_currency ~ '^[A-Z]{3}$'),
  constraint proposal_price_period_known
    check (price_period in ('one_time', 'hour', 'day', 'week', 'month', 'year', 'project'))
);
create unique index proposal_pending_key on market.proposal (conversation_id) where status = 'pending';
create index proposal_conversation_id_idx on market.proposal (conversation_id, id);
-- For jobs.expire_deals.
create index proposal_expires_at_idx on market.proposal (expires_at) where status = 'pending';
create index proposal_offer_id_idx on market.proposal (offer_id) where status = 'pending' and sender = 'inquirer';
create index proposal_agent_id_idx on market.proposal (agent_id);

create policy "both sides see the proposals" on market.proposal for select to souk_agent, souk_person
  using (exists (select from market.conversation c where c.id = conversation_id));

comment on table market.proposal is 'One row is one proposal of a conversation: all terms of a deal.';
comment on column market.proposal.sender is 'The side that proposed it: publisher or inquirer.';
comment on column market.proposal.agent_id is
  'The agent that sent it, whose power is its side''s consent; null when a person did, or the agent is deleted.';
comment on column market.proposal.by_person is 'Whether a person sent it in the browser, which is a consent.';
comment on column market.proposal.status is
  'pending, accepted, declined, countered, withdrawn or expired. One that is pending after expires_at has expired '
  '(internal.proposal_status).';
comment on column market.proposal.price_thousandths is
  'The amount in thousandths of the major unit: the whole, or with a period that of one period.';
comment on column market.proposal.price_period is 'What the amount is for; null for the whole.';
comment on column market.proposal.terms is 'The terms as both sides see them: price, from, until, handover, note.';
comment on column market.proposal.offer_digest is
  'SHA-256 of the text and the price that the offer had (internal.offer_digest).';
grant select on market.proposal to souk_agent, souk_person;
grant select (id, conversation_id, offer_id, sender, agent_id, by_person, status, price_thousandths, price_currency,
  price_period,
  expires_at, created_at) on market.proposal to souk_dba;
