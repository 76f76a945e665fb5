-- Which asks a new or changed offer answers.

create or replace function search.lexical_asks(offer market.offer, places text[]) returns uuid[]
  language plpgsql stable
  -- The plan depends on whether there is a place.
  set plan_cache_mode = 'force_custom_plan'
as $$
begin
  return array(
    select a.id from market.ask a
    where a.status = 'active' and search.lexemes_of(a.keywords_query) && (tsvector_to_array(offer.search) || '*'::text)
      and (places is null or search.lexemes_of(a.place_query) && places));
end
$$;
comment on function search.lexical_asks(market.offer, text[]) is
  'The active asks that share a word with an offer, or name none, of those who look in one of the places or anywhere '
  '(places null: of all).';

create or replace function search.vector_asks(
  offer market.offer, ask_kinds text[], places text[], near public.halfvec, model text, floor real
) returns uuid[]
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
      where e.model = vector_asks.model and a.domain = offer.domain and a.ask_kind = any (vector_asks.ask_kinds)
        and (a.category = offer.category or a.category is null or offer.category is null or a.domain = 'community')
        and (places is null or search.lexemes_of(a.place_query) && places)
        and not offer.search @@ a.keywords_query and search.is_eligible(a, offer)
      order by e.embedding operator(public.<=>) near
      limit 100)
    select n.id from nearest n where 1 - n.distance >= vector_asks.floor);
end
$$;
comment on function search.vector_asks(market.offer, text[], text[], public.halfvec, text, real) is
  'Of the asks of its category that an offer can answer and shares no word with the hundred that it lies nearest to, '
  'as far as they are near (similarity: floor).';

create or replace function search.match_offer(offer_id uuid) returns void
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
  -- Copies out of the compressed row: each ask would unpack them anew.
  offer.search := offer.search || '';
  offer.facets := offer.facets || '';
  ask_kinds := array(select k.ask_kind from market.ask_kind k where offer.offer_kind = any (k.answered_by));
  select e.embedding, e.model, m.match_min_similarity into vector
  from market.offer_embedding e join market.embedding_model m on m.model = e.model
  where e.offer_id = offer.id and to_jsonb(e.model) = internal.setting('embedding_model');
  -- Who looks elsewhere is not looked at, unless what is elsewhere or nobody knows where may answer
  -- (search.is_eligible).
  if offer.metadata -> 'location' ->> 'city' is not null and not search.ships(offer.search)
    and not offer.metadata @> '{"location": {"remote": true}}'
  then
    places := tsvector_to_array(offer.facets) || '*'::text;
  end if;
  -- What matched once is judged again, whether or not the ask goes on watching.
  matched := array(select m.ask_id from market.match m where m.offer_id = offer.id);
  candidates := matched || search.lexical_asks(offer, places)
    || search.vector_asks(offer, ask_kinds, places, vector.embedding, vector.model, vector.match_min_similarity);
  with locked as materialized (
    -- Judged under their locks, which makes sequences grow in the order of commits; locked in the order of ids, so that
    -- two offers that meet at the same asks do not wait for each other.
    select a as ask from market.ask a
    where a.id = any (candidates) and a.domain = offer.domain and a.ask_kind = any (ask_kinds)
      and search.is_eligible(a, offer)
      and (a.watch_enabled or a.id = any (matched))
    order by a.id for no key update
  ), scored as materialized (
    select (l.ask).id, j.score, j.reasons
    from locked l
    left join market.ask_embedding e on e.ask_id = (l.ask).id and e.model = vector.model
    cross join lateral search.score_match(l.ask, offer,
      (1 - (e.embedding operator(public.<=>) vector.embedding))::real, vector.match_min_similarity) as j
  ), forgotten as (
    -- An ask at rest keeps what it had: it catches up when it is active again.
    delete from market.match m using market.ask a
    where m.offer_id = offer.id and a.id = m.ask_id and a.status = 'active'
      and not exists (select from scored g where g.id = m.ask_id)
  )
  insert into market.match as m (ask_id, offer_id, score, reasons)
  select g.id, offer.id, g.score, g.reasons from scored g
  on conflict on constraint match_pkey do update set score = excluded.score, reasons = excluded.reasons
  where (m.score, m.reasons) is distinct from (excluded.score, excluded.reasons);
end
$$;
comment on function search.match_offer(uuid) is
  'Holds one offer against every ask that watches for its kind and subject.';
