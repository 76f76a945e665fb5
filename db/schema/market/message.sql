create table market.message (
  id uuid not null default internal.uuid_v7(),
  conversation_id uuid not null constraint message_conversation_fkey references market.conversation on delete cascade,
  sender text not null,
  text text,
  addresses_agents boolean not null default false,
  created_at timestamptz not null default clock_timestamp(),
  -- In the order in which they are read.
  constraint message_pkey primary key (conversation_id, id),
  constraint message_sender_known check (sender in ('publisher', 'inquirer')),
  constraint message_text_length check (char_length(text) between 1 and 2000)
);

create policy "both sides see the messages" on market.message for select to souk_agent, souk_person
  using (exists (select from market.conversation c where c.id = conversation_id));

comment on table market.message is 'One row is one message of a conversation.';
comment on column market.message.sender is 'The side that wrote it: publisher or inquirer.';
comment on column market.message.text is
  'The words, without invisible characters, with […] for passages that give orders to software; null when they were '
  'erased or removed.';
comment on column market.message.addresses_agents is 'Whether passages that give orders to software were left out.';
grant select on market.message to souk_agent, souk_person;
grant select (id, conversation_id, sender, addresses_agents, created_at) on market.message to souk_dba;
