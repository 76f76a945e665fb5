create table market.invariant (
  invariant text constraint invariant_pkey primary key,
  summary text not null,
  remedy text not null,
  sampled boolean not null,
  broken integer not null default 0,
  example text,
  checked_at timestamptz,
  checked_share double precision not null default 0,
  found integer not null default 0,
  found_example text,
  origin text not null default 'operator',
  constraint invariant_form check (invariant ~ '^[a-z_]{1,60}$'),
  constraint invariant_summary_length check (char_length(summary) between 1 and 300),
  constraint invariant_remedy_length check (char_length(remedy) between 1 and 500),
  constraint invariant_example_length check (char_length(example) <= 300),
  constraint invariant_found_example_length check (char_length(found_example) <= 300),
  constraint invariant_broken_not_negative check (broken >= 0),
  constraint invariant_found_not_negative check (found >= 0),
  constraint invariant_checked_share_range check (checked_share >= 0 and checked_share < 1),
  constraint invariant_origin_known check (origin in ('shipped', 'operator'))
);

comment on table market.invariant is
  'One row is one rule that holds in every healthy database, what to do when inspect.check() finds it broken, and how '
  'often the worker''s last check did, for /metrics.';
comment on column market.invariant.summary is 'The rule.';
comment on column market.invariant.remedy is 'What to do when the rule is broken.';
comment on column market.invariant.sampled is
  'Whether only a sample is checked between the nightly full checks, because the number of rows grows with the market.';
comment on column market.invariant.broken is
  'How many rows were found to break the rule. For a sampled invariant, the number falls only after a full check.';
comment on column market.invariant.example is 'One row that breaks the rule.';
comment on column market.invariant.checked_at is 'When the worker last checked; null before the first check.';
comment on column market.invariant.checked_share is
  'How much of the rows the nightly check has read (0 to 1) while it is under way; 0 when it has finished.';
comment on column market.invariant.found is 'How many rows it has found so far that break a sampled invariant.';
comment on column market.invariant.found_example is 'One of them.';
grant select on market.invariant to souk_dba;
