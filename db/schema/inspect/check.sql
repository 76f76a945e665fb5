-- The invariants. Each is a query that returns the rows that break it. A check reads one part of every table that grows
-- with the market, from the share `low` to the share `high` of its pages (0 to 1), and always all unfinished rows and
-- all rows of the last hour, which are few. So a check is as long as its part, whatever the size of the market.

create or replace function inspect.page_at(of_table regclass, share double precision) returns tid
  language sql stable
as $$
  -- The end is open, so that rows that are added during a check of everything are checked, too.
  select format('(%s,0)', case when share >= 1 then 4294967295
    else floor(share * pg_relation_size(of_table) / current_setting('block_size')::integer)::bigint end)::tid
$$;
comment on function inspect.page_at(regclass, double precision) is
  'Returns the place of the first row of the page at this share (0 to 1) of a table.';

create or replace function inspect.is_within(place tid, of_table regclass, low double precision, high double precision)
  returns boolean
  language sql stable
  -- PostgreSQL inlines this and reads only the pages between the two places (a TID range scan).
as $$ select place >= inspect.page_at(of_table, low) and place < inspect.page_at(of_table, high) $$;
comment on function inspect.is_within(tid, regclass, double precision, double precision) is
  'Returns whether a row lies in the pages of its table from the share `low` up to the share `high`.';

create or replace function inspect.check_people(low double precision, high double precision)
  returns table (invariant text, object text, detail text)
  language plpgsql stable
as $$
begin
  return query
  select 'account_has_stats', 'account ' || a.id, 'no row in market.account_stats'
  from market.account a
  where inspect.is_within(a.ctid, 'market.account', check_people.low, check_people.high)
    and not exists (select from market.account_stats p where p.account_id = a.id);

  return query
  select 'stats_equal_recount', 'account ' || p.account_id,
    format('active, lifetime, removed are %s, %s, %s and should be %s, %s, %s',
      p.active, p.lifetime, p.removed, o.active, o.lifetime, o.removed)
  from market.account_stats p
  cross join lateral (
    select count(*) filter (where o.status = 'published') as active, count(o.published_at) as lifetime,
      count(*) filter (where o.status = 'removed') as removed
    from market.offer o where o.account_id = p.account_id) as o
  where inspect.is_within(p.ctid, 'market.account_stats', check_people.low, check_people.high)
    and (p.active, p.lifetime, p.removed) <> (o.active, o.lifetime, o.removed);

  return query
  select 'connected_agent_has_person', 'agent ' || g.id,
    'it is connected, and nobody has claimed account ' || g.account_id
  from market.agent g
  join market.account a on a.id = g.account_id
  where inspect.is_within(g.ctid, 'market.agent', check_people.low, check_people.high)
    and g.connected_at is not null and a.claimed_at is null and g.sandbox_id is null;

  return query
  select 'approval_is_whole', 'agent ' || g.id,
    case when c.approved_at is null then 'it is connected, and nobody approved its link'
      else 'its link is approved, and it is not connected' end
  from market.connection c
  join market.agent g on g.id = c.agent_id
  where inspect.is_within(c.ctid, 'market.connection', check_people.low, check_people.high)
    and (c.approved_at is null) <> (g.connected_at is null and g.disconnected_at is null);

  return query
  select 'removed_agent_has_no_link', 'agent ' || g.id, 'its link is open'
  from market.connection c
  join market.agent g on g.id = c.agent_id
  where inspect.is_within(c.ctid, 'market.connection', check_people.low, check_people.high)
    and g.removed_at is not null and c.approved_at is null and c.declined_at is null and c.expires_at > now();
end
$$;
comment on function inspect.check_people(double precision, double precision) is
  'Checks accounts, agents and account stats.';

create or replace function inspect.check_requests(low double precision, high double precision)
  returns table (invariant text, object text, detail text)
  language plpgsql stable
as $$
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
      -- Persons' calls are not counted.
      and s.agent_id is not null
      -- A change of an ask creates a submission only when the text is new, and that call is counted.
    group by s.agent_id, a.action) as s
  cross join lateral (
    select count(*) as calls from market.rate_limit_hit c
      where c.scope = 'agent:' || s.agent_id and c.action = s.action) as c
  where c.calls < s.texts;

  return query
  select 'webhook_was_proved', 'webhook ' || w.id, 'its receiver has answered no challenge, and delivery ' || d.id
    || ' is for it'
  from market.webhook_delivery d join market.webhook w on w.id = d.webhook_id
  where inspect.is_within(d.ctid, 'market.webhook_delivery', check_requests.low, check_requests.high)
    and w.verified_at is null and d.purpose <> 'challenge';

  return query
  select 'call_is_past', 'call ' || c.id, format('a call of %s at %s', c.action, c.called_at)
  from market.rate_limit_hit c where c.called_at > clock_timestamp() + interval '1 second';

  return query
  select 'window_keeps_to_cap', c.scope, format('%s calls of %s within an hour', c.calls, c.action)
  from (
    select c.scope, c.action, count(*) as calls from market.rate_limit_hit c
    where c.called_at > now() - interval '1 hour' and c.scope like 'agent:%'
    -- The account stats raise the cap of a text to at most ten times the base, which is 60 or 120 by default.
    group by c.scope, c.action having count(*) > case c.action
      when 'publish_offer' then 600 when 'manage' then 600 when 'report_offer' then 30
        when 'search_offers' then 300 else 1200 end) as c
  left join market.agent g on 'agent:' || g.id = c.scope
  where c.calls > coalesce(internal.rate_limit(g.account_id, c.action), 0)
    -- If the cap was lowered within the hour, the earlier calls are not a violation.
    and not exists (select from market.cap_override o
      where o.account_id = g.account_id and o.action = c.action and o.changed_at > now() - interval '1 hour')
    and not exists (select from market.setting s
      where s.name = c.action || '_cap' and s.changed_at > now() - interval '1 hour');

  return query
  -- The result goes into logs, so it must not contain the key, which the agent chose. inspect.keys_in_flight shows it.
  select 'key_has_answer',
    case when exists (select from market.agent g where g.id = k.owner_id) then 'agent ' else 'account ' end
      || k.owner_id,
    case when k.submission_id is null then 'a key of ' || k.created_at || ' holds no answer'
      else 'a key has been in flight since ' || k.created_at end
  from (
    select k.* from market.idempotency_key k where k.submission_id is null and k.status is null
    union all
    select k.* from market.submission s join market.idempotency_key k on k.submission_id = s.id
    -- The sweep runs every minute and takes submissions that are ten minutes old.
    where s.completed_at is null and s.created_at < now() - interval '15 minutes') as k;

  return query
  select 'submission_is_completed', 'submission ' || s.id, format('%s waits since %s', s.kind, s.created_at)
  from market.submission s
  where s.completed_at is null and s.created_at < now() - interval '15 minutes';

  return query
  select 'submission_has_job', 'submission ' || s.id,
    format('%s waits since %s, and no job reads it', s.kind, s.created_at)
  from market.submission s
  where s.completed_at is null
    and not exists (select from inspect.read_jobs() j where j.task = 'complete_submission' and j.row_id = s.id);

  return query
  select 'answer_tells_the_truth', 'submission ' || s.id,
    format('%s was answered with %s, and %s %s is %s', s.kind, s.status, split_part(s.kind, '_', 2), s.target_id,
      case when f.found then 'there' else 'not there' end)
  from market.submission s
  cross join lateral (
    select case s.kind when 'publish_offer' then exists (select from market.offer o where o.id = s.target_id)
      else exists (select from market.ask a where a.id = s.target_id) end as found) as f
  where inspect.is_within(s.ctid, 'market.submission', check_requests.low, check_requests.high)
    and s.completed_at is not null and (
    s.kind = 'publish_offer' and f.found <> (s.status = 201)
    or s.kind = 'create_ask' and f.found <> (s.status = 201) and not exists (select from market.submission l
      where l.target_id = s.target_id and l.id > s.id and coalesce(l.status, 200) between 200 and 299));

  return query
  select 'nothing_outlives_its_time', o.object, o.detail from (
    (select 'idempotency keys' as object, 'the oldest is of ' || k.created_at as detail from market.idempotency_key k
      where k.created_at < now() - interval '26 hours' order by k.created_at limit 1)
    union all
    (select 'submissions', 'the oldest is of ' || s.created_at from market.submission s
      where s.created_at < now() - interval '26 hours' order by s.created_at limit 1)
    union all
    (select 'calls', 'the oldest is of ' || c.called_at from market.rate_limit_hit c
      where c.called_at < now() - interval '26 hours' order by c.called_at limit 1)
    union all
    (select 'sign-ins', 'the oldest ended at ' || i.expires_at from market.sign_in i
      where i.expires_at < now() - interval '26 hours' order by i.expires_at limit 1)
    union all
    (select 'sessions', 'the oldest ended at ' || s.expires_at from market.session s
      where s.expires_at < now() - interval '2 hours' order by s.expires_at limit 1)
    union all
    (select 'query vectors', 'the oldest is of ' || q.created_at from market.query_embedding q
      where q.created_at < now() - interval '31 days' order by q.created_at limit 1)
    union all
    (select 'sandboxes', 'the oldest ended at ' || s.expires_at from market.sandbox s
      where s.expires_at < now() - interval '2 hours' order by s.expires_at limit 1)) as o;
end
$$;
comment on function inspect.check_requests(double precision, double precision) is
  'Checks submissions, idempotency keys and rate limits. Only completed submissions are sampled.';

create or replace function inspect.is_underway(task text, id uuid) returns boolean
  language plpgsql stable
as $$
begin
  -- A job has eight attempts, which take about an hour. So a job that began two hours ago will not repair the row.
  return exists (
    select from graphile_worker.jobs j
    where (j.key = is_underway.task || ':' || is_underway.id
        -- The job that publishes an offer embeds it, too.
        or is_underway.task = 'embed_offer' and j.key in (
          select 'complete_submission:' || s.id from market.submission s where s.target_id = is_underway.id))
      and (j.attempts < j.max_attempts or j.locked_at is not null)
      and greatest(j.created_at, j.run_at) > now() - interval '2 hours');
end
$$;
comment on function inspect.is_underway(text, uuid) is
  'Returns whether a job of this task is waiting or running for this row, so that it may still repair the row.';

create or replace function inspect.check_market(low double precision, high double precision)
  returns table (invariant text, object text, detail text)
  language plpgsql stable
as $$
declare
  model_in_force text := internal.setting('embedding_model') #>> '{}';
  -- When the embedding model changes, one job at a time embeds all offers and asks.
  embeds_all boolean := exists (
    select from market.reembedding r where r.finished_at is null and inspect.is_underway('reembed', r.id));
begin
  return query
  select 'offer_has_contact', 'offer ' || o.id, 'it is published without a contact'
  from market.offer o
  where inspect.is_within(o.ctid, 'market.offer', check_market.low, check_market.high)
    and o.status = 'published' and coalesce(jsonb_array_length(o.contact -> 'methods'), 0) = 0;

  return query
  select 'document_is_current', 'offer ' || d.id, 'it is in search.document, and there is no such offer'
  from search.document d
  where inspect.is_within(d.ctid, 'search.document', check_market.low, check_market.high)
    and not exists (select from market.offer o where o.id = d.id)
  union all
  select 'document_is_current', 'offer ' || o.id, 'its row in search.document is not what the offer is now'
  from market.offer o left join search.document d on d.id = o.id
  where inspect.is_within(o.ctid, 'market.offer', check_market.low, check_market.high)
    and (d.id is not null or o.status = 'published') and d is distinct from search.document_of(o);

  return query
  select 'offer_has_vector', 'offer ' || o.id,
    format('published, %s, and no job is making one', coalesce('its vector is of ' || e.model, 'without a vector'))
  from market.offer o
  left join market.offer_embedding e on e.offer_id = o.id
  -- The case makes the planner look for a job only where a vector is missing, and not for every offer. No provider is
  -- paid for a sandbox.
  where inspect.is_within(o.ctid, 'market.offer', check_market.low, check_market.high)
    and o.status = 'published' and o.sandbox_id is null and not embeds_all
    and case when e.model is distinct from model_in_force then not inspect.is_underway('embed_offer', o.id)
      else false end;

  return query
  select 'ask_has_vector', 'ask ' || a.id,
    format('active, %s, and no job is making one', coalesce('its vector is of ' || e.model, 'without a vector'))
  from market.ask a
  left join market.ask_embedding e on e.ask_id = a.id
  -- An ask's job is enqueued a moment after its text was extracted.
  where inspect.is_within(a.ctid, 'market.ask', check_market.low, check_market.high)
    and a.status = 'active' and a.sandbox_id is null and a.read_at < now() - interval '10 minutes' and not embeds_all
    and case when e.model is distinct from model_in_force then not inspect.is_underway('embed_ask', a.id)
      else false end;

  return query
  select 'document_is_current', 'ask ' || s.id, 'it is in search.ask, and there is no such ask'
  from search.ask s
  where inspect.is_within(s.ctid, 'search.ask', check_market.low, check_market.high)
    and not exists (select from market.ask a where a.id = s.id)
  union all
  select 'document_is_current', 'ask ' || a.id, 'its row in search.ask is not what the ask is now'
  from market.ask a left join search.ask s on s.id = a.id
  where inspect.is_within(a.ctid, 'market.ask', check_market.low, check_market.high)
    and (s.id is not null or a.status = 'active') and s is distinct from search.ask_of(a);

  return query
  select 'ask_is_read', 'ask ' || a.id, 'its text has waited since ' || a.updated_at
  from market.ask a
  where a.read_at is null and a.updated_at < now() - interval '1 hour';

  return query
  select v.invariant, format('match of ask %s and offer %s', m.ask_id, m.offer_id), v.detail
  from market.match m
  join market.offer o on o.id = m.offer_id
  left join search.document d on d.id = o.id
  join market.ask a on a.id = m.ask_id
  left join market.ask_kind k on k.ask_kind = a.ask_kind
  cross join lateral (values
    ('match_is_of_a_published_offer', false, case when o.status <> 'published' then 'the offer is ' || o.status end),
    ('match_is_of_a_read_ask', false, case when a.read_at is null then 'the ask was not read' end),
    -- A transaction that was matching the ask when it became inactive may have stored a match a little later.
    ('match_is_of_an_active_ask', false,
      case when a.status <> 'active' and m.first_matched_at > a.updated_at + interval '1 minute'
      then
      format('the ask has been %s since %s, and the match is of %s', a.status, a.updated_at, m.first_matched_at) end),
    ('match_is_within_a_sandbox', false, case when o.sandbox_id is distinct from a.sandbox_id
      then format('the offer is of %s, the ask of %s', coalesce('sandbox ' || o.sandbox_id, 'the market'),
        coalesce('sandbox ' || a.sandbox_id, 'the market')) end),
    ('match_is_not_ones_own', false,
      case when o.account_id = a.account_id then 'both are of account ' || a.account_id end),
    -- A row that has just changed is matched again by its job. An inactive ask is matched again when it becomes active.
    ('match_is_of_its_kind', true,
      case when a.status = 'active' and not coalesce(o.offer_kind = any (k.answered_by), false)
      then format('a %s does not answer an ask to %s', coalesce(o.offer_kind, 'thing of no kind'),
        coalesce(a.ask_kind, 'do nothing')) end),
    ('match_is_within_price', true, case when a.status = 'active'
      and o.price_thousandths > a.price_max_thousandths and o.price_thousandths > 0
      and o.price_unit is null and o.price_currency = a.price_currency
      and coalesce(o.price_period = a.criteria -> 'price' ->> 'period', true)
      then
      format('%s is over %s thousandths of %s', o.price_thousandths, a.price_max_thousandths, a.price_currency) end),
    ('match_is_not_excluded', true, case when a.status = 'active' and d.words @@ a.exclude_query
      then 'the offer says what the ask does not want' end)) as v (invariant, mends, detail)
  where inspect.is_within(m.ctid, 'market.match', check_market.low, check_market.high)
    and v.detail is not null
    and not (v.mends
      and (inspect.is_underway('embed_offer', m.offer_id) or inspect.is_underway('embed_ask', m.ask_id)));
end
$$;
comment on function inspect.check_market(double precision, double precision) is 'Checks offers, asks and matches.';

create or replace function inspect.check_part(low double precision, high double precision)
  returns table (invariant text, object text, detail text)
  language plpgsql stable
as $$
begin
  return query select * from inspect.check_people(check_part.low, check_part.high);
  return query select * from inspect.check_oauth(check_part.low, check_part.high);
  return query select * from inspect.check_requests(check_part.low, check_part.high);
  return query select * from inspect.check_market(check_part.low, check_part.high);
  return query select * from inspect.check_deals(check_part.low, check_part.high);
  return query select * from inspect.check_sandboxes();
  return query select * from inspect.check_moderation(check_part.low, check_part.high);
  return query select * from inspect.check_references(check_part.low, check_part.high);
  return query select * from inspect.check_log();
  return query
  select 'job_is_not_locked_by_a_dead_worker', 'job ' || j.job_id,
    format('%s is held by %s since %s', j.task, j.locked_by, j.locked_at)
  from inspect.read_jobs() j
  -- A live worker unlocks the job within a minute.
  where j.state = 'held by a dead worker' and j.locked_at < now() - interval '5 minutes';

  return query
  select 'examples_are_learned', 'reading.classifier', 'the change at ' || v.changed_at || ' is not learned yet'
  from reading.vocabulary_change v
  -- Training begins within ten seconds and takes some seconds.
  where v.changed_at < now() - interval '10 minutes'
    and not exists (select from reading.classifier c where c.learned_from = v.changed_at);
end
$$;
comment on function inspect.check_part(double precision, double precision) is
  'Returns the violations of all invariants in one part of every table that grows with the market.';

create or replace function inspect.share_of_rows(number integer) returns double precision
  language plpgsql stable
as $$
begin
  return (
    select least(1, share_of_rows.number / greatest(max(c.reltuples), 1)) from pg_catalog.pg_class c
    where c.relnamespace = 'market'::regnamespace and c.relkind = 'r' and not c.relispartition);
end
$$;
comment on function inspect.share_of_rows(integer) is
  'Returns the share (0 to 1) of the tables in which each has at most about this number of rows.';

create or replace function inspect.check(sample integer default null)
  returns table (invariant text, object text, detail text)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  parts constant double precision :=
    case when "check".sample is null then 1 else ceil(1 / inspect.share_of_rows("check".sample)) end;
  part constant double precision := floor(random() * parts);
begin
  return query select * from inspect.check_part(part / parts, (part + 1) / parts);
end
$$;
comment on function inspect.check(integer) is
  'Returns one row for each violation of an invariant: the name of the invariant (market.invariant explains it), the '
  'row that breaks it, and how. Returns no row when all is well. Without a sample size it reads everything. With a '
  'sample size it reads at most about that number of rows of each large table, which lie beside each other at a random '
  'place.';
grant execute on function inspect.check(integer) to souk_dba;
