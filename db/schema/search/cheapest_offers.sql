-- Lists without a query in the order of prices. Indexes of prices have the first offers that pass soon, unless few
-- pass.

create or replace function search.cheapest_offers(
  c search.search_filter, dearest boolean, most integer, after_price bigint, after_id uuid,
  out ids uuid[], out is_complete boolean
)
  language plpgsql stable
  -- The best plan depends on which filters are set.
  set plan_cache_mode = 'force_custom_plan'
as $$
declare
  asked constant tsquery := search.facet_query(c);
  -- A category is looked for in the domain that has it.
  domains constant text[] := coalesce(c.domains,
    array(select distinct k.domain from market.category k where k.category = any (c.categories)));
  only_domain constant text := case when cardinality(domains) = 1 then domains[1] end;
  first_price constant bigint := coalesce(after_price, case when dearest then 9223372036854775807 else -1 end);
  first_id constant uuid := coalesce(after_id, repeat(case when dearest then 'f' else '0' end, 32)::uuid);
  -- Offers that are read in the order of prices, until enough of them pass.
  depth integer := 5000;
begin
  is_complete := true;
  if c.sandbox_id is not null then
    ids := array(
      select o.id from search.sandbox_offers(null, c) as o
      where o.price_hundredths is not null and case when dearest
        then (o.price_hundredths, o.id) < (first_price, first_id)
        else (o.price_hundredths, o.id) > (first_price, first_id) end
      order by case when dearest then - o.price_hundredths else o.price_hundredths end,
        case when not dearest then o.id end, o.id desc
      limit most);
    return;
  end if;
  loop
    if dearest then
      ids := array(
        select w.id
        from (
          select o.id from market.offer o
          where o.status = 'published' and o.sandbox_id is null and (only_domain is null or o.domain = only_domain)
            and (o.price_hundredths, o.id) < (first_price, first_id)
          order by o.price_hundredths desc, o.id desc limit depth) as w
        cross join lateral (select from market.offer o where o.id = w.id and search.matches_filter(o, c) offset 0) as o
        limit most);
    else
      ids := array(
        select w.id
        from (
          select o.id from market.offer o
          where o.status = 'published' and o.sandbox_id is null and (only_domain is null or o.domain = only_domain)
            and (o.price_hundredths, o.id) > (first_price, first_id)
          order by o.price_hundredths, o.id limit depth) as w
        cross join lateral (select from market.offer o where o.id = w.id and search.matches_filter(o, c) offset 0) as o
        limit most);
    end if;
    exit when cardinality(ids) >= most or not is_complete;
    -- If the facets leave few, all of those are compared. Otherwise the offers are read on, as far as a list looks.
    is_complete := (
      select count(*) < search.most_looked() from (
        select from market.offer o
        where o.status = 'published' and o.sandbox_id is null and (asked is null or o.facets @@ asked)
        limit search.most_looked()) as n);
    exit when is_complete;
    depth := search.most_looked();
  end loop;
  if cardinality(ids) < most and is_complete then
    ids := array(
      select o.id from market.offer o
      where (asked is null or o.facets @@ asked) and search.matches_filter(o, c) and o.price_hundredths is not null
        and case when dearest then (o.price_hundredths, o.id) < (first_price, first_id)
          else (o.price_hundredths, o.id) > (first_price, first_id) end
      order by case when dearest then - o.price_hundredths else o.price_hundredths end,
        case when not dearest then o.id end, o.id desc
      limit most);
  end if;
  is_complete := is_complete or cardinality(ids) >= most;
end
$$;
comment on function search.cheapest_offers(search.search_filter, boolean, integer, bigint, uuid) is
  'Returns the ids of the cheapest (or dearest) offers with a price, at most `most`, that pass the filters and come '
  'after a price and an id (null: from the first). is_complete: false if there may be more, because it looked at many '
  'offers of which few pass.';
