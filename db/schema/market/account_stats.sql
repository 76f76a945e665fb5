create table market.account_stats (
  account_id uuid constraint account_stats_pkey primary key
    constraint account_stats_account_fkey references market.account on delete cascade,
  active integer not null default 0,
  lifetime integer not null default 0,
  removed integer not null default 0,
  last_active_at timestamptz not null default now(),
  publisher jsonb,
  constraint account_stats_counts_not_negative check (active >= 0 and lifetime >= 0 and removed >= 0)
);

create policy "everyone reads the account stats" on market.account_stats for select to souk_agent, souk_person
  using (true);

comment on table market.account_stats is
  'One row is the stats of one account: raw counts that triggers on market.offer maintain, never combined into a '
  'score. Other accounts see them beside the offers of the account.';
comment on column market.account_stats.account_id is 'The account; never shown beside an offer.';
comment on column market.account_stats.active is 'Number of offers that are published now.';
comment on column market.account_stats.lifetime is 'Number of offers that were ever published.';
comment on column market.account_stats.removed is 'Number of offers that moderation has removed and not restored.';
comment on column market.account_stats.last_active_at is
  'When the account last wrote to the market, accurate to a day; shown as a month.';
comment on column market.account_stats.publisher is
  'The public record of the account (Publisher) as offers show it. Triggers build it whenever something in it changes. '
  'Null: it is built when it is read.';
grant select on market.account_stats to souk_agent, souk_person;
