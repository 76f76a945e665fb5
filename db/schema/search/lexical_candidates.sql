-- Candidates by words: the newest offers that hold them and pass the filters.

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
  -- Of what is common the index would give all, ever more as the market grows. So at first it is asked for the newest
  -- only, half as much again as wanted if the planner is right, then further back, by as much as should hold enough:
  -- what comes out is the same, the newest that pass.
  select * into span from search.newest_span(search_filter, words, depth + depth / 2);
  if num_nonnulls(search_filter.kinds, search_filter.price_min, search_filter.price_max) > 0 then
    -- What keeps a fourth or more is quicker looked up in the rows than read from the index.
    wide.filters := wide.filters - 'posted_since';
    if search.expected_rows(wide, words) <= 4 * span.expected then
      wide_facets := search.facet_query(wide);
    end if;
  end if;
  loop
    -- All of time is one stretch or two.
    asked := search.time_bucket_query(span.since, span.latest,
      case when span.since <= span.oldest and posted_since is null then 2 else 16 end);
    asked := coalesce(asked && wide_facets, asked);
    -- The sum keeps the planner from reading all backwards.
    ids := array(
      select o.id from market.offer o
      where o.search @@ words and o.facets @@ asked and search.matches_filter(o, search_filter)
      order by o.published_at + interval '0' desc, o.id desc limit depth);
    exit when cardinality(ids) >= depth or span.since <= span.oldest is not false;
    -- The planner was mistaken, and maybe in this, too.
    wide_facets := facets;
    -- Half as much again as enough, and not all at once: what was found may not be typical.
    span.since := greatest(span.oldest, span.latest - greatest(span.latest - span.since, interval '1 hour')
      * least(64, greatest(2, 1.5 * depth / greatest(cardinality(ids), 1))));
  end loop;
  return ids;
end
$$;
comment on function search.lexical_candidates(tsquery, search.search_filter, integer) is
  'The newest offers that hold the words and pass the filters.';
