-- One row is one account: a person, or, until a person approves its agent, the promise of one (provisional).

create table market.account (
  id uuid default market.uuid_v7() constraint account_pkey primary key,
  display_name text,
  claimed_at timestamptz,
  created_at timestamptz not null default now(),
  constraint account_display_name_length check (char_length(display_name) between 1 and 80)
);
create index account_unclaimed_idx on market.account (created_at) where claimed_at is null;
comment on table market.account is 'One row is one account that agents act for.';
comment on column market.account.id is 'UUIDv7.';
comment on column market.account.display_name is 'What the person wants to be called, null until told.';
comment on column market.account.claimed_at is 'When a person made it theirs by approving an agent; null while provisional.';
comment on column market.account.created_at is 'Member since.';

alter table market.account enable row level security;
alter table market.account force row level security;
create policy "the owner sees all" on market.account to souk_owner using (true) with check (true);
create policy "a caller sees the account it acts for" on market.account for select to souk_agent, souk_person
  using (id = (select market.account_id()));
grant select on market.account to souk_agent, souk_person;
