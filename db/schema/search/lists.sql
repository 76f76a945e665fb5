-- The first offers in an order, of those that contain the words and pass the filters: candidates for a ranking, and
-- lists without a query.
--
-- For common words and filters an index returns more and more offers as the market grows. So a list looks at a part of
-- the market first, and only if that has too few, at a larger one. The parts are spans of time for the newest offers,
-- circles for the closest, and the beginning of an index of prices for the cheapest and the dearest. No list looks on
-- after search.most_looked offers. If it ends there, it says so. The smallest parts are an hour and a cell of 20 km.

create or replace function search.most_looked() returns integer
  language sql immutable parallel safe
-- PostgreSQL reads and compares 50,000 offers in about a quarter of a second.
as $$ select 50000 $$;
comment on function search.most_looked() is
  'Returns at how many offers a list looks, about, before it ends although fewer pass the filters than were asked for.';

create or replace function search.document_count() returns double precision
  language sql stable
as $$
  -- Before the first vacuum or analyze, the size tells that a table is large: a document takes at most about half a
  -- page.
  select greatest(case when c.reltuples > 0 then c.reltuples else pg_relation_size(c.oid) / 4096 end,
    1)::double precision
  from pg_class c where c.oid = 'search.document'::regclass
$$;
comment on function search.document_count() is 'Returns about how many documents there are.';

create or replace function search.sort_key(d search.document, sort text, c search.search_filter)
  returns double precision
  language sql stable
as $$
  -- Microseconds and thousandths are whole numbers, which double precision holds exactly.
  select case sort
    when 'newest' then - extract(epoch from d.published_at) * 1000000
    when 'distance' then search.distance_km(d.latitude, d.longitude, c.latitude, c.longitude)
    when 'price_desc' then - d.price_thousandths
    else d.price_thousandths end::double precision
$$;
comment on function search.sort_key(search.document, text, search.search_filter) is
  'Returns the number by which a list is sorted, lowest first: for newest, distance, price_asc or price_desc. Of equal '
  'numbers the higher id comes first, and for price_asc the lower one. Null: the offer is not in such a list.';

create or replace function search.look(
  words tsquery, asked tsquery, c search.search_filter, sort text, most integer, after_key double precision,
  after_id uuid, reach double precision, out ids uuid[], out looked integer
)
  language plpgsql stable
  set plan_cache_mode = 'force_custom_plan'
  -- The limit makes the planner expect to find enough soon, so only bitmaps of the indexes are left to it.
  set enable_seqscan = off
  set enable_indexscan = off
as $$
begin
  -- What the index returns is materialized before it is sorted, so that rare words never make PostgreSQL read all
  -- offers in their order.
  with found as materialized (
    select d.id, search.sort_key(d, look.sort, c) as key, search.passes_filter(d, c) as passes
    from search.document d
    where search.is_listed(d.sandbox_id, c.sandbox_id) and (look.words is null or d.words @@ look.words)
      and (look.asked is null or d.facets @@ look.asked)
    limit case when look.reach = 'infinity' then search.most_looked() + 1 end
  )
  select count(*)::integer,
    (array_agg(f.id order by f.key, case when look.sort = 'price_asc' then f.id end, f.id desc)
      filter (where f.passes and f.key <= look.reach and (look.after_key is null or f.key > look.after_key
        or f.key = look.after_key and case when look.sort = 'price_asc' then f.id > look.after_id
          else f.id < look.after_id end)))[:look.most]
  into looked, ids from found f;
  ids := coalesce(ids, '{}');
end
$$;
comment on function search.look(tsquery, tsquery, search.search_filter, text, integer, double precision, uuid,
  double precision) is
  'Returns the first `most` in an order of the offers that contain the words (null: any words), match the facets '
  '(null: any), pass the filter, come after a sort key and an id (null: from the first), and have a sort key up to '
  '`reach`. looked: how many match words and facets. If the reach is infinite, it looks at no more than '
  'search.most_looked and one.';

create or replace function search.walk_prices(
  words tsquery, asked tsquery, c search.search_filter, sort text, most integer, after_price double precision,
  after_id uuid,
  depth integer
) returns uuid[]
  language plpgsql stable
  set plan_cache_mode = 'force_custom_plan'
as $$
declare
  -- A category is looked for in the domain that has it.
  domains constant text[] := coalesce(c.domains,
    array(select distinct k.domain from market.category k where k.category = any (c.categories)));
  only_domain constant text := case when cardinality(domains) = 1 then domains[1] end;
  dearest constant boolean := sort = 'price_desc';
  first_price constant bigint :=
    coalesce(abs(after_price)::bigint, case when dearest then 9223372036854775807 else -1 end);
  first_id constant uuid := coalesce(after_id, repeat(case when dearest then 'f' else '0' end, 32)::uuid);
begin
  -- The innermost queries read an index of prices. PostgreSQL fetches a row of theirs only when one more is needed.
  if dearest then
    return array(
      select w.id
      from (
        select d.id from search.document d
        where search.is_listed(d.sandbox_id, c.sandbox_id) and (only_domain is null or d.domain = only_domain)
          and (d.price_thousandths, d.id) < (first_price, first_id)
        order by d.price_thousandths desc, d.id desc limit walk_prices.depth) as w
      cross join lateral (
        select from search.document d
        where d.id = w.id and search.matches_filter(d, c, asked)
          and (walk_prices.words is null or d.words @@ walk_prices.words) offset 0) as d
      limit walk_prices.most);
  end if;
  return array(
    select w.id
    from (
      select d.id from search.document d
      where search.is_listed(d.sandbox_id, c.sandbox_id) and (only_domain is null or d.domain = only_domain)
        and (d.price_thousandths, d.id) > (first_price, first_id)
      order by d.price_thousandths, d.id limit walk_prices.depth) as w
    cross join lateral (
      select from search.document d
      where d.id = w.id and search.matches_filter(d, c, asked)
        and (walk_prices.words is null or d.words @@ walk_prices.words) offset 0) as d
    limit walk_prices.most);
end
$$;
comment on function search.walk_prices(tsquery, tsquery, search.search_filter, text, integer, double precision, uuid,
  integer) is
  'Returns the first `most` offers in the order of prices that contain the words (null: any words), match the facets, '
  'pass the filter and come after a price and an id: of the first `depth` in that order.';

create or replace function search.newest_published(
  c search.search_filter, out at timestamptz, out pace double precision
)
  language plpgsql stable
  set plan_cache_mode = 'force_custom_plan'
as $$
declare
  sample constant integer := 200;
begin
  -- Offers that are imported together have the same time, so the pace has a lower limit.
  select max(n.published_at),
    greatest(extract(epoch from max(n.published_at) - min(n.published_at)) / sample, 0.1)::double precision
  into at, pace
  from (
    select d.published_at from search.document d
    where search.is_listed(d.sandbox_id, c.sandbox_id) and d.published_at <= c.as_of
    order by d.published_at desc limit sample) as n;
end
$$;
comment on function search.newest_published(search.search_filter) is
  'Returns when the newest offer at the moment of a filter was published, and the mean seconds between two of the '
  'newest 200; null when there is none.';

create or replace function search.list_offers(
  words tsquery, c search.search_filter, sort text, most integer, after_key double precision default null,
  after_id uuid default null, out ids uuid[], out is_complete boolean
)
  language plpgsql stable
as $$
declare
  everything constant double precision := 'infinity'::double precision;
  -- A price is a query for up to 27 lexemes. It is faster to check in the rows that contain the words.
  facets constant tsquery := search.facet_query(c, words is null or c.price_max = 0);
  newest timestamptz;
  pace double precision;
  since timestamptz;
  -- How far the present part reaches: seconds before the newest offer, or kilometres from the point.
  reach double precision;
  part tsquery;
  looked integer;
  growth double precision;
begin
  is_complete := true;
  if sort in ('price_asc', 'price_desc') then
    -- First read the beginning of an index of prices. If too few of those offers pass, compare all offers that have the
    -- words and facets. If those are too many, read more of the index, up to the limit of a list.
    ids := search.walk_prices(words, facets, c, sort, most, after_key, after_id, 5000);
    if cardinality(ids) < most then
      select l.ids, l.looked <= search.most_looked() into ids, is_complete
      from search.look(words, facets, c, sort, most, after_key, after_id, everything) as l;
    end if;
    if not is_complete then
      ids := search.walk_prices(words, facets, c, sort, most, after_key, after_id, search.most_looked());
      is_complete := cardinality(ids) >= most;
    end if;
    return;
  end if;

  if sort = 'distance' then
    reach := greatest(c.radius_km / 64, coalesce(after_key, 0), 1);
  else
    -- A page begins where the one before it ended.
    c.as_of := least(c.as_of, to_timestamp(- after_key / 1000000) + interval '1 millisecond');
    select n.at, n.pace into newest, pace from search.newest_published(c) as n;
    -- Five times as many offers as are wanted: enough for what a fifth of all offers has. Few are in one place.
    reach := pace * most * case when c.place is null and c.near is null then 5 else 100 end;
  end if;
  loop
    if sort = 'distance' then
      reach := least(reach, c.radius_km);
      part := search.cell_query(c.latitude, c.longitude, reach);
    else
      since := greatest(case when reach < everything then newest - make_interval(secs => reach) end, c.posted_since);
      part := search.time_bucket_query(since, newest);
    end if;
    select l.ids, l.looked into ids, looked
    from search.look(words, coalesce(part && facets, part, facets), c, sort, most, after_key, after_id,
      case when sort = 'distance' or reach = everything then reach
        else 1000000 * (reach - extract(epoch from newest))::double precision end) as l;
    exit when cardinality(ids) >= most or reach = everything
      or case when sort = 'distance' then reach >= c.radius_km
        else coalesce(since <= c.posted_since, newest is null) end;
    is_complete := looked <= search.most_looked();
    exit when not is_complete;
    -- Half as far again as should be enough, but at most 64 times as many offers, because those found may not be
    -- typical, and not many more than a list looks at.
    growth := least(64, greatest(2, 1.5 * most / greatest(cardinality(ids), 1)),
      greatest(2, 2.0 * search.most_looked() / greatest(looked, 1)))::double precision;
    reach := reach * case when sort = 'distance' then sqrt(growth) else growth end;
    -- Where so few have the words and facets, another part costs as much as all. No market is a hundred years old.
    if sort <> 'distance' and (reach > 3e9
      or (looked + 1) * growth * search.document_count() * pace / reach < search.most_looked() / 50) then
      reach := everything;
    end if;
  end loop;
end
$$;
comment on function search.list_offers(tsquery, search.search_filter, text, integer, double precision, uuid) is
  'Returns the ids of the first offers, at most `most`, by newest, distance, price_asc or price_desc, that contain the '
  'words (null: any words), pass the filters, and come after a sort key (search.sort_key) and an id (null: from the '
  'first). is_complete: false if there may be more, because it looked at many offers of which few pass.';

create or replace function search.lexical_candidates(words tsquery, c search.search_filter, most integer) returns uuid[]
  language plpgsql stable
as $$
begin
  return case when words is not null or c.price_max = 0
    or c.excluded is not null then (search.list_offers(words, c, 'newest', most)).ids
    else '{}' end;
end
$$;
comment on function search.lexical_candidates(tsquery, search.search_filter, integer) is
  'Returns the ids of the newest offers, at most `most`, that contain the words and pass the filters. Without words it '
  'returns the newest if they have to be free, or may not mention something, and otherwise none.';
