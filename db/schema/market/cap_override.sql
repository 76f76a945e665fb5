create table market.cap_override (
  account_id uuid not null constraint cap_override_account_fkey references market.account on delete cascade,
  action text not null,
  cap integer not null,
  changed_by uuid constraint cap_override_changed_by_fkey references market.account on delete set null,
  changed_at timestamptz not null default now(),
  constraint cap_override_pkey primary key (account_id, action),
  constraint cap_override_action_known
    check (action in ('publish_offer', 'create_ask', 'preview_offer', 'manage', 'report_offer', 'search_offers',
      'converse')),
  constraint cap_override_cap_range check (cap between 0 and 100000)
);
create index cap_override_changed_by_idx on market.cap_override (changed_by) where changed_by is not null;

comment on table market.cap_override is
  'One row is one rate limit that a moderator set for an account, in place of the one that follows from its stats.';
comment on column market.cap_override.cap is
  'Allowed calls an hour for each agent of the account, and for its person in the browser, who has no other limit.';
comment on column market.cap_override.changed_by is 'The moderator who set the limit.';
