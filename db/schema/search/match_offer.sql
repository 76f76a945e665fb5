-- Which asks a new or changed offer answers.

create or replace function search.lexical_asks(offer search.document, places text[]) returns uuid[]
  language plpgsql stable
  set plan_cache_mode = 'force_custom_plan'
as $$
begin
  return array(
    select a.id from search.ask a
    where search.is_listed(a.sandbox_id, offer.sandbox_id)
      and a.words && (tsvector_to_array(offer.words) || '*'::text)
      and (lexical_asks.places is null or a.places && lexical_asks.places));
end
$$;
comment on function search.lexical_asks(search.document, text[]) is
  'Returns the asks that share a word with an offer or have no words, and that look for one of the places or for no '
  'place (`places` null: anywhere).';

create or replace function search.vector_asks(
  offer search.document, ask_kinds text[], places text[], near public.halfvec, model text, floor real
) returns uuid[]
  language plpgsql stable
  -- Of a common thing, the nearest asks are mostly those that share a word, which search.lexical_asks finds and this
  -- function skips. So the scan must go on beyond them, but not through all asks.
  set hnsw.iterative_scan = 'relaxed_order'
  set hnsw.ef_search = 100
  set hnsw.max_scan_tuples = 1000
  set plan_cache_mode = 'force_custom_plan'
  -- As in search.nearest_in_index.
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
as $$
declare
  nearest record;
  similar_asks uuid[] := array[]::uuid[];
begin
  if near is null then
    return array[]::uuid[];
  end if;
  -- Few asks are similar to most offers. A loop ends the scan behind the last of them, and a condition would not.
  for nearest in
    select a.id, a.embedding operator(public.<=>) near as distance
    from search.ask a
    where search.is_listed(a.sandbox_id, offer.sandbox_id) and a.model = vector_asks.model
    order by a.embedding operator(public.<=>) near limit 1000
  loop
    exit when 1 - nearest.distance < vector_asks.floor;
    similar_asks := similar_asks || nearest.id;
  end loop;
  return array(
    select a.id from unnest(similar_asks) with ordinality as n (ask_id, place) join market.ask a on a.id = n.ask_id
    where a.domain = offer.domain and a.ask_kind = any (vector_asks.ask_kinds)
      and (a.category = offer.category or a.category is null or offer.category is null or a.domain = 'community')
      and (places is null or search.lexemes_of(a.place_query) && places)
      and not offer.words @@ a.keywords_query and search.is_eligible(a, offer)
    order by n.place limit 100);
end
$$;
comment on function search.vector_asks(search.document, text[], text[], public.halfvec, text, real) is
  'Returns asks that an offer may answer although they share no word with it: of the hundred nearest to its vector, '
  'those with a similarity of at least `floor`. Asks of another category are left out, except in the domain community.';

create or replace function search.newest_of_each_account(
  offer search.document, ask_kinds text[], candidates uuid[], each integer
) returns uuid[]
  language plpgsql stable
as $$
declare
  -- Half a second of matching.
  most constant integer := 5000;
begin
  if cardinality(candidates) <= each then
    return candidates;
  end if;
  return array(
    select t.id from (
      select a.id, row_number() over (partition by a.account_id order by a.id desc) as place
      from search.ask a
      where a.id = any (candidates) and a.domain = offer.domain
        and a.ask_kind = any (newest_of_each_account.ask_kinds) and a.watch_enabled) as t
    where t.place <= each
    order by t.place, t.id desc limit most);
end
$$;
comment on function search.newest_of_each_account(search.document, text[], uuid[], integer) is
  'Returns of the asks that an offer may answer at most so many of each account, the newest ones, and 5,000 in all: '
  'first the newest of every account, then the second.';

create or replace function search.trim_matches(ask_id uuid) returns void
  language plpgsql volatile
as $$
declare
  -- More than anybody reads. A new text deletes all of them in one statement, while other offers wait for the ask.
  most constant integer := 1000;
begin
  delete from market.match m where m.ask_id = trim_matches.ask_id and m.offer_id = any (array(
    select w.offer_id from market.match w
    where w.ask_id = trim_matches.ask_id and w.offer_id = any (array(
      select b.offer_id from market.match b where b.ask_id = trim_matches.ask_id
      order by b.score desc, b.offer_id offset most limit 1000))
    for update skip locked));
end
$$;
comment on function search.trim_matches(uuid) is
  'Deletes the worst matches of an ask that has more than a thousand. Call it in a transaction that has locked the '
  'ask.';

create or replace function search.match_offer(offer_id uuid) returns void
  language plpgsql volatile
as $$
declare
  -- Each takes some tenths of a millisecond, and an account may have any number of asks: without a limit, one that asks
  -- for the same thing thousands of times would make each such offer take seconds. An ask that is left out is matched
  -- when it is read or reopened (search.match_ask).
  each constant integer := 100;
  offer search.document;
  vector record;
  weight constant market.ranking := (select r from market.ranking r where r.ranking = 'default');
  ask_kinds text[];
  places text[];
  matched uuid[];
  candidates uuid[];
begin
  -- The lock is against a transaction that takes the offer down. Either that transaction waits until the matches are
  -- stored and then deletes them, or this transaction waits and then no longer sees the offer.
  perform from market.offer o
  where o.id = match_offer.offer_id and o.status = 'published'
    and (o.account_id = any (internal.accounts_being_hidden())) is not true
  for share;
  if found then
    select * into offer from search.document d where d.id = match_offer.offer_id;
  end if;
  if offer.id is null or offer.offer_kind is null then
    perform internal.lock_matches(array[match_offer.offer_id]);
    delete from market.match m where m.offer_id = match_offer.offer_id;
    return;
  end if;
  -- Copy the values out of the compressed row. Otherwise they would be decompressed again for each ask.
  offer.words := offer.words || '';
  offer.facets := offer.facets || '';
  offer.document := offer.document || '{}';
  ask_kinds := array(select k.ask_kind from market.ask_kind k where offer.offer_kind = any (k.answered_by));
  select offer.embedding as embedding, m.model, m.match_min_similarity into vector from market.embedding_model m
  where m.model = offer.model and to_jsonb(m.model) = internal.setting('embedding_model');
  -- Skip asks that want another place, unless an offer elsewhere or without a known place may answer
  -- (search.is_eligible).
  if offer.city is not null and not search.ships(offer.words) and not offer.is_remote then
    places := tsvector_to_array(offer.facets) || '*'::text;
  end if;
  -- Existing matches are scored again, even if their ask no longer watches.
  matched := array(select m.ask_id from market.match m where m.offer_id = offer.id);
  candidates := matched || search.newest_of_each_account(offer, ask_kinds, search.lexical_asks(offer, places)
    || search.vector_asks(offer, ask_kinds, places, vector.embedding, vector.model, vector.match_min_similarity),
    each);
  with locked as materialized (
    -- The lock is against a transaction that changes an ask or matches it. Either that transaction waits until these
    -- matches are stored and then finds them, or this transaction waits and then sees what the ask is now. Offers do
    -- not wait for each other, however many asks they share.
    select a as ask from market.ask a
    where a.id = any (candidates) and a.domain = offer.domain and a.ask_kind = any (ask_kinds)
      and search.is_eligible(a, offer)
      and (a.watch_enabled or a.id = any (matched))
    order by a.id for share
  ), scored as materialized (
    select (l.ask).id, j.score, j.reasons
    from locked l
    left join market.ask_embedding e on e.ask_id = (l.ask).id
    left join lateral (
      select (1 - (e.embedding operator(public.<=>) vector.embedding))::real
      where e.model = vector.model) as s (similarity) on true
    left join lateral search.score_match(l.ask, offer, s.similarity, vector.match_min_similarity, weight) as j on true
    -- While the model is changed, what matched by its vector may match as before (search.match_ask).
    where j.score is not null or e.model is not null and s.similarity is null and offer.embedding is not null
  ), forgotten as (
    -- An ask that is not active keeps its matches, and is matched again when it becomes active.
    delete from market.match m
    where m.offer_id = offer.id and m.ask_id in (
      select f.ask_id from market.match f join market.ask a on a.id = f.ask_id
      where f.offer_id = offer.id and a.status = 'active'
        and not exists (select from scored g where g.id = f.ask_id)
      order by f.ask_id for update of f)
  )
  insert into market.match as m (ask_id, offer_id, score, reasons)
  select g.id, offer.id, g.score, g.reasons from scored g where g.score is not null order by g.id
  on conflict on constraint match_pkey do update set score = excluded.score, reasons = excluded.reasons
  where (m.score, m.reasons) is distinct from (excluded.score, excluded.reasons);
  -- One of the asks in turn is enough to keep all of them short.
  perform search.trim_matches(m.ask_id) from (
    select a.ask_id from market.match a where a.offer_id = offer.id order by random() limit 1) as m;
end
$$;
comment on function search.match_offer(uuid) is
  'Matches one offer with the asks that watch for its kind and subject (at most a hundred of each account), and '
  'replaces its earlier matches.';
