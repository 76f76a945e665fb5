-- The newest offers that contain the words and pass the filters: candidates for ranking, and lists without a query.
--
-- For common words and filters an index returns more and more offers as the market grows. So the index is asked for
-- time buckets, too (market.offer.facets): first for a short window of time, and only if it contains too few, for a
-- longer one. The length of the next window follows from what the last one contained.
--
-- Some filters, such as `reviewed`, are in no index. If few offers pass them, a list would look at the whole market. So
-- it looks at a limited number of offers that the index returns, and says so.

create or replace function search.most_looked() returns integer
  language sql immutable parallel safe
-- To look at so many takes a quarter of a second.
as $$ select 50000 $$;
comment on function search.most_looked() is
  'Returns at how many offers a list looks, about, before it ends although fewer pass the filters than were asked for.';

create or replace function search.newest_offers(
  words tsquery, c search.search_filter, most integer, before_id uuid default null,
  out ids uuid[], out is_complete boolean
)
  language plpgsql stable
  set plan_cache_mode = 'force_generic_plan'
as $$
declare
  indexed search.search_filter := c;
  facets tsquery;
  span constant record := search.published_span(c.as_of);
  oldest constant timestamptz := greatest(span.oldest, search.posted_since(c));
  -- The first window contains five times as many offers as wanted: enough for what a fifth of all offers has. Few are
  -- in one place, so there it contains more.
  reach interval := span.pace * most * case when c.place is null and c.near is null then 5 else 100 end;
  since timestamptz;
  asked tsquery;
  looked integer;
  growth double precision;
begin
  is_complete := true;
  if c.sandbox_id is not null then
    ids := array(
      select o.id from search.sandbox_offers(words, c) as o
      where before_id is null or (o.published_at, o.id) < (c.as_of, before_id)
      order by o.published_at desc, o.id desc limit most);
    return;
  end if;
  if words is not null and c.price_max is distinct from 0 then
    -- A price is a query for up to 27 lexemes. It is faster to check in the rows that contain the words.
    indexed.price_min := null;
    indexed.price_max := null;
  end if;
  facets := search.facet_query(indexed);
  loop
    since := greatest(oldest, span.latest - reach);
    -- A window that contains all offers needs only one or two large buckets.
    asked := search.time_bucket_query(since, span.latest, case when since <= span.oldest then 2 else 16 end);
    asked := coalesce(asked && facets, asked);
    -- The matches are materialized before they are sorted: one plan serves all words, and for rare words it must not
    -- read all offers from the newest on.
    if words is null then
      with found as materialized (
        select o.id, o.published_at, search.passes_filter(o, c)
          and (before_id is null or (o.published_at, o.id) < (c.as_of, before_id)) as passes
        from market.offer o
        where o.status = 'published' and o.sandbox_id is null and o.facets @@ asked)
      select count(*)::integer, (array_agg(f.id order by f.published_at desc, f.id desc) filter (where f.passes))[:most]
      into looked, ids from found f;
    else
      with found as materialized (
        select o.id, o.published_at, search.passes_filter(o, c) as passes
        from market.offer o
        where o.status = 'published' and o.sandbox_id is null and o.search @@ words and o.facets @@ asked)
      select count(*)::integer, (array_agg(f.id order by f.published_at desc, f.id desc) filter (where f.passes))[:most]
      into looked, ids from found f;
    end if;
    ids := coalesce(ids, '{}');
    exit when cardinality(ids) >= most or since <= oldest is not false;
    is_complete := looked < search.most_looked();
    exit when not is_complete;
    -- Half as far again as should be enough, but at most 64 times as far, because the offers found may not be typical.
    growth := least(64, greatest(2, 1.5 * most / greatest(cardinality(ids), 1)),
      greatest(2, 2.0 * search.most_looked() / greatest(looked, 1)))::double precision;
    reach := reach * growth;
    -- A window of a quarter of the market costs nearly as much as all of it.
    if reach * 4 > span.latest - oldest and 2 * growth * looked < search.most_looked() then
      reach := span.latest - oldest;
    end if;
  end loop;
end
$$;
comment on function search.newest_offers(tsquery, search.search_filter, integer, uuid) is
  'Returns the ids of the newest offers, at most `most`, that contain the words (null: any words) and pass the '
  'filters, newest first. before_id: of the offers published at the moment of the filters, only those with a lower id. '
  'is_complete: false if there may be more, because it looked at many offers of which few pass.';

create or replace function search.published_span(
  as_of timestamptz, out latest timestamptz, out oldest timestamptz, out pace interval, out offers double precision
)
  language plpgsql stable
as $$
declare
  sample constant integer := 200;
begin
  select max(n.published_at), (max(n.published_at) - min(n.published_at)) / sample into latest, pace
  from (
    select o.published_at from market.offer o
    where o.status = 'published' and o.sandbox_id is null and o.published_at <= published_span.as_of
    order by o.published_at desc limit sample) as n;
  select o.published_at into oldest from market.offer o
  where o.status = 'published' and o.sandbox_id is null order by o.published_at limit 1;
  -- Offers that are imported together have the same time.
  pace := greatest(pace, interval '0.1 seconds');
  offers := (select greatest(c.reltuples, 1)::double precision from pg_class c where c.oid = 'market.offer'::regclass);
end
$$;
comment on function search.published_span(timestamptz) is
  'Returns the times of the newest offer at a moment and of the oldest, and the mean time between two of the newest '
  '200, and about how many offers there are.';

create or replace function search.lexical_candidates(words tsquery, c search.search_filter, most integer) returns uuid[]
  language plpgsql stable
as $$
begin
  return case when words is not null or c.price_max = 0 then (search.newest_offers(words, c, most)).ids else '{}' end;
end
$$;
comment on function search.lexical_candidates(tsquery, search.search_filter, integer) is
  'Returns the ids of the newest offers, at most `most`, that contain the words and pass the filters. Without words it '
  'returns the newest free offers if the maximum price is 0, and otherwise none.';
