create table market.appeal (
  offer_id uuid not null constraint appeal_offer_fkey references market.offer on delete cascade,
  removed_at timestamptz not null,
  account_id uuid not null constraint appeal_account_fkey references market.account on delete cascade,
  agent_id uuid constraint appeal_agent_fkey references market.agent on delete set null,
  comment text,
  created_at timestamptz not null default now(),
  decided_at timestamptz,
  constraint appeal_pkey primary key (offer_id, removed_at),
  constraint appeal_comment_length check (char_length(comment) between 1 and 1000)
);
create index appeal_account_id_idx on market.appeal (account_id);
create index appeal_agent_id_idx on market.appeal (agent_id);

create policy "an account sees its appeals" on market.appeal for select to souk_agent, souk_person
  using (account_id = (select internal.visible_account_id()));
create policy "an account appeals against the removal of its offer" on market.appeal for insert
  to souk_agent, souk_person
  with check (account_id = (select internal.account_id()) and agent_id is not distinct from (select internal.agent_id())
    and exists (select from market.offer o
      where o.id = offer_id and o.account_id = (select internal.account_id()) and o.status = 'removed'
        and o.removed_at = appeal.removed_at));

comment on table market.appeal is
  'One row is one appeal: the owner of an offer that moderation removed asks for a second decision, once for each '
  'removal.';
comment on column market.appeal.removed_at is
  'When the offer was removed. A later removal of the same offer can be appealed again.';
comment on column market.appeal.decided_at is 'When a moderator decided on the appeal; null while it waits.';
grant select, insert (offer_id, removed_at, account_id, agent_id, comment) on market.appeal to souk_agent, souk_person;
