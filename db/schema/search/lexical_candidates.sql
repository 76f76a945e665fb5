-- Lexical candidates: the newest offers that contain the words and pass the filters.

create or replace function search.lexical_candidates(words tsquery, search_filter search.search_filter, depth integer)
  returns uuid[]
  language plpgsql stable
  set plan_cache_mode = 'force_generic_plan'
as $$
declare
  facets tsquery := search.facet_query(search_filter);
  posted_since timestamptz := (search_filter.filters ->> 'posted_since')::date::timestamp at time zone 'UTC';
  wide search.search_filter := search.without_common_filters(search_filter);
  wide_facets tsquery := facets;
  span record;
  asked tsquery;
  ids uuid[];
begin
  if words is null then
    return case when search_filter.price_max = 0 then array(
      select o.id from market.offer o
      where o.price_hundredths = 0 and search.matches_filter(o, search_filter)
      order by o.published_at desc, o.id desc limit depth) else '{}' end;
  end if;
  -- For common words the index would return more and more offers as the market grows. So the first query asks only for
  -- the newest: for a span that contains 1.5 times as many as wanted, by the planner's estimate. If it finds too few,
  -- each further query covers a longer span that should contain enough. The result is the same in any case: the newest
  -- offers that pass.
  select * into span from search.newest_span(search_filter, words, depth + depth / 2);
  if num_nonnulls(search_filter.kinds, search_filter.price_min, search_filter.price_max) > 0 then
    -- Filters by kind and price that keep at least a fourth of the offers are faster to check in the rows than to read
    -- from the index.
    wide.filters := wide.filters - 'posted_since';
    if search.expected_rows(wide, words) <= 4 * span.expected then
      wide_facets := search.facet_query(wide);
    end if;
  end if;
  loop
    -- A span that contains all offers needs only one or two large buckets.
    asked := search.time_bucket_query(span.since, span.latest,
      case when span.since <= span.oldest and posted_since is null then 2 else 16 end);
    asked := coalesce(asked && wide_facets, asked);
    -- The `+ interval '0'` keeps the planner from reading the whole index of published_at backwards.
    ids := array(
      select o.id from market.offer o
      where o.search @@ words and o.facets @@ asked and search.matches_filter(o, search_filter)
      order by o.published_at + interval '0' desc, o.id desc limit depth);
    exit when cardinality(ids) >= depth or span.since <= span.oldest is not false;
    -- The estimate of the planner was wrong, and its estimate for kinds and prices may be wrong too.
    wide_facets := facets;
    -- Go back 1.5 times as far as should be enough, but at most 64 times as far as the last query, because the offers
    -- found so far may not be typical.
    span.since := greatest(span.oldest, span.latest - greatest(span.latest - span.since, interval '1 hour')
      * least(64, greatest(2, 1.5 * depth / greatest(cardinality(ids), 1))));
  end loop;
  return ids;
end
$$;
comment on function search.lexical_candidates(tsquery, search.search_filter, integer) is
  'Returns the ids of the newest offers, at most `depth`, that contain the words and pass the filters. Without words '
  'it returns the newest free offers if the maximum price is 0, and otherwise none.';
