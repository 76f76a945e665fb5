-- One row is one case: an offer that a moderator should look at, and why. Triggers open cases, decisions close them,
-- and a case that is closed is opened again by whatever comes next.

create table market.review_case (
  offer_id uuid constraint review_case_pkey primary key
    constraint review_case_offer_fkey references market.offer on delete cascade,
  causes text[] not null,
  reports integer not null default 0,
  opened_at timestamptz not null default now(),
  closed_at timestamptz,
  held_by uuid constraint review_case_held_by_fkey references market.account on delete set null,
  held_until timestamptz,
  -- The line it stands in: the most pressing of its causes.
  queue text not null generated always as (case
    when 'appeal' = any (causes) then 'appeal'
    when 'pending' = any (causes) then 'pending'
    when 'reported' = any (causes) then 'reported'
    when 'addresses_agents' = any (causes) then 'addresses_agents'
    when 'suspicious_link' = any (causes) then 'suspicious_link'
    when 'changed' = any (causes) then 'changed'
    else 'first_offer' end) stored,
  constraint review_case_causes_known
    check (causes
      <@ array['appeal', 'pending', 'reported', 'addresses_agents', 'suspicious_link', 'changed', 'first_offer']),
  constraint review_case_queue_length check (char_length(queue) <= 40),
  constraint review_case_reports_not_negative check (reports >= 0)
);
-- The queue as moderators read it, whole and by line: most reported first, then oldest.
create index review_case_open_idx on market.review_case (reports desc, opened_at, offer_id) where closed_at is null;
create index review_case_open_by_queue_idx on market.review_case (queue, reports desc, opened_at, offer_id)
where closed_at is null;
create index review_case_held_by_idx on market.review_case (held_by) where held_by is not null;

alter table market.review_case enable row level security;
alter table market.review_case force row level security;
create policy "the owner sees all" on market.review_case to souk_owner using (true) with check (true);

-- Reloaded: grants and comments from here on are loaded again whenever a file of db/schema changes.

comment on table market.review_case is 'One row is one offer that waits, or waited, for a moderator''s decision.';
comment on column market.review_case.offer_id is 'The offer.';
comment on column market.review_case.causes is
  'Why: appeal, pending (pre-moderation), reported, addresses_agents, suspicious_link, changed (since it was reported, '
  'reviewed or held back), first_offer.';
comment on column market.review_case.queue is 'The most pressing of its causes.';
comment on column market.review_case.reports is 'Counted reports that no decision has settled.';
comment on column market.review_case.opened_at is 'Since when it waits.';
comment on column market.review_case.closed_at is 'When it was decided; null while it waits.';
comment on column market.review_case.held_by is 'The moderator who took it.';
comment on column market.review_case.held_until is 'Until when it is theirs alone.';
