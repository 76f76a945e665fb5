--! Previous: sha1:c903edeab09ac737b0d4c32e19d6b76652b62991
--! Hash: sha1:b9f6adae2e2acd4c537f00411c653f3dd120c6b9
--! Message: moderators

-- Moderators: their role and their schema, what they look at, what they decide, and what follows from it.

do $$
begin
  begin
    -- Two databases of one cluster may be migrated at once; this is the one lock that they share.
    lock table pg_catalog.pg_authid in share row exclusive mode;
  exception when insufficient_privilege then
    null;
  end;
  if not exists (select from pg_roles where rolname = 'souk_moderator') then
    create role souk_moderator nologin;
  end if;
end
$$;
grant souk_moderator to souk_api;

create schema admin authorization souk_owner;
comment on schema admin is 'What moderators see and decide, in their words: exactly what the GraphQL under /admin shows.';
grant usage on schema market to souk_moderator;
grant usage on schema admin to souk_moderator;

set local role souk_owner;

--! Included market/reason.sql
-- Why a moderator takes something down, and why somebody reports it: the same codes.

create table market.reason (
  code text constraint reason_pkey primary key,
  rank smallint not null,
  summary text not null,
  sentence text not null,
  constraint reason_code_form check (code ~ '^[a-z_]{1,40}$'),
  constraint reason_rank_key unique (rank),
  constraint reason_summary_length check (char_length(summary) between 1 and 120),
  constraint reason_sentence_length check (char_length(sentence) between 1 and 500)
);
comment on table market.reason is 'One row is one reason for taking an offer down, or an account.';
comment on column market.reason.code is 'The code that agents see.';
comment on column market.reason.rank is 'Its place in lists.';
comment on column market.reason.summary is 'What it means, for moderators.';
comment on column market.reason.sentence is 'What the owner reads when the moderator wrote nothing.';

insert into market.reason (code, rank, summary, sentence) values
  ('prohibited_item', 1, 'Something that may not be sold here', 'What it offers may not be offered here.'),
  ('scam', 2, 'An attempt to defraud', 'It looks like an attempt to defraud.'),
  ('spam', 3, 'Advertising, or nothing that is offered', 'It does not offer anything in particular.'),
  ('duplicate', 4, 'The same offer is up already', 'The same offer is up already.'),
  ('wrong_category', 5, 'Filed where nobody looks for it', 'It is filed in a category that it does not belong to.'),
  ('personal_data', 6, 'Tells of somebody what they did not publish', 'It contains personal data of somebody else.'),
  ('adult_content', 7, 'Sexual content', 'It contains sexual content, which has no place here.'),
  ('minor_safety', 8, 'Endangers children or young people', 'It could endanger children or young people.'),
  ('hate', 9, 'Hatred of people for what they are', 'It insults people for what they are.'),
  ('counterfeit', 10, 'A fake of a brand', 'It offers a copy of a brand as if it were genuine.'),
  ('addresses_agents', 11, 'Gives orders to the software that reads it', 'It gives orders to the software that reads it. Describe only what is offered.'),
  ('other', 12, 'Anything else; the sentence says what', 'It does not keep the rules of the market.');

alter table market.reason enable row level security;
alter table market.reason force row level security;
create policy "the owner sees all" on market.reason to souk_owner using (true) with check (true);
--! EndIncluded market/reason.sql

alter table market.account
  add column suspended_at timestamptz,
  add column suspension_reason text constraint account_suspension_reason_fkey references market.reason on delete restrict,
  add column suspension_note text,
  add constraint account_suspension_note_length check (char_length(suspension_note) between 1 and 500),
  add constraint account_suspension_whole check (suspended_at is not null or (suspension_reason is null and suspension_note is null));
create index account_suspension_reason_idx on market.account (suspension_reason) where suspension_reason is not null;
create index account_display_name_idx on market.account (lower(display_name) text_pattern_ops);
comment on column market.account.suspended_at is 'Since when moderation has suspended it; null while in good standing.';
comment on column market.account.suspension_reason is 'Why it is suspended, as a code.';
comment on column market.account.suspension_note is 'Why it is suspended, as a sentence for its owner.';

create index agent_name_idx on market.agent (lower(name) text_pattern_ops);

alter table market.offer
  add column review_reason text constraint offer_review_reason_fkey references market.reason on delete restrict,
  add column suspended_at timestamptz,
  add constraint offer_suspended_is_archived check (suspended_at is null or status = 'archived');
create index offer_hidden_search_idx on market.offer using gin (search) with (fastupdate = off) where status <> 'published';
create index offer_review_reason_idx on market.offer (review_reason) where review_reason is not null;
create index offer_suspended_idx on market.offer (account_id) where suspended_at is not null;
comment on column market.offer.review_reason is 'Why a moderator took it down or rejected it, as a code.';
comment on column market.offer.suspended_at is 'When it was archived because its account was suspended; it is published again when the account is reinstated.';

create index ask_text_idx on market.ask using gin (to_tsvector('simple', market.fold(text)));

alter table market.report add column settled_at timestamptz;
comment on column market.report.settled_at is 'When a moderator decided on the offer it is about; null while it waits.';

alter table market.setting
  add column least integer,
  add column most integer,
  add column changed_by uuid,
  add column changed_at timestamptz,
  add constraint setting_bounds check ((least is null) = (most is null) and least <= most),
  add constraint setting_within_bounds
    check (jsonb_typeof(value) <> 'number' or least is null or value::numeric between least and most);
comment on column market.setting.least is 'The least that a moderator may set a number to.';
comment on column market.setting.most is 'The most that a moderator may set a number to.';
comment on column market.setting.changed_by is 'The moderator who changed it last; null when it was changed in SQL, or never.';
comment on column market.setting.changed_at is 'When a moderator changed it last.';
revoke select on market.setting from souk_agent, souk_person;
grant select (name, value, summary) on market.setting to souk_agent, souk_person;
-- What comes with the service is nobody's act.
alter table market.setting disable trigger audit;
insert into market.setting (name, value, summary, least, most) values
  ('publish_offer_cap', '60', 'Offers an hour that an agent of a new account may send. It rises with the record of the account.', 4, 10000),
  ('create_ask_cap', '120', 'Asks an hour that an agent of a new account may send. It rises with the record of the account.', 4, 10000),
  ('preview_offer_cap', '120', 'Previews an hour that an agent of a new account may ask for. It rises with the record of the account.', 4, 10000),
  ('first_offers_to_review', '1', 'How many of the first offers of an account a moderator looks at after they went live; 0 for none.', 0, 100);
alter table market.setting enable trigger audit;

--! Included market/moderator.sql
-- Who moderates: a person whose account is listed here. Nobody becomes one through the API; `npm run moderator` appoints,
-- and on a database without any, whoever opens the one-time link that the process printed.

create table market.moderator (
  account_id uuid constraint moderator_pkey primary key
    constraint moderator_account_fkey references market.account on delete cascade,
  appointed_at timestamptz not null default now(),
  appointed_by text not null,
  constraint moderator_appointed_by_length check (char_length(appointed_by) between 1 and 120)
);
comment on table market.moderator is 'One row is one account whose person is a moderator.';
comment on column market.moderator.account_id is 'Whose account.';
comment on column market.moderator.appointed_at is 'Since when.';
comment on column market.moderator.appointed_by is 'By which means: the SQL role that appointed, or the first-start link.';

alter table market.moderator enable row level security;
alter table market.moderator force row level security;
create policy "the owner sees all" on market.moderator to souk_owner using (true) with check (true);

create table market.moderator_link (
  secret_hash bytea constraint moderator_link_pkey primary key,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '24 hours',
  constraint moderator_link_secret_hash_is_sha256 check (octet_length(secret_hash) = 32)
);
comment on table market.moderator_link is 'One row is one link that makes the person who accepts it a moderator, once; accepting deletes it.';
comment on column market.moderator_link.secret_hash is 'SHA-256 of what the link holds.';
comment on column market.moderator_link.created_at is 'When it was printed.';
comment on column market.moderator_link.expires_at is 'When it stops working.';

alter table market.moderator_link enable row level security;
alter table market.moderator_link force row level security;
create policy "the owner sees all" on market.moderator_link to souk_owner using (true) with check (true);

create or replace function market.moderator_id() returns uuid
  language sql stable parallel safe
as $$ select nullif(current_setting('market.moderator_id', true), '')::uuid $$;
comment on function market.moderator_id() is 'The account of the moderator who acts, null outside an operation of one.';
grant execute on function market.moderator_id() to souk_moderator;

create or replace function market.find_moderator(session_hash bytea, out session_id uuid, out account_id uuid)
  language plpgsql stable security definer set search_path = ''
as $$
begin
  select s.session_id, s.account_id into session_id, account_id
  from market.find_session(find_moderator.session_hash) as s
  where exists (select from market.moderator m where m.account_id = s.account_id);
end
$$;
comment on function market.find_moderator(bytea) is 'The live session with this hash and its account, when its person is a moderator; else nulls.';
grant execute on function market.find_moderator(bytea) to souk_api;

create or replace function market.enter_moderator(session_hash bytea) returns boolean
  language plpgsql volatile
as $$
declare
  session record;
begin
  session := market.find_moderator(enter_moderator.session_hash);
  if session.account_id is null then
    -- Whoever is no moderator is not told that there is something to moderate.
    perform market.fail(404, 'not_found', 'There is nothing at this address. GET /v1 lists what there is.');
  end if;
  perform market.keep_session(session.session_id);
  perform set_config('market.agent_id', '', true),
    set_config('market.session_id', session.session_id::text, true),
    set_config('market.account_id', session.account_id::text, true),
    set_config('market.moderator_id', session.account_id::text, true),
    set_config('market.connected', 'false', true),
    set_config('role', 'souk_moderator', true);
  return true;
end
$$;
comment on function market.enter_moderator(bytea) is
  'Makes the rest of the transaction run as the moderator with this session, or fails with 404 for everybody else. Writes nothing but that it was used.';
grant execute on function market.enter_moderator(bytea) to souk_api;
--! EndIncluded market/moderator.sql
--! Included market/review_case.sql
-- One row is one case: an offer that a moderator should look at, and why. Triggers open cases, decisions close them, and
-- a case that is closed is opened again by whatever comes next.

create table market.review_case (
  offer_id uuid constraint review_case_pkey primary key
    constraint review_case_offer_fkey references market.offer on delete cascade,
  causes text[] not null,
  -- The line it stands in: the most pressing of its causes.
  queue text not null generated always as (case
    when 'appeal' = any (causes) then 'appeal'
    when 'pending' = any (causes) then 'pending'
    when 'reported' = any (causes) then 'reported'
    when 'addresses_agents' = any (causes) then 'addresses_agents'
    when 'suspicious_link' = any (causes) then 'suspicious_link'
    else 'first_offer' end) stored,
  reports integer not null default 0,
  opened_at timestamptz not null default now(),
  closed_at timestamptz,
  held_by uuid constraint review_case_held_by_fkey references market.account on delete set null,
  held_until timestamptz,
  constraint review_case_causes_known check (causes <@ array['appeal', 'pending', 'reported', 'addresses_agents', 'suspicious_link', 'first_offer']),
  constraint review_case_queue_length check (char_length(queue) <= 40),
  constraint review_case_reports_not_negative check (reports >= 0)
);
-- The queue as moderators read it, whole and by line: most reported first, then oldest.
create index review_case_open_idx on market.review_case (reports desc, opened_at, offer_id) where closed_at is null;
create index review_case_open_by_queue_idx on market.review_case (queue, reports desc, opened_at, offer_id) where closed_at is null;
create index review_case_held_by_idx on market.review_case (held_by) where held_by is not null;
comment on table market.review_case is 'One row is one offer that waits, or waited, for a moderator''s decision.';
comment on column market.review_case.offer_id is 'The offer.';
comment on column market.review_case.causes is 'Why: appeal, pending (pre-moderation), reported, addresses_agents, suspicious_link, first_offer.';
comment on column market.review_case.queue is 'The most pressing of its causes.';
comment on column market.review_case.reports is 'Reports that no decision has settled.';
comment on column market.review_case.opened_at is 'Since when it waits.';
comment on column market.review_case.closed_at is 'When it was decided; null while it waits.';
comment on column market.review_case.held_by is 'The moderator who took it.';
comment on column market.review_case.held_until is 'Until when it is theirs alone.';

alter table market.review_case enable row level security;
alter table market.review_case force row level security;
create policy "the owner sees all" on market.review_case to souk_owner using (true) with check (true);

create or replace function market.open_case(offer_id uuid, causes text[], reports integer default 0) returns void
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  if cardinality(open_case.causes) = 0 then
    return;
  end if;
  insert into market.review_case as c (offer_id, causes, reports)
  values (open_case.offer_id, open_case.causes, open_case.reports)
  on conflict on constraint review_case_pkey do update set
    causes = case when c.closed_at is null
      then c.causes || array(select n from unnest(excluded.causes) as n where n <> all (c.causes)) else excluded.causes end,
    reports = case when c.closed_at is null then c.reports else 0 end + excluded.reports,
    opened_at = case when c.closed_at is null then c.opened_at else now() end,
    closed_at = null,
    held_by = case when c.closed_at is null then c.held_by end,
    held_until = case when c.closed_at is null then c.held_until end;
end
$$;
comment on function market.open_case(uuid, text[], integer) is
  'Puts an offer before the moderators for these causes, in addition to those it waits for already.';

create or replace function market.drop_cause(offer_id uuid, cause text) returns void
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  update market.review_case c set
    causes = array_remove(c.causes, drop_cause.cause),
    closed_at = case when c.causes <@ array[drop_cause.cause] then now() end
  where c.offer_id = drop_cause.offer_id and c.closed_at is null and drop_cause.cause = any (c.causes);
end
$$;
comment on function market.drop_cause(uuid, text) is 'Takes a cause from an open case; the last one closes it.';

create or replace function market.review_read_offer(offer market.offer, addresses_agents boolean) returns void
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  first_offers integer := market.setting('first_offers_to_review')::integer;
  own integer;
begin
  select count(*) into own
  from (select from market.offer o where o.account_id = offer.account_id limit first_offers + 1) as offers;
  perform market.open_case(offer.id, array_remove(array[
    case when offer.status = 'pending_review' then 'pending' end,
    case when addresses_agents then 'addresses_agents' end,
    case when market.has_suspicious_link(offer.text) then 'suspicious_link' end,
    case when own <= first_offers and not offer.reviewed then 'first_offer' end], null));
end
$$;
comment on function market.review_read_offer(market.offer, boolean) is
  'Opens a case for an offer whose text has just been read, when there is a cause: it waits for review, gives orders to software, links to where nobody can see, or is among the first of its account.';

create or replace function market.review_reported_offer() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  if tg_op = 'INSERT' then
    perform market.open_case(new.offer_id, array['reported'], 1);
  elsif old.settled_at is null then
    update market.review_case c set reports = greatest(c.reports - 1, 0)
    where c.offer_id = old.offer_id and c.closed_at is null;
    if not exists (select from market.report r where r.offer_id = old.offer_id and r.settled_at is null) then
      perform market.drop_cause(old.offer_id, 'reported');
    end if;
  end if;
  return null;
end
$$;
comment on function market.review_reported_offer() is 'A report opens a case, or adds its voice to the open one; a report that goes takes it back.';
create or replace trigger review_reported_offer after insert or delete on market.report
  for each row execute function market.review_reported_offer();

create or replace function market.review_withdrawn_offer() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform market.drop_cause(new.id, 'pending');
  return null;
end
$$;
comment on function market.review_withdrawn_offer() is 'What its owner took back before it was reviewed does not wait for a review.';
create or replace trigger review_withdrawn_offer after update on market.offer for each row
  when (old.status = 'pending_review' and new.status = 'archived')
  execute function market.review_withdrawn_offer();
--! EndIncluded market/review_case.sql
--! Included market/decision.sql
-- One row is one decision of a moderator. Nothing changes or deletes it: an offer's history is read from here.

create table market.decision (
  id uuid default market.uuid_v7() constraint decision_pkey primary key,
  moderator_id uuid constraint decision_moderator_fkey references market.account on delete set null,
  action text not null,
  offer_id uuid constraint decision_offer_fkey references market.offer on delete cascade,
  account_id uuid constraint decision_account_fkey references market.account on delete set null,
  agent_id uuid constraint decision_agent_fkey references market.agent on delete set null,
  reason text constraint decision_reason_fkey references market.reason on delete restrict,
  sentence text,
  created_at timestamptz not null default now(),
  constraint decision_action_known check (action in ('keep', 'remove', 'restore', 'uphold', 'publish', 'reject',
    'suspend', 'reinstate', 'remove_agent', 'override_cap')),
  constraint decision_sentence_length check (char_length(sentence) between 1 and 500)
);
create index decision_moderator_id_idx on market.decision (moderator_id, id desc);
create index decision_offer_id_idx on market.decision (offer_id, id desc);
create index decision_account_id_idx on market.decision (account_id, id desc);
create index decision_agent_id_idx on market.decision (agent_id) where agent_id is not null;
create index decision_reason_idx on market.decision (reason) where reason is not null;
comment on table market.decision is 'One row is one decision of a moderator.';
comment on column market.decision.id is 'UUIDv7.';
comment on column market.decision.moderator_id is 'Whose decision; null when that account no longer exists.';
comment on column market.decision.action is 'keep, remove, restore, uphold, publish, reject; suspend, reinstate, remove_agent, override_cap.';
comment on column market.decision.offer_id is 'The offer it is about.';
comment on column market.decision.account_id is 'The account it is about, or whose offer or agent.';
comment on column market.decision.agent_id is 'The agent it is about.';
comment on column market.decision.reason is 'Why, as a code.';
comment on column market.decision.sentence is 'Why, in words: what the owner reads, or a note for other moderators.';
comment on column market.decision.created_at is 'When.';

alter table market.decision enable row level security;
alter table market.decision force row level security;
create policy "the owner sees all" on market.decision to souk_owner using (true) with check (true);
--! EndIncluded market/decision.sql
--! Included market/appeal.sql
-- One row is one appeal: the owner of an offer that was taken down asks for a second look, once for each removal.

create table market.appeal (
  offer_id uuid not null constraint appeal_offer_fkey references market.offer on delete cascade,
  removed_at timestamptz not null,
  account_id uuid not null constraint appeal_account_fkey references market.account on delete cascade,
  agent_id uuid constraint appeal_agent_fkey references market.agent on delete set null,
  comment text,
  created_at timestamptz not null default now(),
  constraint appeal_pkey primary key (offer_id, removed_at),
  constraint appeal_comment_length check (char_length(comment) between 1 and 1000)
);
create index appeal_account_id_idx on market.appeal (account_id);
create index appeal_agent_id_idx on market.appeal (agent_id);
comment on table market.appeal is 'One row is one appeal against one removal.';
comment on column market.appeal.offer_id is 'The offer that was taken down.';
comment on column market.appeal.removed_at is 'When it was taken down: another removal may be appealed again.';
comment on column market.appeal.account_id is 'Who appeals.';
comment on column market.appeal.agent_id is 'Through which agent; null when the person did it.';
comment on column market.appeal.comment is 'Why, in the owner''s words.';
comment on column market.appeal.created_at is 'When.';

alter table market.appeal enable row level security;
alter table market.appeal force row level security;
create policy "the owner sees all" on market.appeal to souk_owner using (true) with check (true);
create policy "an account sees its appeals" on market.appeal for select to souk_agent, souk_person
  using (account_id = (select market.account_id()));
create policy "an account appeals against the removal of its offer" on market.appeal for insert to souk_agent, souk_person
  with check (account_id = (select market.account_id()) and agent_id is not distinct from (select market.agent_id())
    and exists (select from market.offer o
      where o.id = offer_id and o.account_id = (select market.account_id()) and o.status = 'removed' and o.removed_at = appeal.removed_at));
grant select, insert (offer_id, removed_at, account_id, agent_id, comment) on market.appeal to souk_agent, souk_person;

create or replace function market.review_appeal() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform market.open_case(new.offer_id, array['appeal']);
  return null;
end
$$;
comment on function market.review_appeal() is 'An appeal returns the offer to the moderators.';
create or replace trigger review_appeal after insert on market.appeal for each row execute function market.review_appeal();

create or replace function market.is_appealable(offer market.offer) returns boolean
  language plpgsql stable
as $$
begin
  return offer.status = 'removed' and not exists (
    select from market.appeal a where a.offer_id = offer.id and a.removed_at = offer.removed_at);
end
$$;
comment on function market.is_appealable(market.offer) is 'Whether the owner may appeal: the offer is down, and this removal was not appealed yet.';
grant execute on function market.is_appealable(market.offer) to souk_agent, souk_person;
--! EndIncluded market/appeal.sql
--! Included market/suspension.sql
-- A suspended account: its agents may read, and everything that writes to the market is refused; what it had live is
-- archived, and published again when it is reinstated.

create or replace function market.require_good_standing(headers jsonb default '{}') returns void
  language plpgsql stable
as $$
declare
  note text;
begin
  select coalesce(a.suspension_note, 'The reason was not stated.') into note
  from market.account a where a.id = market.account_id() and a.suspended_at is not null;
  if found then
    perform market.fail(409, 'invalid_state',
      format('This account is suspended by moderation, so nothing can be published, asked or changed; reading still works. %s', note),
      jsonb_build_object('headers', headers, 'account_status', 'suspended'));
  end if;
end
$$;
comment on function market.require_good_standing(jsonb) is 'Refuses with 409 invalid_state while the account acted for is suspended.';
grant execute on function market.require_good_standing(jsonb) to souk_agent, souk_person;

create or replace function market.hold_standing(account_id uuid) returns boolean
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  -- A suspension waits for whoever holds this, so nothing slips past it.
  return exists (select from market.account a where a.id = hold_standing.account_id and a.suspended_at is null for share);
end
$$;
comment on function market.hold_standing(uuid) is 'Whether an account is not suspended, and will not be until this transaction ends.';

create or replace function market.publish_in_good_standing() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  if new.account_id is not null and not market.hold_standing(new.account_id) then
    perform market.fail(409, 'invalid_state', 'The account of this offer is suspended, so the offer cannot go live. Reinstate the account first.');
  end if;
  return new;
end
$$;
comment on function market.publish_in_good_standing() is 'No offer of a suspended account goes live, whoever asks.';
create or replace trigger publish_new_offer before insert on market.offer for each row
  when (new.status = 'published') execute function market.publish_in_good_standing();
-- By its name it runs after move_offer, which says whether the move exists at all.
create or replace trigger publish_moved_offer before update on market.offer for each row
  when (new.status = 'published' and old.status <> 'published') execute function market.publish_in_good_standing();

create or replace function market.settle_standing(account_id uuid, batch integer) returns boolean
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  suspended boolean;
  touched integer;
begin
  select a.suspended_at is not null into suspended from market.account a where a.id = settle_standing.account_id for no key update;
  if suspended then
    update market.offer o set status = 'archived', suspended_at = now()
    where o.id in (select p.id from market.offer p
      where p.account_id = settle_standing.account_id and p.status = 'published' limit settle_standing.batch);
  else
    update market.offer o set status = 'published'
    where o.id in (select p.id from market.offer p
      where p.account_id = settle_standing.account_id and p.suspended_at is not null limit settle_standing.batch);
  end if;
  get diagnostics touched = row_count;
  return touched < settle_standing.batch;
end
$$;
comment on function market.settle_standing(uuid, integer) is
  'Archives what a suspended account has live, or publishes again what its suspension archived, so many offers at a time; true when nothing is left to do.';
--! EndIncluded market/suspension.sql
--! Included market/cap_override.sql
-- One row is one cap that a moderator set for an account, in place of what its record gives it.

create table market.cap_override (
  account_id uuid not null constraint cap_override_account_fkey references market.account on delete cascade,
  action text not null,
  cap integer not null,
  changed_by uuid constraint cap_override_changed_by_fkey references market.account on delete set null,
  changed_at timestamptz not null default now(),
  constraint cap_override_pkey primary key (account_id, action),
  constraint cap_override_action_known check (action in ('publish_offer', 'create_ask', 'preview_offer')),
  constraint cap_override_cap_range check (cap between 0 and 100000)
);
create index cap_override_changed_by_idx on market.cap_override (changed_by) where changed_by is not null;
comment on table market.cap_override is 'One row is one cap that a moderator set for an account.';
comment on column market.cap_override.account_id is 'Whose cap.';
comment on column market.cap_override.action is 'publish_offer, create_ask or preview_offer.';
comment on column market.cap_override.cap is 'Calls an hour for each of its agents.';
comment on column market.cap_override.changed_by is 'The moderator who set it.';
comment on column market.cap_override.changed_at is 'When.';

alter table market.cap_override enable row level security;
alter table market.cap_override force row level security;
create policy "the owner sees all" on market.cap_override to souk_owner using (true) with check (true);
--! EndIncluded market/cap_override.sql
--! Included market/suspicious_link.sql
-- Links that hide where they lead. Whoever reads the offer cannot judge them, so a moderator does.

create or replace function market.has_suspicious_link(text text) returns boolean
  language plpgsql immutable
as $$
begin
  return has_suspicious_link.text ~* (
    -- A scheme that runs something or carries its own page.
    '\m(javascript|data|vbscript|file):[^\s]'
    -- A name before the host, as in https://bank.com@elsewhere.example
    '|https?://[^\s/?#]*@'
    -- A bare address, or a host in Punycode, which looks like another one.
    '|https?://(\d{1,3}\.){3}\d{1,3}\M|https?://\[|\mxn--[a-z0-9]'
    -- Shorteners.
    '|\m(bit\.ly|tinyurl\.com|t\.co|goo\.gl|ow\.ly|is\.gd|v\.gd|buff\.ly|cutt\.ly|rb\.gy|rebrand\.ly|shorturl\.at|tiny\.cc|t\.ly)/\S'
    -- Something to install.
    '|https?://[^\s?#]+\.(exe|msi|scr|apk|bat|cmd|ps1|jar|dmg)\M');
end
$$;
comment on function market.has_suspicious_link(text) is
  'Whether a text links by a shortener, a bare address, Punycode, a name before the host, a scheme that runs something, or to a program.';
--! EndIncluded market/suspicious_link.sql
--! Included jobs/suspension.sql
-- What a suspension or a reinstatement leaves to do for an account with many offers.

create or replace function jobs.settle_standing(id uuid) returns boolean
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  -- The act of the moderator who decided, for the log: the worker only finishes it.
  perform set_config('market.moderator_id', coalesce((
    select d.moderator_id from market.decision d
    where d.account_id = settle_standing.id and d.action in ('suspend', 'reinstate') order by d.id desc limit 1)::text, ''), true);
  -- As many as are done well within a second, so that no lock is long.
  return market.settle_standing(settle_standing.id, 500);
end
$$;
comment on function jobs.settle_standing(uuid) is
  'Archives or publishes again the next 500 offers of an account that was suspended or reinstated; true when nothing is left.';
grant execute on function jobs.settle_standing(uuid) to souk_worker;
--! EndIncluded jobs/suspension.sql
--! Included api/appeal_offer.sql
-- The owner of an offer that was taken down asks for a second look, by another moderator.

create or replace function api.appeal_offer(id uuid, comment text) returns jsonb
  language plpgsql volatile
as $$
declare
  offer market.offer;
begin
  -- A suspended account may appeal: it is how a mistake comes to light.
  if not market.connected() then
    perform market.require_connected('manage_offers');
  end if;
  offer := market.own_offer(appeal_offer.id);
  if offer.status <> 'removed' then
    perform market.fail(409, 'invalid_state',
      format('This offer is %s; only an offer that moderation took down can be appealed.', offer.status));
  end if;
  insert into market.appeal (offer_id, removed_at, account_id, agent_id, comment)
  values (offer.id, offer.removed_at, offer.account_id, market.agent_id(), nullif(btrim(appeal_offer.comment), ''))
  on conflict do nothing;
  if not found then
    perform market.fail(409, 'invalid_state',
      'This removal was appealed already, and an appeal is made once. The offer is still removed; read it again later to see what was decided.');
  end if;
  return market.owner_offer(offer);
end
$$;
comment on function api.appeal_offer(uuid, text) is
  'Puts the removal of an own offer before another moderator, once; 409 invalid_state when it is not removed or was appealed already.';
grant execute on function api.appeal_offer(uuid, text) to souk_api;
--! EndIncluded api/appeal_offer.sql
--! Included api/moderator_link.sql
-- The link that makes the person who accepts it a moderator. `npm start` prints one while a database has none; nobody
-- who calls the API can make one. Looking changes nothing, accepting deletes the link.

create or replace function api.get_moderator_link(secret_hash bytea) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
begin
  if not exists (select from market.moderator_link l
      where l.secret_hash = get_moderator_link.secret_hash and l.expires_at > now()) then
    perform market.fail(404, 'not_found', 'There is no such link, or it was used already.');
  end if;
  return jsonb '{}';
end
$$;
comment on function api.get_moderator_link(bytea) is 'Whether a link that appoints a moderator still works; 404 otherwise.';
grant execute on function api.get_moderator_link(bytea) to souk_api;

create or replace function api.accept_moderator_link(secret_hash bytea, session_hash bytea, new_session_hash bytea) returns jsonb
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  person uuid := (market.find_session(accept_moderator_link.session_hash)).account_id;
  new_session constant boolean := person is null;
begin
  delete from market.moderator_link l
  where l.secret_hash = accept_moderator_link.secret_hash and l.expires_at > now();
  if not found then
    perform market.fail(404, 'not_found', 'There is no such link, or it was used already.');
  end if;
  if new_session then
    insert into market.account (claimed_at) values (now()) returning id into person;
    insert into market.session (account_id, secret_hash) values (person, accept_moderator_link.new_session_hash);
  end if;
  insert into market.moderator (account_id, appointed_by) values (person, 'first-start link') on conflict do nothing;
  return jsonb_build_object('new_session', new_session);
end
$$;
comment on function api.accept_moderator_link(bytea, bytea, bytea) is
  'Makes the person with this session, or a new one whom the new session signs in, a moderator, once a link; gives new_session, or 404.';
grant execute on function api.accept_moderator_link(bytea, bytea, bytea) to souk_api;
--! EndIncluded api/moderator_link.sql
-- What moderators decided, and not in which words.
grant select on market.reason, market.moderator, market.review_case, market.cap_override to souk_dba;
grant select (created_at, expires_at) on market.moderator_link to souk_dba;
grant select (id, moderator_id, action, offer_id, account_id, agent_id, reason, created_at) on market.decision to souk_dba;
grant select (offer_id, removed_at, account_id, agent_id, created_at) on market.appeal to souk_dba;
grant select (suspended_at, suspension_reason) on market.account to souk_dba;
grant select (review_reason, suspended_at) on market.offer to souk_dba;
grant select (settled_at) on market.report to souk_dba;

create policy "a dba reads all" on market.reason for select to souk_dba using (true);
create policy "a dba reads all" on market.moderator for select to souk_dba using (true);
create policy "a dba reads all" on market.moderator_link for select to souk_dba using (true);
create policy "a dba reads all" on market.review_case for select to souk_dba using (true);
create policy "a dba reads all" on market.cap_override for select to souk_dba using (true);
create policy "a dba reads all" on market.decision for select to souk_dba using (true);
create policy "a dba reads all" on market.appeal for select to souk_dba using (true);

--! Included market/moderation_access.sql
-- What a moderator may see and change, table by table. Everything goes through the views and functions of schema admin,
-- which run with these rights; no more is granted than they use. The policies are plain `true`: the role is had only by
-- market.enter_moderator, and a condition here would keep words and numbers from using their indexes.

create policy "a moderator sees all accounts" on market.account for select to souk_moderator using (true);
create policy "a moderator suspends and reinstates accounts" on market.account for update to souk_moderator using (true) with check (true);
grant select on market.account to souk_moderator;
grant update (suspended_at, suspension_reason, suspension_note) on market.account to souk_moderator;

create policy "a moderator sees all agents" on market.agent for select to souk_moderator using (true);
create policy "a moderator removes agents" on market.agent for update to souk_moderator
  using (true) with check (removed_at is not null);
grant select (id, account_id, name, created_at, connected_at, removed_at) on market.agent to souk_moderator;
grant update (removed_at) on market.agent to souk_moderator;

create policy "a moderator sees all offers" on market.offer for select to souk_moderator using (true);
create policy "a moderator decides on offers" on market.offer for update to souk_moderator using (true) with check (true);
grant select on market.offer to souk_moderator;
grant update (status, reviewed, review_reason, review_note) on market.offer to souk_moderator;

create policy "a moderator sees all asks" on market.ask for select to souk_moderator using (true);
grant select on market.ask to souk_moderator;

create policy "a moderator sees all reports" on market.report for select to souk_moderator using (true);
create policy "a moderator settles reports" on market.report for update to souk_moderator
  using (true) with check (settled_at is not null);
grant select on market.report to souk_moderator;
grant update (settled_at) on market.report to souk_moderator;

create policy "a moderator sees all appeals" on market.appeal for select to souk_moderator using (true);
grant select on market.appeal to souk_moderator;

create policy "a moderator sees all records" on market.publisher for select to souk_moderator using (true);
grant select on market.publisher to souk_moderator;

-- That a method is proved, and never whose mailbox it is.
create policy "a moderator sees who proved a method" on market.proved_method for select to souk_moderator using (true);
grant select (account_id, method) on market.proved_method to souk_moderator;

create policy "a moderator sees all cases" on market.review_case for select to souk_moderator using (true);
create policy "a moderator takes and closes cases" on market.review_case for update to souk_moderator using (true) with check (true);
grant select on market.review_case to souk_moderator;
grant update (causes, reports, closed_at, held_by, held_until) on market.review_case to souk_moderator;

create policy "a moderator sees all decisions" on market.decision for select to souk_moderator using (true);
create policy "a moderator decides in the own name" on market.decision for insert to souk_moderator
  with check (moderator_id = (select market.moderator_id()));
grant select, insert (moderator_id, action, offer_id, account_id, agent_id, reason, sentence) on market.decision to souk_moderator;

create policy "a moderator sees the moderators" on market.moderator for select to souk_moderator using (true);
grant select on market.moderator to souk_moderator;

create policy "a moderator sees the reasons" on market.reason for select to souk_moderator using (true);
grant select on market.reason to souk_moderator;

create policy "a moderator sees the caps" on market.cap_override for select to souk_moderator using (true);
create policy "a moderator sets caps in the own name" on market.cap_override for insert to souk_moderator
  with check (changed_by = (select market.moderator_id()));
create policy "a moderator changes caps in the own name" on market.cap_override for update to souk_moderator
  using (true) with check (changed_by = (select market.moderator_id()));
create policy "a moderator lifts caps" on market.cap_override for delete to souk_moderator using (true);
grant select, insert, update (cap, changed_by, changed_at), delete on market.cap_override to souk_moderator;

create policy "a moderator sees the switches" on market.setting for select to souk_moderator using (true);
create policy "a moderator turns switches and sets numbers in the own name" on market.setting for update to souk_moderator
  using (jsonb_typeof(value) = 'boolean' or least is not null) with check (changed_by = (select market.moderator_id()));
grant select on market.setting to souk_moderator;
grant update (value, changed_by, changed_at) on market.setting to souk_moderator;

grant execute on function market.call_cap(uuid, text), market.setting(text) to souk_moderator;
--! EndIncluded market/moderation_access.sql
--! Included admin/moderators.sql
-- Who moderates.

create view admin.moderator with (security_invoker) as
  select m.account_id, coalesce(a.display_name, 'Moderator ' || right(m.account_id::text, 4)) as name, m.appointed_at, m.appointed_by
  from market.moderator m join market.account a on a.id = m.account_id;
comment on view admin.moderator is E'@primaryKey account_id\nOne person who may decide here.';
comment on column admin.moderator.account_id is 'The account by which the person signs in.';
comment on column admin.moderator.name is 'What the person is called, or a made-up name that stays the same.';
comment on column admin.moderator.appointed_at is 'Since when.';
comment on column admin.moderator.appointed_by is 'By which means.';
grant select on admin.moderator to souk_moderator;

create view admin.reason with (security_invoker) as
  select r.code, r.rank, r.summary, r.sentence from market.reason r;
comment on view admin.reason is E'@primaryKey code\nA reason to take something down.';
comment on column admin.reason.code is 'The code that the owner''s agent sees.';
comment on column admin.reason.rank is E'@behavior +orderBy\nIts place in lists.';
comment on column admin.reason.summary is 'What it means.';
comment on column admin.reason.sentence is 'What the owner reads when you write nothing.';
grant select on admin.reason to souk_moderator;

create or replace function admin.viewer() returns admin.moderator
  language plpgsql stable
as $$
begin
  return (select m from admin.moderator m where m.account_id = market.moderator_id());
end
$$;
comment on function admin.viewer() is 'You.';
grant execute on function admin.viewer() to souk_moderator;
--! EndIncluded admin/moderators.sql
--! Included admin/accounts.sql
-- Accounts with their record, their agents and their asks.

create view admin.account with (security_invoker) as
  select a.id, a.display_name, a.created_at, a.claimed_at, a.suspended_at, a.suspension_reason, a.suspension_note,
    p.active as offers_active, p.lifetime as offers_lifetime, p.removed as offers_removed, p.last_active_at,
    exists (select from market.proved_method m where m.account_id = a.id) as verified
  from market.account a left join market.publisher p on p.account_id = a.id;
comment on view admin.account is E'@primaryKey id\nAn account that agents act for, with its record.';
comment on column admin.account.id is 'UUIDv7: sorts by age.';
comment on column admin.account.display_name is 'What its person wants to be called; not checked.';
comment on column admin.account.created_at is 'Member since.';
comment on column admin.account.claimed_at is 'When a person made it theirs; null while no person has approved its agent.';
comment on column admin.account.suspended_at is 'Since when it is suspended: its agents may read, what it writes is refused, and its offers are not shown.';
comment on column admin.account.suspension_reason is 'Why, as a code.';
comment on column admin.account.suspension_note is 'Why, as its owner reads it.';
comment on column admin.account.offers_active is 'Offers that are live.';
comment on column admin.account.offers_lifetime is 'Offers ever published.';
comment on column admin.account.offers_removed is 'Offers that are taken down.';
comment on column admin.account.last_active_at is 'When it last wrote to the market.';
comment on column admin.account.verified is 'Whether its person has proved a sign-in method.';
grant select on admin.account to souk_moderator;

create view admin.agent with (security_invoker) as
  select a.id, a.account_id, a.name, a.created_at, a.connected_at, a.removed_at from market.agent a;
comment on view admin.agent is E'@primaryKey id\n@foreignKey (account_id) references admin.account (id)|@fieldName account|@foreignFieldName agents\nAn agent: software that acts for an account.';
comment on column admin.agent.id is 'UUIDv7: sorts by age.';
comment on column admin.agent.account_id is E'@behavior +filterBy\nWhom it acts for.';
comment on column admin.agent.name is 'What it calls itself; not checked.';
comment on column admin.agent.created_at is 'When it first called.';
comment on column admin.agent.connected_at is 'When a person approved it; null until then.';
comment on column admin.agent.removed_at is 'When it was removed; nothing it sends counts any more.';
grant select on admin.agent to souk_moderator;

create view admin.ask with (security_invoker) as
  select a.id, a.account_id, a.agent_id, a.status, a.title, a.text, a.domain, a.category, a.ask_kind, a.criteria,
    a.created_at, a.updated_at
  from market.ask a;
comment on view admin.ask is E'@primaryKey id\n@foreignKey (account_id) references admin.account (id)|@fieldName account|@foreignFieldName asks\nWhat somebody looks for. Only its owner and moderators see it.';
comment on column admin.ask.id is 'UUIDv7: sorts by age.';
comment on column admin.ask.account_id is E'@behavior +filterBy\nWho looks for it.';
comment on column admin.ask.agent_id is 'Which agent asked.';
comment on column admin.ask.status is 'active, fulfilled or archived.';
comment on column admin.ask.title is 'Read from the text.';
comment on column admin.ask.text is 'The text as sent.';
comment on column admin.ask.domain is 'Where a matching offer would be filed.';
comment on column admin.ask.category is 'Category of the domain.';
comment on column admin.ask.ask_kind is 'What is wanted: buy, rent, hire and so on.';
comment on column admin.ask.criteria is 'How it was read.';
comment on column admin.ask.created_at is 'When it was made.';
comment on column admin.ask.updated_at is 'When it last changed.';
grant select on admin.ask to souk_moderator;

create type admin.account_limit as (action text, cap integer, earned boolean);
comment on type admin.account_limit is 'How often an agent of the account may do something within an hour.';
comment on column admin.account_limit.action is 'publish_offer, create_ask or preview_offer.';
comment on column admin.account_limit.cap is 'Calls an hour for each agent.';
comment on column admin.account_limit.earned is 'Whether the cap follows from the record; false when a moderator set it.';

create or replace function admin.account_limits(account admin.account) returns setof admin.account_limit
  language plpgsql stable rows 3
as $$
begin
  return query
    select a.name, market.call_cap(account.id, a.name), o.account_id is null
    from (values (1, 'publish_offer'), (2, 'create_ask'), (3, 'preview_offer')) as a (place, name)
    left join market.cap_override o on o.account_id = account.id and o.action = a.name
    order by a.place;
end
$$;
comment on function admin.account_limits(admin.account) is E'@behavior -queryField:resource:connection +queryField:resource:list -typeField:resource:connection +typeField:resource:list\nWhat its agents may do within an hour.';
grant execute on function admin.account_limits(admin.account) to souk_moderator;
--! EndIncluded admin/accounts.sql
--! Included admin/offers.sql
-- Offers as moderators see them, with their reports, appeals and history.

create view admin.offer with (security_invoker) as
  select o.id, o.account_id, o.agent_id, o.status, o.title, o.text, o.images, o.language, o.domain, o.category, o.offer_kind,
    o.metadata -> 'pricing' ->> 'label' as price, o.location_text as location, o.metadata, o.contact, o.extraction,
    o.missing_fields, o.warnings, o.reviewed, o.review_reason, o.review_note, o.created_at, o.updated_at, o.published_at,
    o.removed_at, o.suspended_at
  from market.offer o;
comment on view admin.offer is E'@primaryKey id\n@foreignKey (account_id) references admin.account (id)|@fieldName account|@foreignFieldName offers\n@foreignKey (agent_id) references admin.agent (id)|@fieldName agent|@foreignFieldName offers\nAn offer, whatever its status.';
comment on column admin.offer.id is 'UUIDv7: sorts by age.';
comment on column admin.offer.account_id is E'@behavior +filterBy\nWhose offer; null when the account no longer exists.';
comment on column admin.offer.agent_id is E'@behavior +filterBy\nWhich agent published it.';
comment on column admin.offer.status is 'pending_review, published, rejected, archived or removed.';
comment on column admin.offer.title is 'Made of words of the text.';
comment on column admin.offer.text is 'The text as sent.';
comment on column admin.offer.images is 'Links to images; never opened by this service.';
comment on column admin.offer.language is 'Language of the text.';
comment on column admin.offer.domain is 'Where it is filed.';
comment on column admin.offer.category is 'Category of the domain.';
comment on column admin.offer.offer_kind is 'sale, rental, service_offer, project_hire, dating or friendship.';
comment on column admin.offer.price is 'The price in the words of the text.';
comment on column admin.offer.location is 'The place as written.';
comment on column admin.offer.metadata is 'What was read from the text: pricing, location, space, features, condition, attributes.';
comment on column admin.offer.contact is 'Whom and how to reach.';
comment on column admin.offer.extraction is 'How the text was read: each value with the words that say it, where they stand, and how sure the reading is.';
comment on column admin.offer.missing_fields is 'What the text left unclear.';
comment on column admin.offer.warnings is 'What its agent was warned of.';
comment on column admin.offer.reviewed is 'Whether a moderator looked at it as it stands and kept it up.';
comment on column admin.offer.review_reason is 'Why it was taken down or rejected, as a code.';
comment on column admin.offer.review_note is 'Why, as its owner reads it.';
comment on column admin.offer.created_at is 'When it was submitted.';
comment on column admin.offer.updated_at is 'When it last changed. Every decision names the one it saw, so that none is made on what has changed since.';
comment on column admin.offer.published_at is 'When it first went live.';
comment on column admin.offer.removed_at is 'When it was last taken down.';
comment on column admin.offer.suspended_at is 'When it was archived because its account was suspended.';
grant select on admin.offer to souk_moderator;

create view admin.report with (security_invoker) as
  select r.id, r.offer_id, r.account_id, r.agent_id, r.reason, r.comment, r.created_at, r.settled_at from market.report r;
comment on view admin.report is E'@primaryKey id\n@foreignKey (offer_id) references admin.offer (id)|@fieldName offer|@foreignFieldName reports\n@foreignKey (account_id) references admin.account (id)|@fieldName account|@foreignFieldName reports\nA report: an account asks you to look at an offer.';
comment on column admin.report.id is 'UUIDv7: sorts by age.';
comment on column admin.report.offer_id is E'@behavior +filterBy\nWhat is reported.';
comment on column admin.report.account_id is E'@behavior +filterBy\nBy whom.';
comment on column admin.report.agent_id is 'Through which agent.';
comment on column admin.report.reason is 'Why, as a code.';
comment on column admin.report.comment is 'Why, in words.';
comment on column admin.report.created_at is 'When.';
comment on column admin.report.settled_at is 'When a decision settled it; null while it waits.';
grant select on admin.report to souk_moderator;

create view admin.appeal with (security_invoker) as
  select a.offer_id, a.removed_at, a.account_id, a.agent_id, a.comment, a.created_at from market.appeal a;
comment on view admin.appeal is E'@primaryKey offer_id,removed_at\n@foreignKey (offer_id) references admin.offer (id)|@fieldName offer|@foreignFieldName appeals\nAn appeal: the owner asks for a second look, by another moderator.';
comment on column admin.appeal.offer_id is E'@behavior +filterBy\nWhat was taken down.';
comment on column admin.appeal.removed_at is 'When it was taken down.';
comment on column admin.appeal.account_id is 'Who appeals.';
comment on column admin.appeal.agent_id is 'Through which agent.';
comment on column admin.appeal.comment is 'Why, in the owner''s words.';
comment on column admin.appeal.created_at is 'When.';
grant select on admin.appeal to souk_moderator;

create view admin.decision with (security_invoker) as
  select d.id, d.moderator_id, d.action, d.offer_id, d.account_id, d.agent_id, d.reason, d.sentence, d.created_at
  from market.decision d;
comment on view admin.decision is E'@primaryKey id\n@foreignKey (offer_id) references admin.offer (id)|@fieldName offer|@foreignFieldName decisions\n@foreignKey (account_id) references admin.account (id)|@fieldName account|@foreignFieldName decisions\n@foreignKey (moderator_id) references admin.moderator (account_id)|@fieldName moderator|@foreignFieldName decisions\nWhat a moderator decided.';
comment on column admin.decision.id is 'UUIDv7: sorts by age.';
comment on column admin.decision.moderator_id is E'@behavior +filterBy\nWhose decision.';
comment on column admin.decision.action is 'keep, remove, restore, uphold, publish, reject; suspend, reinstate, remove_agent, override_cap.';
comment on column admin.decision.offer_id is E'@behavior +filterBy\nThe offer it is about.';
comment on column admin.decision.account_id is E'@behavior +filterBy\nThe account it is about, or whose offer or agent.';
comment on column admin.decision.agent_id is 'The agent it is about.';
comment on column admin.decision.reason is 'Why, as a code.';
comment on column admin.decision.sentence is 'Why, in words.';
comment on column admin.decision.created_at is 'When.';
grant select on admin.decision to souk_moderator;

create or replace function market.similar_offers(offer_id uuid) returns setof uuid
  language plpgsql stable security definer set search_path = '' rows 8
as $$
declare
  own market.offer_embedding;
begin
  select * into own from market.offer_embedding e where e.offer_id = similar_offers.offer_id;
  -- A vector in a variable: the index orders by a value, not by a column of another row.
  return query
    select e.offer_id from market.offer_embedding e
    where e.model = own.model and e.offer_id <> own.offer_id
    order by e.embedding operator(public.<=>) own.embedding
    limit 8;
end
$$;
comment on function market.similar_offers(uuid) is 'The eight offers whose vectors are nearest to that of an offer, nearest first.';
grant execute on function market.similar_offers(uuid) to souk_moderator;

create or replace function admin.offer_similar(offer admin.offer) returns setof admin.offer
  language plpgsql stable rows 8
as $$
begin
  return query
    select o.* from market.similar_offers(offer.id) with ordinality as s (id, place) join admin.offer o on o.id = s.id
    order by s.place;
end
$$;
comment on function admin.offer_similar(admin.offer) is E'@behavior -queryField:resource:connection +queryField:resource:list -typeField:resource:connection +typeField:resource:list\nUp to eight offers that say about the same, the most alike first. Only what is or was live can be compared.';
grant execute on function admin.offer_similar(admin.offer) to souk_moderator;
--! EndIncluded admin/offers.sql
--! Included admin/cases.sql
-- The queue: what needs a decision, and who is at it.

create view admin.review_case with (security_invoker) as
  select c.offer_id, c.queue, c.causes, c.reports, c.opened_at,
    case when c.held_until > now() then c.held_by end as held_by,
    case when c.held_until > now() then c.held_until end as held_until
  from market.review_case c where c.closed_at is null;
comment on view admin.review_case is E'@primaryKey offer_id\n@foreignKey (offer_id) references admin.offer (id)|@fieldName offer|@foreignFieldName reviewCase\n@foreignKey (held_by) references admin.moderator (account_id)|@fieldName holder|@foreignFieldName heldCases\n@behavior +totalCount\nA case: an offer that needs a decision.';
comment on column admin.review_case.offer_id is E'@behavior +orderBy\nThe offer.';
comment on column admin.review_case.queue is E'@behavior +filterBy\nThe most pressing of the causes: appeal, pending, reported, addresses_agents, suspicious_link, first_offer.';
comment on column admin.review_case.causes is 'Why it needs a decision.';
comment on column admin.review_case.reports is E'@behavior +orderBy\nHow many accounts reported it since the last decision.';
comment on column admin.review_case.opened_at is E'@behavior +orderBy\nSince when it waits.';
comment on column admin.review_case.held_by is 'The moderator who took it; nobody else decides until held_until.';
comment on column admin.review_case.held_until is 'Until when it is theirs alone.';
grant select on admin.review_case to souk_moderator;

create view admin.queue with (security_invoker) as
  select c.queue as name, count(*)::integer as cases, min(c.opened_at) as oldest
  from market.review_case c where c.closed_at is null
  group by c.queue;
comment on view admin.queue is E'@primaryKey name\nA line of cases, with how many wait in it. Empty lines are not listed.';
comment on column admin.queue.name is 'appeal, pending, reported, addresses_agents, suspicious_link or first_offer.';
comment on column admin.queue.cases is 'How many wait.';
comment on column admin.queue.oldest is 'Since when the oldest waits.';
grant select on admin.queue to souk_moderator;

create or replace function market.lock_case(offer_id uuid) returns market.review_case
  language plpgsql volatile
as $$
declare
  review market.review_case;
  holder text;
begin
  select * into review from market.review_case c where c.offer_id = lock_case.offer_id and c.closed_at is null for update;
  if review.held_by <> market.moderator_id() and review.held_until > now() then
    select m.name into holder from admin.moderator m where m.account_id = review.held_by;
    perform market.fail(409, 'invalid_state', format('%s has taken this case, until %s UTC. Leave it to them, or come back then.',
      coalesce(holder, 'Another moderator'), to_char(review.held_until at time zone 'UTC', 'HH24:MI')));
  end if;
  return review;
end
$$;
comment on function market.lock_case(uuid) is 'The open case of an offer, locked, or nulls when there is none; 409 while another moderator holds it.';
grant execute on function market.lock_case(uuid) to souk_moderator;

create or replace function admin.claim_case(offer_id uuid) returns admin.review_case
  language plpgsql volatile
as $$
declare
  review market.review_case := market.lock_case(claim_case.offer_id);
begin
  if review.offer_id is null then
    perform market.fail(404, 'not_found', 'This offer has no open case. It may have been decided a moment ago.');
  end if;
  -- Long enough to read an offer and its reports, short enough that a closed laptop holds nothing up.
  update market.review_case c set held_by = market.moderator_id(), held_until = now() + interval '10 minutes'
  where c.offer_id = review.offer_id;
  return (select c from admin.review_case c where c.offer_id = review.offer_id);
end
$$;
comment on function admin.claim_case(uuid) is 'Takes a case for ten minutes, in which nobody else decides on it; again for ten more.';
grant execute on function admin.claim_case(uuid) to souk_moderator;

create or replace function admin.release_case(offer_id uuid) returns admin.review_case
  language plpgsql volatile
as $$
declare
  review market.review_case := market.lock_case(release_case.offer_id);
begin
  update market.review_case c set held_by = null, held_until = null where c.offer_id = review.offer_id;
  return (select c from admin.review_case c where c.offer_id = review.offer_id);
end
$$;
comment on function admin.release_case(uuid) is 'Gives a case back.';
grant execute on function admin.release_case(uuid) to souk_moderator;
--! EndIncluded admin/cases.sql
--! Included admin/decisions.sql
-- Decisions on offers. Each names the state that the moderator saw (expected_updated_at), so that none is made on what
-- another moderator or the owner has changed meanwhile.

create or replace function market.check_appeal_judge(offer market.offer, causes text[]) returns void
  language plpgsql stable
as $$
begin
  if 'appeal' = any (causes)
    and market.moderator_id() = (select d.moderator_id from market.decision d
      where d.offer_id = offer.id and d.action = 'remove' order by d.id desc limit 1)
    -- Where there is only one moderator, a second look by the same one is better than none.
    and exists (select from market.moderator m where m.account_id <> market.moderator_id())
  then
    perform market.fail(409, 'invalid_state', 'You took this offer down, so another moderator decides on the appeal.');
  end if;
end
$$;
comment on function market.check_appeal_judge(market.offer, text[]) is
  'Refuses with 409 a moderator who would judge an appeal against the own decision, when there is another to do it.';
grant execute on function market.check_appeal_judge(market.offer, text[]) to souk_moderator;

create or replace function market.decide_offer(id uuid, action text, expected_updated_at timestamptz, reason text, sentence text)
  returns admin.offer
  language plpgsql volatile
as $$
declare
  offer market.offer;
  review market.review_case;
  becomes text := case decide_offer.action when 'remove' then 'removed' when 'restore' then 'published'
    when 'publish' then 'published' when 'reject' then 'rejected' end;
  may_be constant text[] := case when decide_offer.action in ('keep', 'remove') then array['published', 'archived']
    when decide_offer.action in ('publish', 'reject') then array['pending_review'] else array['removed'] end;
  note text := nullif(btrim(decide_offer.sentence), '');
begin
  select * into offer from market.offer o where o.id = decide_offer.id for no key update;
  if not found then
    perform market.fail(404, 'not_found', 'There is no such offer.');
  end if;
  review := market.lock_case(offer.id);
  if offer.updated_at is distinct from decide_offer.expected_updated_at then
    perform market.fail(409, 'invalid_state',
      format('This offer has changed since you looked at it, and is %s now. Look at it again, then decide.', replace(offer.status, '_', ' ')));
  elsif offer.status <> all (may_be) then
    perform market.fail(409, 'invalid_state',
      format('This offer is %s; only what is %s can be decided so.', replace(offer.status, '_', ' '), replace(array_to_string(may_be, ' or '), '_', ' ')));
  elsif decide_offer.action = 'uphold' and 'appeal' <> all (coalesce(review.causes, '{}')) then
    perform market.fail(409, 'invalid_state', 'Nobody has appealed against the removal of this offer.');
  elsif decide_offer.action in ('remove', 'reject')
    and not exists (select from market.reason r where r.code = decide_offer.reason) then
    perform market.fail(400, 'bad_request', 'Give one of the reasons, by its code.');
  elsif char_length(note) > 500 then
    perform market.fail(400, 'bad_request', 'The sentence may be at most 500 characters long.');
  end if;
  perform market.check_appeal_judge(offer, review.causes);

  if decide_offer.action in ('remove', 'reject') then
    note := coalesce(note, (select r.sentence from market.reason r where r.code = decide_offer.reason));
  end if;
  update market.offer o set
    status = coalesce(becomes, o.status),
    reviewed = decide_offer.action in ('keep', 'restore', 'publish'),
    review_reason = case when decide_offer.action in ('remove', 'reject') then decide_offer.reason when decide_offer.action = 'uphold' then o.review_reason end,
    review_note = case when decide_offer.action in ('remove', 'reject') then note when decide_offer.action = 'uphold' then coalesce(note, o.review_note) end
  where o.id = offer.id;
  update market.report r set settled_at = now() where r.offer_id = offer.id and r.settled_at is null;
  update market.review_case c set closed_at = now(), reports = 0, held_by = null, held_until = null
  where c.offer_id = offer.id and c.closed_at is null;
  insert into market.decision (moderator_id, action, offer_id, account_id, reason, sentence)
  values (market.moderator_id(), decide_offer.action, offer.id, offer.account_id, decide_offer.reason, note);
  return (select o from admin.offer o where o.id = offer.id);
end
$$;
comment on function market.decide_offer(uuid, text, timestamptz, text, text) is
  'Makes one decision on an offer, settles its reports and closes its case; 409 invalid_state when the offer is not as expected, held by another, or not to be decided so.';
grant execute on function market.decide_offer(uuid, text, timestamptz, text, text) to souk_moderator;

create or replace function admin.keep_offer(id uuid, expected_updated_at timestamptz, note text default null) returns admin.offer
  language plpgsql volatile
as $$ begin return market.decide_offer(keep_offer.id, 'keep', keep_offer.expected_updated_at, null, keep_offer.note); end $$;
comment on function admin.keep_offer(uuid, timestamptz, text) is 'Keeps an offer up: it becomes reviewed, and its reports are settled. The note is for other moderators.';

create or replace function admin.remove_offer(id uuid, expected_updated_at timestamptz, reason text, sentence text default null) returns admin.offer
  language plpgsql volatile
as $$ begin return market.decide_offer(remove_offer.id, 'remove', remove_offer.expected_updated_at, remove_offer.reason, remove_offer.sentence); end $$;
comment on function admin.remove_offer(uuid, timestamptz, text, text) is 'Takes an offer down for a reason. Its owner reads the sentence, or that of the reason, and may appeal once.';

create or replace function admin.restore_offer(id uuid, expected_updated_at timestamptz, note text default null) returns admin.offer
  language plpgsql volatile
as $$ begin return market.decide_offer(restore_offer.id, 'restore', restore_offer.expected_updated_at, null, restore_offer.note); end $$;
comment on function admin.restore_offer(uuid, timestamptz, text) is 'Puts an offer up again that was taken down. The note is for other moderators.';

create or replace function admin.uphold_removal(id uuid, expected_updated_at timestamptz, sentence text default null) returns admin.offer
  language plpgsql volatile
as $$ begin return market.decide_offer(uphold_removal.id, 'uphold', uphold_removal.expected_updated_at, null, uphold_removal.sentence); end $$;
comment on function admin.uphold_removal(uuid, timestamptz, text) is 'Declines an appeal: the offer stays down. A sentence replaces the one its owner reads.';

create or replace function admin.publish_offer(id uuid, expected_updated_at timestamptz, note text default null) returns admin.offer
  language plpgsql volatile
as $$ begin return market.decide_offer(publish_offer.id, 'publish', publish_offer.expected_updated_at, null, publish_offer.note); end $$;
comment on function admin.publish_offer(uuid, timestamptz, text) is 'Lets an offer go live that waits for review. The note is for other moderators.';

create or replace function admin.reject_offer(id uuid, expected_updated_at timestamptz, reason text, sentence text default null) returns admin.offer
  language plpgsql volatile
as $$ begin return market.decide_offer(reject_offer.id, 'reject', reject_offer.expected_updated_at, reject_offer.reason, reject_offer.sentence); end $$;
comment on function admin.reject_offer(uuid, timestamptz, text, text) is 'Rejects an offer that waits for review, for good. Its owner reads the sentence, or that of the reason.';

grant execute on function admin.keep_offer(uuid, timestamptz, text), admin.remove_offer(uuid, timestamptz, text, text),
  admin.restore_offer(uuid, timestamptz, text), admin.uphold_removal(uuid, timestamptz, text),
  admin.publish_offer(uuid, timestamptz, text), admin.reject_offer(uuid, timestamptz, text, text) to souk_moderator;
--! EndIncluded admin/decisions.sql
--! Included admin/measures.sql
-- Measures against accounts and agents.

create or replace function market.begin_settling(account_id uuid) returns void
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  if market.moderator_id() is null then
    perform market.fail(404, 'not_found', 'There is no such account.');
  end if;
  -- Most accounts are done with at once; the worker sees to the rest of a large one.
  if not market.settle_standing(begin_settling.account_id, 500) then
    perform market.enqueue('settle_standing', begin_settling.account_id);
  end if;
end
$$;
comment on function market.begin_settling(uuid) is 'Archives or publishes again the offers of an account whose standing changed: the first 500 now, the rest by a job.';
grant execute on function market.begin_settling(uuid) to souk_moderator;

create or replace function market.lock_account(id uuid) returns market.account
  language plpgsql volatile
as $$
declare
  account market.account;
begin
  select * into account from market.account a where a.id = lock_account.id for no key update;
  if not found then
    perform market.fail(404, 'not_found', 'There is no such account.');
  end if;
  return account;
end
$$;
comment on function market.lock_account(uuid) is 'An account, locked; 404 when there is none.';
grant execute on function market.lock_account(uuid) to souk_moderator;

create or replace function admin.suspend_account(id uuid, reason text, sentence text default null) returns admin.account
  language plpgsql volatile
as $$
declare
  account market.account := market.lock_account(suspend_account.id);
  note text := nullif(btrim(suspend_account.sentence), '');
begin
  if account.suspended_at is not null then
    perform market.fail(409, 'invalid_state', 'This account is suspended already.');
  elsif exists (select from market.moderator m where m.account_id = account.id) then
    perform market.fail(409, 'invalid_state', 'This account belongs to a moderator. Have the appointment ended first.');
  elsif char_length(note) > 500 then
    perform market.fail(400, 'bad_request', 'The sentence may be at most 500 characters long.');
  end if;
  note := coalesce(note, (select r.sentence from market.reason r where r.code = suspend_account.reason));
  if note is null or not exists (select from market.reason r where r.code = suspend_account.reason) then
    perform market.fail(400, 'bad_request', 'Give one of the reasons, by its code.');
  end if;
  update market.account a set suspended_at = now(), suspension_reason = suspend_account.reason, suspension_note = note
  where a.id = account.id;
  perform market.begin_settling(account.id);
  insert into market.decision (moderator_id, action, account_id, reason, sentence)
  values (market.moderator_id(), 'suspend', account.id, suspend_account.reason, note);
  return (select a from admin.account a where a.id = account.id);
end
$$;
comment on function admin.suspend_account(uuid, text, text) is 'Suspends an account: its agents may read, what they write is refused with the sentence, and its offers are not shown.';

create or replace function admin.reinstate_account(id uuid, note text default null) returns admin.account
  language plpgsql volatile
as $$
declare
  account market.account := market.lock_account(reinstate_account.id);
begin
  if account.suspended_at is null then
    perform market.fail(409, 'invalid_state', 'This account is not suspended.');
  elsif char_length(reinstate_account.note) > 500 then
    perform market.fail(400, 'bad_request', 'The note may be at most 500 characters long.');
  end if;
  update market.account a set suspended_at = null, suspension_reason = null, suspension_note = null where a.id = account.id;
  perform market.begin_settling(account.id);
  insert into market.decision (moderator_id, action, account_id, sentence)
  values (market.moderator_id(), 'reinstate', account.id, nullif(btrim(reinstate_account.note), ''));
  return (select a from admin.account a where a.id = account.id);
end
$$;
comment on function admin.reinstate_account(uuid, text) is 'Ends a suspension; what it archived goes live again. The note is for other moderators.';

create or replace function admin.remove_agent(id uuid, note text default null) returns admin.agent
  language plpgsql volatile
as $$
declare
  agent admin.agent;
begin
  -- The token of the agent is not a moderator's to see, so the row is not read whole.
  select * into agent from admin.agent a where a.id = remove_agent.id;
  if not found then
    perform market.fail(404, 'not_found', 'There is no such agent.');
  elsif char_length(remove_agent.note) > 500 then
    perform market.fail(400, 'bad_request', 'The note may be at most 500 characters long.');
  end if;
  update market.agent a set removed_at = now() where a.id = agent.id and a.removed_at is null;
  if not found then
    perform market.fail(409, 'invalid_state', 'This agent was removed already.');
  end if;
  insert into market.decision (moderator_id, action, account_id, agent_id, sentence)
  values (market.moderator_id(), 'remove_agent', agent.account_id, agent.id, nullif(btrim(remove_agent.note), ''));
  return (select a from admin.agent a where a.id = agent.id);
end
$$;
comment on function admin.remove_agent(uuid, text) is 'Removes an agent: its token is refused from now on. What it published stays. The note is for other moderators.';

create or replace function admin.override_cap(account_id uuid, action text, cap integer default null, note text default null) returns admin.account
  language plpgsql volatile
as $$
declare
  account market.account := market.lock_account(override_cap.account_id);
begin
  if override_cap.action not in ('publish_offer', 'create_ask', 'preview_offer') then
    perform market.fail(400, 'bad_request', 'The action is one of publish_offer, create_ask and preview_offer.');
  elsif override_cap.cap not between 0 and 100000 then
    perform market.fail(400, 'bad_request', 'A cap is a whole number from 0 to 100000.');
  elsif char_length(override_cap.note) > 400 then
    perform market.fail(400, 'bad_request', 'The note may be at most 400 characters long.');
  end if;
  if override_cap.cap is null then
    delete from market.cap_override o where o.account_id = account.id and o.action = override_cap.action;
  else
    insert into market.cap_override (account_id, action, cap, changed_by)
    values (account.id, override_cap.action, override_cap.cap, market.moderator_id())
    on conflict on constraint cap_override_pkey do update
      set cap = excluded.cap, changed_by = excluded.changed_by, changed_at = now();
  end if;
  insert into market.decision (moderator_id, action, account_id, sentence)
  values (market.moderator_id(), 'override_cap', account.id, concat_ws(' ',
    format('%s: %s.', override_cap.action, coalesce(override_cap.cap::text, 'by its record')), nullif(btrim(override_cap.note), '')));
  return (select a from admin.account a where a.id = account.id);
end
$$;
comment on function admin.override_cap(uuid, text, integer, text) is 'Sets how often an agent of the account may do something within an hour; without a cap the record decides again.';

grant execute on function admin.suspend_account(uuid, text, text), admin.reinstate_account(uuid, text),
  admin.remove_agent(uuid, text), admin.override_cap(uuid, text, integer, text) to souk_moderator;
--! EndIncluded admin/measures.sql
--! Included admin/settings.sql
-- The switches and numbers that moderators may change, and who changed them.

create view admin.setting with (security_invoker) as
  select s.name, s.value, s.summary, s.least, s.most, s.changed_by, s.changed_at
  from market.setting s
  where jsonb_typeof(s.value) = 'boolean' or s.least is not null;
comment on view admin.setting is E'@primaryKey name\n@foreignKey (changed_by) references admin.moderator (account_id)|@fieldName changer|@behavior -backwards\nA switch, or a number within bounds.';
comment on column admin.setting.name is 'Its name.';
comment on column admin.setting.value is 'true or false, or a whole number.';
comment on column admin.setting.summary is 'What it does.';
comment on column admin.setting.least is 'The least a number may be; null for a switch.';
comment on column admin.setting.most is 'The most a number may be; null for a switch.';
comment on column admin.setting.changed_by is 'The moderator who changed it last; null when it was changed in SQL, or never.';
comment on column admin.setting.changed_at is 'When a moderator changed it last.';
grant select on admin.setting to souk_moderator;

create or replace function admin.change_setting(name text, value jsonb, expected_value jsonb) returns admin.setting
  language plpgsql volatile
as $$
declare
  setting market.setting;
begin
  select * into setting from market.setting s where s.name = change_setting.name and exists (
    select from admin.setting a where a.name = s.name) for no key update;
  if not found then
    perform market.fail(404, 'not_found', 'There is no such setting, or it is not yours to change.');
  elsif setting.value <> change_setting.expected_value then
    perform market.fail(409, 'invalid_state', format('Somebody changed this setting meanwhile: it is %s now. Look at it again.', setting.value));
  elsif jsonb_typeof(change_setting.value) is distinct from jsonb_typeof(setting.value) then
    perform market.fail(400, 'bad_request', case jsonb_typeof(setting.value)
      when 'boolean' then 'This setting is true or false.' else 'This setting is a whole number.' end);
  elsif setting.least is not null and (change_setting.value::numeric not between setting.least and setting.most
    or change_setting.value::numeric % 1 <> 0) then
    perform market.fail(400, 'bad_request', format('This setting is a whole number from %s to %s.', setting.least, setting.most));
  end if;
  update market.setting s set value = change_setting.value, changed_by = market.moderator_id(), changed_at = now()
  where s.name = setting.name;
  return (select s from admin.setting s where s.name = setting.name);
end
$$;
comment on function admin.change_setting(text, jsonb, jsonb) is 'Changes a setting that still has the value you saw.';
grant execute on function admin.change_setting(text, jsonb, jsonb) to souk_moderator;
--! EndIncluded admin/settings.sql
--! Included admin/search.sql
-- One search over everything: an id, the words of an offer or an ask, the beginning of an agent's or a person's name.

create type admin.finding as (kind text, id uuid, title text, status text, at timestamptz, offer_id uuid, account_id uuid);
comment on type admin.finding is 'Something that a search found.';
comment on column admin.finding.kind is 'offer, account, agent, ask or report.';
comment on column admin.finding.id is 'Its id.';
comment on column admin.finding.title is 'What it is called.';
comment on column admin.finding.status is 'What state it is in.';
comment on column admin.finding.at is 'When it was made.';
comment on column admin.finding.offer_id is 'The offer that it is, or is about.';
comment on column admin.finding.account_id is 'The account that it is, or belongs to.';

create or replace function market.find_by_id(id uuid) returns setof admin.finding
  language plpgsql stable rows 1
as $$
begin
  return query
    select 'offer', o.id, o.title, o.status, o.created_at, o.id, o.account_id from market.offer o where o.id = find_by_id.id
    union all select 'account', a.id, coalesce(a.display_name, 'Account without a name'),
      case when a.suspended_at is null then 'in good standing' else 'suspended' end, a.created_at, null::uuid, a.id from market.account a where a.id = find_by_id.id
    union all select 'agent', a.id, a.name, case when a.removed_at is not null then 'removed' when a.connected_at is null then 'not approved' else 'connected' end,
      a.created_at, null::uuid, a.account_id from market.agent a where a.id = find_by_id.id
    union all select 'ask', a.id, coalesce(a.title, left(a.text, 120)), a.status, a.created_at, null::uuid, a.account_id from market.ask a where a.id = find_by_id.id
    union all select 'report', r.id, r.reason, case when r.settled_at is null then 'open' else 'settled' end, r.created_at, r.offer_id, r.account_id from market.report r where r.id = find_by_id.id;
end
$$;
comment on function market.find_by_id(uuid) is 'What has this id, for moderators.';
grant execute on function market.find_by_id(uuid) to souk_moderator;

create or replace function admin.find(words text) returns setof admin.finding
  language plpgsql stable rows 60
as $$
declare
  folded constant text := left(market.fold(find.words), 200);
  query constant tsquery := websearch_to_tsquery('simple', folded);
  beginning constant text := replace(replace(replace(left(lower(btrim(find.words)), 80), '\', '\\'), '%', '\%'), '_', '\_') || '%';
begin
  if btrim(find.words) ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
    return query select * from market.find_by_id(btrim(find.words)::uuid);
    return;
  elsif btrim(find.words) = '' then
    return;
  end if;
  return query
    -- Live and hidden offers have an index each.
    (select 'offer', o.id, o.title, o.status, o.created_at, o.id, o.account_id from market.offer o
      where o.status = 'published' and o.search @@ query limit 20)
    union all (select 'offer', o.id, o.title, o.status, o.created_at, o.id, o.account_id from market.offer o
      where o.status <> 'published' and o.search @@ query limit 20)
    union all (select 'ask', a.id, coalesce(a.title, left(a.text, 120)), a.status, a.created_at, null::uuid, a.account_id from market.ask a
      where to_tsvector('simple', market.fold(a.text)) @@ query limit 20)
    union all (select 'account', a.id, a.display_name, case when a.suspended_at is null then 'in good standing' else 'suspended' end, a.created_at, null::uuid, a.id
      from market.account a where lower(a.display_name) like beginning limit 20)
    union all (select 'agent', a.id, a.name, case when a.removed_at is not null then 'removed' when a.connected_at is null then 'not approved' else 'connected' end,
      a.created_at, null::uuid, a.account_id from market.agent a where lower(a.name) like beginning limit 20);
end
$$;
comment on function admin.find(text) is E'@behavior -queryField:resource:connection +queryField:resource:list -typeField:resource:connection +typeField:resource:list\nUp to twenty each of the offers, asks, accounts and agents with these words, or the one thing with this id.';
grant execute on function admin.find(text) to souk_moderator;
--! EndIncluded admin/search.sql
--! Included admin/audit.sql
-- The audit log, for moderators.

create policy "a moderator reads the log" on market.audit_event for select to souk_moderator using (true);
grant select on market.audit_event to souk_moderator;

create view admin.audit_event with (security_invoker) as
  select e.id, e.at, e.actor_type, e.account_id, e.agent_id, e.sql_role, e.action, e.table_name, e.row_id,
    e.subject_account_id, e.before, e.after, e.request_id
  from market.audit_event e;
comment on view admin.audit_event is E'@primaryKey id\nSomething that somebody changed. Nobody can change or delete what stands here.';
comment on column admin.audit_event.id is 'UUIDv7: sorts by age.';
comment on column admin.audit_event.at is 'When.';
comment on column admin.audit_event.actor_type is 'person, agent, moderator, job or dba.';
comment on column admin.audit_event.account_id is 'Who acted, or for whom its agent did.';
comment on column admin.audit_event.agent_id is 'The agent that acted.';
comment on column admin.audit_event.sql_role is 'The role in the database.';
comment on column admin.audit_event.action is 'What was done, as offer.removed.';
comment on column admin.audit_event.table_name is 'What kind of thing it was done to.';
comment on column admin.audit_event.row_id is E'@behavior +filterBy\nTo which.';
comment on column admin.audit_event.subject_account_id is E'@behavior +filterBy\nWhose it was.';
comment on column admin.audit_event.before is 'What changed, as it was.';
comment on column admin.audit_event.after is 'What changed, as it is.';
comment on column admin.audit_event.request_id is 'The request that did it.';
grant select on admin.audit_event to souk_moderator;
--! EndIncluded admin/audit.sql

-- What was reported before there was anybody to look.
insert into market.review_case (offer_id, causes, reports, opened_at)
  select r.offer_id, array['reported'], count(*), min(r.created_at) from market.report r group by r.offer_id;
insert into market.review_case (offer_id, causes, opened_at)
  select o.id, array['pending'], o.created_at from market.offer o where o.status = 'pending_review'
  on conflict on constraint review_case_pkey do update
    set causes = market.review_case.causes || excluded.causes, opened_at = least(market.review_case.opened_at, excluded.opened_at);

comment on column market.audit_event.row_id is 'Which row: its id, or what it has for one (the method, the switch, the capped action, the account of a profile).';
create or replace trigger audit after insert or update or delete on market.offer for each row execute function market.audit(
  'account_id', 'agent_id', 'origin_ask_id', 'status', 'language', 'domain', 'category', 'offer_kind', 'price_hundredths',
  'price_currency', 'price_period', 'reviewed', 'published_at', 'removed_at', 'review_reason', 'suspended_at');
create or replace trigger audit after update or delete on market.account for each row execute function market.audit(
  'claimed_at', 'suspended_at', 'suspension_reason');
create or replace trigger audit after insert or update or delete on market.report for each row execute function market.audit(
  'offer_id', 'account_id', 'agent_id', 'reason', 'settled_at');
create or replace trigger audit after insert or delete on market.moderator for each row execute function market.audit(
  'account_id', 'appointed_by');
create or replace trigger audit after insert or update or delete on market.cap_override for each row execute function market.audit(
  'action', 'cap');

-- Functions beside tables whose text changed (as db/schema has them)

CREATE OR REPLACE FUNCTION market.uuid_v7()
 RETURNS uuid
 LANGUAGE sql
 PARALLEL SAFE
AS $function$
  select encode(
    set_bit(set_bit(
      overlay(
        uuid_send(gen_random_uuid())
        placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
        from 1 for 6
      ), 52, 1), 53, 1),
    'hex')::uuid
$function$;
comment on function market.uuid_v7() is 'A new UUIDv7: sorts by the time it was made.';
grant execute on function market.uuid_v7() to souk_agent, souk_moderator, souk_person;

CREATE OR REPLACE FUNCTION market.fold(words text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select translate(
    replace(replace(replace(
      regexp_replace(normalize(lower(words), NFKD), '[\u0300-\u036f]', '', 'g'),
      'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'),
    'łøđðıþ', 'loddit')
$function$;
comment on function market.fold(text) is 'Words as they are compared: lower case, compatibility forms resolved, no accents.';
grant execute on function market.fold(text) to souk_agent, souk_moderator, souk_person;

CREATE OR REPLACE FUNCTION market.search_config(language text)
 RETURNS regconfig
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case split_part(language, '-', 1)
    when 'de' then 'pg_catalog.german'::regconfig
    when 'en' then 'pg_catalog.english'::regconfig
    when 'es' then 'pg_catalog.spanish'::regconfig
    when 'fr' then 'pg_catalog.french'::regconfig
    when 'it' then 'pg_catalog.italian'::regconfig
    when 'nl' then 'pg_catalog.dutch'::regconfig
    when 'pt' then 'pg_catalog.portuguese'::regconfig
    else 'pg_catalog.simple'::regconfig
  end
$function$;
comment on function market.search_config(text) is 'The stemmer of a language (BCP 47); simple where PostgreSQL has none, as for Polish.';
grant execute on function market.search_config(text) to souk_agent, souk_moderator, souk_person;

CREATE OR REPLACE FUNCTION market.fail(status integer, code text, detail text, extra jsonb DEFAULT '{}'::jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  raise exception using
    errcode = 'PT' || fail.status,
    message = fail.code,
    detail = fail.detail,
    hint = fail.extra::text;
end
$function$;
comment on function market.fail(integer,text,text,jsonb) is 'Refuses the request: status and code of the contract, a sentence fit to be read aloud, and further members of the Problem (headers apart, under "headers").';
grant execute on function market.fail(integer,text,text,jsonb) to souk_agent, souk_api, souk_moderator, souk_person;

CREATE OR REPLACE FUNCTION market.require_connected(permission text, headers jsonb DEFAULT '{}'::jsonb)
 RETURNS void
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  if not market.connected() then
    perform market.fail(403, 'verification_required',
      'No person has approved this agent yet. Ask the person you act for to open the connection link and compare the code; then try again.',
      jsonb_build_object(
        'headers', headers,
        'permission', permission,
        'connected', false,
        'verified', market.verified_methods(),
        -- No permission requires a method at present, so no method would lift the refusal.
        'accepted_methods', '[]'::jsonb,
        'options', '[]'::jsonb,
        'next', jsonb_build_array(jsonb_build_object(
          'summary', 'Ask the person to open the connection link you were given, then read your permissions.',
          'method', 'GET', 'path', '/v1/me'))));
  end if;
  perform market.require_good_standing(require_connected.headers);
end
$function$;
comment on function market.require_connected(text,jsonb) is 'Refuses with 403 verification_required, naming the permission, until a person has approved the agent, and with 409 invalid_state while the account is suspended.';
grant execute on function market.require_connected(text,jsonb) to souk_agent, souk_person;

CREATE OR REPLACE FUNCTION market.call_cap_terms(account_id uuid, action text)
 RETURNS TABLE(base integer, factor integer, settled integer, proved integer, old boolean, removed integer)
 LANGUAGE sql
 STABLE
AS $function$
  -- base: offers cost readers' attention, asks only machine time, hence twice as many at first, and every term doubled.
  select market.setting(call_cap_terms.action || '_cap')::integer,
    case call_cap_terms.action when 'publish_offer' then 1 else 2 end,
    (select count(*)::integer from (
      select from market.offer o
      where o.account_id = call_cap_terms.account_id and o.status in ('published', 'archived')
        and o.published_at <= now() - interval '72 hours'
      limit 60) as settled),
    (select count(*)::integer from market.proved_method m where m.account_id = call_cap_terms.account_id),
    (select a.created_at <= now() - interval '30 days' from market.account a where a.id = call_cap_terms.account_id),
    (select count(*)::integer from (
      select from market.offer o
      where o.account_id = call_cap_terms.account_id and o.status = 'removed' and o.removed_at > now() - interval '30 days'
      limit 10) as removals)
$function$;
comment on function market.call_cap_terms(uuid,text) is 'What a cap is made from: base and factor of the action; settled offers (60 count), proved methods, whether the account is 30 days old, and listings removed in the last 30 days (10 count).';
grant execute on function market.call_cap_terms(uuid,text) to souk_dba;

CREATE OR REPLACE FUNCTION market.call_cap(account_id uuid, action text)
 RETURNS integer
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  return coalesce(
    (select o.cap from market.cap_override o where o.account_id = call_cap.account_id and o.action = call_cap.action),
    (select greatest(
      least(t.base + t.factor * (4 * t.settled + 30 * t.proved + case when t.old then 60 else 0 end), 10 * t.base) / 2 ^ t.removed,
      t.base / 4)::integer
    from market.call_cap_terms(call_cap.account_id, call_cap.action) as t));
end
$function$;
comment on function market.call_cap(uuid,text) is 'Calls an hour: base + 4 x min(settled offers, 60) + 30 x proved methods + 60 after 30 days, at most 10 x base; each removal of the last 30 days halves it, not below base / 4. Terms are doubled for asks and previews. The base is a setting, and what a moderator set for the account goes before all.';
grant execute on function market.call_cap(uuid,text) to souk_agent, souk_dba, souk_moderator, souk_person;

CREATE OR REPLACE FUNCTION market.enqueue(task text, id uuid)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  -- Eight attempts with graphile-worker's exponential backoff are about an hour.
  perform graphile_worker.add_job(enqueue.task, json_build_object('id', enqueue.id),
    job_key => enqueue.task || ':' || enqueue.id, max_attempts => 8,
    -- A queue does one job after the other: an embedder that hangs holds four of a worker's hands, a mail server that
    -- hangs one, and neither those that read, or see to a suspension.
    queue_name => case
      when enqueue.task in ('read_submission', 'settle_standing') then null
      when enqueue.task like 'send\_%' then 'mail'
      else 'embed ' || (hashtext(enqueue.id::text) & 3) end);
end
$function$;
comment on function market.enqueue(text,uuid) is 'Gives the worker a job about one row. For the market''s own functions.';

CREATE OR REPLACE FUNCTION market.move_offer()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if old.status <> new.status and (old.status, new.status) not in (
    ('published', 'archived'), ('published', 'removed'),
    ('archived', 'published'), ('archived', 'removed'),
    ('removed', 'published'),
    ('pending_review', 'published'), ('pending_review', 'rejected'), ('pending_review', 'archived'))
    -- Only a moderator restores, publishes what waits, takes down or rejects.
    or old.status <> new.status and current_user in ('souk_agent', 'souk_person') and (old.status, new.status) not in (
      ('published', 'archived'), ('archived', 'published'), ('pending_review', 'archived'))
    -- What never passed review does not go live by way of the archive.
    or old.status = 'archived' and new.status = 'published' and old.published_at is null
  then
    perform market.fail(409, 'invalid_state',
      format('This offer is %s, so it cannot become %s.', old.status, new.status));
  end if;
  new.updated_at := now();
  if new.status <> 'archived' then
    new.suspended_at := null;
  end if;
  if new.status = 'published' then
    new.published_at := coalesce(old.published_at, now());
  elsif new.status = 'removed' and old.status <> 'removed' then
    new.removed_at := now();
  end if;
  return new;
end
$function$;
comment on function market.move_offer() is 'Lets an offer move only as the contract says, and keeps its times.';
grant execute on function market.move_offer() to souk_agent, souk_moderator, souk_person;

CREATE OR REPLACE FUNCTION market.audit()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  was jsonb := case when tg_op <> 'INSERT' then to_jsonb(old) end;
  becomes jsonb := case when tg_op <> 'DELETE' then to_jsonb(new) end;
  subject uuid := coalesce(becomes ->> 'account_id', was ->> 'account_id',
    case when tg_table_name = 'account' then coalesce(becomes ->> 'id', was ->> 'id') end)::uuid;
  status text := case when tg_op = 'INSERT' or was -> 'status' <> becomes -> 'status' then becomes ->> 'status' end;
  login text := coalesce(nullif(current_setting('role'), 'none'), session_user);
  moderator uuid := nullif(current_setting('market.moderator_id', true), '')::uuid;
  agent uuid := market.agent_id();
  account uuid := coalesce(moderator, market.account_id());
  actor text;
  before jsonb;
  after jsonb;
begin
  if was - 'updated_at' = becomes - 'updated_at' then
    return null;
  end if;
  actor := case
    when moderator is not null then 'moderator'
    when agent is not null then 'agent'
    when account is not null then 'person'
    when login = 'souk_worker' then 'job'
    -- Nobody has entered: it is an agent that makes itself, or a person whom the secret of a link admits.
    when login = 'souk_api' then case when tg_table_name = 'agent' and tg_op = 'INSERT' then 'agent' else 'person' end
    else 'dba' end;
  select jsonb_object_agg(c.name, was -> c.name), jsonb_object_agg(c.name, becomes -> c.name) into before, after
  from unnest(tg_argv) as c (name) where coalesce(was -> c.name, 'null') <> coalesce(becomes -> c.name, 'null');
  insert into market.audit_event (actor_type, account_id, agent_id, sql_role, action, table_name, row_id,
    subject_account_id, before, after, request_id)
  values (actor, case when login = 'souk_api' then coalesce(account, subject) else account end, agent,
    case actor when 'dba' then session_user else login end,
    case
      when tg_table_name = 'offer' and status = 'published' and was ->> 'status' = 'removed' then 'offer.restored'
      when tg_table_name = 'offer' and status is not null then 'offer.' || status
      when tg_table_name = 'offer' and not (was ->> 'reviewed')::boolean and (becomes ->> 'reviewed')::boolean then 'offer.kept'
      when tg_table_name = 'ask' and tg_op = 'UPDATE' and status is not null
        then 'ask.' || case status when 'active' then 'reopened' else status end
      when tg_table_name = 'agent' and was ->> 'removed_at' is null and becomes ->> 'removed_at' is not null then 'agent.removed'
      when tg_table_name = 'agent' and was ->> 'connected_at' is null and becomes ->> 'connected_at' is not null then 'agent.connected'
      when tg_table_name = 'account' and was ->> 'suspended_at' is null and becomes ->> 'suspended_at' is not null then 'account.suspended'
      when tg_table_name = 'account' and was ->> 'suspended_at' is not null and becomes ->> 'suspended_at' is null then 'account.reinstated'
      when tg_table_name = 'account' and was ->> 'claimed_at' is null and becomes ->> 'claimed_at' is not null then 'account.claimed'
      when tg_table_name in ('account', 'profile') and tg_op <> 'DELETE' then 'profile.updated'
      when tg_table_name = 'proved_method' then case tg_op when 'DELETE' then 'method.removed' else 'method.proved' end
      else tg_table_name || case tg_op when 'INSERT' then '.created' when 'UPDATE' then '.updated' else '.deleted' end
    end,
    tg_table_name,
    coalesce(becomes ->> 'id', was ->> 'id', becomes ->> 'method', was ->> 'method', becomes ->> 'name', was ->> 'name',
      becomes ->> 'action', was ->> 'action', subject::text),
    subject,
    case when tg_op <> 'INSERT' then before end, case when tg_op <> 'DELETE' then after end,
    nullif(current_setting('market.request_id', true), ''));
  return null;
end
$function$;
comment on function market.audit() is 'Writes one change into the audit log. Its arguments are the columns whose values may stand there: none that a person wrote.';

CREATE OR REPLACE FUNCTION market.owner_offer(offer market.offer)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return jsonb_build_object(
    'id', offer.id,
    'status', offer.status,
    'visibility', case offer.status when 'published' then 'public' else 'owner_only' end,
    'review', coalesce(offer.review_note, case offer.status
      when 'published' then 'This offer is live: anyone can find it.'
      when 'pending_review' then 'A moderator will look at this offer before it goes live; nothing has to be done.'
      when 'rejected' then 'A moderator decided that this offer does not go live.'
      when 'archived' then case when offer.suspended_at is null then 'You took this offer down. It can be republished.'
        else 'The account is suspended by moderation, so this offer is not shown. It goes live again when the account is reinstated.' end
      when 'removed' then 'Moderation took this offer down; it cannot be republished.'
      else 'This offer is not finished.' end),
    'title', offer.title,
    'description', offer.text,
    'domain', offer.domain,
    'category', offer.category,
    'offer_kind', offer.offer_kind,
    'metadata', offer.metadata,
    'preview', market.preview(offer),
    'contact', offer.contact,
    'images', market.image_list(offer.images),
    'missing_fields', to_jsonb(offer.missing_fields),
    'published_at', market.utc(offer.published_at),
    'created_at', market.utc(offer.created_at),
    'updated_at', market.utc(offer.updated_at))
    || case when offer.review_reason is null then '{}' else jsonb_build_object('review_reason', offer.review_reason) end
    || case when offer.status <> 'removed' then '{}' else jsonb_build_object('appealable', market.is_appealable(offer)) end;
end
$function$;
comment on function market.owner_offer(market.offer) is 'An offer as its owner sees it.';
grant execute on function market.owner_offer(market.offer) to souk_agent, souk_person;

CREATE OR REPLACE FUNCTION market.finish_offer(submission market.submission, reading jsonb, OUT status integer, OUT body jsonb)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  read market.offer := market.read_offer(submission.text, reading);
  current market.offer;
begin
  read.warnings := market.image_warnings(submission.images);
  if submission.kind = 'preview_offer' then
    status := 200;
    body := market.understood(read) || jsonb_build_object('questions', market.questions(read.missing_fields, read.language));
    return;
  end if;
  if not market.hold_standing(submission.account_id) then
    status := 409;
    body := jsonb_build_object('code', 'invalid_state', 'account_status', 'suspended',
      'detail', 'This account was suspended by moderation while the text was being read, so nothing was published.');
    return;
  end if;
  if 'contact' = any (read.missing_fields) then
    status := 400;
    body := jsonb_build_object('code', 'missing_contact',
      'detail', 'The text names no way to reach the publisher. Ask the person for a phone number, an e-mail address or a link, put it into the text and send it again.',
      'errors', jsonb_build_array(jsonb_build_object('pointer', '/text', 'detail', 'Add a phone number, an e-mail address or a link.')));
    return;
  end if;

  if submission.kind = 'update_offer' then
    update market.offer o set
      text = read.text, images = submission.images, language = read.language, title = read.title,
      domain = read.domain, category = read.category, offer_kind = read.offer_kind,
      price_hundredths = read.price_hundredths, price_currency = read.price_currency, price_period = read.price_period,
      location_text = read.location_text, metadata = read.metadata, contact = read.contact, extraction = read.extraction,
      missing_fields = read.missing_fields, warnings = read.warnings, reviewed = false
    where o.id = submission.target_id and o.account_id = submission.account_id
      and o.status in ('published', 'archived', 'pending_review')
    returning * into current;
    if not found then
      status := 409;
      body := jsonb_build_object('code', 'invalid_state',
        'detail', 'This offer was taken down by moderation while its new text was being read, so it cannot be changed.');
      return;
    end if;
    status := 200;
  else
    insert into market.offer (id, account_id, agent_id, origin_ask_id, status, text, images, language, title,
      domain, category, offer_kind, price_hundredths, price_currency, price_period, location_text,
      metadata, contact, extraction, missing_fields, warnings, published_at)
    select submission.target_id, submission.account_id, submission.agent_id, submission.origin_ask_id,
      m.status, read.text, submission.images, read.language, read.title,
      read.domain, read.category, read.offer_kind, read.price_hundredths, read.price_currency, read.price_period,
      read.location_text, read.metadata, read.contact, read.extraction, read.missing_fields, read.warnings,
      case m.status when 'published' then now() end
    from (select case when market.setting('pre_moderation')::boolean then 'pending_review' else 'published' end as status) as m
    returning * into current;
    status := 201;
  end if;
  perform market.review_read_offer(current, coalesce((finish_offer.reading ->> 'addresses_agents')::boolean, false));
  body := jsonb_build_object('offer_id', current.id, 'status', current.status) || market.understood(current);
end
$function$;
comment on function market.finish_offer(market.submission,jsonb) is 'Publishes, changes or previews an offer by its reading, or refuses it for want of a contact: the answer''s status and body.';

CREATE OR REPLACE FUNCTION api.get_me(base_url text, link_key bytea)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  agent market.agent;
  account market.account;
  connected boolean := market.connected();
  may_write boolean;
  acts_for text;
  email text;
  phone text;
begin
  if market.agent_id() is null then
    select c.email, c.phone into email, phone from market.own_contact() as c;
  end if;
  select a.id, a.account_id, a.name, null::bytea, a.created_at, a.connected_at, a.removed_at into agent
  from market.agent a where a.id = market.agent_id();
  select * into account from market.account a where a.id = market.account_id();
  may_write := connected and account.suspended_at is null;
  acts_for := coalesce(account.display_name, 'the person who approved me');
  return jsonb_build_object(
    'id', account.id,
    'display_name', coalesce(account.display_name, ''),
    'account', jsonb_build_object(
      'connected', connected,
      'verified', market.verified_methods(),
      'available_methods', market.methods(true),
      'unavailable_methods', market.methods(false),
      'published_offers', (select p.lifetime from market.publisher p where p.account_id = account.id),
      'member_since', market.utc(account.created_at),
      'profile_url', get_me.base_url || '/settings'),
    'permissions', (
      select jsonb_object_agg(p.name, jsonb_build_object('allowed', may_write or not p.needs_approval)
        || case when p.needs_approval and not connected then jsonb_build_object('accepted_methods', '[]'::jsonb,
          'summary', 'A person has to approve this agent first, through the connection link.')
        when p.needs_approval and not may_write then jsonb_build_object('accepted_methods', '[]'::jsonb,
          'summary', 'This account is suspended by moderation. ' || coalesce(account.suspension_note, 'The reason was not stated.'))
        else '{}' end)
      from (values ('search_offers', false), ('read_offers', false), ('read_matches', false),
        ('start_verification', false), ('report_offer', false),
        ('publish_offer', true), ('create_ask', true), ('manage_offers', true), ('manage_asks', true)) as p (name, needs_approval)),
    'limits', (
      select coalesce(jsonb_object_agg(l.action, market.own_figures(l.action)), '{}')
      from (values ('publish_offer'), ('create_ask'), ('preview_offer')) as l (action)
      where market.agent_id() is not null),
    'pending_verifications', (
      select coalesce(jsonb_agg(market.verification_document(v, get_me.base_url, get_me.link_key) order by v.id), '[]')
      from market.verification v
      where v.account_id = account.id and v.status = 'pending' and v.expires_at > now()),
    'activity', jsonb_build_object(
      'asks_active', (select count(*) from market.ask a where a.account_id = account.id and a.status = 'active'),
      'offers_published', (select p.active from market.publisher p where p.account_id = account.id),
      'offers_pending_review', (select count(*) from market.offer o where o.account_id = account.id and o.status = 'pending_review')),
    'next', case
      when market.agent_id() is null then jsonb_build_array(
        jsonb_build_object('summary', 'Publish what you offer, in your own words.', 'method', 'POST', 'path', '/v1/offers'),
        jsonb_build_object('summary', 'State what you want, and read what matches.', 'method', 'POST', 'path', '/v1/asks'),
        jsonb_build_object('summary', 'See what the market has.', 'method', 'POST', 'path', '/v1/offers/search'))
      when not connected then jsonb_build_array(
        jsonb_build_object('summary', 'Ask the person to open the connection link, compare the code and approve. Then read this document again.', 'method', 'GET', 'path', '/v1/me'),
        jsonb_build_object('summary', 'Meanwhile you can search.', 'method', 'POST', 'path', '/v1/offers/search'))
      else case when agent.connected_at > now() - interval '1 hour' then jsonb_build_array(
        jsonb_build_object('summary', format('Tell the person: "I now act for %s. If that is not you, tell me to disconnect."', acts_for), 'method', 'GET', 'path', '/v1/me')) else '[]' end || jsonb_build_array(
        jsonb_build_object('summary', 'Publish what the person offers, in their own words.', 'method', 'POST', 'path', '/v1/offers'),
        jsonb_build_object('summary', 'State what the person wants, and read what matches.', 'method', 'POST', 'path', '/v1/asks'),
        jsonb_build_object('summary', 'If the person did not mean to connect you, disconnect.', 'method', 'DELETE', 'path', '/v1/me/agent')) end)
    || case when agent.id is not null
      then jsonb_build_object('agent', jsonb_build_object('id', agent.id, 'name', agent.name, 'connected', connected))
      else jsonb_strip_nulls(jsonb_build_object('email', email, 'phone', phone)) end;
end
$function$;
comment on function api.get_me(text,bytea) is 'Me: account, permissions, limits, open verifications, activity and what to do next; agent when one asks, email and phone when its person does.';
grant execute on function api.get_me(text,bytea) to souk_api;

CREATE OR REPLACE FUNCTION market.own_activity("limit" integer, cursor text)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  list constant text := 'activity';
  last_seen jsonb := market.position_of(cursor, list);
  activity jsonb;
  last_at timestamptz;
  last_id uuid;
  more boolean;
begin
  with page as (
    select e.*, row_number() over (order by e.at desc, e.id desc) as n
    from (
      select e.id, e.at, e.actor_type, e.agent_id, e.action, e.table_name, e.row_id from market.audit_event e
      where e.subject_account_id = market.account_id() and e.at > now() - interval '12 months'
        and e.table_name in ('offer', 'ask', 'agent', 'account', 'profile', 'proved_method')
        and (last_seen is null or (e.at, e.id) < ((last_seen ->> 'time')::timestamptz, (last_seen ->> 'id')::uuid))
      order by e.at desc, e.id desc limit own_activity.limit + 1) as e
  )
  select
    coalesce(jsonb_agg(jsonb_build_object(
      'at', market.utc(p.at), 'action', p.action,
      'agent', (select jsonb_build_object('id', a.id, 'name', a.name) from market.agent a where a.id = p.agent_id),
      'target', market.activity_target(p.table_name, p.row_id))
      || case p.actor_type when 'moderator' then jsonb_build_object('by', 'moderator') else '{}' end order by p.n) filter (where p.n <= own_activity.limit), '[]'),
    coalesce(max(p.n) > own_activity.limit, false),
    (array_agg(p.at order by p.n) filter (where p.n <= own_activity.limit))[own_activity.limit],
    (array_agg(p.id order by p.n) filter (where p.n <= own_activity.limit))[own_activity.limit]
  into activity, more, last_at, last_id
  from page p;
  return jsonb_build_object('activity', activity,
    'page', market.page(jsonb_build_object('list', list, 'time', last_at, 'id', last_id), more));
end
$function$;
comment on function market.own_activity(integer,text) is 'What was done in the account of the person that calls, newest first.';
grant execute on function market.own_activity(integer,text) to souk_person;

CREATE OR REPLACE FUNCTION api.list_activity("limit" integer, cursor text)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$ begin return market.own_activity(list_activity.limit, list_activity.cursor); end $function$;
comment on function api.list_activity(integer,text) is 'What was done in the account in the last 12 months, newest first, and by which agent (null: the person, or by a moderator, where by says so).';
grant execute on function api.list_activity(integer,text) to souk_api;

CREATE OR REPLACE FUNCTION api.export_account(part text DEFAULT 'account'::text, cursor text DEFAULT NULL::text)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  list constant text := 'export ' || export_account.part;
  after uuid;
  -- A hundred offers with all that was read of them are half a megabyte.
  size constant integer := 100;
  activity jsonb;
  items jsonb;
  last_id uuid;
begin
  perform market.require_recent_sign_in();
  if part = 'account' then
    return jsonb_build_object('items', (market.own_account() - 'available_methods' - 'unavailable_methods')
      || jsonb_build_object('id', market.account_id()), 'next_cursor', null);
  elsif part = 'activity' then
    activity := market.own_activity(size, cursor);
    return jsonb_build_object('items', activity -> 'activity', 'next_cursor', activity -> 'page' -> 'next_cursor');
  end if;
  after := (market.position_of(cursor, list) ->> 'id')::uuid;
  -- One branch yields rows; each can use the index of its table by account.
  with page as (
    select a.id, jsonb_build_object('id', a.id, 'name', a.name, 'created_at', market.utc(a.created_at),
      'connected_at', market.utc(a.connected_at), 'removed_at', market.utc(a.removed_at)) as item
    from market.agent a where part = 'agents' and a.account_id = market.account_id() and (after is null or a.id < after)
    union all (
    select o.id, market.owner_offer(o) || jsonb_build_object('agent_id', o.agent_id, 'origin_ask_id', o.origin_ask_id,
      'extraction', o.extraction, 'warnings', to_jsonb(o.warnings), 'reviewed', o.reviewed,
      'appeals', (select coalesce(jsonb_agg(jsonb_build_object('comment', p.comment, 'created_at', market.utc(p.created_at))
        order by p.created_at), '[]') from market.appeal p where p.offer_id = o.id)) as item
    from market.offer o where part = 'offers' and o.account_id = market.account_id() and (after is null or o.id < after)
    order by o.id desc limit size)
    union all (
    select a.id, market.ask_document(a) || jsonb_build_object('agent_id', a.agent_id, 'matches', market.matched_offers(a.id)) as item
    from market.ask a where part = 'asks' and a.account_id = market.account_id() and (after is null or a.id < after)
    order by a.id desc limit size)
    union all (
    select r.id, jsonb_build_object('id', r.id, 'offer_id', r.offer_id, 'agent_id', r.agent_id, 'reason', r.reason,
      'comment', r.comment, 'created_at', market.utc(r.created_at)) as item
    from market.report r where part = 'reports' and r.account_id = market.account_id() and (after is null or r.id < after)
    order by r.id desc limit size)
    union all (
    select v.id, jsonb_build_object('id', v.id, 'agent_id', v.agent_id, 'method', v.method, 'status', v.status,
      'created_at', market.utc(v.created_at)) as item
    from market.verification v where part = 'verifications' and v.account_id = market.account_id() and (after is null or v.id < after)
    order by v.id desc limit size)
  )
  select coalesce(jsonb_agg(p.item order by p.id desc), '[]'), min(p.id::text)::uuid into items, last_id
  from (select * from page order by id desc limit size) as p;
  return jsonb_build_object('items', items, 'next_cursor', case when jsonb_array_length(items) = size
    then market.cursor_of(jsonb_build_object('list', list, 'id', last_id)) end);
end
$function$;
comment on function api.export_account(text,text) is 'One piece of everything about the account: items of a part (account, agents, offers, asks, reports, verifications, activity) and the cursor of its next piece. Needs a recent sign-in.';
grant execute on function api.export_account(text,text) to souk_api;

CREATE OR REPLACE FUNCTION inspect.check_requests(share double precision)
 RETURNS TABLE(invariant text, object text, detail text)
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return query
  select 'submission_is_counted', 'agent ' || s.agent_id,
    format('%s texts of %s within an hour, and %s counted calls within a day', s.texts, s.action, c.calls)
  from (
    select s.agent_id, a.action, count(*) as texts
    from market.submission s
    cross join lateral (select case when s.kind = 'preview_offer' then 'preview_offer'
      when s.kind like '%_ask' then 'create_ask' else 'publish_offer' end as action) as a
    where s.created_at > now() - interval '1 hour'
      -- A person's are not counted.
      and s.agent_id is not null
      -- A change of an ask without a new text comes without a submission; one with it counts.
    group by s.agent_id, a.action) as s
  cross join lateral (
    select count(*) as calls from market.call c where c.scope = 'agent:' || s.agent_id and c.action = s.action) as c
  where c.calls < s.texts;

  return query
  select 'call_is_past', 'call ' || c.id, format('a call of %s at %s', c.action, c.called_at)
  from market.call c where c.called_at > clock_timestamp() + interval '1 second';

  return query
  select 'window_keeps_to_cap', c.scope, format('%s calls of %s within an hour', c.calls, c.action)
  from (
    select c.scope, c.action, count(*) as calls from market.call c
    where c.called_at > now() - interval '1 hour' and c.scope like 'agent:%'
    -- Ten times the base is as far as a record takes an agent.
    group by c.scope, c.action having count(*) > case c.action when 'publish_offer' then 600 else 1200 end) as c
  left join market.agent g on 'agent:' || g.id = c.scope
  where c.calls > coalesce(market.call_cap(g.account_id, c.action), 0)
    -- A cap that a moderator lowered within the hour says nothing of the calls before.
    and not exists (select from market.cap_override o
      where o.account_id = g.account_id and o.action = c.action and o.changed_at > now() - interval '1 hour')
    and not exists (select from market.setting s
      where s.name = c.action || '_cap' and s.changed_at > now() - interval '1 hour');

  return query
  -- Not the key itself, which its agent chose: this goes into logs. inspect.keys_in_flight shows it.
  select 'key_has_answer',
    case when exists (select from market.agent g where g.id = k.owner_id) then 'agent ' else 'account ' end || k.owner_id,
    case when k.submission_id is null then 'a key of ' || k.created_at || ' holds no submission'
      else 'a key has been in flight since ' || k.created_at end
  from (
    select k.* from market.idempotency_key k where k.submission_id is null
    union all
    select k.* from market.submission s join market.idempotency_key k on k.submission_id = s.id
    -- The sweep comes every minute for what is ten minutes old.
    where s.settled_at is null and s.created_at < now() - interval '15 minutes') as k;

  return query
  select 'submission_is_settled', 'submission ' || s.id, format('%s waits since %s', s.kind, s.created_at)
  from market.submission s
  where s.settled_at is null and s.created_at < now() - interval '15 minutes';

  return query
  select 'submission_has_job', 'submission ' || s.id, format('%s waits since %s, and no job reads it', s.kind, s.created_at)
  from market.submission s
  where s.settled_at is null
    and not exists (select from inspect.read_jobs() j where j.task = 'read_submission' and j.row_id = s.id);

  return query
  select 'answer_tells_the_truth', 'submission ' || s.id,
    format('%s was answered with %s, and %s %s is %s', s.kind, s.status, split_part(s.kind, '_', 2), s.target_id,
      case when f.found then 'there' else 'not there' end)
  from market.submission s tablesample system (check_requests.share)
  cross join lateral (
    select case s.kind when 'publish_offer' then exists (select from market.offer o where o.id = s.target_id)
      else exists (select from market.ask a where a.id = s.target_id) end as found) as f
  where s.settled_at is not null and (
    s.kind = 'publish_offer' and f.found <> (s.status = 201)
    or s.kind = 'create_ask' and not f.found);

  return query
  select 'nothing_outlives_its_time', o.object, o.detail from (
    (select 'idempotency keys' as object, 'the oldest is of ' || k.created_at as detail from market.idempotency_key k
      where k.created_at < now() - interval '26 hours' order by k.created_at limit 1)
    union all
    (select 'submissions', 'the oldest is of ' || s.created_at from market.submission s
      where s.created_at < now() - interval '26 hours' order by s.created_at limit 1)
    union all
    (select 'calls', 'the oldest is of ' || c.called_at from market.call c
      where c.called_at < now() - interval '26 hours' order by c.called_at limit 1)
    union all
    (select 'sign-ins', 'the oldest ended at ' || i.expires_at from market.sign_in i
      where i.expires_at < now() - interval '26 hours' order by i.expires_at limit 1)
    union all
    (select 'sessions', 'the oldest ended at ' || s.expires_at from market.session s
      where s.expires_at < now() - interval '2 hours' order by s.expires_at limit 1)
    union all
    (select 'query vectors', 'the oldest is of ' || q.created_at from market.query_embedding q
      where q.created_at < now() - interval '31 days' order by q.created_at limit 1)) as o;
end
$function$;
comment on function inspect.check_requests(double precision) is 'Texts, keys and windows: what breaks an invariant; of settled texts in a share of 0 to 100 percent.';

reset role;
