create table market.notice (
  id uuid default internal.uuid_v7() constraint notice_pkey primary key,
  email text not null,
  act text not null,
  method text,
  agent_name text,
  sign_in_id uuid constraint notice_sign_in_fkey references market.sign_in on delete set null,
  created_at timestamptz not null default now(),
  constraint notice_email_length check (char_length(email) between 3 and 254),
  constraint notice_act_known check (act in ('method_added', 'method_removed', 'account_deleted', 'agent_unused')),
  constraint notice_method_form check (method in ('google', 'apple', 'email')),
  constraint notice_method_named check ((method is not null) = (act in ('method_added', 'method_removed'))),
  constraint notice_agent_name_length check (char_length(agent_name) between 1 and 80),
  constraint notice_agent_named check ((agent_name is not null) = (act = 'agent_unused'))
);
create index notice_sign_in_id_idx on market.notice (sign_in_id) where sign_in_id is not null;
-- Used to purge notices that could not be sent.
create index notice_created_at_idx on market.notice (created_at);

comment on table market.notice is
  'One row is one message about an account that waits to be sent to one proved address. It names the address itself, '
  'because the act may have taken the address from the account. It is deleted when it was sent, or after a day.';
comment on column market.notice.email is 'The address: proved for the account when the act happened.';
comment on column market.notice.act is 'method_added, method_removed, account_deleted or agent_unused.';
comment on column market.notice.method is 'The sign-in method that was added or removed; null for other acts.';
comment on column market.notice.agent_name is 'The agent that was removed because nobody used it; null for other acts.';
comment on column market.notice.sign_in_id is
  'The attempt that proved the method; null for other acts, and when the attempt is deleted.';
comment on column market.notice.created_at is 'When the act happened.';
