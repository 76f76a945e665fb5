-- The offers nearest to a vector that pass the filters: by comparing all that pass if they are few, and otherwise by
-- the HNSW index.

create or replace function search.nearest_offers(near public.halfvec, model text, c search.search_filter)
  returns table (offer_id uuid, distance double precision)
  language plpgsql stable
  -- Read on until enough offers pass, in about the order of distance.
  set hnsw.iterative_scan = 'relaxed_order'
  set hnsw.ef_search = 100
  set plan_cache_mode = 'force_generic_plan'
as $$
declare
  wanted constant tsquery := search.facet_query(c);
  is_filtered constant boolean := wanted is not null or c.filters <> '{}';
  vectors constant real := (select r.reltuples from pg_class r where r.oid = 'market.offer_embedding'::regclass);
  -- Offers at a small distance are mostly of one kind and category, so these filters leave enough of the nearest. In a
  -- small market, to compare all of them takes no longer.
  mostly_pass constant boolean := vectors > 10000 and c.filters - array['domain', 'category', 'offer_kind'] = '{}'
    and c.near is null and c.place is null;
  -- Where few pass, the index is read on and on for each, and those far away add little.
  enough constant integer := case when is_filtered and not mostly_pass then 20 else 40 end;
  since timestamptz := search.posted_since(c);
  asked tsquery;
  expected record;
  -- To compare this many takes about 30 ms.
  most integer := 12000;
  ids uuid[];
  distances double precision[];
begin
  if near is null then
    return;
  elsif c.sandbox_id is not null then
    return query
      select o.id, e.unlisted_embedding operator(public.<=>) near
      from search.sandbox_offers(null, c) as o
      join market.offer_embedding e on e.offer_id = o.id and e.model = nearest_offers.model
      order by 2, 1 desc limit 40;
    return;
  end if;
  -- A larger market has more offers at about the same distance, so HNSW must look at more nodes to find the nearest.
  -- `npm run bench -- --sizes` prints which share of the ten truly nearest it finds.
  perform set_config('hnsw.ef_search', case when vectors < 50000 then '100' when vectors < 500000 then '150'
    else '400' end, true);
  select * into expected from search.expected_share(wanted, c) where is_filtered and not mostly_pass;
  if expected.few is not true then
    with nearest as materialized (
      select e.offer_id, e.facets, e.embedding operator(public.<=>) near as distance
      from market.offer_embedding e where e.model = nearest_offers.model and e.embedding is not null
      order by e.embedding operator(public.<=>) near limit 500
    ), passing as materialized (
      select n.offer_id, n.distance from nearest n
      cross join lateral (select from market.offer o
        where o.id = n.offer_id and search.matches_filter(o, c) offset 0) as o
      where wanted is null or n.facets @@ wanted
      limit enough)
    select array_agg(p.offer_id), array_agg(p.distance) into ids, distances from passing p;
    if not is_filtered or cardinality(ids) >= 10 then
      return query
        select f.offer_id, f.distance from unnest(ids, distances) as f (offer_id, distance) order by 2, 1 desc;
      return;
    elsif mostly_pass then
      select * into expected from search.expected_share(wanted, c);
    end if;
    if expected.few is not true then
      most := 2000;
    end if;
  end if;
  if expected.matching * expected.offers > most then
    since := greatest(since, expected.latest - expected.pace * (most / expected.matching));
  elsif wanted is null then
    since := greatest(since, expected.oldest);
  end if;
  asked := search.time_bucket_query(since, expected.latest);
  asked := coalesce(wanted && asked, asked, wanted);
  return query
  select f.offer_id, f.distance from unnest(ids, distances) as f (offer_id, distance)
  union
  select * from (
    select p.offer_id, p.distance
    from (
      select e.offer_id, e.embedding operator(public.<=>) near as distance
      from market.offer_embedding e
      where e.facets @@ asked and e.model = nearest_offers.model
      order by 2, 1 desc) as p
    -- In this order PostgreSQL reads only the rows of the nearest offers.
    cross join lateral (select from market.offer o
      where o.id = p.offer_id and search.matches_filter(o, c) offset 0) as o
    order by p.distance, p.offer_id desc limit 40) as exact
  order by 2, 1 desc limit 40;
end
$$;
comment on function search.nearest_offers(public.halfvec, text, search.search_filter) is
  'Returns the offers, at most forty, that pass the filters and are nearest to a vector of a model, with their cosine '
  'distance. It reads at most 500 of the index, or compares the newest 12,000 that match the facets. If the filters '
  'leave few of those in the index, it returns twenty of them.';

create or replace function search.expected_share(
  wanted tsquery, c search.search_filter,
  out matching double precision, out passing double precision, out offers double precision, out latest timestamptz,
  out oldest timestamptz, out pace interval, out few boolean
)
  language plpgsql stable
  set plan_cache_mode = 'force_generic_plan'
as $$
declare
  posted_since constant timestamptz := search.posted_since(c);
  recent double precision;
begin
  select p.latest, p.oldest, p.pace, p.offers into latest, oldest, pace, offers
  from search.published_span(c.as_of) as p;
  select (count(*) filter (where wanted is null or e.facets @@ wanted)) / 200.0::double precision,
    (count(*) filter (where n.passes)) / 200.0::double precision into matching, passing
  from (
    select o.id, search.matches_filter(o, c) as passes from market.offer o
    where o.status = 'published' and o.sandbox_id is null and o.published_at <= c.as_of
    order by o.published_at desc limit 200) as n
  -- The facets beside the vector are in the row, those of the offer mostly outside of it, which takes longer.
  left join market.offer_embedding e on e.offer_id = n.id;
  if posted_since is not null then
    -- All of the newest were published recently enough, but few of the others.
    recent := least(1, extract(epoch from latest - posted_since) / extract(epoch from pace) / offers)::double precision;
    matching := matching * recent;
    passing := passing * recent;
  end if;
  -- When fewer than one of fifty passes, the nearest of the index contain too few. To compare a thousand takes as long
  -- as to read the index.
  few := passing < 0.02 or passing * offers < 1000;
end
$$;
comment on function search.expected_share(tsquery, search.search_filter) is
  'Returns which share of the offers match the facets, and which share passes the filters, judged by the newest 200; '
  'how many offers there are; when the newest and the oldest were published; and the mean time between two of the '
  'newest. few: too few pass to be among the nearest of the index.';
