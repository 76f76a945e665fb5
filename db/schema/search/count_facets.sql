-- How many offers have which category, kind, price, condition and place. Up to about ten thousand offers are counted
-- one by one. Of more, a sample is counted (search.samples), which the same index finds.
--
-- The limits of prices, distance and accounts are not exactly in the index. If few offers pass them, to count these one
-- by one would be to look at the whole market. So, as in a list (search.most_looked), only a part is looked at, and the
-- answer says so.

create or replace function search.group_offers(
  words tsquery, asked tsquery, c search.search_filter, extraction jsonb, out groups jsonb, out offers bigint,
  out looked bigint
)
  language plpgsql stable
  set plan_cache_mode = 'force_custom_plan'
  -- As in search.look.
  set enable_seqscan = off
  set enable_indexscan = off
as $$
declare
  price constant jsonb := extraction -> 'price';
  at_most constant bigint := round((price ->> 'max')::numeric * 1000)::bigint;
  at_least constant bigint := round((price ->> 'min')::numeric * 1000)::bigint;
  in_currency constant text := price ->> 'currency';
  per constant text := price ->> 'period';
begin
  with looked_at as materialized (
    select case when search.passes_filter(d, c)
        and (price is null or search.price_agreement(d, at_most, at_least, in_currency, per) is not null)
      then d.facet_values end as facet_values
    from search.document d
    where search.is_listed(d.sandbox_id, c.sandbox_id) and (group_offers.words is null or d.words @@ group_offers.words)
      and (group_offers.asked is null or d.facets @@ group_offers.asked)
    limit search.most_looked()
  )
  select coalesce(jsonb_agg(jsonb_build_array(g.facet_values, g.n)) filter (where g.facet_values is not null), '[]'),
    coalesce(sum(g.n) filter (where g.facet_values is not null), 0)::bigint, coalesce(sum(g.n), 0)::bigint
  into groups, offers, looked
  from (select l.facet_values, count(*) as n from looked_at l group by 1) as g;
end
$$;
comment on function search.group_offers(tsquery, tsquery, search.search_filter, jsonb) is
  'Returns the values of facets, all of an offer together, of the offers that contain the words (null: any words), '
  'match the facets, pass the filters and do not surely cost more than the query says, and how many offers have them. '
  'looked: how many offers that the index returned it looked at, at most search.most_looked.';

create or replace function search.count_facets(
  words tsquery, c search.search_filter, extraction jsonb, names text[]
) returns jsonb
  language plpgsql stable
as $$
declare
  -- The number of offers is within 14 % of what a sample tells in all but one of two thousand searches.
  exact constant integer := 11400;
  -- As in search.list_offers: prices are faster to check in the rows that contain the words.
  asked constant tsquery := search.facet_query(c, words is null);
  -- 0: all offers. n: the sample with a 4^n-th of them.
  level integer := case when c.sandbox_id is null and search.document_count() > exact then 2 else 0 end;
  found record;
  is_partial boolean := false;
begin
  loop
    found := search.group_offers(words,
      case level when 0 then asked else coalesce(asked && search.sample_query(level), search.sample_query(level)) end,
      c, extraction);
    exit when found.looked < search.most_looked() or level in (0, 6);
    level := level + 1;
  end loop;
  if found.offers * 4 ^ level < exact then
    is_partial := found.looked * 4 ^ level >= search.most_looked();
    if level > 0 and not is_partial then
      found := search.group_offers(words, asked, c, extraction);
      level := 0;
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
