--! Previous: sha1:01b99b4ce3e2bec8422b54c3ee4d9aab81586268
--! Hash: sha1:b0a959f38a6db7a07849db334b5e00baf2e9e7f1
--! Message: moderation-logged-and-own-work-exampled

-- Enter migration here

set local role souk_owner;


comment on column market.audit_event.row_id is 'Which row: its id, or what it has for one (the method, the switch, the capped action, the offer of an appeal or a case, the account of a profile); all where the table was emptied.';

-- The parts of the log that are there; those to come are made with comments.
do $$
declare
  part record;
  attribute record;
begin
  for part in
    select c.relname as name from pg_catalog.pg_inherits i join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'market.audit_event'::regclass
  loop
    execute format('comment on table market.%I is %L', part.name, case part.name
      when 'audit_event_default' then 'The events of no month that has a part of its own; empty while the upkeep runs.'
      else 'The events of ' || replace(right(part.name, 7), '_', '-') || ' (UTC), a part of market.audit_event.' end);
    for attribute in
      select a.attname as name, pg_catalog.col_description(a.attrelid, a.attnum) as comment from pg_catalog.pg_attribute a
      where a.attrelid = 'market.audit_event'::regclass and a.attnum > 0 and not a.attisdropped
    loop
      execute format('comment on column market.%I.%I is %L', part.name, attribute.name, attribute.comment);
    end loop;
  end loop;
end
$$;

-- What moderators do with cases and decisions, what owners appeal, and the emptying of what is logged.
create or replace trigger audit after insert or update or delete on market.appeal for each row execute function market.audit(
  'offer_id', 'account_id', 'agent_id', 'removed_at', 'decided_at');
create or replace trigger audit after insert or delete on market.decision for each row execute function market.audit(
  'moderator_id', 'action', 'offer_id', 'account_id', 'agent_id', 'reason');
create or replace trigger audit_change after update on market.decision for each row
  -- An account or an agent that goes is taken out of decisions, which changes none of them.
  when (old.action <> new.action or old.offer_id is distinct from new.offer_id or old.reason is distinct from new.reason
    or old.sentence is distinct from new.sentence or old.created_at <> new.created_at
    or old.moderator_id <> new.moderator_id or old.account_id <> new.account_id or old.agent_id <> new.agent_id)
  execute function market.audit('moderator_id', 'action', 'offer_id', 'account_id', 'agent_id', 'reason');
-- What opens and closes a case is in the log by itself; that a moderator takes it is not.
create or replace trigger audit after delete on market.review_case for each row execute function market.audit(
  'held_by', 'held_until');
create or replace trigger audit_change after update on market.review_case for each row
  when (old.closed_at is null and new.closed_at is null
    and (old.held_by, old.held_until) is distinct from (new.held_by, new.held_until))
  execute function market.audit('held_by', 'held_until');

-- Emptying a table fires none of these.
create or replace trigger audit_truncate after truncate on market.offer for each statement execute function market.audit();
create or replace trigger audit_truncate after truncate on market.ask for each statement execute function market.audit();
create or replace trigger audit_truncate after truncate on market.agent for each statement execute function market.audit();
create or replace trigger audit_truncate after truncate on market.account for each statement execute function market.audit();
create or replace trigger audit_truncate after truncate on market.proved_method for each statement execute function market.audit();
create or replace trigger audit_truncate after truncate on market.profile for each statement execute function market.audit();
create or replace trigger audit_truncate after truncate on market.setting for each statement execute function market.audit();
create or replace trigger audit_truncate after truncate on market.report for each statement execute function market.audit();
create or replace trigger audit_truncate after truncate on market.moderator for each statement execute function market.audit();
create or replace trigger audit_truncate after truncate on market.cap_override for each statement execute function market.audit();
create or replace trigger audit_truncate after truncate on market.appeal for each statement execute function market.audit();
create or replace trigger audit_truncate after truncate on market.decision for each statement execute function market.audit();
create or replace trigger audit_truncate after truncate on market.review_case for each statement execute function market.audit();

-- The log by who acted, by what was done and by days.
create index audit_event_account_id_idx on market.audit_event (account_id, id desc);
create index audit_event_actor_type_idx on market.audit_event (actor_type, id desc);
create index audit_event_action_idx on market.audit_event (action, id desc);
comment on column admin.audit_event.actor_type is E'@behavior +filterBy\nperson, agent, moderator, job or dba.';
comment on column admin.audit_event.account_id is E'@behavior +filterBy\nWho acted, or for whom its agent did.';
comment on column admin.audit_event.action is E'@behavior +filterBy\nWhat was done, as offer.removed.';

-- Offers of a suspended account are not shown while they are still being archived.
alter table market.account add column hiding boolean not null default false;
comment on column market.account.hiding is 'Whether it is suspended and has offers that are still to be archived.';
grant select (hiding) on market.account to souk_dba;
create index account_hiding_idx on market.account (id) where hiding;

create or replace function market.accounts_being_hidden() returns uuid[]
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return (select array_agg(a.id) from market.account a where a.hiding);
end
$$;
comment on function market.accounts_being_hidden() is
  'Accounts that were suspended and whose offers are not all archived yet: what is still live of them is shown to nobody else. Null when there are none, as nearly always.';
grant execute on function market.accounts_being_hidden() to souk_agent, souk_person;

alter policy "everyone sees published offers and an account its own" on market.offer
  using (status = 'published' and (account_id = any ((select market.accounts_being_hidden())::uuid[])) is not true
    or account_id = (select market.account_id()));

-- Functions beside tables whose text changed (as db/schema has them)

CREATE OR REPLACE FUNCTION market.least_uuid_v7(moment timestamp with time zone)
 RETURNS uuid
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  -- No id is from before 1970, and 48 bits end in the year 10889.
  select rpad(lpad(to_hex((extract(epoch from least(greatest(moment, 'epoch'), '9999-12-31')) * 1000)::bigint), 12, '0'), 32, '0')::uuid
$function$;
comment on function market.least_uuid_v7(timestamp with time zone) is 'Sorts before every UUIDv7 of this millisecond and those to come, and after those of the past.';
grant execute on function market.least_uuid_v7(timestamp with time zone) to souk_moderator;

CREATE OR REPLACE FUNCTION market.settle_standing(account_id uuid, batch integer)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  suspended boolean;
  touched integer;
begin
  select a.suspended_at is not null into suspended from market.account a where a.id = settle_standing.account_id for no key update;
  if suspended then
    update market.offer o set status = 'archived', suspended_at = now()
    where o.id in (select p.id from market.offer p
      where p.account_id = settle_standing.account_id and p.status = 'published' order by p.id limit settle_standing.batch);
  else
    update market.offer o set status = 'published'
    where o.id in (select p.id from market.offer p
      where p.account_id = settle_standing.account_id and p.suspended_at is not null order by p.id limit settle_standing.batch);
  end if;
  get diagnostics touched = row_count;
  update market.account a set hiding = not a.hiding
  where a.id = settle_standing.account_id and a.hiding <> (suspended and touched = settle_standing.batch);
  return touched < settle_standing.batch;
end
$function$;
comment on function market.settle_standing(uuid,integer) is 'Archives what a suspended account has live, or publishes again what its suspension archived, so many offers at a time; true when nothing is left to do.';

CREATE OR REPLACE FUNCTION jobs.keep_audit_partitions()
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '1s'
AS $function$
declare
  this_month timestamp := date_trunc('month', now() at time zone 'UTC');
  month timestamp;
  name text;
  changed integer := 0;
begin
  for ahead in 0..1 loop
    month := this_month + make_interval(months => ahead);
    name := 'audit_event_' || to_char(month, 'YYYY_MM');
    continue when to_regclass('market.' || name) is not null;
    -- Made apart and then attached, which unlike "partition of" lets others write to the log meanwhile.
    execute format('create table market.%I (like market.audit_event including defaults including constraints including comments)', name);
    execute format('comment on table market.%I is %L', name,
      'The events of ' || to_char(month, 'YYYY-MM') || ' (UTC), a part of market.audit_event.');
    execute format('alter table market.%I enable row level security', name);
    execute format('alter table market.%I force row level security', name);
    execute format('create policy "the owner sees all" on market.%I to souk_owner using (true) with check (true)', name);
    execute format('with moved as (delete from market.audit_event_default where at >= %1$L and at < %2$L returning *)
      insert into market.%3$I select * from moved', month at time zone 'UTC', (month + interval '1 month') at time zone 'UTC', name);
    execute format('alter table market.audit_event attach partition market.%I for values from (%L) to (%L)',
      name, month at time zone 'UTC', (month + interval '1 month') at time zone 'UTC');
    changed := changed + 1;
  end loop;
  for name in
    select c.relname from pg_catalog.pg_inherits i join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'market.audit_event'::regclass and c.relname ~ '^audit_event_\d{4}_\d{2}$'
      and to_date(right(c.relname, 7), 'YYYY_MM') + interval '13 months' <= this_month
  loop
    execute format('drop table market.%I', name);
    changed := changed + 1;
  end loop;
  delete from market.audit_event_default d where d.at < now() - interval '12 months';
  return changed;
end
$function$;
comment on function jobs.keep_audit_partitions() is 'Makes the partitions of this and the next month, and drops those that are over 12 months gone; gives how many it made and dropped.';
grant execute on function jobs.keep_audit_partitions() to souk_worker;

CREATE OR REPLACE FUNCTION market.audit()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  was jsonb := case when tg_op in ('UPDATE', 'DELETE') then to_jsonb(old) end;
  becomes jsonb := case when tg_op in ('INSERT', 'UPDATE') then to_jsonb(new) end;
  subject uuid := coalesce(becomes ->> 'account_id', was ->> 'account_id',
    case when tg_table_name = 'account' then coalesce(becomes ->> 'id', was ->> 'id') end)::uuid;
  status text := case when tg_op = 'INSERT' or was -> 'status' <> becomes -> 'status' then becomes ->> 'status' end;
  login text := coalesce(nullif(current_setting('role'), 'none'), session_user);
  -- Who has entered a request or a job. Anybody may set the claims by hand; of others they say nothing.
  entered boolean := login in ('souk_api', 'souk_agent', 'souk_person', 'souk_moderator', 'souk_worker');
  moderator uuid := case when entered then nullif(current_setting('market.moderator_id', true), '')::uuid end;
  agent uuid := case
    -- Nobody has entered: it is an agent that makes itself.
    when login = 'souk_api' and tg_table_name = 'agent' and tg_op = 'INSERT' then (becomes ->> 'id')::uuid
    when entered then market.agent_id() end;
  account uuid := coalesce(moderator, case when entered then market.account_id() end);
  actor text;
  before jsonb;
  after jsonb;
begin
  -- Nobody does these: a clock, and the job that follows a suspension.
  if was - array['updated_at', 'hiding'] = becomes - array['updated_at', 'hiding'] then
    return null;
  end if;
  actor := case
    when moderator is not null then 'moderator'
    when agent is not null then 'agent'
    when account is not null then 'person'
    when login = 'souk_worker' then 'job'
    -- Nobody has entered: it is a person whom the secret of a link admits.
    when login = 'souk_api' then 'person'
    else 'dba' end;
  select jsonb_object_agg(c.name, was -> c.name), jsonb_object_agg(c.name, becomes -> c.name) into before, after
  from unnest(tg_argv) as c (name) where coalesce(was -> c.name, 'null') <> coalesce(becomes -> c.name, 'null');
  insert into market.audit_event (actor_type, account_id, agent_id, sql_role, action, table_name, row_id,
    subject_account_id, before, after, request_id)
  values (actor, case when login = 'souk_api' then coalesce(account, subject) else account end, agent,
    case actor when 'dba' then session_user else login end,
    case
      when tg_op = 'TRUNCATE' then tg_table_name || '.truncated'
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
      when tg_table_name = 'appeal' and was ->> 'decided_at' is null and becomes ->> 'decided_at' is not null and tg_op = 'UPDATE'
        then 'appeal.decided'
      when tg_table_name = 'review_case' and tg_op = 'UPDATE'
        then 'review_case.' || case when becomes ->> 'held_by' is null then 'released' else 'claimed' end
      when tg_table_name = 'proved_method' then case tg_op when 'DELETE' then 'method.removed' else 'method.proved' end
      else tg_table_name || case tg_op when 'INSERT' then '.created' when 'UPDATE' then '.updated' else '.deleted' end
    end,
    tg_table_name,
    case when tg_op = 'TRUNCATE' then 'all' else
      coalesce(becomes ->> 'id', was ->> 'id', becomes ->> 'method', was ->> 'method', becomes ->> 'name', was ->> 'name',
        becomes ->> 'action', was ->> 'action', becomes ->> 'offer_id', was ->> 'offer_id', subject::text) end,
    subject,
    case when was is not null then before end, case when becomes is not null then after end,
    case when actor <> 'dba' then nullif(current_setting('market.request_id', true), '') end);
  return null;
end
$function$;
comment on function market.audit() is 'Writes one change into the audit log. Its arguments are the columns whose values may stand there: none that a person wrote.';

CREATE OR REPLACE FUNCTION market.search_offers(query text, reading jsonb, filters jsonb, embedding halfvec, model text, as_of timestamp with time zone, searcher uuid, depth integer)
 RETURNS TABLE(offer_id uuid, score double precision)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  -- Per term of the query: what is it, what names it in a title, what only lies in its category, how much it counts.
  terms tsquery[];
  titled tsquery[];
  classes tsquery[];
  weights real[];
  whole real;
  every tsquery;
  some_of tsquery;
  -- What was read from the query.
  in_domain text := reading ->> 'domain';
  in_category text := reading ->> 'category';
  of_kind text := reading -> 'offer_kind' ->> 'value';
  at_most bigint := round((reading -> 'price' ->> 'max')::numeric * 100);
  at_least bigint := round((reading -> 'price' ->> 'min')::numeric * 100);
  in_currency text := reading -> 'price' ->> 'currency';
  per text := reading -> 'price' ->> 'period';
  there tsquery := market.read_place(reading -> 'places');
  countries text[] := array(select p ->> 'country' from jsonb_array_elements(coalesce(reading -> 'places', '[]')) as p where p ? 'country');
  conditions market.conditions := market.conditions_of(filters, as_of, searcher);
  local market.conditions;
  by_words uuid[];
  near public.halfvec := search_offers.embedding;
  floor real;
  share real;
  by_letters boolean;
  -- When fewer have every word, those that have some are looked at, too: two pages.
  enough constant integer := 20;
  hidden uuid[] := market.accounts_being_hidden();
begin
  select m.search_floor, m.search_share, m.by_letters into floor, share, by_letters from market.embedding_model m where m.model = search_offers.model;
  select array_agg(t.forms order by t.n), array_agg(t.titled order by t.n), array_agg(t.classes order by t.n),
    array_agg(t.weight order by t.n), sum(t.weight),
    string_agg('(' || coalesce(t.forms || t.classes, t.forms)::text || ')', ' & ') filter (where t.weight >= 1)::tsquery,
    coalesce(string_agg(coalesce(t.forms || t.classes, t.forms)::text, ' | ') filter (where t.weight >= 2),
      string_agg(t.forms::text, ' | '))::tsquery
  into terms, titled, classes, weights, whole, every, some_of
  from (
    -- What the thing is for, as the child in "bike for my child", only tells which of the things come first.
    select t.n, t.forms, t.titled, t.classes,
      case when t.words <@ market.text_array(reading -> 'asides') then 0.3 * t.weight else t.weight end::real as weight
    from market.query_terms(coalesce(nullif(reading ->> 'words', ''), query), reading ->> 'language', coalesce(reading -> 'corrections', '{}')) as t) as t;
  -- When nothing has every word, at least what is named has to be there, or lie in its category.
  some_of := coalesce(some_of || market.any_lexeme(array[in_domain || '/' || in_category]), some_of);
  if reading -> 'offer_kind' ->> 'certain' = 'true' then
    conditions.kinds := coalesce(conditions.kinds, array[of_kind]);
  end if;
  if at_most = 0 and conditions.price_max is null then
    -- Who wants it for nothing wants whatever is free.
    conditions.price_max := 0;
    some_of := null;
  end if;
  local := conditions;
  local.place := coalesce(local.place, there);
  by_words := market.worded_candidates(coalesce(every, some_of), local, depth);
  -- A name that nobody knows, and that is there as it is written: what else has its letters is something else.
  if by_letters and cardinality(by_words) > 0 and 2 > all (weights) and in_domain is null then
    near := null;
    share := 0;
  end if;
  if cardinality(by_words) < enough and some_of is distinct from every then
    by_words := by_words || market.worded_candidates(some_of, local, depth);
  end if;
  if cardinality(by_words) < enough and there is not null then
    -- Those of which nobody knows the city.
    by_words := by_words || market.worded_candidates(some_of, conditions, depth);
  end if;

  return query
  with worded as (
    select c.id, row_number() over (order by c.strength desc, c.density desc, c.id desc) as rank
    from (
      select o.id, r.density, r.coverage + least(r.density, 1) * 0.1 + 0.3 * a.place + 0.1 * a.price
        + market.class_agreement(o, in_domain, in_category, of_kind) as strength
      from market.offer o
      -- search || '' is a copy out of the compressed row: each term would unpack it anew, which was half of the ranking.
      cross join lateral (select o.search || '' as search offset 0) as w
      cross join lateral (
        select sum(weights[i] * case when w.search @@ titled[i] then 1 when w.search @@ terms[i] then 0.8
            when w.search @@ classes[i] then 0.25 else 0 end) / whole as coverage,
          sum(ts_rank('{0.1, 0.2, 0.5, 1.0}', w.search, terms[i], 1)) as density
        from generate_subscripts(terms, 1) as i) as r
      cross join lateral (
        select market.place_agreement(o, there, countries) as place,
          market.price_agreement(o, at_most, at_least, in_currency, per) as price) as a
      where o.id = any (by_words) and a.place is not null and a.price is not null
        and (hidden is null or (o.account_id = any (hidden)) is not true)) as c
  ), similar_to as (
    select n.offer_id as id, row_number() over (order by n.distance
      - 0.5 * market.class_agreement(o, in_domain, in_category, of_kind) - 0.05 * a.price, n.offer_id desc) as rank
    from market.near_candidates(near, search_offers.model, local) as n
    join market.offer o on o.id = n.offer_id
    cross join lateral (select market.price_agreement(o, at_most, at_least, in_currency, per) as price) as a
    where 1 - n.distance >= floor and a.price is not null
      and (hidden is null or (o.account_id = any (hidden)) is not true)
  )
  select coalesce(w.id, s.id),
    -- 0 to 1: first in both lists is 1.
    (coalesce(1.0 / (60 + w.rank), 0) + coalesce(share / (60 + s.rank), 0))::double precision / ((1 + coalesce(share, 0)) / 61)
  from worded w full join similar_to s on s.id = w.id;
end
$function$;
comment on function market.search_offers(text,jsonb,jsonb,halfvec,text,timestamp with time zone,uuid,integer) is 'Published offers that pass the filters and answer the query, as it was read, by words or by meaning, with a relevance of 0 to 1. About `depth` by words and 40 by vector.';

CREATE OR REPLACE FUNCTION market.browse_offers(filters jsonb, as_of timestamp with time zone, searcher uuid, sort text, after jsonb, candidates integer)
 RETURNS TABLE(offer_id uuid, sort_key numeric)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
declare
  conditions market.conditions := market.conditions_of(filters, as_of, searcher);
  -- Prices go with categories: by the index of prices the cheapest of 7,000 flats came after all that is cheaper (160 ms
  -- on 100,000 offers), sorted after the filter it takes 15 ms. The sum keeps the planner from that index.
  narrowed boolean := conditions.domains is not null or conditions.categories is not null or conditions.place is not null;
  after_id uuid := (after ->> 'id')::uuid;
  after_time timestamptz := (after ->> 'time')::timestamptz;
  after_price bigint := (after ->> 'price')::bigint;
  hidden uuid[] := market.accounts_being_hidden();
begin
  if sort = 'newest' then
    return query
    select o.id, extract(epoch from o.published_at) from market.offer o
    where market.passes(o, conditions)
      and (hidden is null or (o.account_id = any (hidden)) is not true)
      and (after is null or (o.published_at, o.id) < (after_time, after_id))
    order by o.published_at desc, o.id desc limit candidates;
  elsif sort = 'price_asc' then
    return query
    select o.id, o.price_hundredths::numeric from market.offer o
    where market.passes(o, conditions)
      and (hidden is null or (o.account_id = any (hidden)) is not true)
      and o.price_hundredths is not null
      and (after is null or (o.price_hundredths, o.id) > (after_price, after_id))
    order by case when narrowed then o.price_hundredths + 0 else o.price_hundredths end, o.id limit candidates;
  else
    return query
    select o.id, o.price_hundredths::numeric from market.offer o
    where market.passes(o, conditions)
      and (hidden is null or (o.account_id = any (hidden)) is not true)
      and o.price_hundredths is not null
      and (after is null or (o.price_hundredths, o.id) < (after_price, after_id))
    order by case when narrowed then o.price_hundredths + 0 else o.price_hundredths end desc, o.id desc limit candidates;
  end if;
end
$function$;
comment on function market.browse_offers(jsonb,timestamp with time zone,uuid,text,jsonb,integer) is 'Published offers that pass the filters, without a query, in the order asked for, after a position.';

CREATE OR REPLACE FUNCTION market.finish_offer(submission market.submission, reading jsonb, OUT status integer, OUT body jsonb)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  read market.offer := market.read_offer(submission.text, reading);
  current market.offer;
  addresses_agents boolean := coalesce((reading ->> 'addresses_agents')::boolean, false);
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
      'detail', case when addresses_agents
        then 'The text names no way to reach the publisher outside of sentences that address a model, and those are not read: no contact in them counts. Leave them out, say a phone number, an e-mail address or a link that the person gave you in a sentence for people, and send the text again.'
        else 'The text names no way to reach the publisher. Ask the person for a phone number, an e-mail address or a link, put it into the text and send it again.' end,
      'errors', jsonb_build_array(jsonb_build_object('pointer', '/text', 'detail', case when addresses_agents
        then 'Leave out what addresses a model, and add a phone number, an e-mail address or a link in a sentence of its own.'
        else 'Add a phone number, an e-mail address or a link.' end)));
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
  perform market.review_read_offer(current, addresses_agents);
  body := jsonb_build_object('offer_id', current.id, 'status', current.status) || market.understood(current);
end
$function$;
comment on function market.finish_offer(market.submission,jsonb) is 'Publishes, changes or previews an offer by its reading, or refuses it for want of a contact: the answer''s status and body.';

insert into market.offer_example (offer_kind, category, text) values
  ('project_hire', 'jobs_projects/construction_work', 'AC technician wanted, Kochi. ITI, 3 yrs experience, two-wheeler. ₹22,000 + petrol + incentive per call. Our service centre, Voltas and Daikin. Join before Onam.'),
  ('project_hire', 'jobs_projects/construction_work', 'Bike mechanic, cargo-bike shop, Ghent. €16/h, 4 days. Bosch diagnostics, Cytech 2 or equal experience. We offer tools, lunch and a staff bike. English fine.'),
  ('project_hire', 'jobs_projects/construction_work', 'Electrician''s mate, Medway, from September, £13.50/h. CSCS card, own hand tools, driving licence. You''ll be with our two-man team, Part P support offered.'),
  ('project_hire', 'jobs_projects/construction_work', 'Elektriker (m/w/d), Zürich Nord, 100 %, CHF 5''900 ×13. EFZ, Umbauten, Service. Wir bieten Auto, Werkzeug, freie Freitagnachmittage. Bewerbungen ohne Personalverleih.'),
  ('project_hire', 'jobs_projects/construction_work', 'Eletricista predial, Campinas, CLT, R$ 3.200 + VR. NR-10, manutenção de condomínios. Nossa empresa procura dois. Experiência comprovada em carteira, CNH.'),
  ('project_hire', 'jobs_projects/construction_work', 'Idraulico con esperienza, Genova, ditta di sei persone. 1.800 netti, furgone, contratto vero. Caldaie, scarichi. Cerchiamo uno che sappia parcheggiare. Patente B.'),
  ('project_hire', 'jobs_projects/construction_work', 'Joiner/handyman, Tauranga, retirement village maintenance. 32 hours per week, NZ$34/h. Doors, decks, gates. Police vetting, references. Ute supplied. Apply by the 8th.'),
  ('project_hire', 'jobs_projects/construction_work', 'Plombier-chauffagiste, CDI 39 h, Saint-Étienne, 2 400 € net, véhicule. Chaudières, dépannage, astreinte une semaine sur cinq. Nous recrutons avec CAP et cinq ans d''expérience.'),
  ('project_hire', 'jobs_projects/construction_work', 'Plumber, Gas Safe, Darlington. Full-time, £19–22/h, van, phone, 28 days. Our work: housing association boilers, 6 tickets a day. Must hold ACS. Call the office 555-0121'),
  ('project_hire', 'jobs_projects/construction_work', 'Serwisant rowerowy, Szczecin, umowa o pracę, 5200 na rękę. Centrowanie, amortyzatory, e-bike. Doświadczenie dwa lata. Zapewniamy warsztat ogrzewany i zniżki.'),
  ('project_hire', 'jobs_projects/design', 'Children''s book illustrator wanted: 14 spreads, hedgehog, watercolour look, no AI. First-time author paying £2,200 in stages, credit on the cover. Sample sketch of one hedgehog paid £40.'),
  ('project_hire', 'jobs_projects/design', 'Designer gráfico, Recife, meio período, R$ 2.100 + VT. Posts, cardápios, fachadas. Exigimos portfólio e Illustrator. Nossa rede: quatro pizzarias. Currículo para vagas@example.org'),
  ('project_hire', 'jobs_projects/design', 'Grafiker/in auf Honorarbasis, Jahresbericht 60 Seiten, InDesign, Bilder vorhanden. Unser Verein zahlt pauschal 2.400 €. Oktober, Graz oder remote. Bitte drei Referenzen und Verfügbarkeit.'),
  ('project_hire', 'jobs_projects/design', 'Graphiste print, CDD 6 mois, temps plein, Liège. InDesign, Illustrator, prépresse. 2 650 € brut, chèques-repas. Vos missions : affiches, catalogues, étiquettes. Expérience deux ans. Book exigé.'),
  ('project_hire', 'jobs_projects/design', 'Logo and labels for a small rum, Bridgetown. Three concepts, print-ready files, two bottle sizes. We pay US$900, half up front. Illustrator, hand lettering a plus. Send five past projects by Friday.'),
  ('project_hire', 'jobs_projects/design', 'UX/UI designer, Figma, contract 4 months, Toronto/remote. Clinic booking portal, WCAG 2.2. CA$80–90/h, 30 hours per week. You''d work with our two developers and a very opinionated nurse. Portfolio to apply.'),
  ('project_hire', 'jobs_projects/design', 'Video editor, Reels, Pune or remote. 20 reels per month, ₹25k fixed. Premiere, subtitles Hindi/Marathi. 1–2 yrs experience. Our page: street food, 400k. Paid trial.'),
  ('project_hire', 'jobs_projects/design', 'Vormgever, huisstijl plus 12 bierviltjes, brouwerij van drie vrienden, Deventer. Budget € 1.500, helft vooraf. Ervaring met verpakking, graag zeefdruk. Stuur ons je portfolio, klaar voor 1 november.'),
  ('project_hire', 'jobs_projects/education', 'Bijlesdocent wiskunde, Delft, 6–10 uur per week, € 18 per uur. Wij vragen vwo-niveau en geduld. Avonden, vanaf september. Sollicitatie met cijferlijst.'),
  ('project_hire', 'jobs_projects/education', 'English teachers, CELTA, online, 10–25 hours per week, $16/h. Young learners in Chile. Our platform, our materials, your headset. Experience one year. Apply via example.com/teach'),
  ('project_hire', 'jobs_projects/education', 'JEE physics faculty, Kota style, Lucknow centre. ₹9–14 LPA, full-time, 6 days. IIT/NIT preferred, 4 yrs experience. Demo lecture at our campus. Travel reimbursed.'),
  ('project_hire', 'jobs_projects/education', 'Maths tutor, GCSE resit, our daughter, Cardiff. Twice per week after 5, £30–35/h. Experience with anxious teenagers a must. From half-term, home or online.'),
  ('project_hire', 'jobs_projects/education', 'Nanny, live-out, Clapham. Girl 2, boy 5, one calm whippet. 45 hours per week from September, £17 net, DBS, first aid, driver. Our current nanny is off to Norland. References essential.'),
  ('project_hire', 'jobs_projects/education', 'Nounou, sortie d''école 16h30–19h, Villeurbanne, deux garçons. 11 € net/h, CESU, dès septembre. Devoirs, goûter, parfois bain. Nous préférons quelqu''un avec expérience et références.'),
  ('project_hire', 'jobs_projects/education', 'Piano teacher, music school, Cork. Eight hours per week, €32/h, contract to June. DipMus, Garda vetting. You bring the pupils on to grade 5. CV by the 19th.'),
  ('project_hire', 'jobs_projects/education', 'Profesor de inglés, academia en Zaragoza, 24 horas por semana, 1.250 €. C2 o nativo, CELTA. Ofrecemos contrato de septiembre a junio y grupos de ocho. Enviar CV.'),
  ('project_hire', 'jobs_projects/office', 'Bookkeeper, Xero, Stockport, 16 hours per week. £15/h, builders'' yard, small team, dog in the office. CIS and payroll experience. You''d report to my wife. CV with references.'),
  ('project_hire', 'jobs_projects/office', 'Gestor laboral, Granada, media jornada, 900 €. Nóminas, contratos, Renta. Se requiere experiencia de dos años y A3. Incorporación en septiembre, asesoría familiar. CV a rrhh@example.org'),
  ('project_hire', 'jobs_projects/office', 'Księgowa, Częstochowa, pełny etat, 6500 brutto. KPiR, ryczałt, kadry, min. 3 lata doświadczenia. Nasze biuro oferuje spokojną ekipę i pracę zdalną w piątki.'),
  ('project_hire', 'jobs_projects/office', 'Paralegal, immigration, Toronto. Full-time, $52–58k. Punjabi or Tagalog, 2 yrs experience, PNP files. We offer benefits after three months. Apply with cover letter to our firm.'),
  ('project_hire', 'jobs_projects/office', 'Steuerfachangestellte/r, Kassel, 30–38 Std., ab sofort. DATEV, Lohn, EÜR. Wir zahlen 3.400 brutto bei Vollzeit, Homeoffice zwei Tage. Bewerbung formlos per Mail.'),
  ('project_hire', 'jobs_projects/office', 'Virtual assistant, remote, 20 hours a week, $8/h. Inbox, Zendesk tickets, show notes. Our hours: 9–1 London. Must have quiet room and stable internet. Two-week paid trial.'),
  ('project_hire', 'jobs_projects/other_work', 'Badante convivente, Modena, per mia zia, 88 anni. Contratto CS 54 ore, 1.200 €, camera sua. Richieste esperienza con Alzheimer, referenze, patente gradita. Da settembre.'),
  ('project_hire', 'jobs_projects/other_work', 'Cuidadora de idosos, Curitiba, 12x36, R$ 2.300 registrado. Vaga para senhor acamado. Exigimos curso, experiência e referências. Família tranquila, dois gatos.'),
  ('project_hire', 'jobs_projects/other_work', 'Dog walker wanted, Bandra, one Labrador, 6 am daily. ₹9,000 per month, Sundays off. Must live nearby. Reference from a vet or another dog parent.'),
  ('project_hire', 'jobs_projects/other_work', 'Gardener, Totnes, four hours every Tuesday. Borders, hedge, two elderly apple trees. We pay £22/h, mower and tea here. RHS or just years of experience. No leaf-blowers.'),
  ('project_hire', 'jobs_projects/other_work', 'Kennel hand & trainer''s assistant, Perth hills. 30 hours per week incl. Saturdays, A$29.80/h. Our puppy classes, your muddy boots. Cert III helpful, training given. Apply in person.'),
  ('project_hire', 'jobs_projects/other_work', 'Live-in carer, Harrogate, two weeks on / two off. Lady of 91, dementia, sharp tongue. £125 a day, own room and bathroom, contract direct with the family. Must drive and cook. DBS.'),
  ('project_hire', 'jobs_projects/other_work', 'Night carer, Ennis, for our dad, 84, Parkinson''s. Three nights, 10 pm to 8, €21/h on the books. Hoist experience, own car, Garda vetting. Start when suits, references rung.'),
  ('project_hire', 'jobs_projects/other_work', 'Seniorenbetreuerin, Wien 17., für meine Mutter. Mo–Fr vormittags, 20 Stunden, 16 € netto angemeldet. Einkauf, Arzt, Kartenspiel. Erfahrung und gutes Deutsch Voraussetzung. Referenzen bitte.'),
  ('project_hire', 'jobs_projects/other_work', 'Tuinman, landgoed bij Gent, voltijds, vast contract. Taken: hagen, moestuin, fruit. Wij bieden € 17/u, woonst mogelijk. Ervaring en rijbewijs B. Van september af.'),
  ('project_hire', 'jobs_projects/software', 'DevOps engineer, Kubernetes, Terraform, Bengaluru hybrid. 5+ yrs experience, on-call one week in four. ₹32–40 LPA, medical for parents, laptop of your choosing. Apply by 30 Aug. No freelancers.'),
  ('project_hire', 'jobs_projects/software', 'Dév Symfony, mission 6 mois, Nantes, 2 jours de télétravail. TJM 400 € max. Reprise d''un extranet d''assurance. Profil : 5 ans d''expérience, tests, PHP 8. Notre équipe : quatre devs, un PO. Candidature avec références.'),
  ('project_hire', 'jobs_projects/software', 'Flutter dev wanted, Nairobi or GMT±3. Delivery app, 70% there, last freelancer vanished. Fixed price USD 4,000 in four milestones. Firebase, maps, M-Pesa. Show us two apps in the stores.'),
  ('project_hire', 'jobs_projects/software', 'Java-Entwickler (m/w/d), Vollzeit, Nürnberg/remote. Spring Boot, Kafka, Oracle. Deine Aufgaben: Mautabrechnung, Tests, Code-Reviews. Wir bieten 68–80 T€, 30 Tage Urlaub, ein Team ohne Krawatte. Ab September.'),
  ('project_hire', 'jobs_projects/software', 'Junior QA, full-time, Limerick. Cypress, manual, bug tickets. €34k, 24 days leave, mentoring. Ideal for a graduate. Our product: milk-quota software. Start September, references requested.'),
  ('project_hire', 'jobs_projects/software', 'Programador Laravel, remoto LATAM, jornada completa, 1.800–2.400 USD. Requisitos: 4 años, inglés B2, MySQL. Ofrecemos contrato, vacaciones, equipo tranquilo. CV a talento@example.net'),
  ('project_hire', 'jobs_projects/software', 'Programista .NET, Rzeszów/zdalnie, 110–140 zł/h B2B. Azure, Blazor, KSeF. Wymagamy 5 lat doświadczenia. Oferujemy stały zespół, szkolenia, start od września. Prosimy o CV.'),
  ('project_hire', 'jobs_projects/software', 'Python / Django, part-time, 20 hours per week, Leeds or remote. £40/h. A charity''s donor database, 14 years old, tests nil. Must have patience and Postgres. We pay on the 1st. Apply with something you''ve fixed.'),
  ('project_hire', 'jobs_projects/software', 'React developer, TypeScript, Next.js, remote within EU. 40 hours per week, contract 12 months from September, €450 a day. Your tasks: checkout, tickets in Linear, pairing. Our team: six people and a designer in Porto. CV and two references to jobs@example.com'),
  ('project_hire', 'jobs_projects/software', 'Shopify freelancer, 3 to 4 weeks, size charts + subscription + Klaviyo. Knitwear shop in Shetland, just the two of us. Budget £2,500. Portfolio please, agencies need not reply.'),
  ('project_hire', 'jobs_projects/software', 'Sviluppatore iOS, Milano, contratto a tempo indeterminato, 42k. Swift, SwiftUI, tre anni di esperienza. Ti occuperai della nostra app di biglietti. Smart working 3 giorni, buoni pasto. Inviare candidatura entro il 15.'),
  ('project_hire', 'jobs_projects/writing', 'Copywriter, freelance, six landing pages + email flow for a mattress firm. £1,800 the lot. UK English, dry humour, deadline 20 Sept. Samples and day rate to us, no content mills.'),
  ('project_hire', 'jobs_projects/writing', 'Genealogist wanted, Roscommon lines, 1820–1880. American family, budget €1,000 for a report with sources by Thanksgiving. Must read parish Latin. References please.'),
  ('project_hire', 'jobs_projects/writing', 'Lektor/in gesucht? Ja: historischer Roman, 480 Normseiten, Selbstverlag. Ich zahle 4 € je Seite, Vertrag, Probeseiten vorab. Erfahrung mit Dialekt unbedingt. Bis Jänner.'),
  ('project_hire', 'jobs_projects/writing', 'Proofreader for a PhD, 82,000 words, soil science, Harvard refs. I can pay £750. Must have experience with tables and Latin names. Three weeks from 1 October.'),
  ('project_hire', 'jobs_projects/writing', 'Rédacteur web, télétravail, 15 articles par mois sur l''élevage, 0,08 € le mot. Nous demandons : expérience agricole, zéro ChatGPT. Contrat de six mois. Test rémunéré.'),
  ('project_hire', 'jobs_projects/writing', 'Transcriber, Glasgow accents, 40 hours of audio, oral history. £1.10 per audio minute, from September, remote. Headphones and foot pedal yours. Apply to the archive, two references.'),
  ('project_hire', 'jobs_projects/writing', 'Translator JP>EN, device manuals, in-house, Brisbane, full-time. A$85k. N1, NAATI, memoQ. You join a team of four; remote Fridays. Test piece of 300 words, paid.'),
  ('project_hire', 'jobs_projects/writing', 'Tłumacz niemiecko-polski, instrukcje maszyn, 300 stron, stawka 45 zł. Wymagany Trados i doświadczenie techniczne. Nasza firma płaci w 14 dni. Start wrzesień.'),
  ('service_offer', 'services/care', 'Auxiliaire de vie, Québec (Limoilou). Bains, repas, promenades, répit pour proches aidants. PAB diplômée, 10 ans en CHSLD. 27 $/h, jours et soirs, reçus pour le crédit d''impôt. RCR à jour. Libre trois jours par semaine.'),
  ('service_offer', 'services/care', 'Badante convivente, moldava, 51 anni, italiano buono. Quindici anni di esperienza a Modena e Reggio: Alzheimer, sollevatore, insulina, cucina emiliana. Contratto CS, 54 ore, 1.250 € mese. Referenze telefoniche. Disponibile da settembre. No animali grandi.'),
  ('service_offer', 'services/care', 'Cat sitter, Newtown & inner west. Two visits a day, pills, insulin, brushing, plants, bins. $30 a visit, overnight $85. Vet nurse by trade, nine years, insured. Photos daily whether wanted or not. Booked over Christmas already!'),
  ('service_offer', 'services/care', 'Companion for an elderly lady or gentleman — Harrogate. Lunches, crosswords, drives in the Dales, hospital appointments. Retired ward sister, 63, non-smoker. £16 an hour, 45p a mile. Afternoons. Personal care by arrangement; no cleaning.'),
  ('service_offer', 'services/care', 'Cuidadora de idosos, Curitiba. Curso técnico, 8 anos de hospital e casa, curativos, sonda, banho no leito. Plantão 12 h R$ 190, noturno R$ 220. Referências e atestado de antecedentes. Folga às quartas.'),
  ('service_offer', 'services/care', 'Cuidadora interna, Bilbao. Mayores, alzhéimer, postoperatorios. Título sociosanitario, once años, papeles en regla. Jornada completa, 1.400 €/mes, domingos libres. Referencias de tres familias. Cocina vasca y peruana. Desde septiembre. Tel 555-0190'),
  ('service_offer', 'services/care', 'Dog walks & boarding, Bandra. Small pack, max 4, indies very welcome. ₹350 a walk, ₹900 a night at my flat. Ten years, canine first-aid certificate. Early mornings 5.30 on. No unneutered males in boarding.'),
  ('service_offer', 'services/care', 'Gastouder in Amersfoort, VE-diploma. Nog 1 plek op ma en do, vanaf september, 0–4 jaar. € 7,40 per uur, LRK-geregistreerd, tuin met kippen. 9 jaar ervaring. Geen weekenden.'),
  ('service_offer', 'services/care', 'Holiday nanny with passport. Ski weeks, villas, cruises, weddings. Swim teacher, EN/FR/IT, 34. €190 a day plus travel and a bed. Eleven seasons, long list of references. From October, Lyon based.'),
  ('service_offer', 'services/care', 'Maternity nurse / night nanny, Gauteng. Sleep routines, breastfeeding support, prem babies. Registered, ex NICU Milpark, 12 years'' experience. R1 600 a night, 5-night contracts. References from doctors. No daytime housework.'),
  ('service_offer', 'services/care', 'Night carer, qualified (QQI Level 5), 16 years in homes and private houses round Ennis. Dementia, Parkinson''s, palliative. Hoist, peg feed, meds. €22/h, four nights max. Own car. Garda vetted. Available from the 2nd.'),
  ('service_offer', 'services/care', 'Niñera y apoyo escolar, Montevideo, Pocitos. Estudiante de magisterio, 23, primeros auxilios. 280 pesos la hora, tardes y noches. Inglés intermedio, cero pantallas. Cuatro años con mellizos. Sin limpieza.'),
  ('service_offer', 'services/care', 'Norland-trained nanny, 29, south-west London. Newborn to school age, twins a speciality, weaning, potty, French songs. Full-time, live-out, 50 hours per week, from September. £18 net p/h. Enhanced DBS, paediatric first aid, clean licence. Three families, all references happy to talk. Dogs fine, proxy parent of teenagers no.'),
  ('service_offer', 'services/care', 'Nounou agréée, Villeurbanne. Deux places à partir de septembre, jardin, pas d''écran, repas maison. 19 ans d''expérience, PSC1 à jour. 4,20 € net l''heure, 45 h par semaine maximum. Références de parents. Un chat, non-fumeuse.'),
  ('service_offer', 'services/care', 'Opiekunka do dziecka, Wrocław Krzyki. Pedagog, 41 lat, 15 lat doświadczenia, referencje. Od roku do sześciu, spacery, logopedyczne zabawy, obiadki. 32 zł/h, umowa uaktywniająca mile widziana, pełny etat od września. Niepaląca.'),
  ('service_offer', 'services/care', 'Rabbits, hens, tortoises, one parrot who swears: small-animal holiday care in Dunedin. Home visits or board with us. $15 a day, big hutches, daily greens. Ex zoo keeper. No reptiles over a metre.'),
  ('service_offer', 'services/care', 'SEN teaching assistant, 14 years in a special school, Plymouth. Respite for autistic kids and teens: swimming, buses, baking, just being. Makaton, PECS, Team Teach. £20/h, direct payments OK, weekends and all school holidays. Enhanced DBS on update service.'),
  ('service_offer', 'services/care', 'Seniorenbetreuung, Wien 16. und 17. Bezirk. Einkaufen, Arztwege, Kartenspiel, Kochen. Heimhelferin mit Diplom, 48, Deutsch und Serbisch. 24 €/h, Vormittage und jeder zweite Samstag. Referenzen. Keine Nachtdienste.'),
  ('service_offer', 'services/care', 'Tagesmutter mit Pflegeerlaubnis, Freiburg-Vauban. Zwei Plätze ab September, 1–3 Jahre, 30 Stunden pro Woche. Wald, Brei aus eigenem Garten, Mittagsschlaf. 12 Jahre Erfahrung, Erste Hilfe frisch. Satz der Stadt plus 3 € Essen.'),
  ('service_offer', 'services/care', 'after-school sitter, Halifax NS, 19, nursing student. pickups, homework, snacks, park. $18/hr, mon-thu 3 to 7. first aid + cpr-c, vulnerable sector check, own bike not a car. two years with the same family, reference from the mum 555-0126'),
  ('service_offer', 'services/it_design', 'Assistenza computer a Bari e provincia: formattazioni, reti, SPID, recupero dati, siti per b&b. Perito informatico, 15 anni di esperienza. 25 € uscita + 20 € l''ora, preventivo gratis, anche domenica. Enzo 555-0188'),
  ('service_offer', 'services/it_design', 'Backend, Python mostly. Django, FastAPI, Celery, Redis, AWS (Solutions Architect Associate 2022). Eight years'' experience, former employers a rail-ticketing company and a hospital trust. Available full-time or 3 days per week, UTC+1 ± 4. Rate 65 EUR. GitHub and references on request. No agencies please.'),
  ('service_offer', 'services/it_design', 'Brand and packaging designer — Cape Town & anywhere with a courier. Logos, labels, tins, the odd mural. Illustrator, InDesign, lino and a proper scanner. Past clients: a rooibos co-op, two gins, one very patient undertaker. Identity from R14 000, three rounds. Booked till mid-August.'),
  ('service_offer', 'services/it_design', 'Desenvolvedor Node/AWS, Porto, contrato ou recibos verdes. TypeScript, Lambda, DynamoDB, Terraform. Experiência: 10 anos, equipa de pagamentos numa fintech, antes telecom. 40 €/h, remoto, a partir de setembro, máx. 32 horas por semana. Referências com todo o gosto.'),
  ('service_offer', 'services/it_design', 'Designer gráfica freelancer, Recife. Identidade visual, rótulos, cardápios, posts. Illustrator, Canva se o cliente pedir. 9 anos, ex-agência, portfólio com cordel e cerveja artesanal. Logo R$ 800, pacote mensal R$ 1.200 (12 artes). Prazo de 7 dias úteis. Não faço site.'),
  ('service_offer', 'services/it_design', 'DevOps, freelance, Cork. Kubernetes, Terraform, GitLab CI, Prometheus, on-call if it''s paid. CKA, CKS. Clouds: Azure and GCP, AWS grudgingly. Three months minimum or a two-week audit (€6,500). Last contract: payments firm, 40 engineers, zero-downtime move. Free from 15 Oct.'),
  ('service_offer', 'services/it_design', 'Diseñadora UX, Valencia. Investigación, prototipos en Figma, tests con usuarios, sistemas de diseño. Antes en un banco y en una app de trenes. 320 €/día, contrato por proyecto, libre desde el 16 de septiembre. Catalán, castellano, inglés. No maqueto código.'),
  ('service_offer', 'services/it_design', 'Dépannage informatique à domicile, Pau et 25 km. Virus, box, imprimante, récupération de données, installation Linux. 20 ans de métier, agréé service à la personne (50 % crédit d''impôt). 45 € l''heure, soir et samedi compris. Pas de consoles.'),
  ('service_offer', 'services/it_design', 'Développeur Symfony / API Platform, Nantes ou télétravail. 12 ans d''expérience, dont 5 en CDI chez un voyagiste. Reprise de code ancien, tests, mises à jour PHP 8. TJM 430 €, mission de 3 mois ou plus, dispo à partir de septembre, 4 jours par semaine. Références sur demande.'),
  ('service_offer', 'services/it_design', 'Embedded / firmware, C and a little Zephyr. STM32, nRF52, ESP32, LoRa. Own bench: scope, logic analyser, reflow oven. Products shipped: a milk-tank sensor, a dog collar, parking bollards. Christchurch NZ, NZ$130/h, remote with courier. Up to 24 hours per week.'),
  ('service_offer', 'services/it_design', 'Excel and Power BI. Macros untangled, pivot tables taught, monthly reports that used to take two days down to ten minutes. Former controller at a bus manufacturer in Ballymena, 15 years. £40 p/h, first look free, NDA no bother. Evenings and Saturdays.'),
  ('service_offer', 'services/it_design', 'Figma, Webflow, Framer. UX/UI for clinics, charities, small SaaS. Toronto, ten yrs, ex-agency (the one with the slide). CA$95/h or CA$4,800 for a five-page site incl. copy fitting and accessibility check WCAG 2.2. Next gap: from September 9.'),
  ('service_offer', 'services/it_design', 'Flutter apps, iOS + Android from a single codebase. Lagos, GMT+1, remote team of one. 7 published apps incl. a dispatch tracker for riders and a savings circle. Firebase, Supabase, Paystack, Stripe. Fixed price from ₦900k or $25/h; source code yours. tunde@example.com'),
  ('service_offer', 'services/it_design', 'Frontend-Entwicklerin, Leipzig / remote. Vue 3, Nuxt, Tailwind, Barrierefreiheit nach BITV. Neun Jahre, davon vier festangestellt in einem Verlag. 78 €/h netto, ab September 25 Std. pro Woche, gern im Team mit Design. Referenzen: zwei Museen, eine Krankenkasse. Kein Support am Wochenende.'),
  ('service_offer', 'services/it_design', 'Grafikerin, Winterthur. Vereinsplakate, Speisekarten, Etiketten, Jahresberichte. InDesign, Siebdruck, 18 Jahre Erfahrung, früher in einer Agentur mit Hund. CHF 110/h, Logo pauschal ab 900. Termine wieder ab 3. November.'),
  ('service_offer', 'services/it_design', 'Graphiste indépendante, Liège. Logos, affiches de théâtre, pochettes de vinyles, mise en page de livres. Indesign, sérigraphie à la main. Forfait logo 350 €, trois propositions. Anciens clients : une brasserie, le festival des Ardennes, un dentiste courageux. Pas de sites web.'),
  ('service_offer', 'services/it_design', 'Illustrator with a children''s-book bent. Gouache, ink, Procreate. Spot art, covers, maps for fantasy novels, pet portraits at Christmas. Fourteen titles with small presses, one shortlist. Half page from £140. Wellington NZ. Six weeks'' lead time, no AI, no "exposure".'),
  ('service_offer', 'services/it_design', 'Java, Spring Boot, Kafka, Oracle. Freiberufler, 54, Raum Nürnberg oder remote. Projekte: Maut, Versicherung, Krankenhaus-Abrechnung. Altcode gern, auch COBOL-Anbindung. 98 €/h, Vollzeit ab 1.10., Vertrag direkt, ohne Vermittler. Profil als PDF.'),
  ('service_offer', 'services/it_design', 'Network cabling design + Unifi set-up for guest houses and small offices, Galway/Mayo. Access points, VLANs, CCTV, card terminals that stay online. 12 years, fully insured, VAT registered. Survey €60 off the final bill. Recent: a 22-room hotel, two vets, a parish hall.'),
  ('service_offer', 'services/it_design', 'PC-Hilfe für Ältere, Graz und Umgebung. Drucker, E-Mail, ID Austria, Handy, Fotos sichern. Geduldig, pensionierter HTL-Lehrer. 35 € die Stunde, Anfahrt im Stadtgebiet gratis. Mo–Do vormittags. Keine Bildschirmreparaturen. Tel. 555-0117'),
  ('service_offer', 'services/it_design', 'PostgreSQL and nothing else. Slow queries, upgrades from 9.x, replication, backups that actually restore. Twenty years, committer to two extensions, speaker. €140/h, minimum two hours, remote worldwide. German, English, bad French.'),
  ('service_offer', 'services/it_design', 'Presentations. That''s it. PowerPoint, Keynote, Slides. Pitch decks for founders, board packs, a eulogy once. Former consultant, 8 yrs, Dublin. €35 a slide, overnight at €50. Template builds from €900. References under NDA.'),
  ('service_offer', 'services/it_design', 'Programador full stack, Córdoba (Arg.), remoto. Laravel, Vue, MySQL, Docker. 8 años, inglés B2, huso GMT-3. 22 USD la hora o presupuesto cerrado. Proyectos: turnero para clínicas, tienda de yerba, sistema de stock. Jornada completa o medio tiempo, sin agencias.'),
  ('service_offer', 'services/it_design', 'Programista .NET, Rzeszów, zdalnie. C#, Azure, Blazor, SQL Server, integracje z Subiektem i KSeF. 13 lat doświadczenia, w tym software house i produkcja okien. 130 zł/h netto, B2B, od września pół etatu. Bez rekruterów.'),
  ('service_offer', 'services/it_design', 'QA engineer, manual + Cypress + k6, ISTQB Advanced. Nine years of breaking other people''s checkout pages. Test plans, bug tickets a developer can really read, regression before release. Part-time contract, max 20 hours per week, Bristol or remote. £38/h. Not a project manager.'),
  ('service_offer', 'services/it_design', 'Retired sysadmin, Ballarat. Slow laptops, stubborn printers, Wi-Fi in weatherboard houses, lost photos, mum''s iPad. $45 an hour, pensioners $30, kettle appreciated. Weekdays after ten. Thirty-one years at the council, police check. No phones with smashed glass.'),
  ('service_offer', 'services/it_design', 'Salesforce admin and flow builder, certified ×5, Hyderabad based but US hours. Dashboards, dedupe, CPQ, Data Loader migrations. 9 yrs. Retainer 20/40/60 hours a month at USD 28. Slack, Jira tickets, weekly call. Current client list: two nonprofits, a solar installer.'),
  ('service_offer', 'services/it_design', 'Senior React / TypeScript developer, Gdansk, remote only. Next.js, Node, Postgres, Playwright, a bit of Rust on rainy days. 11 years, six of them full-time in fintech, the last three freelance. £420 a day, contract or hourly, 30 hours per week from 1 September. References from two scale-ups. No WordPress, no crypto.'),
  ('service_offer', 'services/it_design', 'Shopify person in Hove. Themes, Liquid, Klaviyo flows, migrations from Magento and Etsy. 40-odd stores since 2016: a tea merchant, two knitwear labels, a cheese van. £55/h, small fixes from £80. Tickets answered within a day. Call Nadia 07700 900112'),
  ('service_offer', 'services/it_design', 'Strony dla małych firm, Bielsko. Fryzjer, warsztat, agroturystyka, kancelaria – już zrobione. WordPress, wizytówka Google, zdjęcia na miejscu. 1800 zł całość, poprawki w cenie przez pół roku. Kontakt wieczorem 555-0149. Grafiki reklamowej nie robię.'),
  ('service_offer', 'services/it_design', 'Sviluppatore iOS, Swift e SwiftUI, Torino / da remoto. Sette anni, quattro app in top 50, ex dipendente di una casa di scooter elettrici. 300 € al giorno, partita IVA, disponibile part-time da subito e full-time da gennaio. Niente Android, niente pubblicità.'),
  ('service_offer', 'services/it_design', 'Tiendas en WooCommerce y Prestashop, Guadalajara Jal. Pagos con MercadoPago, envíos, facturación CFDI. 60 tiendas, diez años de experiencia. Desde $9,500 MXN llave en mano, soporte 600 al mes. Lunes a sábado, WhatsApp 555-0161'),
  ('service_offer', 'services/it_design', 'Unity / C# generalist, Montréal, contract or per feature. Shaders, save systems, console porting (Switch, PS5). Credits on nine shipped games, one you''ve surely heard of. 35 hours per week max, no crunch, no NFTs. CAD 70/h. Reel at example.org/bisson'),
  ('service_offer', 'services/it_design', 'Video editor / motion graphics, Pune. Premiere, After Effects, DaVinci. Reels, wedding cuts, course videos, corporate AVs. 6 yrs experience incl. 2 yrs full time in a news channel. ₹1,200 per finished minute, 48 hr turnaround. Work samples on WhatsApp 555-0134.'),
  ('service_offer', 'services/it_design', 'Webdesigner uit Deventer. WordPress, Elementor als het moet, liever maatwerk. Huisartsen, boekwinkels, een imker. Vanaf € 950, hosting 12 per maand, teksten nakijken inbegrepen. Acht jaar ervaring. Vrijdag vrij vanwege de kinderen. Geen webshops.'),
  ('service_offer', 'services/it_design', 'WordPress rescue: hacked sites, white screens, plugins from 2014, hosting moves. Mostly same day. Flat £90, no fix no fee. Wakefield based, everything by remote. 300+ jobs, reviews on my site at rescue.example.net. I don''t do SEO and I don''t do Wix.'),
  ('service_offer', 'services/it_design', 'Zelfstandig data-engineer, Antwerpen/remote. Python, dbt, Snowflake, Airflow. Zes jaar bij een havenbedrijf, nu twee jaar freelance. € 640 per dag, voltijds of 3 dagen, vanaf september. Referenties ja, koppelbureaus nee.'),
  ('service_offer', 'services/it_design', 'student, 2nd yr computer science, Leicester. websites for small shops, cafés, bands: html css, astro, hosting sorted, domain in your name. £250 all in, £10/month for changes. three live ones to show. free mondays + weekends, and full-time over the summer'),
  ('service_offer', 'services/legal_finance', 'Biuro w jednej osobie: księgowość, KPiR, ryczałt, ZUS, kadry. Częstochowa i zdalnie. 25 lat praktyki, certyfikat MF, OC. Od 180 zł/mies., roczny PIT 120. Programiści B2B, taksówkarze, kwiaciarnie. Spółek z o.o. nie prowadzę.'),
  ('service_offer', 'services/legal_finance', 'Boekhouder voor zzp''ers, Zwolle. Btw, IB, jaarrekening, Moneybird, e-Boekhouden. € 65 per maand alles erin. RB, 12 jaar ervaring, ooit Belastingdienst. Dinsdagavond inloop. Geen bv''s, geen bonnetjes in de tas.'),
  ('service_offer', 'services/legal_finance', 'Bookkeeper, AAT licensed, Stockport. Xero, QuickBooks, CIS returns, payroll to 25 heads, shoeboxes without comment. From £110 a month, £28/h for catch-ups. 18 years, six full-time in a builders'' merchants. References from a bakery and two dental practices. No audits.'),
  ('service_offer', 'services/legal_finance', 'Buchhalter, selbständig, Salzburg. Laufende BH, UVA, Lohnverrechnung, BMD. 55 €/h oder Pauschale ab 190 im Monat. Bilanzbuchhalterprüfung, 21 Jahre Erfahrung. Wirte, Tischler, Ärztinnen. Donnerstags auch im Betrieb.'),
  ('service_offer', 'services/legal_finance', 'Commercialista, Catania. Forfettari, 730, locazioni brevi, successioni. Iscritta all''albo 2011. Forfettario 480 € l''anno tutto compreso, primo incontro gratuito. Anche online. Spagnolo e inglese. Niente contenzioso.'),
  ('service_offer', 'services/legal_finance', 'Comptable indépendante, Lausanne. TVA, salaires, bouclements, déclarations. Brevet fédéral, 15 ans de fiduciaire. 95 CHF/h, déclaration simple 120. Télétravail ou chez le client, 12 heures par semaine encore libres. Références. Pas de révision.'),
  ('service_offer', 'services/legal_finance', 'Contadora, Florianópolis. MEI, Simples, IRPF, folha de domésticas (eSocial). CRC ativo, 14 anos. MEI R$ 90/mês, imposto de renda R$ 250. Atendimento remoto, contrato sem fidelidade. Dev PJ: especialidade da casa.'),
  ('service_offer', 'services/legal_finance', 'Freelance CFO, two days a week. Cash-flow models, investor packs, bank talks. ACA, ex Big Four, then 7 yrs in breweries. R1 100/h, Stellenbosch or remote. Small team, 5–60 people. References from founders. No startups without revenue.'),
  ('service_offer', 'services/legal_finance', 'GST, TDS, ROC filings, small company books. CA, Chennai Anna Nagar, practice since 2008. Tally, Zoho. ₹2,500/month for traders, ITR from ₹1,000. Notices answered. Remote by email & phone 555-0109, Saturdays till 2.'),
  ('service_offer', 'services/legal_finance', 'Gestoría de una sola persona, Granada. Autónomos, IRPF, herencias, altas de empleada de hogar. Graduada social, 12 años. 45 €/mes autónomos, renta 40. Cita o WhatsApp. Contratos y nóminas sí, pleitos no.'),
  ('service_offer', 'services/legal_finance', 'Immigration lawyer, Toronto. Study permits, spousal, PNP, refusals. LSO member, Punjabi & Tagalog. Consult $120 credited to file. Ten years'' experience, 800 files. Contract in plain words, payment plan. Evenings Wed.'),
  ('service_offer', 'services/legal_finance', 'Notary public and apostille runs, Melbourne CBD. Powers of attorney, passports, diplomas, ship papers. A$90 first signature, mobile visits from A$180. Thirty yrs. Same day before noon. Italian and Greek.'),
  ('service_offer', 'services/legal_finance', 'Solicitor, retired from a big firm, now wills and powers of attorney at your kitchen table, Kilkenny. 34 years'' experience. €160 single, €260 couple, €200 EPA. Afternoons & Sundays after Mass. No litigation, no land rows.'),
  ('service_offer', 'services/legal_finance', 'Steuerberaterin, Kassel. Einkommensteuer, EÜR, Lohn, Photovoltaik, Erbfälle. DATEV, alles digital, auch remote. Kennenlernen kostenlos, Abrechnung nach StBVV. 17 Jahre, vorher Finanzamt. Neue Mandate ab September. Keine GmbH-Konzerne.'),
  ('service_offer', 'services/legal_finance', 'Tax agent, self-assessment & landlords. Chartered (ATT), ex HMRC 9 yrs. £180 simple return, £260 with property, crypto on quote. Remote, all UK, secure portal. Sole traders by contract, monthly if preferred. Not in the last week of January.'),
  ('service_offer', 'services/legal_finance', 'US expat tax: 1040, FBAR, streamlined, state leftovers. Enrolled Agent, based in Lisbon, 13 yrs. $450 flat, $150 extra year. Teachers, remote developers, au pairs turned permanent. Video call included. No corporate.'),
  ('service_offer', 'services/other_services', 'Adestrador, Cascais e Oeiras. Cachorros, passeios à trela, ansiedade de separação. Curso em Madrid, 8 anos, antes na GNR cinotécnica. Avaliação 40 €, pacote de seis 210 €. Reforço positivo. Fins de semana sim.'),
  ('service_offer', 'services/other_services', 'Ahnenforschung in Schlesien, Böhmen, Pommern. Kurrent und Sütterlin lesen, Kirchenbücher, Archive vor Ort. 38 €/h, Transkription 9 € pro Seite. Historikerin M.A., Görlitz, Polnisch fließend. Referenzen vorhanden, Erfolg nicht garantiert.'),
  ('service_offer', 'services/other_services', 'Arabic–English interpreter, Birmingham. Hospital, school, court, housing. DPSI Law, security cleared, own car. £35/h, two hours min, evenings yes. Ten years'' experience with councils and solicitors; references. Moroccan and Levantine dialects. Written work £0.10 a word.'),
  ('service_offer', 'services/other_services', 'Astrology no, numbers yes: statistician for hire by the hour. R, SPSS, Stata, survival curves, reviewer-2 replies. PhD, 9 yrs at a cancer unit. €80/h, students €50. Remote from Utrecht, English or Dutch. I explain, I don''t write the thesis.'),
  ('service_offer', 'services/other_services', 'Bee swarms, wasp advice, hive inspections, Herefordshire. Beekeeper 22 yrs, BBKA General Husbandry. Swarm collection free within ten miles, cut-outs from £150. Talks to schools £60. Wasps themselves: no, sorry.'),
  ('service_offer', 'services/other_services', 'CV and cover letters, LinkedIn too. Former recruiter, 12 years in NHS and engineering hiring. £95 for a CV in three working days, mock interview £60 online. Graduates, returners, forces leavers. Manchester/Zoom. I don''t send applications for you.'),
  ('service_offer', 'services/other_services', 'Calligraphy and hand lettering: envelopes, certificates, table plans, shop windows in gold leaf. Copperplate, italic, brush. Jaipur and Delhi, 7 yrs, three five-star hotels among clients. ₹60 an envelope, windows on quote. Two weeks notice.'),
  ('service_offer', 'services/other_services', 'Copywriter, Leeds. Emails, landing pages, the About page everyone dreads. Ex-charity sector, eleven years, one industry award, two cats. £350 a day or £220 a page. Recent: a mattress firm, a hospice, vegan dog biscuits. From September mornings only. Not academic essays, ever.'),
  ('service_offer', 'services/other_services', 'Corrector de estilo y maquetador, Bogotá. Tesis, novelas, revistas. Normas APA 7, InDesign, ePub. Filólogo, 14 años, dos editoriales universitarias. $6.000 COP la página, maquetación aparte. Entrega en diez días. No escribo tesis ajenas.'),
  ('service_offer', 'services/other_services', 'Dog training, Swansea & Gower. Recall, lead pulling, reactive rescues, gundog basics. IMDT, DBS, insured, 14 years incl. six at a rehoming centre. One-to-one £50, four for £180. Force-free: no prong, no e-collars. Mon–Fri, walks in the rain included. Bethan, 07700 900147'),
  ('service_offer', 'services/other_services', 'Female voice, warm alto, RP or soft Geordie. Audiobooks, e-learning, phone menus, museum guides. Home booth, Neumann TLM 103, Source-Connect. 200+ hours on Audible. £250 per finished hour, IVR from £60. Same-day pickups. No political spots.'),
  ('service_offer', 'services/other_services', 'Genealogist — Irish lines a speciality. Griffith''s, parish registers, Registry of Deeds, DNA matches. Accredited (AGI), 20+ years, Roscommon roots. €45/h in blocks of five, written report with sources. Former projects: a TV programme, two probate cases. No coats of arms.'),
  ('service_offer', 'services/other_services', 'Ghostwriter. Family histories, business memoirs, wedding speeches when the best man panics. Eighteen books, none of which I may name. Edinburgh, happy to travel. From £9,000 for 40,000 words, interviews and two drafts. Contract, NDA. Next free: spring.'),
  ('service_offer', 'services/other_services', 'Giardiniere diplomato, Castelli Romani. Siepi, potature, prati, orti, impianti a goccia. Scuola di Minoprio, 10 anni di esperienza, attrezzatura mia. 22 € l''ora, sopralluogo gratuito. Dal lunedì al venerdì. Niente alto fusto.'),
  ('service_offer', 'services/other_services', 'Grant writer, Winnipeg. Arts councils, community gardens, curling clubs. $2.1M brought in since 2018. Flat fee $650 small, $1,800 federal, no commissions. Budget tables included. 3 weeks before the deadline at the latest, please.'),
  ('service_offer', 'services/other_services', 'Gärtner, gelernt, Luzern. Heckenschnitt, Rosen, Obstbäume, Rasen, Balkonbepflanzung. Fr. 65 pro Stunde inkl. Werkzeug und Grünabfuhr. 25 Jahre Erfahrung, zuletzt Friedhofsgärtnerei. Mo bis Mi. Kein Winterdienst.'),
  ('service_offer', 'services/other_services', 'Hondengedragstherapeut, Mechelen. Uitvallers, verlatingsangst, puppy''s. Diploma Odisee, 11 jaar. Eerste consult € 75, vervolg € 50. Aan huis binnen 20 km. Geen pakwerk, geen slipkettingen.'),
  ('service_offer', 'services/other_services', 'Hundetrainer mit §11, Raum Linz. Leinenführigkeit, Rückruf, Angsthunde aus dem Tierschutz. Einzelstunde 60 €, Fünferblock 270. Seit 2010, davor Diensthundeführer. Kein Stachelhalsband, keine Wunder. Termine Di–Sa. WhatsApp 555-0102'),
  ('service_offer', 'services/other_services', 'Indexer! Back-of-book, academic mainly: history, theology, bees. Cindex, Society member (Advanced). £3.20 a page or £30/h. Three-week turnaround, full-time, Hexham, remote as all indexers are. Fifty-plus titles; list at example.org/index'),
  ('service_offer', 'services/other_services', 'Japanese>English translator, Brisbane. Patents, medical devices, the occasional manga. NAATI certified, N1, nine years in-house in Osaka. AU 24c a character. Trados, memoQ. 2,500 words a day, remote naturally. Certificates and birth documents A$75 flat.'),
  ('service_offer', 'services/other_services', 'Jardinero con experiencia, sierra de Madrid. Poda de olivos y frutales, setos, riego por goteo, desbroce. Carné fitosanitario, furgoneta y herramienta propias. 18 €/hora, mantenimiento mensual desde 90. Autónomo, 12 años. No piscinas. 555-0173'),
  ('service_offer', 'services/other_services', 'Jobbing gardener, Totnes. Hedges, borders, scything, fruit-tree pruning, veg beds. RHS Level 3, eight years with the National Trust, own tools and an old Berlingo. £24/h, half-day minimum, Tuesdays and Thursdays free at present. No paving, no tree-felling over 4 m.'),
  ('service_offer', 'services/other_services', 'Lektorin, Berlin. Romane, Sachbuch, Doktorarbeiten. Duden fest, Normseite 4,20 €, Korrektorat 2,60 €. 16 Jahre, zuvor in Vollzeit beim Verlag, VFLL-Mitglied. Probeseiten gratis. Wieder frei ab September. Keine Bachelorarbeiten über Nacht.'),
  ('service_offer', 'services/other_services', 'Lektorka, głos ciepły, niski. Audiobooki, reklama, e-learning, zapowiedzi na centrale. Studio domowe w Łodzi, 9 lat, szkoła teatralna. 350 zł godzina gotowa, spot od 200. Próbka gratis, poprawki w cenie.'),
  ('service_offer', 'services/other_services', 'Locutor castellano neutro y chileno. Cuñas, audiolibros, centralitas, documentales. Estudio propio en Valparaíso, 20 años de radio. 60 USD el spot local, 180 la hora editada. Correcciones el mismo día. Referencias: dos bancos, una viña.'),
  ('service_offer', 'services/other_services', 'Permaculture designs and allotment rescue, Asheville NC. Soil tests, swales, guilds, deer-proof anything. PDC 2013, ten years on farms. Consult $120, full plan from $700. Team of me and a wheelbarrow. Also monthly garden care, $40/h, contract by season.'),
  ('service_offer', 'services/other_services', 'Proofreader and copy-editor, CIEP Professional Member, Aberystwyth. Theses, memoirs, cookbooks, crime. Word track changes, PDF mark-up, New Hart''s Rules. £11 per 1,000 words proof, £17 edit. Full-time freelance since 2009. References from three presses. No rewriting.'),
  ('service_offer', 'services/other_services', 'Puppy classes and home visits, Perth hills. Cert IV companion animal services, Delta accredited. Six-week course A$220, one home visit A$130. Toilet, biting, crate, kids-and-dogs. Saturdays 9 am, three places left from September. Large guarding breeds referred on.'),
  ('service_offer', 'services/other_services', 'Redakcja i korekta, Toruń. Powieści, doktoraty, strony www. Polonistka, 12 lat w wydawnictwie na pełny etat, dziś freelance. 8 zł za stronę, większe zlecenia taniej. Terminy od września. Prac za studentów nie piszę.'),
  ('service_offer', 'services/other_services', 'Revisora de textos, Belo Horizonte. Dissertações, livros, material didático. ABNT, Acordo de 1990, R$ 7 a lauda. Doze anos, ex-editora, mestrado em Letras. Prazo de uma semana a cada 100 laudas. Remoto. Não faço TCC.'),
  ('service_offer', 'services/other_services', 'Rédactrice web, Rennes, à distance. Fiches produits, blogs, newsletters, SEO raisonnable. Ancienne journaliste de presse agricole, 10 ans. 0,12 € le mot, 280 € la journée. Clients : coopérative laitière, marque de bottes, office de tourisme. Libre 15 heures par semaine dès septembre.'),
  ('service_offer', 'services/other_services', 'Seamstress from Limerick. Hems, zips, bridal alterations, curtains, communion dresses. Forty years at it, twelve in a factory, the rest in my own front room. Trousers €14, wedding dress from €90. Mon to Thurs 10–4. No leather, no rush jobs at Christmas.'),
  ('service_offer', 'services/other_services', 'Tekstschrijver en eindredacteur, Groningen. Jaarverslagen, webteksten, interviews, B1-niveau. 15 jaar, ex-krant. € 85 per uur, vaste prijs kan. Opdrachtgevers: waterschap, twee scholen, fietsenfabrikant. Ma t/m do, thuiswerk of bij het team op kantoor.'),
  ('service_offer', 'services/other_services', 'Traductrice jurée néerlandais–français, Namur. Actes notariés, diplômes, contrats. 1,40 € la ligne, minimum 45 €. Délai 3 jours ouvrables. 17 ans d''expérience, n° au registre national. Pas de littérature, hélas.'),
  ('service_offer', 'services/other_services', 'Traduttrice tedesco–italiano, Bolzano. Turismo, vino, manuali tecnici. Laurea Forlì, 13 anni, SDL Trados. 0,09 € a parola, asseverazioni in tribunale 60 €. Consegna puntuale, anche full-time su progetti lunghi. Referenze: due cantine, una funivia.'),
  ('service_offer', 'services/other_services', 'Transcription, English (all accents, Glasgow incl.) and Afrikaans. Interviews, focus groups, disciplinary hearings, sermons. Verbatim or clean. R14 per audio minute, 24-hr rush R22. Ex court stenographer, Bloemfontein, 27 yrs. Confidentiality agreement standard.'),
  ('service_offer', 'services/other_services', 'Tłumacz przysięgły j. niemieckiego, Opole. Akty, dokumenty samochodowe, wyroki, umowy o pracę. 22 lata praktyki. Strona 50 zł, ekspres 75. Odbiór osobisty lub skan. Ustnie: notariusz, ślub. W sierpniu urlop.'),
  ('service_offer', 'services/other_services', 'Virtual assistant, Nairobi, 5 yrs experience. Inbox, calendar, travel, Xero invoices, Zendesk tickets, podcast show notes. Remote, UK hours fine. $9/h, packages 10, 20, 40 hours per week. Fast fibre, backup inverter. References from a coach in Bath and a team in Austin.'),
  ('service_offer', 'services/other_services', 'Éducateur canin, Chambéry. Chiots, rappel, chiens de traîneau (si si), troubles de cohabitation. BPJEPS, 9 ans. Bilan 70 €, séance 45 €. Déplacement 30 km. Méthodes douces. Complet le samedi jusqu''à la Toussaint.'),
  ('service_offer', 'services/other_services', 'Übersetzer Russisch/Ukrainisch–Deutsch, beeidigt, LG Dresden. Urkunden, Diplome, Gerichtstermine. 20 Jahre Erfahrung. Geburtsurkunde 40 €, Zeile 1,55 €, Dolmetschen 85 €/h plus Fahrt. Versand oder Abholung, auch samstags.'),
  ('service_offer', 'services/repair', 'AC and fridge technician, Kochi. Split, inverter, deep freezer, washing machines too. Gas filling ₹1,800, visit ₹250. ITI, 14 yrs experience, earlier with Voltas. Same day mostly. Gas leak guarantee 90 days. 555-0155'),
  ('service_offer', 'services/repair', 'Bike mechanic on a cargo bike, Ghent and Ledeberg. Brakes, gears, Rohloff oil, tubeless, Bosch motor diagnostics. Full service €75, puncture €15 at your door. Cytech 2, six years in shops. English or Dutch. Not fat-tyre imports.'),
  ('service_offer', 'services/repair', 'Clock and barometer restorer, Ludlow. Longcase, fusee, cuckoo. West Dean diploma, museum contracts, 15 years full-time. Movement overhaul from £220, waiting time four months. Collection in Shropshire free. Quartz no.'),
  ('service_offer', 'services/repair', 'Cobbler. Soles, heels, zips in boots, Birkenstock corks, climbing-shoe resoles Vibram XS. Church Street, Hebden Bridge, since 1998. Heels £9, resole £65, a week''s wait. Trainers glued: no.'),
  ('service_offer', 'services/repair', 'Cordonnier, Mons centre. Talons 12 €, ressemelage Goodyear 95, cirage, clés, sacs. Meilleur artisan 2017, trente ans de métier. Mardi–samedi. Baskets collées non merci.'),
  ('service_offer', 'services/repair', 'Electrician, NICEIC, Part P. Tripping fuse boards, dead sockets, EICRs for landlords from £140, EV chargers. Two-man team, Medway towns. 12 yrs'' experience, references, fully insured. Free Thursdays at the mo. Text Lee 07700 900163'),
  ('service_offer', 'services/repair', 'Electricista matriculado, Mendoza. Tableros, disyuntores, puesta a tierra, aires. 20 años, ex empleado de la distribuidora. Visita $12.000 a cuenta. Urgencias 24 h. Referencias del consorcio. No cámaras.'),
  ('service_offer', 'services/repair', 'Handyman, Tauranga. Doors that stick, decks, gates, flat-packs, gutters, pet flaps. NZ$55/h plus bits. Ex joiner, 30 years on the tools. Small jobs my favourite. Mon–Thu. No roofs, no asbestos.'),
  ('service_offer', 'services/repair', 'Idraulico, Genova centro e Levante. Perdite, scarichi, caldaie Vaillant e Beretta, scaldabagni. Patentino F-gas, 19 anni. Uscita 40 €, preventivo scritto. Sabato sì, notte no. Vicoli senza macchina: nessun problema.'),
  ('service_offer', 'services/repair', 'Klusjesman, Haarlem-Noord. Kranen, lampen, deuren, kitwerk, IKEA. € 42 per uur incl. btw, voorrijden gratis. Oud-timmerman, VCA, 28 jaar ervaring. Di t/m vr. Geen cv-ketels.'),
  ('service_offer', 'services/repair', 'Manitas, Málaga este. Persianas, grifos, enchufes, estanterías, cerraduras. 22 €/h, mínimo una. Herramienta y furgo. Alemán, inglés. 15 años de experiencia en hoteles. No pintura.'),
  ('service_offer', 'services/repair', 'Marido de aluguel, Campinas. Chuveiro, tomada, torneira, varal, montagem de móveis. Hora R$ 90, orçamento por foto. Elétrica NR-10, onze anos de indústria. Sábado até 16h. Telhado não.'),
  ('service_offer', 'services/repair', 'Phone bench: screens, batteries, charging ports, water damage, microsolder. Kingston ON, evenings at my workshop. iPhone 13 screen $140, battery $65. 8 yrs, CompTIA A+. Data first, always. No iCloud unlocks.'),
  ('service_offer', 'services/repair', 'Piano tuner/technician, County Down and Louth. Tuning £70, regulation, sticking keys, moth. Newark-trained, 20 years incl. concert halls. References from two schools and a cathedral. Pitch raise extra. Not digitals. From September Mondays only.'),
  ('service_offer', 'services/repair', 'Plombier-chauffagiste, Saint-Étienne. Fuites, chauffe-eau, chaudières toutes marques, robinetterie. Artisan depuis 2004, décennale, RGE. Déplacement 39 €, devis gratuit. Astreinte week-end. Pas de climatisation.'),
  ('service_offer', 'services/repair', 'Plumber, Gas Safe, Darlington. Boilers, leaks, stuck ballcocks, radiators cold at the top, taps that weep. 23 yrs, time served. No call-out, £50 first hour, £35 after. Evenings yes, Sundays emergencies only. No bathrooms, no solar.'),
  ('service_offer', 'services/repair', 'Sanitär-Geselle mit Gewerbe, Essen. Tropfende Hähne, Spülkästen, Heizkörper, Rohrverstopfung. 48 €/h, Anfahrt 15. 16 Jahre Erfahrung. Abends bis neun. Keine Gasthermen.'),
  ('service_offer', 'services/repair', 'Sewing-machine doctor, Pretoria. Bernina, Elna, Singer treadles, overlockers, industrial Jukis. Service R450, quote before any part. 40 yrs, factory-trained in Steckborn. Home collection Centurion to Hatfield. No plastics from supermarkets.'),
  ('service_offer', 'services/repair', 'Velomech mit eigener Werkstatt, Basel Gundeli. Service 120.–, Laufräder zentrieren und einspeichen, Shimano Di2, alte Militärvelos. 18 Jahre, eidg. FA. Abholung mit Anhänger 20.–. Ohne E-Trottis.'),
  ('service_offer', 'services/repair', 'Złota rączka, Szczecin Pogodno. Krany, gniazdka, zamki, karnisze, meble z paczki. 90 zł pierwsza godzina, potem 60. Uprawnienia SEP, 17 lat. Po 16 i soboty. Bez dachów. Tel. 555-0138'),
  ('service_offer', 'services/tutoring', 'Accordéon diatonique et chromatique, Clermont-Ferrand. Musette, trad, chanson. Trente ans de bals, diplôme d''État. 25 € les 45 minutes, instruments en prêt. Mercredi, jeudi. Solfège facultatif.'),
  ('service_offer', 'services/tutoring', 'Aulas de violão e cavaquinho, Niterói. Choro, samba, MPB, cifra ou partitura. UNIRIO, 16 anos de roda. R$ 90 a hora, online R$ 70. Segunda a quinta. Criança a partir de 7. Emprestado só o banquinho.'),
  ('service_offer', 'services/tutoring', 'Bijles wiskunde A/B en natuurkunde, havo-vwo, Delft. TU-student lucht- en ruimtevaart, 21. € 25 per uur, online 20. Ervaring: vier jaar, 40 leerlingen, twee zakkers. Avonden en zondag. Geen scheikunde.'),
  ('service_offer', 'services/tutoring', 'Clases de inglés, B1–C1, Cambridge y empresa. Profesora de Cork en Zaragoza, CELTA, 15 años de experiencia. 24 €/h, grupos de tres a 12. Presencial en Delicias o Zoom. Desde septiembre, plazas de tarde.'),
  ('service_offer', 'services/tutoring', 'Conversational Spanish, Edinburgh cafés or Teams. From Seville, DELE examiner, 37. Holiday survival to C1. £25, pair £32. Oral exam prep Higher/Adv Higher. Mon, Tue & Fri. Grammar in small doses.'),
  ('service_offer', 'services/tutoring', 'Cours de maths-physique, collège à prépa, Toulouse. Ingénieur Supaéro, 7 ans de soutien. 38 €/h, CESU, stage de pré-rentrée fin août. À domicile ou visio. Références et bonne humeur. Pas de SVT.'),
  ('service_offer', 'services/tutoring', 'Deutsch als Fremdsprache, A1–C1, telc- und Goethe-Prüfung. Bern oder Zoom. DaF-Diplom, 14 Jahre, Türkisch und Englisch. CHF 70/h, zu zweit je 45. Morgens und mittags, Pflegekräfte im Schichtdienst herzlich gern.'),
  ('service_offer', 'services/tutoring', 'Drum kit, Wollongong. Rock, funk, rudiments, HSC music. Electronic kits so the neighbours live. $35/30 min, WWCC, touring experience with two bands you may have danced to. From 3.30 weekdays.'),
  ('service_offer', 'services/tutoring', 'Eleven-plus and common entrance, Tunbridge Wells. English, VR, NVR. Former prep-school head of year, 22 yrs. £55/h, contract by term, small team of two sisters. Waiting list for Year 5, spaces in Year 4.'),
  ('service_offer', 'services/tutoring', 'Explicações de Português e História, 9.º e 12.º ano, Braga. Professora reformada, 36 anos de ensino. 15 €/h, grupos de 3. Exames nacionais, resumos próprios. A partir de setembro, tardes.'),
  ('service_offer', 'services/tutoring', 'Fiddle lessons, Cape Breton style. 30 years of dances, two records, one broken bow. CA$40 in my kitchen in Mabou, online CA$35. By ear, no reading. Loan fiddles for the first month. Not in lobster season mornings.'),
  ('service_offer', 'services/tutoring', 'Gitarrenunterricht, Innsbruck. Fingerstyle, Blues, Lagerfeuer. Konservatorium, 20 Jahre Bühne. 30 Min 25 €, Probestunde gratis, Leihgitarre da. Ab 8 Jahren. Kein Metal, Knie zu alt.'),
  ('service_offer', 'services/tutoring', 'Javascript & React mentor, ex bootcamp lead, Auckland. Code review, portfolio projects, mock interviews. NZ$65/h, pack of 10 for 550. Evenings, remote. 120 juniors taught, most with jobs. Not for school kids, sorry.'),
  ('service_offer', 'services/tutoring', 'Korepetycje z chemii, matura rozszerzona, Lublin i online. Doktor UMCS, egzaminatorka OKE, 10 lat. 100 zł/60 min, para 70 od osoby. Zapisy od września, miejsca wtorki i piątki. Wyniki ubiegłych roczników do wglądu.'),
  ('service_offer', 'services/tutoring', 'Lessons in drawing, portfolio for art school. Charcoal, life, perspective. RCA graduate, Hackney studio. £40/h, students £30. 12 accepted applicants since 2019. Sundays. Materials included, biscuits too.'),
  ('service_offer', 'services/tutoring', 'Matemática y física, secundaria y CBC, Rosario. Ing. química, 11 años preparando finales. $9.000 la hora, virtual o Pichincha. Sábados incluidos. Mesas de diciembre: quedan cinco lugares.'),
  ('service_offer', 'services/tutoring', 'Maths tutor, KS3 to Further A-level, Cardiff or online. PGCE, examiner for WJEC, nineteen years in classrooms. £42/h, resits welcome, tears also. Evenings except Wednesday; from September four new places. References from parents.'),
  ('service_offer', 'services/tutoring', 'Nachhilfe Mathe, Physik, Mechanik, Kl. 8 bis Erstsemester. Masch.bau-Student, 24, Aachen. 22 €/h bei mir, 26 bei euch, online auch. Drei Jahre Erfahrung, Abi-Crashkurs in den Ferien. Ab September Di und Do frei.'),
  ('service_offer', 'services/tutoring', 'Physics and Chem — JEE, NEET, boards. IIT Kharagpur grad, 9 yrs Kota experience. Online or Indiranagar. ₹900/h, batches of four ₹450. Daily doubt tickets on WhatsApp till 10 pm. Full-time tutor. Demo class free.'),
  ('service_offer', 'services/tutoring', 'Piano & theory, Cork city. ABRSM diploma, DipMus, kids from 6, adults who quit at 9. Yamaha upright, cat on the stool. €28 per half hour. Recitals at Christmas. Beginners to grade 8, jazz no.'),
  ('service_offer', 'services/tutoring', 'Python for beginners, humans over 50 especially. Automate the boring spreadsheet, first website, a bit of AI without hype. Ex IBM, 30 yrs experience, Adelaide / Zoom. A$60/h, course of eight A$420. Patience certified by grandchildren.'),
  ('service_offer', 'services/tutoring', 'Reading specialist, Orton-Gillingham certified, Portland ME. Dyslexia, grades 1 to 8, homeschoolers. $70/session, twice per week best. 17 years public school. Written progress notes for IEP team. No math.'),
  ('service_offer', 'services/tutoring', 'Ripetizioni latino e greco, Padova. Dottoranda in filologia, sei anni di esperienza, metodo senza terrore. 20 €/h, online 18. Pomeriggi, versioni urgenti su WhatsApp. Debiti di settembre recuperati: 31 su 33.'),
  ('service_offer', 'services/tutoring', 'Sean-nós, tin whistle, Irish for the Leaving Cert oral. Múinteoir bunscoile, Spiddal, 26. €30/h, Zoom or kitchen. Gaeltacht ear guaranteed. Summers full-time, term time Thursdays only.'),
  ('service_offer', 'services/tutoring', 'Statistics / econometrics / dissertation panic. MSc LSE, 6 yrs as uni TA, Stata + R. £50/h, Zoom, replies at night. Remote across all time zones. I teach, I don''t ghostwrite.'),
  ('service_offer', 'services/tutoring', 'Yoruba and Igbo? Only Yoruba, but properly. Diaspora kids 7–15, grown-ups, wedding speeches. B.A. Ibadan, 8 years teaching, online Sat and Sun. £12 per 45 min, siblings half. First lesson free.')
on conflict do nothing;

reset role;
