create table market.review_case (
  offer_id uuid constraint review_case_pkey primary key
    constraint review_case_offer_fkey references market.offer on delete cascade,
  causes text[] not null,
  reports integer not null default 0,
  opened_at timestamptz not null default now(),
  closed_at timestamptz,
  held_by uuid constraint review_case_held_by_fkey references market.account on delete set null,
  held_until timestamptz,
  -- The queue of the case is its most urgent cause.
  queue text not null generated always as (case
    when 'appeal' = any (causes) then 'appeal'
    when 'pending' = any (causes) then 'pending'
    when 'reported' = any (causes) then 'reported'
    when 'reported_conversation' = any (causes) then 'reported_conversation'
    when 'addresses_agents' = any (causes) then 'addresses_agents'
    when 'suspicious_link' = any (causes) then 'suspicious_link'
    when 'changed' = any (causes) then 'changed'
    else 'first_offer' end) stored,
  constraint review_case_causes_known
    check (causes
      <@ array['appeal', 'pending', 'reported', 'reported_conversation', 'addresses_agents', 'suspicious_link',
        'changed',
        'first_offer']),
  constraint review_case_queue_length check (char_length(queue) <= 40),
  constraint review_case_reports_not_negative check (reports >= 0)
);
-- Moderators read the open cases of one or all queues in this order: most reports first, then oldest first.
create index review_case_open_idx on market.review_case (reports desc, opened_at, offer_id) where closed_at is null;
create index review_case_open_by_queue_idx on market.review_case (queue, reports desc, opened_at, offer_id)
where closed_at is null;
create index review_case_held_by_idx on market.review_case (held_by) where held_by is not null;

comment on table market.review_case is
  'One row is one case: an offer that a moderator should look at, or did, and why. Triggers open cases and decisions '
  'close them. A new cause opens a closed case again.';
comment on column market.review_case.causes is
  'Why the case was opened: appeal, pending (pre-moderation), reported, reported_conversation (one about the offer), '
  'addresses_agents, suspicious_link, changed (after it was reported, reviewed or held back), first_offer.';
comment on column market.review_case.queue is 'The most urgent of the causes.';
comment on column market.review_case.reports is 'Number of counted reports that wait for a decision.';
comment on column market.review_case.opened_at is 'When the case was last opened.';
comment on column market.review_case.held_by is 'The moderator who claimed the case.';
comment on column market.review_case.held_until is 'The time until which no other moderator may claim the case.';
