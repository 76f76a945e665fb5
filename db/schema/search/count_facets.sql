-- How many offers have which category, kind, price, condition and place. Up to ten thousand offers are counted one by
-- one. Of more, a sample is counted (search.samples), which the same index finds.
--
-- Some filters, such as `reviewed`, are in no index. If few offers pass them, to count these one by one would be to
-- look at the whole market. So, as in a list (search.most_looked), only a part is looked at, and the answer says so.

create or replace function search.missing_facet_values(id uuid) returns text[]
  language plpgsql stable
as $$
begin
  return (select search.facet_values(o) from market.offer o where o.id = missing_facet_values.id);
end
$$;
comment on function search.missing_facet_values(uuid) is
  'Returns the values of an offer for which the job build_documents has not stored them yet. It takes the id, because '
  'a query that passes the row on would read all long values of every row.';

create or replace function search.group_offers(
  words tsquery, asked tsquery, c search.search_filter, extraction jsonb, most integer,
  out groups jsonb, out offers bigint, out looked bigint
)
  language plpgsql stable
  -- Whether there are words and other conditions decides the plan. The limit makes the planner expect to find enough
  -- soon, however rare the words are, so only bitmaps of the indexes are left to it, and no sorting of thousands.
  set plan_cache_mode = 'force_custom_plan'
  set enable_seqscan = off
  set enable_indexscan = off
  set enable_sort = off
as $$
declare
  price constant jsonb := extraction -> 'price';
  at_most constant bigint := round((price ->> 'max')::numeric * 100)::bigint;
  at_least constant bigint := round((price ->> 'min')::numeric * 100)::bigint;
  in_currency constant text := price ->> 'currency';
  per constant text := price ->> 'period';
begin
  if c.sandbox_id is not null then
    select coalesce(jsonb_agg(jsonb_build_array(o.facet_values, 1)), '[]'), count(*), count(*) into groups, offers,
      looked
    from search.sandbox_offers(words, c) as o
    where price is null or search.price_agreement(o, at_most, at_least, in_currency, per) is not null;
    return;
  end if;
  -- PostgreSQL computes a row of a materialized query when it is fetched. So if enough offers pass, no more is looked
  -- at.
  with looked_at as materialized (
    select case when search.passes_filter(o, c)
        and (price is null or search.price_agreement(o, at_most, at_least, in_currency, per) is not null)
      then coalesce(o.facet_values, search.missing_facet_values(o.id)) end as facet_values
    from market.offer o
    where o.status = 'published' and o.sandbox_id is null
      and (words is null or o.search @@ words) and (asked is null or o.facets @@ asked)
      -- Other indexes may have these, so that less is looked at.
      and o.published_at <= c.as_of
      and (c.filters ->> 'posted_since' is null or o.published_at >= search.posted_since(c))
      and (c.price_min is null or o.price_hundredths >= c.price_min)
      and (c.price_max is null or o.price_hundredths <= c.price_max)
    limit search.most_looked()
  ), counted as materialized (
    select f.facet_values, count(*) as n
    from (
      select l.facet_values from looked_at l where l.facet_values is not null limit group_offers.most) as f
    group by f.facet_values
  )
  select coalesce(jsonb_agg(jsonb_build_array(g.facet_values, g.n)), '[]'), coalesce(sum(g.n), 0)::bigint,
    case when coalesce(sum(g.n), 0) < group_offers.most then (select count(*) from looked_at) end
  into groups, offers, looked
  from counted g;
end
$$;
comment on function search.group_offers(tsquery, tsquery, search.search_filter, jsonb, integer) is
  'Returns the values of facets, all of an offer together, of the offers that contain the words (null: any words), '
  'match the facets, pass the filters and do not surely cost more than the query says, and how many offers have them: '
  'of at most `most` offers. looked: at how many offers that the indexes returned it looked for these, at most '
  'search.most_looked; null when it found `most`.';

create or replace function search.count_facets(
  words tsquery, c search.search_filter, extraction jsonb, names text[]
) returns jsonb
  language plpgsql stable
  set plan_cache_mode = 'force_generic_plan'
as $$
declare
  exact constant integer := 10000;
  -- A sample of a sixteenth has more than this only of far more than ten thousand offers.
  sampled constant integer := 2500;
  indexed search.search_filter := c;
  asked tsquery;
  -- 0: all offers. n: the sample with a 4^n-th of them.
  level integer := (select case when r.reltuples > exact then 2 else 0 end
    from pg_class r where r.oid = 'market.offer'::regclass);
  found record;
  whole record;
  is_partial boolean := false;
begin
  if words is not null then
    -- As in search.newest_offers: prices are faster to check in the rows that contain the words.
    indexed.price_min := null;
    indexed.price_max := null;
  end if;
  asked := search.facet_query(indexed);
  loop
    found := search.group_offers(words, case when level = 0 then asked
      else coalesce(asked && search.sample_query(level), search.sample_query(level)) end, c, extraction,
      case when level = 0 then exact + 1 else sampled end);
    exit when found.looked < search.most_looked() or level = 6;
    level := greatest(level + 1, 2);
  end loop;
  -- The number of offers is within 14 % of the estimate in all but one of two thousand searches.
  if level > 0 and found.offers * 4 ^ level < exact * 1.14 then
    is_partial := found.looked * 4 ^ level >= search.most_looked();
    if not is_partial then
      whole := search.group_offers(words, asked, c, extraction, exact + 1);
      is_partial := coalesce(whole.looked >= search.most_looked(), false);
      if whole.looked < search.most_looked() then
        found := whole;
        level := 0;
      end if;
    end if;
  end if;
  return (
    with groups as materialized (
      select g.value -> 0 as facet_values, (g.value -> 1)::bigint as n from jsonb_array_elements(found.groups) as g
    )
    select jsonb_object_agg(f.name, (
      select coalesce(jsonb_agg(jsonb_build_object('value', v.value, 'count', v.n * (4 ^ level)::bigint)
          || case when level > 0 then '{"approximate": true}' else '{}'::jsonb end order by v.n desc, v.value), '[]')
      from (
        select g.facet_values ->> f.position as value, sum(g.n)::bigint as n from groups g
        where g.facet_values ->> f.position is not null
        group by 1 order by 2 desc, 1 limit 20) as v))
    from (select n as name, array_position(search.facet_names(), n) - 1 as position from unnest(names) as n) as f)
    || case when is_partial then '{"is_partial": true}'::jsonb else '{}' end;
end
$$;
comment on function search.count_facets(tsquery, search.search_filter, jsonb, text[]) is
  'Returns {name: [{value, count}]} with the twenty most frequent values of each facet, over all offers that contain '
  'the words (null: any words) and pass the filters. Values counted on a sample have approximate: true. is_partial: '
  'true if few offers pass and it could not look at all that might, so values may be missing.';
