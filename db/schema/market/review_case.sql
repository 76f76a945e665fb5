-- One row is one case: an offer that a moderator should look at, and why. Triggers open cases, decisions close them, and
-- a case that is closed is opened again by whatever comes next.

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
    check (causes <@ array['appeal', 'pending', 'reported', 'addresses_agents', 'suspicious_link', 'changed', 'first_offer']),
  constraint review_case_queue_length check (char_length(queue) <= 40),
  constraint review_case_reports_not_negative check (reports >= 0)
);
-- The queue as moderators read it, whole and by line: most reported first, then oldest.
create index review_case_open_idx on market.review_case (reports desc, opened_at, offer_id) where closed_at is null;
create index review_case_open_by_queue_idx on market.review_case (queue, reports desc, opened_at, offer_id) where closed_at is null;
create index review_case_held_by_idx on market.review_case (held_by) where held_by is not null;
comment on table market.review_case is 'One row is one offer that waits, or waited, for a moderator''s decision.';
comment on column market.review_case.offer_id is 'The offer.';
comment on column market.review_case.causes is 'Why: appeal, pending (pre-moderation), reported, addresses_agents, suspicious_link, changed (since it was reported, reviewed or held back), first_offer.';
comment on column market.review_case.queue is 'The most pressing of its causes.';
comment on column market.review_case.reports is 'Counted reports that no decision has settled.';
comment on column market.review_case.opened_at is 'Since when it waits.';
comment on column market.review_case.closed_at is 'When it was decided; null while it waits.';
comment on column market.review_case.held_by is 'The moderator who took it.';
comment on column market.review_case.held_until is 'Until when it is theirs alone.';

alter table market.review_case enable row level security;
alter table market.review_case force row level security;
create policy "the owner sees all" on market.review_case to souk_owner using (true) with check (true);

create or replace function market.open_case(offer_id uuid, causes text[], reports integer default 0) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
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
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
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
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
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
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op <> 'DELETE' then
    perform market.open_case(new.offer_id, array['reported'], new.counted::integer);
  elsif old.settled_at is null then
    update market.review_case c set reports = greatest(c.reports - old.counted::integer, 0)
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
create or replace trigger review_offer_reported_again after update on market.report for each row
  when (old.settled_at is not null and new.settled_at is null)
  execute function market.review_reported_offer();

create or replace function market.review_changed_offer() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- Else whatever a moderator kept, or would have held back, is exchanged afterwards for something else.
  if old.reviewed or market.setting('pre_moderation')::boolean
    or exists (select from market.report r where r.offer_id = new.id) then
    perform market.open_case(new.id, array['changed']);
  end if;
  return null;
end
$$;
comment on function market.review_changed_offer() is
  'An offer that was reported or reviewed comes before the moderators when it changes; with pre-moderation on, every one that was live.';
create or replace trigger review_changed_offer after update on market.offer for each row
  when (new.status in ('published', 'archived') and new.account_id is not null
    and (old.text <> new.text or old.images <> new.images))
  execute function market.review_changed_offer();

create or replace function market.review_withdrawn_offer() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
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
