create table market.report (
  id uuid default internal.uuid_v7() constraint report_pkey primary key,
  offer_id uuid not null constraint report_offer_fkey references market.offer on delete cascade,
  account_id uuid constraint report_account_fkey references market.account on delete cascade,
  agent_id uuid constraint report_agent_fkey references market.agent on delete set null,
  reason text not null constraint report_reason_fkey references market.reason on delete restrict,
  comment text,
  created_at timestamptz not null default now(),
  completed_at timestamptz,
  counted boolean not null default false,
  -- One report for each account and offer: if the account reports the offer again, the row is updated.
  constraint report_once unique (offer_id, account_id),
  constraint report_comment_length check (char_length(comment) between 1 and 1000)
);
-- The same for an agent that reports for no account.
create unique index report_once_by_agent on market.report (offer_id, agent_id) where account_id is null;
create index report_account_id_idx on market.report (account_id);
create index report_agent_id_idx on market.report (agent_id);
create index report_reason_idx on market.report (reason);
create index report_open_idx on market.report (offer_id) where completed_at is null;

create policy "an account sees its reports; an agent its own" on market.report for select to souk_agent, souk_person
  using (account_id = (select internal.visible_account_id()) or agent_id = (select internal.agent_id()));
create policy "a caller reports published offers" on market.report for insert to souk_agent, souk_person
  with check (account_id is not distinct from (select internal.visible_account_id())
    and agent_id is not distinct from (select internal.agent_id()) and coalesce(account_id, agent_id) is not null
    and exists (select from market.offer o where o.id = offer_id and o.status = 'published'));
create policy "a caller reports again" on market.report for update to souk_agent, souk_person
  using (account_id = (select internal.visible_account_id())
    or account_id is null and agent_id = (select internal.agent_id()))
  with check (account_id is not distinct from (select internal.visible_account_id()) and completed_at is null
    and agent_id is not distinct from (select internal.agent_id())
    and exists (select from market.offer o where o.id = offer_id and o.status = 'published'));

comment on table market.report is 'One row is one report: an account asks the moderators to look at an offer.';
comment on column market.report.account_id is
  'The account that reported; null when it was deleted, and for an agent that its person has not connected.';
comment on column market.report.created_at is 'When the offer was last reported by this account.';
comment on column market.report.completed_at is
  'When a moderator decided on the reported offer; null while the report waits.';
comment on column market.report.counted is
  'Whether the report counts in the order of the moderators'' queue. It does if a person had claimed the reporting '
  'account.';
grant select, insert (id, offer_id, account_id, agent_id, reason, comment),
  update (agent_id, reason, comment, created_at, completed_at) on market.report to souk_agent, souk_person;
