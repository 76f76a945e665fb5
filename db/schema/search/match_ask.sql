-- Which offers answer an ask, and why. The match is computed from the ask's criteria and the offer's columns, never by
-- a model. Kind, price and exclusions are hard conditions, and so is the place, unless the offered thing can be sent.
-- The subject must agree too, by category, words or vector.

create or replace function search.match_ask(ask_id uuid) returns void
  language plpgsql volatile
as $$
declare
  ask market.ask;
  vector record;
  weight constant market.ranking := (select r from market.ranking r where r.ranking = 'default');
  answering text[];
  has_vector boolean;
  answered uuid[];
  are_changed boolean;
begin
  -- The lock is against the transactions that match offers with the ask (search.match_offer).
  select * into ask from market.ask a where a.id = match_ask.ask_id for no key update;
  if ask.id is null or ask.status <> 'active' or ask.read_at is null then
    return;
  end if;
  answering := (select k.answered_by from market.ask_kind k where k.ask_kind = ask.ask_kind);
  select e.embedding, e.model, m.match_min_similarity into vector
  from market.ask_embedding e join market.embedding_model m on m.model = e.model
  where e.ask_id = ask.id and to_jsonb(e.model) = internal.setting('embedding_model');
  has_vector := exists (select from market.ask_embedding e where e.ask_id = ask.id);
  loop
    with candidate as (
      select m.offer_id, true as is_match from market.match m where m.ask_id = ask.id
      union all
      select c.offer_id, false from search.ask_candidates(ask, vector.embedding, vector.model) as c
      where not exists (select from market.match m where m.ask_id = ask.id and m.offer_id = c.offer_id)
    ), scored as materialized (
      select d.id, o.xmin as version, c.is_match, j.score, j.reasons,
        row_number() over (order by j.score desc nulls last, d.id) as place
      from candidate c
      join search.document d on d.id = c.offer_id
      join market.offer o on o.id = d.id
      cross join lateral (
        select case when d.model = vector.model
          then (1 - (d.embedding operator(public.<=>) vector.embedding))::real end as similarity) as n
      left join lateral search.score_match(ask, d, n.similarity, vector.match_min_similarity, weight) as j on true
      where search.is_eligible(ask, d) and d.domain = ask.domain and d.offer_kind = any (answering)
        -- While the embedding model is being changed, the two vectors may be of different models. Then what matched by
        -- its vector may match as before.
        and (j.score is not null
          or c.is_match and n.similarity is null and d.embedding is not null and has_vector)
    ), live as materialized (
      -- The lock is against a transaction that changes an offer or takes it down. Either that transaction waits until
      -- these matches are stored and then replaces them, or this transaction waits and then sees what the offer is now.
      select o.id, o.xmin as version from market.offer o
      where o.id = any (array(select g.id from scored g where g.is_match or g.place <= 100)) and o.status = 'published'
      order by o.id for share
    ), stored as (
      insert into market.match as m (ask_id, offer_id, score, reasons)
      select ask.id, g.id, g.score, g.reasons from scored g join live l on l.id = g.id and l.version = g.version
      where g.score is not null
      on conflict on constraint match_pkey do update set score = excluded.score, reasons = excluded.reasons
      where (m.score, m.reasons) is distinct from (excluded.score, excluded.reasons)
    )
    select array_agg(l.id), bool_or(l.version <> g.version) into answered, are_changed
    from live l join scored g on g.id = l.id;
    -- An offer that was changed before it was locked is scored again, as it is now.
    exit when are_changed is not true;
  end loop;
  -- A match ends only if its offer does not answer the ask any more.
  perform from market.match m where m.ask_id = ask.id and m.offer_id <> all (coalesce(answered, '{}'))
  order by m.offer_id for update;
  delete from market.match m where m.ask_id = ask.id and m.offer_id <> all (coalesce(answered, '{}'));
end
$$;
comment on function search.match_ask(uuid) is
  'Matches one ask with the market: afterwards its matches are the best hundred offers that answer it, and those that '
  'matched it before and still answer it. Does nothing for an ask that is not active or not read yet.';

create or replace function search.ask_candidates(ask market.ask, near public.halfvec, model text)
  returns table (offer_id uuid)
  language plpgsql stable
as $$
declare
  search_filter search.search_filter := search.to_search_filter(
    jsonb_build_object('offer_kind',
      (select to_jsonb(k.answered_by) from market.ask_kind k where k.ask_kind = ask.ask_kind)),
    'infinity', null, ask.sandbox_id);
  here search.search_filter;
  words constant tsquery := coalesce(ask.keywords_query, search.any_lexeme(array[ask.domain || '/' || ask.category]));
begin
  if ask.ask_kind is null or ask.domain is null then
    return;
  end if;
  search_filter.domains := array[ask.domain];
  if ask.radius_km is not null then
    search_filter := search.within(search_filter,
      jsonb_build_object('lat', ask.latitude, 'lon', ask.longitude, 'radius_km', ask.radius_km));
  end if;
  -- Candidates are the newest offers by the ask's words, first in the wanted place and then anywhere, and the nearest
  -- by vector. An ask without words uses its category as the word.
  here := search_filter;
  here.place := ask.place_query;
  return query
  select unnest(search.lexical_candidates(words, here, 300) || search.lexical_candidates(words, search_filter, 300))
  union
  select n.offer_id from search.nearest_offers(near, ask_candidates.model, search_filter) as n;
end
$$;
comment on function search.ask_candidates(market.ask, public.halfvec, text) is
  'Returns published offers of a matching kind and the same domain that share a word with an ask or are near its '
  'vector.';
