-- Which offers answer an ask, and why. Computed from the ask's criteria and the columns of the offer, never by a model.
-- Kind, price and exclusions are hard; so is the place where one has to be there. The subject has to agree too: by
-- category, by words or by vector.

create or replace function market.judge(ask market.ask, offer market.offer, similarity real, floor real) returns table (score real, reasons jsonb)
  language plpgsql stable
as $$
declare
  kinds text[] := (select k.answered_by from market.ask_kind k where k.ask_kind = ask.ask_kind);
  keywords tsquery := ask.keywords_query;
  excluded tsquery := ask.exclude_query;
  place tsquery := ask.place_query;
  wanted_country text := ask.criteria -> 'location' ->> 'country';
  found_country text := offer.metadata -> 'location' ->> 'country';
  by_category text;
  by_words text;
  by_place text;
  by_price text;
  by_condition text;
  by_musts text;
  by_attributes text;
  -- Without a vector nothing is near: then words have to do.
  near boolean := coalesce(similarity >= floor, false);
  very_near boolean := coalesce(similarity >= 1.5 * floor, false);
begin
  -- Without a kind or a subject an ask matches nothing: better no answer than a wrong one.
  if offer.offer_kind is null or not coalesce(offer.offer_kind = any (kinds), false) or ask.domain is null then
    return;
  end if;

  by_price := case
    when ask.price_max_hundredths is null then null
    when offer.price_hundredths is null then 'unknown'
    when offer.price_hundredths = 0 then 'met'
    -- Converted never: another currency cannot be compared.
    when offer.price_currency is distinct from ask.price_currency then 'unknown'
    -- Nor is a day's rent held against a month's.
    when offer.price_period <> ask.criteria -> 'price' ->> 'period' then 'unknown'
    when offer.price_hundredths <= ask.price_max_hundredths then 'met'
    else 'violated' end;
  if by_price = 'violated' or excluded is not null and offer.search @@ excluded then
    return;
  end if;

  by_place := case
    when place is null then null
    when offer.location_text is null then 'unknown'
    when offer.place @@ place then 'met'
    when found_country <> wanted_country then 'violated'
    -- A country alone is wanted: the same country will do.
    when wanted_country = found_country and ask.criteria -> 'location' ->> 'city' is null then 'met'
    -- A quarter whose city is not known may lie in the city that is wanted.
    when offer.metadata -> 'location' ->> 'city' is null then 'unknown'
    else 'violated' end;
  -- Elsewhere, for a price that cannot be compared: a hit by its words alone, and none that helps.
  if by_place = 'violated' and by_price = 'unknown' then
    return;
  end if;
  if by_place = 'violated' and (offer.domain in ('real_estate', 'services', 'community', 'jobs_projects')
    or offer.offer_kind = 'rental') then
    return;
  end if;

  by_category := case
    when ask.category is null or offer.category is null then 'unknown'
    when (ask.domain, ask.category) = (offer.domain, offer.category) then 'met'
    else 'violated' end;
  by_words := case
    when keywords is null then null
    when offer.search @@ keywords then 'met'
    else 'violated' end;
  -- The subject: in the right category, a shared word or a near vector; elsewhere both have to agree.
  if (case by_category
    when 'met' then coalesce(by_words, 'met') = 'violated' and not near
    when 'unknown' then coalesce(by_words, 'violated') = 'violated' and not very_near
    else coalesce(by_words, 'violated') = 'violated' or not very_near
      or ask.domain is distinct from offer.domain end) then
    return;
  end if;

  by_condition := case
    when ask.criteria ->> 'condition' is null then null
    when offer.metadata ->> 'condition' is null then 'unknown'
    when offer.metadata ->> 'condition' = ask.criteria ->> 'condition' then 'met'
    else 'violated' end;

  -- What a text does not say may still be so: unknown.
  by_musts := (
    select case when bool_and(offer.search @@ market.words_query(jsonb_build_array(m.words))) then 'met' else 'unknown' end
    from jsonb_array_elements(ask.criteria -> 'must') as m (words)
    having count(*) > 0);
  by_attributes := (
    select case when bool_or(f.value <> w.value) then 'violated' when bool_and(coalesce(f.value = w.value, false)) then 'met' else 'unknown' end
    from (select w.name, market.fold(w.value) as value from jsonb_each_text(ask.criteria -> 'attributes') as w (name, value)) as w
    cross join lateral (select market.fold(offer.metadata -> 'attributes' ->> w.name) as value) as f
    having count(*) > 0);

  score := greatest(0, least(1, 0.35 + 0.3 * least(greatest(coalesce(similarity, 0), 0) / 0.6, 1)
    + case by_category when 'met' then 0.15 else 0 end
    + case by_words when 'met' then 0.1 else 0 end
    + case by_place when 'met' then 0.05 when 'violated' then -0.2 else 0 end
    + case by_price when 'met' then 0.05 else 0 end
    + case by_condition when 'violated' then -0.1 else 0 end
    + case by_musts when 'met' then 0.05 else 0 end
    + case by_attributes when 'met' then 0.05 when 'violated' then -0.1 else 0 end));
  reasons := (
    select jsonb_agg(jsonb_build_object('criterion', r.criterion, 'verdict', r.verdict, 'wanted', r.wanted, 'found', r.found) order by r.n)
    from (values
      (1, 'kind', 'met', to_jsonb(ask.ask_kind), to_jsonb(offer.offer_kind)),
      (2, 'category', by_category, to_jsonb(concat_ws('/', ask.domain, ask.category)), to_jsonb(concat_ws('/', offer.domain, offer.category))),
      (3, 'keywords', by_words, ask.criteria -> 'keywords', to_jsonb(offer.title)),
      (4, 'price', by_price, ask.criteria -> 'price', offer.metadata -> 'pricing' -> 'label'),
      (5, 'location', by_place, ask.criteria -> 'location' -> 'text', to_jsonb(offer.location_text)),
      (6, 'condition', by_condition, ask.criteria -> 'condition', offer.metadata -> 'condition'),
      (7, 'exclude', case when excluded is not null then 'met' end, ask.criteria -> 'exclude', null),
      (8, 'must', by_musts, ask.criteria -> 'must', null),
      (9, 'attributes', by_attributes, ask.criteria -> 'attributes', offer.metadata -> 'attributes')
    ) as r (n, criterion, verdict, wanted, found)
    where r.verdict is not null);
  return next;
end
$$;
comment on function market.judge(market.ask, market.offer, real, real) is
  'Whether and how well an offer answers an ask: no row when it does not, else a score of 0 to 1 and the verdict on every criterion.';

create or replace function market.store_match(ask_id uuid, offer_id uuid, score real, reasons jsonb) returns void
  language sql volatile
as $$
  insert into market.match as m (ask_id, offer_id, score, reasons)
  values (store_match.ask_id, store_match.offer_id, store_match.score, store_match.reasons)
  on conflict on constraint match_pkey do update set score = excluded.score, reasons = excluded.reasons
  where (m.score, m.reasons) is distinct from (excluded.score, excluded.reasons)
$$;
comment on function market.store_match(uuid, uuid, real, jsonb) is 'Remembers a match; one that was known keeps its sequence and first_matched_at.';

create or replace function market.match_ask(ask_id uuid) returns void
  language plpgsql volatile
as $$
declare
  ask market.ask;
  vector record;
  answered uuid[];
  candidate record;
begin
  -- The row is the lock: matches of one ask are written one after another, so sequences grow in the order of commits.
  select * into ask from market.ask a where a.id = match_ask.ask_id for no key update;
  if ask.id is null or ask.status <> 'active' or ask.read_at is null then
    return;
  end if;
  select e.embedding, e.model, m.match_floor into vector
  from market.ask_embedding e join market.embedding_model m on m.model = e.model
  where e.ask_id = ask.id and to_jsonb(e.model) = market.setting('embedding_model');
  for candidate in
    select o.id, j.score, j.reasons
    from market.search_offers(
      concat_ws(' ', (select string_agg(k, ' ') from jsonb_array_elements_text(ask.criteria -> 'keywords') as k), ask.title),
      jsonb_strip_nulls(jsonb_build_object('language', ask.language, 'domain', ask.domain, 'category', ask.category)),
      jsonb_build_object('offer_kind', (select to_jsonb(k.answered_by) from market.ask_kind k where k.ask_kind = ask.ask_kind))
        || case when ask.domain is not null then jsonb_build_object('domain', ask.domain) else '{}' end,
      vector.embedding, vector.model, 'infinity', null, 200) as s
    join market.offer o on o.id = s.offer_id
    left join market.offer_embedding e on e.offer_id = o.id and e.model = vector.model
    cross join lateral market.judge(ask, o,
      (1 - (e.embedding operator(public.<=>) vector.embedding))::real, vector.match_floor) as j
    where o.account_id is distinct from ask.account_id
    order by j.score desc, o.id
    limit 100
  loop
    perform market.store_match(ask.id, candidate.id, candidate.score, candidate.reasons);
    answered := array_append(answered, candidate.id);
  end loop;
  -- What a changed text no longer wants is forgotten.
  delete from market.match m where m.ask_id = ask.id and m.offer_id <> all (coalesce(answered, '{}'));
end
$$;
comment on function market.match_ask(uuid) is 'Holds one ask against the market; its matches are then exactly the best hundred offers that answer it.';

create or replace function market.match_offer(offer_id uuid) returns void
  language plpgsql volatile
as $$
declare
  offer market.offer;
  vector record;
  answered uuid[];
  candidate record;
  ask market.ask;
  verdict record;
begin
  select * into offer from market.offer o where o.id = match_offer.offer_id and o.status = 'published';
  if offer.id is null or offer.offer_kind is null then
    delete from market.match m where m.offer_id = match_offer.offer_id;
    return;
  end if;
  select e.embedding, e.model, m.match_floor into vector
  from market.offer_embedding e join market.embedding_model m on m.model = e.model
  where e.offer_id = offer.id and to_jsonb(e.model) = market.setting('embedding_model');
  for candidate in
    select a.id, j.score, j.reasons, (1 - (e.embedding operator(public.<=>) vector.embedding))::real as similarity
    from market.ask a
    left join market.ask_embedding e on e.ask_id = a.id and e.model = vector.model
    cross join lateral market.judge(a, offer,
      (1 - (e.embedding operator(public.<=>) vector.embedding))::real, vector.match_floor) as j
    where a.status = 'active' and a.read_at is not null
      -- What matched once is judged again, whether or not the ask goes on watching.
      and (a.watch_enabled or exists (select from market.match m where m.ask_id = a.id and m.offer_id = offer.id))
      and a.ask_kind = any (array(select k.ask_kind from market.ask_kind k where offer.offer_kind = any (k.answered_by)))
      and a.domain = offer.domain
      -- Another category needs a shared word at least: cheaper to see here than in market.judge.
      and (a.category is null or offer.category is null or a.category = offer.category or offer.search @@ a.keywords_query)
      and a.account_id is distinct from offer.account_id
    -- In the order of ids, so that two offers that meet at the same asks lock them in the same order.
    order by a.id
  loop
    -- Judged again under its lock: the ask may have changed since.
    select * into ask from market.ask a where a.id = candidate.id and a.status = 'active' for no key update;
    continue when ask.id is null;
    select * into verdict from market.judge(ask, offer, candidate.similarity, vector.match_floor);
    continue when not found;
    perform market.store_match(ask.id, offer.id, verdict.score, verdict.reasons);
    answered := array_append(answered, ask.id);
  end loop;
  -- An ask at rest keeps what it had: it catches up when it is active again.
  delete from market.match m using market.ask a
  where m.offer_id = offer.id and a.id = m.ask_id and a.status = 'active' and a.id <> all (coalesce(answered, '{}'));
end
$$;
comment on function market.match_offer(uuid) is 'Holds one offer against every ask that watches for its kind and subject.';
