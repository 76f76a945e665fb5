create table market.conversation_report (
  conversation_id uuid not null constraint conversation_report_conversation_fkey references market.conversation
    on delete cascade,
  account_id uuid not null constraint conversation_report_account_fkey references market.account on delete cascade,
  reason text not null constraint conversation_report_reason_fkey references market.reason on delete restrict,
  comment text,
  created_at timestamptz not null default now(),
  completed_at timestamptz,
  constraint conversation_report_pkey primary key (conversation_id, account_id),
  constraint conversation_report_comment_length check (char_length(comment) between 1 and 1000)
);
create index conversation_report_account_id_idx on market.conversation_report (account_id);
create index conversation_report_reason_idx on market.conversation_report (reason);
-- The queue of the moderators.
create index conversation_report_open_idx on market.conversation_report (created_at) where completed_at is null;

comment on table market.conversation_report is
  'One row is one report of a conversation by one of its sides. While it is open, moderators may read the '
  'conversation.';
comment on column market.conversation_report.completed_at is 'When a moderator decided; null while it is open.';
grant select (conversation_id, account_id, reason, created_at, completed_at) on market.conversation_report to souk_dba;
