create table market.account (
  id uuid default internal.uuid_v7() constraint account_pkey primary key,
  display_name text,
  claimed_at timestamptz,
  created_at timestamptz not null default now(),
  suspended_at timestamptz,
  suspension_reason text constraint account_suspension_reason_fkey references market.reason on delete restrict,
  suspension_note text,
  hiding boolean not null default false,
  prior_removals uuid[] not null default '{}',
  recovered_at timestamptz,
  sandbox_id uuid constraint account_sandbox_fkey references market.sandbox on delete restrict,
  constraint account_display_name_length check (char_length(display_name) between 1 and 80),
  constraint account_suspension_note_length check (char_length(suspension_note) between 1 and 500),
  constraint account_suspension_whole
    check (suspended_at is not null or (suspension_reason is null and suspension_note is null)),
  constraint account_prior_removals_count check (cardinality(prior_removals) <= 200)
);
-- For jobs.expire_deals.
create index account_suspended_idx on market.account (id) where suspended_at is not null;
-- For jobs.purge_keys.
create index account_unclaimed_idx on market.account (created_at) where claimed_at is null;
-- Nearly always empty: every search asks for these accounts (internal.accounts_being_hidden).
create index account_hiding_idx on market.account (id) where hiding;
create index account_suspension_reason_idx on market.account (suspension_reason) where suspension_reason is not null;
-- Moderators search accounts by display name.
create index account_display_name_idx on market.account (reading.fold(display_name) text_pattern_ops);
create index account_sandbox_id_idx on market.account (sandbox_id) where sandbox_id is not null;

create policy "a caller sees the account it acts for" on market.account for select to souk_agent, souk_person
  using (id = (select internal.visible_account_id()));
create policy "a person sets the display name of its account" on market.account for update to souk_person
  using (id = (select internal.account_id())) with check (id = (select internal.account_id()));

comment on table market.account is
  'One row is one account that agents act for. It belongs to a person, or it is provisional until a person approves '
  'its agent.';
comment on column market.account.display_name is 'The name that the person chose; null until the person chose one.';
comment on column market.account.claimed_at is
  'When a person claimed the account by approving its agent; null while the account is provisional.';
comment on column market.account.suspended_at is
  'When moderation suspended the account; null while it is not suspended.';
comment on column market.account.suspension_note is 'The reason for the suspension, as a sentence for the owner.';
comment on column market.account.hiding is
  'Whether its offers are hidden from others, because it is suspended or being deleted, and some are still to be '
  'archived.';
comment on column market.account.prior_removals is
  'Offers that moderation removed from earlier accounts of the same person, at most 200 (market.kept_record). They '
  'count in the caps and in the publisher''s record.';
comment on column market.account.recovered_at is
  'When a person recovered the account by an agent''s link (internal.recover_account). Of earlier events in the '
  'account, the person sees only what its agents see. Null when nobody recovered it.';
grant select on market.account to souk_agent, souk_person;
grant update (display_name) on market.account to souk_person;
