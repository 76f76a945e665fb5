-- What must always be so, by name: what is broken when inspect.check() names it, and what to do. Beside each what the
-- worker found last, for /metrics.

create table market.invariant (
  invariant text constraint invariant_pkey primary key,
  summary text not null,
  remedy text not null,
  sampled boolean not null,
  broken integer not null default 0,
  example text,
  checked_at timestamptz,
  origin text not null default 'operator',
  constraint invariant_form check (invariant ~ '^[a-z_]{1,60}$'),
  constraint invariant_summary_length check (char_length(summary) between 1 and 300),
  constraint invariant_remedy_length check (char_length(remedy) between 1 and 500),
  constraint invariant_example_length check (char_length(example) <= 300),
  constraint invariant_broken_not_negative check (broken >= 0),
  constraint invariant_origin_known check (origin in ('shipped', 'operator'))
);

alter table market.invariant enable row level security;
alter table market.invariant force row level security;
create policy "the owner sees all" on market.invariant to souk_owner using (true) with check (true);
create policy "a dba reads all" on market.invariant for select to souk_dba using (true);

-- Reloaded: grants and comments from here on are loaded again whenever a file of db/schema changes.

comment on table market.invariant is
  'One row is one rule that holds in every database in order, and how often it was found broken.';
comment on column market.invariant.invariant is 'As inspect.check() names it.';
comment on column market.invariant.summary is 'What must be so.';
comment on column market.invariant.remedy is 'What to do when it is not.';
comment on column market.invariant.sampled is
  'Whether a sample is looked at between the nightly checks of everything, because the rows grow with the market.';
comment on column market.invariant.broken is
  'How many times it was found broken. Of a sampled one: until a check of everything finds less.';
comment on column market.invariant.example is 'One of the rows that break it.';
comment on column market.invariant.checked_at is 'When the worker last looked, null before the first time.';
comment on column market.invariant.origin is
  'shipped: an upgrade may change the row. operator: somebody added or changed it here, and upgrades leave it.';
grant select on market.invariant to souk_dba;
