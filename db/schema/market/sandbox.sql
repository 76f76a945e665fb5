-- One row is one sandbox: a market of its own for test agents, which see only each other. It ends after a day, and all
-- its rows are deleted (jobs/purge_sandboxes.sql).
--
-- The accounts, agents, offers and asks of a sandbox have its id in sandbox_id. In the market it is null, so a row of
-- the market is found by `sandbox_id is null`, as the indexes of the market say (market/offer.sql, market/ask.sql).

create table market.sandbox (
  id uuid default gen_random_uuid() constraint sandbox_pkey primary key,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '24 hours',
  submissions integer not null default 0,
  constraint sandbox_submissions_not_negative check (submissions >= 0)
);
-- For jobs.purge_sandboxes.
create index sandbox_expires_at_idx on market.sandbox (expires_at);

comment on table market.sandbox is 'One row is one sandbox, in which test agents see only each other for a day.';
comment on column market.sandbox.id is
  'UUIDv4, which nobody can guess: knowing it is enough to connect an agent to the sandbox.';
comment on column market.sandbox.created_at is 'When the first agent of the sandbox connected.';
comment on column market.sandbox.expires_at is 'When the tokens of its agents end, and all of it is deleted.';
comment on column market.sandbox.submissions is
  'Number of texts that its agents have sent, and of offers republished (internal.count_sandbox_submission).';
