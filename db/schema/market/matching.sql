-- Which offers answer an ask, and why. Computed from the ask's criteria and the columns of the offer, never by a model.
-- Kind, price and exclusions are hard; so is the place where one has to be there. The subject has to agree too: by
-- category, by words or by vector.

create or replace function market.is_foreign_money(ask market.ask, offer market.offer) returns boolean
  language sql stable
as $$
  -- Converted never: another currency cannot be compared.
  select coalesce(ask.price_max_hundredths is not null and offer.price_hundredths > 0
    and offer.price_currency is distinct from ask.price_currency, false)
$$;
comment on function market.is_foreign_money(market.ask, market.offer) is 'Whether an offer costs money of another currency than an ask would pay in.';

create or replace function market.place_verdict(ask market.ask, offer market.offer) returns text
  language sql stable
as $$
  select case
    when ask.place_query is null then null
    when offer.location_text is null then 'unknown'
    when offer.place @@ ask.place_query
      or offer.metadata @> '{"location": {"remote": true}}' and ask.criteria @> '{"location": {"remote": true}}' then 'met'
    when offer.metadata -> 'location' ->> 'country' <> ask.criteria -> 'location' ->> 'country' then 'violated'
    -- A quarter whose city is not known may lie in the city that is wanted.
    when offer.metadata -> 'location' ->> 'city' is null then 'unknown'
    else 'violated' end
$$;
comment on function market.place_verdict(market.ask, market.offer) is 'Whether an offer is where an ask wants it: met, unknown or violated; null when the ask names no place.';

create or replace function market.is_sent(search tsvector) returns boolean
  language sql immutable parallel safe
as $$
  select search @@ '''concept/sent'''::tsquery and not search @@ (
    '(no|not|kein|keinen|pas|sans|sem|sin|senza|niente|geen|nie|bez) <->
      (shipping|postage|posting|post|delivery|versand|envoi|livraison|envio|envios|spedizione|spedisco|verzending|wysylki|wysylam)
    | (collection|pickup|collect|recogida|ritiro|recolha|ophalen) <-> only
    | (nur|solo|so|seulement|alleen|tylko) <-> (abholung|selbstabholer|selbstabholung|recogida|ritiro|recolha|ophalen|odbior)')::tsquery
$$;
comment on function market.is_sent(tsvector) is 'Whether an offer says that the thing is sent, by its words and concepts (market.offer.search).';

create or replace function market.money_of(country text) returns text
  language sql immutable parallel safe
as $$
  select case
    when country in ('DE', 'FR', 'ES', 'IT', 'PT', 'NL', 'IE', 'AT', 'BE', 'FI', 'GR', 'LU', 'SK', 'SI', 'EE', 'LV', 'LT', 'HR', 'MT', 'CY') then 'EUR'
    else '{"US": "USD", "CA": "CAD", "AU": "AUD", "NZ": "NZD", "GB": "GBP", "CH": "CHF", "PL": "PLN", "CZ": "CZK", "SE": "SEK",
      "NO": "NOK", "DK": "DKK", "HU": "HUF", "RO": "RON", "MX": "MXN", "BR": "BRL", "AR": "ARS", "CL": "CLP", "CO": "COP",
      "JP": "JPY", "CN": "CNY", "IN": "INR", "SG": "SGD", "ZA": "ZAR"}'::jsonb ->> country end
$$;
comment on function market.money_of(text) is 'What a country (ISO 3166-1) pays with, as ISO 4217; null for countries of which that is not kept.';

create or replace function market.can_answer(ask market.ask, offer market.offer) returns boolean
  language sql stable
as $$
  -- Written to be inlined: it is asked of every ask that shares a word with an offer.
  select ask.status = 'active' and ask.read_at is not null
    and offer.account_id is distinct from ask.account_id
    -- Without a subject an ask matches nothing: better no answer than a wrong one.
    and ask.domain is not null
    -- Nor is a day's rent held against a month's.
    and not coalesce(offer.price_hundredths > ask.price_max_hundredths and offer.price_currency is not distinct from ask.price_currency
      and coalesce(offer.price_period = ask.criteria -> 'price' ->> 'period', true), false)
    and (ask.exclude_query is null or not offer.search @@ ask.exclude_query)
    and case market.place_verdict(ask, offer)
      -- Nothing in another currency answers from a place that nobody knows: it would be a hit by its words alone.
      when 'unknown' then not market.is_foreign_money(ask, offer)
        and coalesce(offer.price_currency = market.money_of(ask.criteria -> 'location' ->> 'country'), true)
        -- A home is where it is: the euro does not tell in which country.
        and (offer.domain is distinct from 'real_estate' or offer.location_text is not null or offer.price_currency is distinct from 'EUR')
      -- Elsewhere is no answer, but for goods that are sent, within the country and for good.
      when 'violated' then offer.offer_kind = 'sale' and offer.domain is distinct from 'real_estate'
        and not market.is_foreign_money(ask, offer)
        and coalesce(offer.metadata -> 'location' ->> 'country' = ask.criteria -> 'location' ->> 'country', false)
        and market.is_sent(offer.search)
      else true end
$$;
comment on function market.can_answer(market.ask, market.offer) is 'Whether nothing hard stands between an ask and an offer of a kind that answers it.';

create or replace function market.judge(ask market.ask, offer market.offer, similarity real, floor real) returns table (score real, reasons jsonb)
  language plpgsql stable
as $$
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
$$;
comment on function market.judge(market.ask, market.offer, real, real) is
  'Whether and how well an offer that can answer an ask (market.can_answer) does: no row when it is about something else, else a score of 0 to 1 and the verdict on every criterion.';

create or replace function market.match_ask(ask_id uuid) returns void
  language plpgsql volatile
as $$
declare
  ask market.ask;
  vector record;
  answered uuid[];
begin
  -- The row is the lock: matches of one ask are written one after another, so sequences grow in the order of commits.
  select * into ask from market.ask a where a.id = match_ask.ask_id for no key update;
  if ask.id is null or ask.status <> 'active' or ask.read_at is null then
    return;
  end if;
  select e.embedding, e.model, m.match_floor into vector
  from market.ask_embedding e join market.embedding_model m on m.model = e.model
  where e.ask_id = ask.id and to_jsonb(e.model) = market.setting('embedding_model');
  with judged as (
    select o.id, j.score, j.reasons
    from market.answering_candidates(ask, vector.embedding, vector.model) as c
    join market.offer o on o.id = c.offer_id
    left join market.offer_embedding e on e.offer_id = o.id and e.model = vector.model
    cross join lateral market.judge(ask, o,
      (1 - (e.embedding operator(public.<=>) vector.embedding))::real, vector.match_floor) as j
    where market.can_answer(ask, o)
    order by j.score desc, o.id
    limit 100
  ), live as materialized (
    -- Whoever takes one down waits until these are stored, and then forgets them; or is waited for.
    select o.id from market.offer o
    where o.id = any (array(select g.id from judged g)) and o.status = 'published'
    order by o.id for share
  ), stored as (
    insert into market.match as m (ask_id, offer_id, score, reasons)
    select ask.id, g.id, g.score, g.reasons from judged g join live l on l.id = g.id
    on conflict on constraint match_pkey do update set score = excluded.score, reasons = excluded.reasons
    where (m.score, m.reasons) is distinct from (excluded.score, excluded.reasons)
  )
  select array_agg(l.id) into answered from live l;
  -- What a changed text no longer wants is forgotten.
  delete from market.match m where m.ask_id = ask.id and m.offer_id <> all (coalesce(answered, '{}'));
end
$$;
comment on function market.match_ask(uuid) is 'Holds one ask against the market; its matches are then exactly the best hundred offers that answer it.';

create or replace function market.answering_candidates(ask market.ask, near public.halfvec, model text) returns table (offer_id uuid)
  language plpgsql stable
as $$
declare
  conditions market.conditions := market.conditions_of(
    jsonb_build_object('offer_kind', (select to_jsonb(k.answered_by) from market.ask_kind k where k.ask_kind = ask.ask_kind)),
    'infinity', null);
begin
  if ask.ask_kind is null or ask.domain is null then
    return;
  end if;
  conditions.domains := array[ask.domain];
  -- Newest first by its words where it is wanted, then anywhere; by its category where no words were read; and what is near.
  return query
  select unnest(market.worded_candidates(
    coalesce(ask.keywords_query, market.any_lexeme(array[ask.domain || '/' || ask.category])), c.conditions, 300))
  from (
    select (conditions.as_of, conditions.domains, conditions.categories, conditions.kinds, null, null, null, null,
      p.place, conditions.filters, null)::market.conditions as conditions
    from (values (ask.place_query), (null::tsquery)) as p (place)) as c
  union
  select n.offer_id from market.near_candidates(near, answering_candidates.model, conditions) as n;
end
$$;
comment on function market.answering_candidates(market.ask, public.halfvec, text) is 'Live offers of the right kind and domain that share a word with an ask or lie near it.';

create or replace function market.worded_asks(offer market.offer, places text[]) returns uuid[]
  language plpgsql stable
  -- The plan depends on whether there is a place.
  set plan_cache_mode = 'force_custom_plan'
as $$
begin
  return array(
    select a.id from market.ask a
    where a.status = 'active' and market.lexemes_of(a.keywords_query) && (tsvector_to_array(offer.search) || '*'::text)
      and (places is null or market.lexemes_of(a.place_query) && places));
end
$$;
comment on function market.worded_asks(market.offer, text[]) is
  'The active asks that share a word with an offer, or name none, of those who look in one of the places or anywhere (places null: of all).';

create or replace function market.near_asks(offer market.offer, ask_kinds text[], places text[], near public.halfvec, model text, floor real)
  returns uuid[]
  language plpgsql stable
  -- Those that share a word lie nearest, and are found by it: scan on beyond them, but not through all asks.
  set hnsw.iterative_scan = 'relaxed_order'
  set hnsw.ef_search = 100
  set hnsw.max_scan_tuples = 1000
  set plan_cache_mode = 'force_custom_plan'
as $$
begin
  if near is null then
    return array[]::uuid[];
  end if;
  return array(
    with nearest as materialized (
      select a.id, e.embedding operator(public.<=>) near as distance
      from market.ask_embedding e join market.ask a on a.id = e.ask_id
      where e.model = near_asks.model and a.domain = offer.domain and a.ask_kind = any (near_asks.ask_kinds)
        and (a.category = offer.category or a.category is null or offer.category is null or a.domain = 'community')
        and (places is null or market.lexemes_of(a.place_query) && places)
        and not offer.search @@ a.keywords_query and market.can_answer(a, offer)
      order by e.embedding operator(public.<=>) near
      limit 100)
    select n.id from nearest n where 1 - n.distance >= near_asks.floor);
end
$$;
comment on function market.near_asks(market.offer, text[], text[], public.halfvec, text, real) is
  'Of the asks of its category that an offer can answer and shares no word with the hundred that it lies nearest to, as far as they are near (similarity: floor).';

create or replace function market.match_offer(offer_id uuid) returns void
  language plpgsql volatile
as $$
declare
  offer market.offer;
  vector record;
  ask_kinds text[];
  places text[];
  matched uuid[];
  candidates uuid[];
begin
  select * into offer from market.offer o where o.id = match_offer.offer_id and o.status = 'published'
  -- Whoever takes it down waits until its matches are stored, and then forgets them; or is waited for.
  for share;
  if offer.id is null or offer.offer_kind is null then
    delete from market.match m where m.offer_id = match_offer.offer_id;
    return;
  end if;
  -- A copy out of the compressed row: each ask would unpack it anew.
  offer.search := offer.search || '';
  ask_kinds := array(select k.ask_kind from market.ask_kind k where offer.offer_kind = any (k.answered_by));
  select e.embedding, e.model, m.match_floor into vector
  from market.offer_embedding e join market.embedding_model m on m.model = e.model
  where e.offer_id = offer.id and to_jsonb(e.model) = market.setting('embedding_model');
  -- Who looks elsewhere is not looked at, unless what is elsewhere or nobody knows where may answer (market.can_answer).
  if offer.metadata -> 'location' ->> 'city' is not null and not market.is_sent(offer.search)
    and not offer.metadata @> '{"location": {"remote": true}}'
  then
    places := tsvector_to_array(offer.place) || '*'::text;
  end if;
  -- What matched once is judged again, whether or not the ask goes on watching.
  matched := array(select m.ask_id from market.match m where m.offer_id = offer.id);
  candidates := matched || market.worded_asks(offer, places)
    || market.near_asks(offer, ask_kinds, places, vector.embedding, vector.model, vector.match_floor);
  with locked as materialized (
    -- Judged under their locks, which makes sequences grow in the order of commits; locked in the order of ids, so that
    -- two offers that meet at the same asks do not wait for each other.
    select a as ask from market.ask a
    where a.id = any (candidates) and a.domain = offer.domain and a.ask_kind = any (ask_kinds) and market.can_answer(a, offer)
      and (a.watch_enabled or a.id = any (matched))
    order by a.id for no key update
  ), judged as materialized (
    select (l.ask).id, j.score, j.reasons
    from locked l
    left join market.ask_embedding e on e.ask_id = (l.ask).id and e.model = vector.model
    cross join lateral market.judge(l.ask, offer,
      (1 - (e.embedding operator(public.<=>) vector.embedding))::real, vector.match_floor) as j
  ), forgotten as (
    -- An ask at rest keeps what it had: it catches up when it is active again.
    delete from market.match m using market.ask a
    where m.offer_id = offer.id and a.id = m.ask_id and a.status = 'active'
      and not exists (select from judged g where g.id = m.ask_id)
  )
  insert into market.match as m (ask_id, offer_id, score, reasons)
  select g.id, offer.id, g.score, g.reasons from judged g
  on conflict on constraint match_pkey do update set score = excluded.score, reasons = excluded.reasons
  where (m.score, m.reasons) is distinct from (excluded.score, excluded.reasons);
end
$$;
comment on function market.match_offer(uuid) is 'Holds one offer against every ask that watches for its kind and subject.';
