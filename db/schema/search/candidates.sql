-- Selects the offers that are worth ranking. Ranking takes time for each candidate, so their number is capped: the
-- newest matches by words, the nearest by vector. Offers published later never change the candidates by words, so pages
-- stay stable. The vector index returns nearly the same candidates from page to page.

create or replace function search.facet_query(c search.search_filter) returns tsquery
  language sql stable
as $$
  select string_agg('(' || f.query::text || ')', ' & ')::tsquery
  from (values
    (c.place),
    (search.any_lexeme(array(select 'domain/' || d from unnest(c.domains) as d))),
    (search.any_lexeme(array(select 'category/' || k from unnest(c.categories) as k))),
    (search.any_lexeme(array(select 'kind/' || k from unnest(c.kinds) as k))),
    (search.price_bucket_query(c.price_min, c.price_max, c.currency))) as f (query)
  where f.query::text <> ''
$$;
comment on function search.facet_query(search.search_filter) is
  'Returns the filters that market.offer.facets indexes, without time, as a query that every passing offer matches; '
  'null when there are none.';

create or replace function search.posted_bucket_query(c search.search_filter) returns tsquery
  language sql stable
as $$
  select search.time_bucket_query((c.filters ->> 'posted_since')::date::timestamp at time zone 'UTC',
    least(c.as_of, now()))
$$;
comment on function search.posted_bucket_query(search.search_filter) is
  'Returns the filter posted_since as a query of market.offer.facets; null when it is not set.';

create or replace function search.without_common_filters(search_filter search.search_filter)
  returns search.search_filter
  language plpgsql immutable
as $$
begin
  search_filter.kinds := null;
  search_filter.price_min := null;
  search_filter.price_max := null;
  search_filter.currency := null;
  return search_filter;
end
$$;
comment on function search.without_common_filters(search.search_filter) is
  'Returns the filters without kinds and prices. Filters by kind and price usually exclude few offers, and each '
  'becomes a query of several lexemes.';

create or replace function search.indexed_filters(search_filter search.search_filter) returns search.search_filter
  language plpgsql immutable
as $$
begin
  search_filter.period := null;
  if num_nonnulls(search_filter.price_min, search_filter.price_max) = 0 then
    search_filter.currency := null;
  end if;
  search_filter.filters := case when search_filter.filters ? 'posted_since'
    then jsonb_build_object('posted_since', search_filter.filters -> 'posted_since') else '{}' end;
  return search_filter;
end
$$;
comment on function search.indexed_filters(search.search_filter) is
  'Returns those of the filters that market.offer.facets indexes.';

create or replace function search.expected_rows(search_filter search.search_filter, words tsquery)
  returns double precision
  language plpgsql volatile
as $$
declare
  plan jsonb;
begin
  execute 'explain (format json) select from market.offer o where search.matches_filter(o, $1)'
    || case when words is null then '' else ' and o.search @@ $2' end into plan using search_filter, words;
  return (plan -> 0 -> 'Plan' ->> 'Plan Rows')::double precision;
end
$$;
comment on function search.expected_rows(search.search_filter, tsquery) is
  'Returns how many offers the planner expects to pass the filters and contain the words (null: any words); at least '
  '1.';

create or replace function search.newest_span(
  search_filter search.search_filter, words tsquery, wanted integer,
  out since timestamptz, out latest timestamptz, out oldest timestamptz, out expected double precision
)
  language plpgsql stable
as $$
declare
  posted_since timestamptz := (search_filter.filters ->> 'posted_since')::date::timestamp at time zone 'UTC';
  sample constant integer := 400;
  pace double precision;
  reach double precision;
begin
  select min(n.published_at), max(n.published_at) into since, latest
  from (
    select o.published_at from market.offer o
    where o.status = 'published' and o.published_at <= search_filter.as_of
    order by o.published_at desc limit sample) as n;
  select o.published_at into oldest from market.offer o
  where o.status = 'published' and o.published_at >= coalesce(posted_since, '-infinity')
  order by o.published_at limit 1;
  pace := (greatest(extract(epoch from latest - since), 1) / sample)::double precision;
  -- reach: how many of the newest offers contain about `wanted` passing offers, if these are spread evenly over time.
  search_filter.filters := search_filter.filters - 'posted_since';
  expected := search.expected_rows(search_filter, words);
  reach := wanted * (select greatest(c.reltuples, 1) from pg_class c where c.oid = 'market.offer'::regclass) / expected;
  since := latest - make_interval(secs => least(reach * pace, greatest(extract(epoch from latest - oldest), 0)));
end
$$;
comment on function search.newest_span(search.search_filter, tsquery, integer) is
  'Returns since: the time after which about `wanted` offers that pass the filters and contain the words (null: any '
  'words) were published; latest: the time of the newest offer; oldest: the time of the oldest offer that may pass; '
  'expected: the number of offers that should pass, without a limit of time.';
