create table market.block (
  account_id uuid not null constraint block_account_fkey references market.account on delete cascade,
  blocked_id uuid not null constraint block_blocked_fkey references market.account on delete cascade,
  -- By which the person knows who it is: an account has no name that others see.
  conversation_id uuid constraint block_conversation_fkey references market.conversation on delete set null,
  created_at timestamptz not null default now(),
  constraint block_pkey primary key (account_id, blocked_id),
  constraint block_accounts_differ check (account_id <> blocked_id)
);
create index block_blocked_id_idx on market.block (blocked_id);
create index block_conversation_id_idx on market.block (conversation_id);

create policy "an account sees whom it blocked" on market.block for select to souk_agent, souk_person
  using (account_id = (select internal.visible_account_id()));

comment on table market.block is
  'One row is one account that another does not want to hear from, whichever offer it is about.';
comment on column market.block.blocked_id is 'The blocked account, which never learns it.';
comment on column market.block.conversation_id is 'The conversation in which it was blocked.';
grant select on market.block to souk_agent, souk_person, souk_dba;
