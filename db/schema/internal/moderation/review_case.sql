-- Cases: which events open a case for an offer, and which events close it.

create or replace function internal.open_case(offer_id uuid, causes text[], reports integer default 0) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if cardinality(open_case.causes) = 0 or internal.is_of_sandbox(open_case.offer_id) then
    return;
  end if;
  insert into market.review_case as c (offer_id, causes, reports)
  values (open_case.offer_id, open_case.causes, open_case.reports)
  on conflict on constraint review_case_pkey do update set
    causes = case when c.closed_at is null
      then c.causes || array(select n from unnest(excluded.causes) as n where n <> all (c.causes))
      else excluded.causes end,
    reports = case when c.closed_at is null then c.reports else 0 end + excluded.reports,
    opened_at = case when c.closed_at is null then c.opened_at else now() end,
    closed_at = null,
    held_by = case when c.closed_at is null then c.held_by end,
    held_until = case when c.closed_at is null then c.held_until end;
end
$$;
comment on function internal.open_case(uuid, text[], integer) is
  'Opens a case for an offer with these causes and counted reports, or adds them to the open case. Moderators do not '
  'see sandboxes, so an offer of a sandbox gets none.';

create or replace function internal.drop_cause(offer_id uuid, cause text) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  update market.review_case c set
    causes = array_remove(c.causes, drop_cause.cause),
    closed_at = case when c.causes <@ array[drop_cause.cause] then now() end
  where c.offer_id = drop_cause.offer_id and c.closed_at is null and drop_cause.cause = any (c.causes);
end
$$;
comment on function internal.drop_cause(uuid, text) is
  'Removes a cause from an open case, and closes the case when it was the last cause.';

create or replace function internal.review_published_offer(offer market.offer) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  first_offers integer := internal.setting('first_offers_to_review')::integer;
  own integer;
begin
  select count(*)::integer into own
  from (select from market.offer o where o.account_id = offer.account_id limit first_offers + 1) as offers;
  perform internal.open_case(offer.id, array_remove(array[
    case when offer.status = 'pending_review' then 'pending' end,
    case when offer.sent_text is not null then 'addresses_agents' end,
    case when internal.has_suspicious_link(internal.sent_text(offer)) then 'suspicious_link' end,
    case when own <= first_offers and not offer.reviewed then 'first_offer' end], null));
end
$$;
comment on function internal.review_published_offer(market.offer) is
  'Opens a case for an offer whose text was just extracted, or for its changed version, if there is a cause: it waits '
  'for review, addresses an AI model, has a suspicious link, or is among the first offers of its account.';

create or replace function internal.count_report() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  enough integer;
begin
  -- Anybody can create accounts that no person has claimed, so their reports do not count.
  new.counted := exists (select from market.account a where a.id = new.account_id and a.claimed_at is not null);
  -- A decision completes all open reports of an offer, so their number is bounded. More than twenty by agents without a
  -- person tell moderators nothing new, and after a thousand, one more does not change the order of the queue.
  enough := case when new.counted then 1000 else 20 end;
  if (select count(*) from (
    select from market.report r where r.offer_id = new.offer_id and r.completed_at is null limit enough) as open)
      = enough
  then
    return null;
  end if;
  return new;
end
$$;
comment on function internal.count_report() is
  'Counts a new report if a person has claimed its account. It is not stored if the offer has a thousand open ones, or '
  'twenty if no person has claimed the account.';

create or replace function internal.review_reported_offer() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op <> 'DELETE' then
    perform internal.open_case(new.offer_id, array['reported'], new.counted::integer);
  elsif old.completed_at is null then
    update market.review_case c set reports = greatest(c.reports - old.counted::integer, 0)
    where c.offer_id = old.offer_id and c.closed_at is null;
    if not exists (select from market.report r where r.offer_id = old.offer_id and r.completed_at is null) then
      perform internal.drop_cause(old.offer_id, 'reported');
    end if;
  end if;
  return null;
end
$$;
comment on function internal.review_reported_offer() is
  'Opens a case for a new report, or adds the report to the open case. Subtracts a deleted report from its case.';

create or replace function internal.review_changed_offer() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- Without a case, an owner could replace a reviewed text by a forbidden one, or change a reported text before its
  -- review.
  -- A moderator who publishes a change has just reviewed it.
  if not new.reviewed and (old.reviewed or exists (select from market.report r where r.offer_id = new.id)) then
    perform internal.open_case(new.id, array['changed']);
  end if;
  return null;
end
$$;
comment on function internal.review_changed_offer() is
  'Opens a case when a reviewed or reported offer changes without approval.';

create or replace function internal.review_withdrawn_offer() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform internal.drop_cause(new.id, 'pending');
  return null;
end
$$;
comment on function internal.review_withdrawn_offer() is
  'Removes the cause "pending" when the owner withdraws an offer before its review.';
