-- The invariants of moderation, of foreign keys and of retention times (see inspect/check.sql).

create or replace function inspect.check_moderation(low double precision, high double precision)
  returns table (invariant text, object text, detail text)
  language plpgsql stable
as $$
begin
  return query
  select 'suspended_account_is_hidden', 'account ' || a.id, 'it is suspended, and offer ' || o.id || ' is published'
  from market.account a
  cross join lateral (
    select o.id from market.offer o where o.account_id = a.id and o.status = 'published' limit 1) as o
  where inspect.is_within(a.ctid, 'market.account', check_moderation.low, check_moderation.high)
    and a.suspended_at is not null and not (a.hiding and inspect.is_underway('apply_standing', a.id));

  return query
  select 'case_counts_its_reports', 'offer ' || c.offer_id,
    format('its case counts %s reports, and %s are open', c.reports, r.reports)
  from market.review_case c
  cross join lateral (
    select count(*) as reports from market.report r
    where r.offer_id = c.offer_id and r.completed_at is null and r.counted) as r
  where c.closed_at is null and c.reports <> r.reports;

  return query
  select 'open_report_has_case', 'offer ' || r.offer_id, 'report ' || r.id || ' waits, and no case is open'
  from market.report r
  where r.completed_at is null and not exists (
    select from market.review_case c
    where c.offer_id = r.offer_id and c.closed_at is null and 'reported' = any (c.causes))
  union all
  select 'open_report_has_case', 'conversation ' || r.conversation_id, 'its report waits, and no case is open'
  from market.conversation_report r
  join market.conversation c on c.id = r.conversation_id
  where r.completed_at is null and not exists (
    select from market.review_case o
    where o.offer_id = c.offer_id and o.closed_at is null and 'reported_conversation' = any (o.causes));

  return query
  select 'pending_offer_has_case', 'offer ' || o.id,
    'it waits for review since ' || o.updated_at || ', and no case is open'
  from market.offer o
  where inspect.is_within(o.ctid, 'market.offer', check_moderation.low, check_moderation.high)
    and o.status = 'pending_review' and not exists (
    select from market.review_case c where c.offer_id = o.id and c.closed_at is null and 'pending' = any (c.causes));

  return query
  select 'waiting_change_has_case', 'offer ' || c.offer_id,
    'its change waits for review since ' || c.created_at || ', and no case is open'
  from market.offer_change c
  where inspect.is_within(c.ctid, 'market.offer_change', check_moderation.low, check_moderation.high)
    and c.rejected_at is null and not exists (
    select from market.review_case r
    where r.offer_id = c.offer_id and r.closed_at is null and 'pending' = any (r.causes));

  return query
  select 'change_has_approved_offer', 'offer ' || o.id,
    format('it has a change, and its status is %s (%s)', o.status,
      case when o.published_at is null then 'never published'
      when o.account_id is distinct from c.account_id then 'of another account' else 'published before' end)
  from market.offer_change c
  join market.offer o on o.id = c.offer_id
  where inspect.is_within(c.ctid, 'market.offer_change', check_moderation.low, check_moderation.high)
    and (o.status not in ('published', 'archived') or o.published_at is null
      or o.account_id is distinct from c.account_id);

  return query
  select 'open_appeal_has_case', 'offer ' || a.offer_id,
    'its appeal waits since ' || a.created_at || ', and no case is open'
  from market.appeal a
  join market.offer o on o.id = a.offer_id and o.status = 'removed' and o.removed_at = a.removed_at
  where inspect.is_within(a.ctid, 'market.appeal', check_moderation.low, check_moderation.high)
    and a.decided_at is null and not exists (
    select from market.review_case c
    where c.offer_id = a.offer_id and c.closed_at is null and 'appeal' = any (c.causes));

  return query
  select 'reviewed_offer_is_not_removed', 'offer ' || o.id, 'it is reviewed, and ' || o.status
  from market.offer o
  where inspect.is_within(o.ctid, 'market.offer', check_moderation.low, check_moderation.high)
    and o.reviewed and o.status in ('removed', 'rejected', 'pending_review');

  return query
  select 'extraction_is_quoted', 'offer ' || o.id,
    'its text does not contain the quotes that begin at these positions: ' || q.quotes
  from (
    select f.id, coalesce(f.sent_text, f.text) as text, f.extraction from market.offer f
    where inspect.is_within(f.ctid, 'market.offer', check_moderation.low, check_moderation.high)
    union all
    select c.offer_id, coalesce(c.sent_text, c.text), c.extraction
    from market.offer_change c
    where inspect.is_within(c.ctid, 'market.offer_change', check_moderation.low, check_moderation.high)) as o
  cross join lateral (
    select string_agg(f.field ->> 'start', ', ') as quotes
    from jsonb_path_query(o.extraction, 'strict $.** ? (exists (@.quote))') as f (field)
    where not reading.is_quoted(o.text, f.field)) as q
  where q.quotes is not null;
end
$$;
comment on function inspect.check_moderation(double precision, double precision) is
  'Checks cases, reports, appeals, suspensions and the quotes of extractions. Accounts, offers, their changes and '
  'appeals are sampled.';

create or replace function inspect.check_references(low double precision, high double precision)
  returns table (invariant text, object text, detail text)
  language plpgsql stable
  -- These settings make the planner look up each referenced row by an index, and not read the whole referenced table to
  -- check a few hundred rows.
  set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
declare
  reference record;
begin
  -- All foreign keys come from the catalog, so that none is forgotten.
  for reference in
    select c.conname as name, child.relname as child, parent.relname as parent, k.given, k.met, k.shown
    from pg_catalog.pg_constraint c
    join pg_catalog.pg_class child on child.oid = c.conrelid
    join pg_catalog.pg_class parent on parent.oid = c.confrelid
    cross join lateral (
      select string_agg(format('c.%I is not null', a.attname), ' and ') as given,
        string_agg(format('p.%I = c.%I', f.attname, a.attname), ' and ') as met,
        string_agg(format('c.%I', a.attname), ', ' order by k.place) as shown
      from unnest(c.conkey, c.confkey) with ordinality as k (own, other, place)
      join pg_catalog.pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.own
      join pg_catalog.pg_attribute f on f.attrelid = c.confrelid and f.attnum = k.other) as k
    where c.contype = 'f' and c.connamespace = 'market'::regnamespace and c.conparentid = 0
  loop
    return query execute format(
      'select ''reference_has_row'', %L || concat_ws(''/'', %s), %L
       from market.%I c where inspect.is_within(c.ctid, %L, $1, $2) and %s
         and not exists (select from market.%I p where %s)',
      reference.child || ' of ' || reference.parent || ' ', reference.shown,
      'that is not there, against ' || reference.name,
      reference.child, 'market.' || reference.child, reference.given, reference.parent, reference.met)
    using check_references.low, check_references.high;
  end loop;

  return query
  select 'call_has_agent', 'call ' || c.id, 'it counts for ' || c.scope || ', which is not there'
  from market.rate_limit_hit c
  where inspect.is_within(c.ctid, 'market.rate_limit_hit', check_references.low, check_references.high)
    and c.scope like 'agent:%' and not exists (select from market.agent g where g.id = substr(c.scope, 7)::uuid);
end
$$;
comment on function inspect.check_references(double precision, double precision) is
  'Checks foreign keys, and the agents of counted calls.';

create or replace function inspect.check_log() returns table (invariant text, object text, detail text)
  language plpgsql stable
as $$
declare
  this_month timestamp := date_trunc('month', now() at time zone 'UTC');
  this_week timestamp := date_trunc('week', now() at time zone 'UTC');
begin
  return query
  select 'log_has_its_months', 'market.' || m.name,
    'it is not there, so events of its month fall into market.audit_event_default'
  from (
    select 'audit_event_' || to_char(this_month + make_interval(months => ahead), 'YYYY_MM') as name, ahead
    from generate_series(0, 1) as ahead) as m
  -- On the first day of each month, a job creates the partition of the month after it.
  where to_regclass('market.' || m.name) is null
    and (m.ahead = 0 or now() at time zone 'UTC' > this_month + interval '1 day');

  return query
  (select 'log_is_purged_in_time', 'market.audit_event', 'the oldest event is of ' || e.at
    from market.audit_event e
    where e.at < date_trunc('month', (now() - interval '2 days') at time zone 'UTC') at time zone 'UTC'
      - interval '12 months'
    order by e.at limit 1);

  return query
  select 'feed_has_its_weeks', 'market.' || w.name,
    'it is not there, so events of its week fall into market.event_default'
  from (
    select 'event_' || to_char(this_week + make_interval(weeks => ahead), 'YYYY_MM_DD') as name, ahead
    from generate_series(0, 1) as ahead) as w
  where to_regclass('market.' || w.name) is null
    and (w.ahead = 0 or now() at time zone 'UTC' > this_week + interval '1 day');

  return query
  (select 'feed_is_purged_in_time', 'market.event', 'the oldest event is of ' || e.occurred_at
    -- 30 days, the week of the partition, and two days for the job.
    from market.event e where e.occurred_at < now() - interval '39 days'
    order by e.occurred_at limit 1);

  return query
  (select 'agent_is_purged_in_time', 'agent ' || g.id,
    'nobody approved it, and it wrote nothing for nine days'
    from market.agent g
    -- jobs.purge_agents deletes agents after seven days, but skips rows that it cannot delete yet. So allow two days
    -- more.
    where g.connected_at is null and g.created_at <= now() - interval '9 days' and internal.is_abandoned(g, '9 days')
    limit 1);
end
$$;
comment on function inspect.check_log() is
  'Returns audit events, events of the feed and unapproved agents that should have been deleted already, and missing '
  'partitions of the audit log and of the feed.';
