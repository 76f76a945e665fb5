-- The two sides of a conversation are roles: publisher and inquirer. Rows about one side name the role, and not the
-- account, so that they stay when an account is deleted.

create table market.conversation (
  id uuid default internal.uuid_v7() constraint conversation_pkey primary key,
  offer_id uuid not null constraint conversation_offer_fkey references market.offer on delete cascade,
  publisher_id uuid constraint conversation_publisher_fkey references market.account on delete set null,
  inquirer_id uuid constraint conversation_inquirer_fkey references market.account on delete set null,
  sandbox_id uuid constraint conversation_sandbox_fkey references market.sandbox on delete restrict,
  origin_ask_id uuid,
  status text not null default 'open',
  closed_by text,
  inquirer_contact text,
  publisher_unread integer not null default 0,
  inquirer_unread integer not null default 0,
  created_at timestamptz not null default now(),
  active_at timestamptz not null default clock_timestamp(),
  forgotten_at timestamptz,
  -- What stays of the offer when its publisher's account is deleted.
  offer_title text,
  offer_price text,
  constraint conversation_offer_id_inquirer_id_key unique (offer_id, inquirer_id),
  constraint conversation_status_known check (status in ('open', 'closed')),
  constraint conversation_closed_by_known check (closed_by in ('publisher', 'inquirer', 'market')),
  constraint conversation_closed_complete check ((status = 'closed') = (closed_by is not null)),
  constraint conversation_sides_differ check (publisher_id <> inquirer_id),
  constraint conversation_inquirer_contact_length check (char_length(inquirer_contact) between 1 and 200),
  constraint conversation_unread_positive check (publisher_unread >= 0 and inquirer_unread >= 0),
  constraint conversation_offer_title_length check (char_length(offer_title) <= 120),
  constraint conversation_offer_price_length check (char_length(offer_price) <= 200)
);
-- The lists of an account, each side and each status in its own order, and those of an own offer. Every message moves a
-- conversation in them, so there are no others. What an account opened in a day is counted by the times in the ids.
create index conversation_publisher_idx on market.conversation (publisher_id, status, active_at desc, id desc);
create index conversation_inquirer_idx on market.conversation (inquirer_id, status, active_at desc, id desc);
create index conversation_offer_idx on market.conversation (publisher_id, offer_id, status, active_at desc, id desc);
create index conversation_opened_idx on market.conversation (inquirer_id, id);
create index conversation_opened_of_offer_idx on market.conversation (offer_id, id);
-- For jobs.forget_deals.
create index conversation_words_idx on market.conversation (active_at) where forgotten_at is null;
create index conversation_sandbox_id_idx on market.conversation (sandbox_id) where sandbox_id is not null;

create policy "both sides see a conversation" on market.conversation for select to souk_agent, souk_person
  using (publisher_id = (select internal.visible_account_id()) or inquirer_id = (select internal.visible_account_id()));

comment on table market.conversation is
  'One row is one conversation about an offer, between its publisher and another account, the inquirer.';
comment on column market.conversation.publisher_id is 'The account of the offer; null when it was deleted.';
comment on column market.conversation.inquirer_id is 'The account that opened it; null when it was deleted.';
comment on column market.conversation.origin_ask_id is
  'The ask of the inquirer from which it came. The publisher never sees it.';
comment on column market.conversation.status is 'open or closed.';
comment on column market.conversation.closed_by is
  'Who closed it: publisher, inquirer, or market (a suspended or deleted account).';
comment on column market.conversation.inquirer_contact is
  'How to reach the inquirer, as sent last. The publisher sees it once an agreement is made.';
comment on column market.conversation.publisher_unread is
  'How many messages and proposals of the inquirer the publisher has not answered or read.';
comment on column market.conversation.inquirer_unread is 'The same for the inquirer.';
comment on column market.conversation.active_at is 'When the last message or move was made.';
comment on column market.conversation.forgotten_at is
  'When the words were erased: a year after the last activity; null before that.';
comment on column market.conversation.offer_title is
  'The title that the offer had when its publisher''s account was deleted; null before that.';
comment on column market.conversation.offer_price is 'The price of the offer, in the same case.';
grant select on market.conversation to souk_agent, souk_person;
grant select (id, offer_id, publisher_id, inquirer_id, sandbox_id, origin_ask_id, status, closed_by, publisher_unread,
  inquirer_unread, created_at, active_at) on market.conversation to souk_dba;
