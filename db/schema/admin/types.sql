-- The types that functions of this schema give.

create type admin.account_limit as (action text, cap integer, earned boolean);

create type admin.finding
  as (kind text, id uuid, title text, status text, at timestamptz, offer_id uuid, account_id uuid);

-- Reloaded: grants and comments from here on are loaded again whenever a file of db/schema changes.

comment on type admin.account_limit is 'How often an agent of the account may do something within an hour.';
comment on column admin.account_limit.action is 'publish_offer, create_ask or preview_offer.';
comment on column admin.account_limit.cap is 'Calls an hour for each agent.';
comment on column admin.account_limit.earned is
  'Whether the cap follows from the record; false when a moderator set it.';
comment on type admin.finding is 'Something that a search found.';
comment on column admin.finding.kind is 'offer, account, agent, ask or report.';
comment on column admin.finding.id is 'Its id.';
comment on column admin.finding.title is 'What it is called.';
comment on column admin.finding.status is 'What state it is in.';
comment on column admin.finding.at is 'When it was made.';
comment on column admin.finding.offer_id is 'The offer that it is, or is about.';
comment on column admin.finding.account_id is 'The account that it is, or belongs to.';
