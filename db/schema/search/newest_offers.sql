-- The newest offers that contain the words and pass the filters: candidates for ranking, and lists without a query.
--
-- For common words and filters an index returns more and more offers as the market grows. So the index is asked for
-- time buckets, too (market.offer.facets): first for a short window of time, and only if it contains too few, for a
-- longer one. The length of the next window follows from what the last one contained.

create or replace function search.newest_offers(
  words tsquery, c search.search_filter, most integer, before_id uuid default null
)
  returns uuid[]
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
  ids uuid[];
begin
  if c.sandbox_id is not null then
    return array(
      select o.id from search.sandbox_offers(words, c) as o
      where before_id is null or (o.published_at, o.id) < (c.as_of, before_id)
      order by o.published_at desc, o.id desc limit most);
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
      ids := array(
        with passing as materialized (
          select o.id, o.published_at from market.offer o
          where o.facets @@ asked and search.matches_filter(o, c)
            and (before_id is null or (o.published_at, o.id) < (c.as_of, before_id)))
        select p.id from passing p order by p.published_at desc, p.id desc limit most);
    else
      ids := array(
        with passing as materialized (
          select o.id, o.published_at from market.offer o
          where o.search @@ words and o.facets @@ asked and search.matches_filter(o, c))
        select p.id from passing p order by p.published_at desc, p.id desc limit most);
    end if;
    exit when cardinality(ids) >= most or since <= oldest is not false;
    -- Half as far again as should be enough, but at most 64 times as far, because the offers found may not be typical.
    reach := reach * least(64, greatest(2, 1.5 * most / greatest(cardinality(ids), 1)));
    -- A window of a quarter of the market costs nearly as much as all of it.
    if reach * 4 > span.latest - oldest then
      reach := span.latest - oldest;
    end if;
  end loop;
  return ids;
end
$$;
comment on function search.newest_offers(tsquery, search.search_filter, integer, uuid) is
  'Returns the ids of the newest offers, at most `most`, that contain the words (null: any words) and pass the '
  'filters, newest first. before_id: of the offers published at the moment of the filters, only those with a lower id.';

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
  return case when words is not null or c.price_max = 0 then search.newest_offers(words, c, most) else '{}' end;
end
$$;
comment on function search.lexical_candidates(tsquery, search.search_filter, integer) is
  'Returns the ids of the newest offers, at most `most`, that contain the words and pass the filters. Without words it '
  'returns the newest free offers if the maximum price is 0, and otherwise none.';
