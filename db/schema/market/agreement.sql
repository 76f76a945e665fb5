create table market.agreement (
  id uuid default internal.uuid_v7() constraint agreement_pkey primary key,
  conversation_id uuid not null constraint agreement_conversation_fkey references market.conversation on delete cascade,
  proposal_id uuid not null constraint agreement_proposal_fkey references market.proposal on delete cascade
    constraint agreement_proposal_id_key unique,
  status text not null,
  reason text,
  payer text not null,
  payer_agent_id uuid constraint agreement_payer_agent_fkey references market.agent on delete set null,
  price_thousandths bigint,
  price_currency text,
  publisher_agreed_at timestamptz,
  inquirer_agreed_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null default clock_timestamp() + interval '48 hours',
  made_at timestamptz,
  publisher_contact jsonb,
  inquirer_contact text,
  constraint agreement_status_known check (status in ('awaiting', 'made', 'lapsed')),
  constraint agreement_reason_known check (reason in ('refused', 'expired', 'closed')),
  constraint agreement_lapsed_complete check ((status = 'lapsed') = (reason is not null)),
  constraint agreement_made_complete check ((status = 'made') = (made_at is not null)),
  constraint agreement_made_by_both
    check (status <> 'made' or publisher_agreed_at is not null and inquirer_agreed_at is not null),
  constraint agreement_awaits_somebody
    check (status <> 'awaiting' or publisher_agreed_at is null or inquirer_agreed_at is null),
  constraint agreement_price_currency_form check (price_currency ~ '^[A-Z]{3}$'),
  constraint agreement_payer_known check (payer in ('publisher', 'inquirer')),
  constraint agreement_inquirer_contact_length check (char_length(inquirer_contact) between 1 and 200)
);
create index agreement_conversation_id_idx on market.agreement (conversation_id, id);
-- What an agent has agreed to pay in a day (internal.ceiling_reaches).
create index agreement_payer_agent_idx on market.agreement (payer_agent_id, created_at);
-- For jobs.expire_deals.
create index agreement_expires_at_idx on market.agreement (expires_at) where status = 'awaiting';
-- For jobs.forget_contacts.
create index agreement_made_at_idx on market.agreement (made_at)
  where publisher_contact is not null or inquirer_contact is not null;

create policy "both sides see the agreements" on market.agreement for select to souk_agent, souk_person
  using (exists (select from market.conversation c where c.id = conversation_id));

comment on table market.agreement is
  'One row is an accepted proposal. It is made when both sides have consented: by an agent that may agree alone, or by '
  'the person.';
comment on column market.agreement.status is
  'awaiting, made or lapsed. One that is awaiting after expires_at has lapsed (internal.agreement_status).';
comment on column market.agreement.reason is
  'Why it lapsed: a person refused, 48 hours passed, or the conversation or the offer was closed.';
comment on column market.agreement.payer is
  'The side that pays: the publisher of project_hire, otherwise the inquirer.';
comment on column market.agreement.payer_agent_id is
  'The agent that consented alone for the side that pays, to whose ceiling of 24 hours it counts; null if none did.';
comment on column market.agreement.price_thousandths is
  'What the payer pays, in thousandths of the major unit of price_currency; null when the terms name no price.';
comment on column market.agreement.publisher_agreed_at is 'When the publisher''s side consented; null until then.';
comment on column market.agreement.inquirer_agreed_at is 'The same for the inquirer''s side.';
comment on column market.agreement.publisher_contact is
  'The contact of the offer when the agreement was made; null before that, and after 90 days.';
comment on column market.agreement.inquirer_contact is 'The contact of the inquirer, in the same way.';
grant select on market.agreement to souk_agent, souk_person;
grant select (id, conversation_id, proposal_id, status, reason, payer, payer_agent_id, price_thousandths,
  price_currency, publisher_agreed_at, inquirer_agreed_at, created_at, expires_at, made_at) on market.agreement
  to souk_dba;
