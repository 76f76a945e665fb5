-- Loads the library that knows the settings of HNSW.
select '[1]'::public.vector(1);

set local role souk_owner;

-- For vectors to come. Those that are there stay linked as they are until somebody runs, when there is time for it:
--   reindex index concurrently market.offer_embedding_hnsw_idx
alter index market.offer_embedding_hnsw_idx set (ef_construction = 256);

-- Functions beside tables whose text changed (as db/schema has them)

drop function if exists market.eras_between(timestamp with time zone,timestamp with time zone);

drop function if exists market.expected_rows(market.conditions);

drop function if exists market.nearest_passing(halfvec,text,market.conditions);

CREATE OR REPLACE FUNCTION market.eras_between(since timestamp with time zone, until timestamp with time zone, most integer DEFAULT 16)
 RETURNS tsquery
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
declare
  level integer := 0;
begin
  if since is null then
    return null;
  end if;
  while level < 6 and market.era(until, level) - market.era(since, level) >= most loop
    level := level + 1;
  end loop;
  return (
    select string_agg(format('''era/%s/%s''', level, n), ' | ')::tsquery
    from generate_series(market.era(since, level), market.era(until, level)) as n);
end
$function$;
comment on function market.eras_between(timestamp with time zone,timestamp with time zone,integer) is 'A query of market.offer.facets for what was published between two moments, and somewhat around them: the fewer stretches at most, the more around.';

CREATE OR REPLACE FUNCTION market.facets_asked(c market.conditions)
 RETURNS tsquery
 LANGUAGE sql
 STABLE
AS $function$
  select string_agg('(' || f.query::text || ')', ' & ')::tsquery
  from (values
    (c.place),
    (market.any_lexeme(array(select 'domain/' || d from unnest(c.domains) as d))),
    (market.any_lexeme(array(select 'category/' || k from unnest(c.categories) as k))),
    (market.any_lexeme(array(select 'kind/' || k from unnest(c.kinds) as k))),
    (market.price_query(c.price_min, c.price_max, c.currency))) as f (query)
  where f.query::text <> ''
$function$;
comment on function market.facets_asked(market.conditions) is 'What of the filters, time aside, the index of facets knows, as a query of market.offer.facets that all that pass answer; null when it is nothing.';

CREATE OR REPLACE FUNCTION market.eras_posted(c market.conditions)
 RETURNS tsquery
 LANGUAGE sql
 STABLE
AS $function$ select market.eras_between((c.filters ->> 'posted_since')::date::timestamp at time zone 'UTC', least(c.as_of, now())) $function$;
comment on function market.eras_posted(market.conditions) is 'When it must have been published, as a query of market.offer.facets; null when that is open.';

CREATE OR REPLACE FUNCTION market.without_common(conditions market.conditions)
 RETURNS market.conditions
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
begin
  conditions.kinds := null;
  conditions.price_min := null;
  conditions.price_max := null;
  conditions.currency := null;
  return conditions;
end
$function$;
comment on function market.without_common(market.conditions) is 'The filters without those that mostly keep much, and that are one of many lexemes each: kinds and prices.';

CREATE OR REPLACE FUNCTION market.expected_rows(conditions market.conditions, words tsquery)
 RETURNS double precision
 LANGUAGE plpgsql
AS $function$
declare
  plan jsonb;
begin
  execute 'explain (format json) select from market.offer o where market.passes(o, $1)'
    || case when words is null then '' else ' and o.search @@ $2' end into plan using conditions, words;
  return (plan -> 0 -> 'Plan' ->> 'Plan Rows')::double precision;
end
$function$;
comment on function market.expected_rows(market.conditions,tsquery) is 'How many offers the planner expects to pass the filters and to hold the words (null: any); one at least.';

CREATE OR REPLACE FUNCTION market.newest_span(conditions market.conditions, words tsquery, wanted integer, OUT since timestamp with time zone, OUT latest timestamp with time zone, OUT oldest timestamp with time zone, OUT expected double precision)
 RETURNS record
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  posted_since timestamptz := (conditions.filters ->> 'posted_since')::date::timestamp at time zone 'UTC';
  sample constant integer := 400;
  pace double precision;
  reach double precision;
begin
  select min(n.published_at), max(n.published_at) into since, latest
  from (
    select o.published_at from market.offer o
    where o.status = 'published' and o.published_at <= conditions.as_of
    order by o.published_at desc limit sample) as n;
  select o.published_at into oldest from market.offer o
  where o.status = 'published' and o.published_at >= coalesce(posted_since, '-infinity')
  order by o.published_at limit 1;
  pace := greatest(extract(epoch from latest - since), 1) / sample;
  -- Of how many of the newest, when those that pass lie evenly among all.
  conditions.filters := conditions.filters - 'posted_since';
  expected := market.expected_rows(conditions, words);
  reach := wanted * (select greatest(c.reltuples, 1) from pg_class c where c.oid = 'market.offer'::regclass) / expected;
  since := latest - make_interval(secs => least(reach * pace, greatest(extract(epoch from latest - oldest), 0)));
end
$function$;
comment on function market.newest_span(market.conditions,tsquery,integer) is 'Since when about so many offers that pass the filters and hold the words (null: any) should have been published; the time of the newest offer, and of the oldest that may pass; and how many are expected since ever.';

CREATE OR REPLACE FUNCTION market.worded_candidates(words tsquery, conditions market.conditions, depth integer)
 RETURNS uuid[]
 LANGUAGE plpgsql
 STABLE
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  facets tsquery := market.facets_asked(conditions);
  posted_since timestamptz := (conditions.filters ->> 'posted_since')::date::timestamp at time zone 'UTC';
  wide market.conditions := market.without_common(conditions);
  wide_facets tsquery := facets;
  span record;
  asked tsquery;
  ids uuid[];
begin
  if words is null then
    return case when conditions.price_max = 0 then array(
      select o.id from market.offer o
      where o.price_hundredths = 0 and market.passes(o, conditions)
      order by o.published_at desc, o.id desc limit depth) else '{}' end;
  end if;
  -- Of what is common the index would give all, ever more as the market grows. So at first it is asked for the newest only,
  -- half as much again as wanted if the planner is right, then further back, by as much as should hold enough: what comes out is
  -- the same, the newest that pass.
  select * into span from market.newest_span(conditions, words, depth + depth / 2);
  if num_nonnulls(conditions.kinds, conditions.price_min, conditions.price_max) > 0 then
    -- What keeps a fourth or more is quicker looked up in the rows than read from the index.
    wide.filters := wide.filters - 'posted_since';
    if market.expected_rows(wide, words) <= 4 * span.expected then
      wide_facets := market.facets_asked(wide);
    end if;
  end if;
  loop
    -- All of time is one stretch or two.
    asked := market.eras_between(span.since, span.latest, case when span.since <= span.oldest and posted_since is null then 2 else 16 end);
    asked := coalesce(asked && wide_facets, asked);
    -- The sum keeps the planner from reading all backwards.
    ids := array(
      select o.id from market.offer o
      where o.search @@ words and o.facets @@ asked and market.passes(o, conditions)
      order by o.published_at + interval '0' desc, o.id desc limit depth);
    exit when cardinality(ids) >= depth or span.since <= span.oldest is not false;
    -- The planner was mistaken, and maybe in this, too.
    wide_facets := facets;
    -- Half as much again as enough, and not all at once: what was found may not be typical.
    span.since := greatest(span.oldest, span.latest - greatest(span.latest - span.since, interval '1 hour')
      * least(64, greatest(2, 1.5 * depth / greatest(cardinality(ids), 1))));
  end loop;
  return ids;
end
$function$;
comment on function market.worded_candidates(tsquery,market.conditions,integer) is 'The newest offers that hold the words and pass the filters.';

CREATE OR REPLACE FUNCTION market.indexed_part(conditions market.conditions)
 RETURNS market.conditions
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
begin
  conditions.period := null;
  conditions.filters := case when conditions.filters ? 'posted_since'
    then jsonb_build_object('posted_since', conditions.filters -> 'posted_since') else '{}' end;
  return conditions;
end
$function$;
comment on function market.indexed_part(market.conditions) is 'The filters that the index of facets knows.';

CREATE OR REPLACE FUNCTION market.near_candidates(near halfvec, model text, conditions market.conditions)
 RETURNS TABLE(offer_id uuid, distance double precision)
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  unfiltered boolean := num_nonnulls(conditions.domains, conditions.categories, conditions.kinds, conditions.price_min, conditions.price_max,
    conditions.currency, conditions.period, conditions.place) = 0 and coalesce(conditions.filters = '{}', true);
  -- So many are compared one by one in the time in which the graph finds forty of many.
  few constant integer := 4000;
  indexed market.conditions := market.indexed_part(conditions);
  asked tsquery;
begin
  if near is null then
    return;
  elsif unfiltered then
    return query select n.offer_id, n.distance from market.nearest(near, near_candidates.model, conditions.as_of) as n;
    return;
  end if;
  asked := market.facets_asked(conditions);
  asked := coalesce(asked && market.eras_posted(conditions), asked, market.eras_posted(conditions));
  if market.expected_rows(conditions, null) > few then
    return query select n.offer_id, n.distance from market.nearest_passing(near, near_candidates.model, conditions, asked, few) as n;
  elsif asked is not null and (indexed = conditions or market.expected_rows(indexed, null) <= few) then
    return query select c.offer_id, c.distance from market.compared(near, near_candidates.model, conditions, asked) as c;
  else
    return query select c.offer_id, c.distance from market.compared(near, near_candidates.model, conditions, null) as c;
  end if;
end
$function$;
comment on function market.near_candidates(halfvec,text,market.conditions) is 'The forty offers that pass the filters and lie nearest to a vector of a model.';

CREATE OR REPLACE FUNCTION market.search_effort()
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  -- How many nodes the graph keeps in sight. Four hundred find 97 in a hundred of the truly nearest among 100,000 offers;
  -- the more there are, the more lie about as near and lead astray. In steps, so that a page and the next are of one search.
  select case when c.reltuples < 150000 then '400' when c.reltuples < 500000 then '700' else '1000' end
  from pg_class c where c.oid = 'market.offer_embedding'::regclass
$function$;
comment on function market.search_effort() is 'hnsw.ef_search for the size of the market, which is known from its statistics.';

CREATE OR REPLACE FUNCTION market.nearest(near halfvec, model text, as_of timestamp with time zone)
 RETURNS TABLE(offer_id uuid, distance double precision)
 LANGUAGE plpgsql
 STABLE
 SET "hnsw.iterative_scan" TO 'relaxed_order'
 SET "hnsw.ef_search" TO '400'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
begin
  perform set_config('hnsw.ef_search', market.search_effort(), true);
  return query
  with found as materialized (
    select e.offer_id, e.embedding operator(public.<=>) near as distance
    from market.offer_embedding e join market.offer o on o.id = e.offer_id
    where e.model = nearest.model and o.status = 'published' and o.published_at <= nearest.as_of
    order by e.embedding operator(public.<=>) near
    limit 40)
  select f.offer_id, f.distance from found f order by f.distance, f.offer_id desc;
end
$function$;
comment on function market.nearest(halfvec,text,timestamp with time zone) is 'market.near_candidates without a filter: one plan serves all.';

CREATE OR REPLACE FUNCTION market.nearest_passing(near halfvec, model text, conditions market.conditions, asked tsquery, few integer)
 RETURNS TABLE(offer_id uuid, distance double precision)
 LANGUAGE plpgsql
 STABLE
 SET "hnsw.ef_search" TO '400'
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
declare
  found uuid[];
  distances double precision[];
  wide market.conditions := market.without_common(market.indexed_part(conditions));
  span record;
begin
  perform set_config('hnsw.ef_search', market.search_effort(), true);
  select array_agg(n.offer_id), array_agg(n.distance) into found, distances
  from (
    select e.offer_id, e.embedding operator(public.<=>) near as distance
    from market.offer_embedding e join market.offer o on o.id = e.offer_id
    -- In a coalesce, since the planner takes what is asked twice for twice as rare, and would read all that pass.
    where e.model = nearest_passing.model and coalesce(e.facets @@ asked, true) and market.passes(o, conditions)
    order by e.embedding operator(public.<=>) near
    limit 40) as n;
  if asked is null or cardinality(found) >= 40 then
    return query select n.offer_id, n.distance from unnest(found, distances) as n (offer_id, distance) order by 2, 1 desc;
    return;
  end if;
  -- Little of what is near passes, and to scan on until there are forty takes longest where there are none: so the newest
  -- are compared.
  select * into span from market.newest_span(wide, null, few / 2);
  asked := market.eras_between(span.since, span.latest);
  return query
  select c.offer_id, c.distance
  from market.compared(near, nearest_passing.model, conditions, coalesce(asked && market.facets_asked(wide), asked)) as c
  union
  select n.offer_id, n.distance from unnest(found, distances) as n (offer_id, distance)
  order by 2, 1 desc limit 40;
end
$function$;
comment on function market.nearest_passing(halfvec,text,market.conditions,tsquery,integer) is 'market.near_candidates under a filter that many pass: what the graph finds, and where that is less than forty the nearest of the newest, half as many as few. asked: what of the filters the index of facets knows.';

CREATE OR REPLACE FUNCTION market.compared(near halfvec, model text, conditions market.conditions, asked tsquery)
 RETURNS TABLE(offer_id uuid, distance double precision)
 LANGUAGE plpgsql
 STABLE
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
begin
  if asked is not null then
    return query
    select c.offer_id, c.distance
    from (
      select e.offer_id, e.embedding operator(public.<=>) near as distance
      from market.offer_embedding e
      where e.facets @@ asked and e.model = compared.model
      order by 2, 1 desc) as c
    -- In this order, so that only the nearest are read.
    cross join lateral (select from market.offer o where o.id = c.offer_id and market.passes(o, conditions) offset 0) as passing
    order by c.distance, c.offer_id desc limit 40;
  else
    return query
    with passing as materialized (select o.id from market.offer o where market.passes(o, conditions))
    select e.offer_id, e.embedding operator(public.<=>) near as distance
    from passing p join market.offer_embedding e on e.offer_id = p.id and e.model = compared.model
    order by 2, 1 desc limit 40;
  end if;
end
$function$;
comment on function market.compared(halfvec,text,market.conditions,tsquery) is 'The forty nearest of all that pass the filters, compared one by one; asked: what of the filters the index of facets knows, null when it is too little.';

CREATE OR REPLACE FUNCTION market.read_place(places jsonb)
 RETURNS tsquery
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return (
    select string_agg('(' || q.place::text || ')', ' | ')::tsquery
    from (
      -- Once, though a city is mostly written as it is called: the planner takes what is asked twice for twice as common.
      select distinct n.name from jsonb_array_elements(coalesce(places, '[]')) as p
      cross join unnest(array[p ->> 'city', p ->> 'text']) as n (name)) as n
    cross join lateral (select market.place_query(n.name) as place) as q
    where q.place::text <> '');
end
$function$;
comment on function market.read_place(jsonb) is 'Any of the places read from a query, as a query of market.offer.place; null when there is none.';

CREATE OR REPLACE FUNCTION market.judge(ask market.ask, offer market.offer, similarity real, floor real)
 RETURNS TABLE(score real, reasons jsonb)
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  by_category text;
  by_words text;
  by_place text := market.place_verdict(ask, offer);
  by_price text;
  by_condition text;
  by_musts text;
  by_attributes text;
  -- Without a vector nothing is near: then words have to do.
  near boolean := coalesce(similarity >= floor, false);
  very_near boolean := coalesce(similarity >= 1.5 * floor, false);
begin
  by_category := case
    when ask.category is null or offer.category is null then 'unknown'
    -- Between friends, activities and acquaintances there are no borders: there the kind decides.
    when offer.domain = 'community' and ask.domain = 'community' and offer.category <> ask.category then 'unknown'
    when (ask.domain, ask.category) = (offer.domain, offer.category) then 'met'
    else 'violated' end;
  by_words := case
    when ask.keywords_query is null then null
    when offer.search @@ ask.keywords_query then 'met'
    else 'violated' end;
  -- The subject: in the right category, a shared word or a near vector; elsewhere both have to agree.
  if (case by_category
    when 'met' then coalesce(by_words, 'met') = 'violated' and not near
    when 'unknown' then coalesce(by_words, 'violated') = 'violated' and not very_near
    -- Categories have borders that people do not see: what is called the same in the title is the thing itself.
    else coalesce(by_words, 'violated') = 'violated' or ask.domain is distinct from offer.domain
      or not (very_near or near and offer.search @@ market.any_lexeme(market.lexemes_of(ask.keywords_query), ':A')) end) then
    return;
  end if;

  by_price := case
    when ask.price_max_hundredths is null then null
    when offer.price_hundredths is null or market.is_foreign_money(ask, offer) then 'unknown'
    when offer.price_hundredths = 0 then 'met'
    when offer.price_period <> ask.criteria -> 'price' ->> 'period' then 'unknown'
    else 'met' end;
  by_condition := case
    when ask.criteria ->> 'condition' is null then null
    when offer.metadata ->> 'condition' is null then 'unknown'
    when offer.metadata ->> 'condition' = ask.criteria ->> 'condition' then 'met'
    else 'violated' end;

  -- What a text does not say may still be so: unknown.
  by_musts := case when ask.must_query is null then null when offer.search @@ ask.must_query then 'met' else 'unknown' end;
  if ask.criteria -> 'attributes' <> '{}' then
    by_attributes := (
      select case when bool_or(f.value <> w.value) then 'violated' when bool_and(coalesce(f.value = w.value, false)) then 'met' else 'unknown' end
      from (select w.name, market.fold(w.value) as value from jsonb_each_text(ask.criteria -> 'attributes') as w (name, value)) as w
      cross join lateral (select market.fold(offer.metadata -> 'attributes' ->> w.name) as value) as f);
  end if;

  score := greatest(0, least(1, 0.35 + 0.3 * least(greatest(coalesce(similarity, 0), 0) / 0.6, 1)
    + case by_category when 'met' then 0.15 else 0 end
    + case by_words when 'met' then 0.1 else 0 end
    + case by_place when 'met' then 0.05 when 'violated' then -0.2 else 0 end
    + case by_price when 'met' then 0.05 else 0 end
    + case by_condition when 'violated' then -0.1 else 0 end
    + case by_musts when 'met' then 0.05 else 0 end
    + case by_attributes when 'met' then 0.05 when 'violated' then -0.1 else 0 end));
  -- An expression and no query over nine rows: judging one took half of its time for starting one.
  reasons := to_jsonb(array_remove(array[
    jsonb_build_object('criterion', 'kind', 'verdict', 'met', 'wanted', ask.ask_kind, 'found', offer.offer_kind),
    jsonb_build_object('criterion', 'category', 'verdict', by_category,
      'wanted', concat_ws('/', ask.domain, ask.category), 'found', concat_ws('/', offer.domain, offer.category)),
    case when by_words is not null then jsonb_build_object('criterion', 'keywords', 'verdict', by_words,
      'wanted', ask.criteria -> 'keywords', 'found', offer.title) end,
    case when by_price is not null then jsonb_build_object('criterion', 'price', 'verdict', by_price,
      'wanted', ask.criteria -> 'price', 'found', offer.metadata -> 'pricing' -> 'label') end,
    case when by_place is not null then jsonb_build_object('criterion', 'location', 'verdict', by_place,
      'wanted', ask.criteria -> 'location' -> 'text', 'found', offer.location_text) end,
    case when by_condition is not null then jsonb_build_object('criterion', 'condition', 'verdict', by_condition,
      'wanted', ask.criteria -> 'condition', 'found', offer.metadata -> 'condition') end,
    case when ask.exclude_query is not null then jsonb_build_object('criterion', 'exclude', 'verdict', 'met',
      'wanted', ask.criteria -> 'exclude', 'found', null) end,
    case when by_musts is not null then jsonb_build_object('criterion', 'must', 'verdict', by_musts,
      'wanted', ask.criteria -> 'must', 'found', null) end,
    case when by_attributes is not null then jsonb_build_object('criterion', 'attributes', 'verdict', by_attributes,
      'wanted', ask.criteria -> 'attributes', 'found', offer.metadata -> 'attributes') end], null));
  return next;
end
$function$;
comment on function market.judge(market.ask,market.offer,real,real) is 'Whether and how well an offer that can answer an ask (market.can_answer) does: no row when it is about something else, else a score of 0 to 1 and the verdict on every criterion.';

CREATE OR REPLACE FUNCTION jobs.get_vocabulary()
 RETURNS jsonb
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select jsonb_build_object(
    'version', (select c.changed_at::text from market.vocabulary_change c),
    'taxonomy', (
      select jsonb_agg(jsonb_build_object(
        'domain', d.domain,
        'kinds', d.kinds,
        'categories', (
          select coalesce(jsonb_agg(c.category order by c.position), '[]')
          from market.category c
          where c.domain = d.domain)) order by d.position)
      from market.domain d),
    'terms', (
      select coalesce(
        jsonb_agg(jsonb_build_object('term', v.term, 'language', v.language, 'sense', v.sense, 'weight', v.weight) order by v.id),
        '[]')
      from market.vocabulary v),
    'asks', (
      select coalesce(jsonb_agg(jsonb_build_object('text', e.text, 'kind', e.ask_kind, 'category', e.category) order by e.id), '[]')
      from market.ask_example e))
$function$;
comment on function jobs.get_vocabulary() is 'The taxonomy, the words and the examples of the market, as the makers of readings take them.';
grant execute on function jobs.get_vocabulary() to souk_worker;

CREATE OR REPLACE FUNCTION api.get_me(base_url text, link_key bytea)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  agent market.agent;
  account market.account;
  connected boolean := market.connected();
  suspended boolean;
  suspension text;
  acts_for text;
  email text;
  phone text;
  limits jsonb;
begin
  if market.agent_id() is null then
    select c.email, c.phone into email, phone from market.own_contact() as c;
  end if;
  select a.id, a.account_id, a.name, null::bytea, a.created_at, a.connected_at, a.removed_at into agent
  from market.agent a where a.id = market.agent_id();
  select * into account from market.account a where a.id = market.account_id();
  suspended := account.suspended_at is not null;
  suspension := 'This account is suspended by moderation. ' || coalesce(account.suspension_note, 'The reason was not stated.');
  acts_for := coalesce(account.display_name, 'the person who approved me');
  select coalesce(jsonb_object_agg(l.action, market.own_figures(l.action)), '{}') into limits
  from (values ('publish_offer'), ('create_ask'), ('preview_offer')) as l (action)
  where market.agent_id() is not null;
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
      select jsonb_object_agg(p.name, jsonb_build_object('allowed', (connected or not p.needs_approval) and not (suspended and p.writes))
        || case when p.needs_approval and not connected then jsonb_build_object('accepted_methods', '[]'::jsonb,
          'summary', 'A person has to approve this agent first, through the connection link.')
        when suspended and p.writes then jsonb_build_object('accepted_methods', '[]'::jsonb, 'summary', suspension)
        else '{}' end)
      from (values ('search_offers', false, false), ('read_offers', false, false), ('read_matches', false, false),
        ('start_verification', false, false), ('report_offer', false, true),
        ('publish_offer', true, true), ('create_ask', true, true), ('manage_offers', true, true),
        ('manage_asks', true, true)) as p (name, needs_approval, writes)),
    'limits', limits,
    'pending_verifications', (
      select coalesce(jsonb_agg(market.verification_document(v, get_me.base_url, get_me.link_key) order by v.id), '[]')
      from market.verification v
      where v.account_id = account.id and v.status = 'pending' and v.expires_at > now()),
    'activity', jsonb_build_object(
      'asks_active', (select count(*) from market.ask a where a.account_id = account.id and a.status = 'active'),
      'offers_published', (select p.active from market.publisher p where p.account_id = account.id),
      'offers_pending_review', (select count(*) from market.offer o where o.account_id = account.id and o.status = 'pending_review')),
    'next', case
      when suspended then jsonb_build_array(
        jsonb_build_object('summary', suspension || ' Nothing can be published, asked or changed until it ends. Tell the person.', 'method', 'GET', 'path', '/v1/me'),
        jsonb_build_object('summary', 'What moderation took down is among your offers, and can be appealed once each.', 'method', 'GET', 'path', '/v1/offers?status=removed'),
        jsonb_build_object('summary', 'Searching still works.', 'method', 'POST', 'path', '/v1/offers/search'))
      when market.agent_id() is null then jsonb_build_array(
        jsonb_build_object('summary', 'Publish what you offer, in your own words.', 'method', 'POST', 'path', '/v1/offers'),
        jsonb_build_object('summary', 'State what you want, and read what matches.', 'method', 'POST', 'path', '/v1/asks'),
        jsonb_build_object('summary', 'See what the market has.', 'method', 'POST', 'path', '/v1/offers/search'))
      when not connected then jsonb_build_array(
        jsonb_build_object('summary', 'Ask the person to open the connection link, compare the code and approve. Then read this document again.', 'method', 'GET', 'path', '/v1/me'),
        jsonb_build_object('summary', 'Meanwhile you can search.', 'method', 'POST', 'path', '/v1/offers/search'))
      else case when agent.connected_at > now() - interval '1 hour' then jsonb_build_array(
        jsonb_build_object('summary', format('Tell the person: "I now act for %s. If that is not you, tell me to disconnect."', acts_for), 'method', 'GET', 'path', '/v1/me')) else '[]' end
      -- Not what a moderator has set to 0 calls an hour.
      || case when (limits -> 'publish_offer' ->> 'limit')::integer = 0 then '[]' else jsonb_build_array(
        jsonb_build_object('summary', 'Publish what the person offers, in their own words.', 'method', 'POST', 'path', '/v1/offers')) end
      || case when (limits -> 'create_ask' ->> 'limit')::integer = 0 then '[]' else jsonb_build_array(
        jsonb_build_object('summary', 'State what the person wants, and read what matches.', 'method', 'POST', 'path', '/v1/asks')) end
      || jsonb_build_array(
        jsonb_build_object('summary', 'If the person did not mean to connect you, disconnect.', 'method', 'DELETE', 'path', '/v1/me/agent')) end)
    || case when agent.id is not null
      then jsonb_build_object('agent', jsonb_build_object('id', agent.id, 'name', agent.name, 'connected', connected))
      else jsonb_strip_nulls(jsonb_build_object('email', email, 'phone', phone)) end;
end
$function$;
comment on function api.get_me(text,bytea) is 'Me: account, permissions, limits, open verifications, activity and what to do next; agent when one asks, email and phone when its person does.';
grant execute on function api.get_me(text,bytea) to souk_api;

CREATE OR REPLACE FUNCTION inspect.check_market(share double precision)
 RETURNS TABLE(invariant text, object text, detail text)
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  model_in_force text := market.setting('embedding_model') #>> '{}';
  -- A change of the model takes everything in turn, by one job.
  embeds_all boolean := exists (
    select from market.reembedding r where r.finished_at is null and inspect.is_underway('reembed', r.id));
begin
  return query
  select 'offer_has_contact', 'offer ' || o.id, 'it is published, and names no way to reach anybody'
  from market.offer o tablesample system (check_market.share)
  where o.status = 'published' and coalesce(jsonb_array_length(o.contact -> 'methods'), 0) = 0;

  return query
  select 'offer_has_vector', 'offer ' || o.id,
    format('published, %s, and no job is making one', coalesce('its vector is of ' || e.model, 'without a vector'))
  from market.offer o tablesample system (check_market.share)
  left join market.offer_embedding e on e.offer_id = o.id
  -- Looked for only where a vector is missing: the planner would ask it of every offer first.
  where o.status = 'published' and not embeds_all
    and case when e.model is distinct from model_in_force then not inspect.is_underway('embed_offer', o.id) else false end;

  return query
  select 'ask_has_vector', 'ask ' || a.id,
    format('active, %s, and no job is making one', coalesce('its vector is of ' || e.model, 'without a vector'))
  from market.ask a tablesample system (check_market.share)
  left join market.ask_embedding e on e.ask_id = a.id
  -- Its job is made a moment after it was read.
  where a.status = 'active' and a.read_at < now() - interval '10 minutes' and not embeds_all
    and case when e.model is distinct from model_in_force then not inspect.is_underway('embed_ask', a.id) else false end;

  return query
  select 'ask_is_read', 'ask ' || a.id, 'its text has waited since ' || a.updated_at
  from market.ask a
  where a.read_at is null and a.updated_at < now() - interval '1 hour';

  return query
  select v.invariant, format('match of ask %s and offer %s', m.ask_id, m.offer_id), v.detail
  from market.match m tablesample system (check_market.share)
  join market.offer o on o.id = m.offer_id
  join market.ask a on a.id = m.ask_id
  left join market.ask_kind k on k.ask_kind = a.ask_kind
  cross join lateral (values
    ('match_is_of_a_live_offer', false, case when o.status <> 'published' then 'the offer is ' || o.status end),
    ('match_is_of_a_read_ask', false, case when a.read_at is null then 'the ask was not read' end),
    -- A call that was matching when the ask came to rest may have ended after it.
    ('match_is_of_an_active_ask', false, case when a.status <> 'active' and m.first_matched_at > a.updated_at + interval '1 minute'
      then format('the ask has been %s since %s, and the match is of %s', a.status, a.updated_at, m.first_matched_at) end),
    ('match_is_not_ones_own', false, case when o.account_id = a.account_id then 'both are of account ' || a.account_id end),
    -- What changed a moment ago is judged again by its job; an ask at rest is judged again when it is active.
    ('match_is_of_its_kind', true, case when a.status = 'active' and not coalesce(o.offer_kind = any (k.answered_by), false)
      then format('a %s does not answer an ask to %s', coalesce(o.offer_kind, 'thing of no kind'), coalesce(a.ask_kind, 'do nothing')) end),
    ('match_is_within_price', true, case when a.status = 'active'
      and o.price_hundredths > a.price_max_hundredths and o.price_hundredths > 0 and o.price_currency = a.price_currency
      and coalesce(o.price_period = a.criteria -> 'price' ->> 'period', true)
      then format('%s is over %s hundredths of %s', o.price_hundredths, a.price_max_hundredths, a.price_currency) end),
    ('match_is_not_excluded', true, case when a.status = 'active' and o.search @@ a.exclude_query
      then 'the offer says what the ask does not want' end)) as v (invariant, mends, detail)
  where v.detail is not null
    and not (v.mends and (inspect.is_underway('embed_offer', m.offer_id) or inspect.is_underway('embed_ask', m.ask_id)));
end
$function$;
comment on function inspect.check_market(double precision) is 'Offers, asks and matches: what breaks an invariant, in a share of 0 to 100 percent of the rows.';

reset role;
