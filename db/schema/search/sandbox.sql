-- The offers of a sandbox. They are few (internal.count_sandbox_submission), so all of them are compared, and no index
-- of the market has them.

create or replace function search.sandbox_offers(words tsquery, c search.search_filter) returns setof market.offer
  language sql stable
as $$
  select o.* from market.offer o
  where o.sandbox_id = c.sandbox_id and o.status = 'published' and (words is null or o.search @@ words)
    and search.passes_filter(o, c)
$$;
comment on function search.sandbox_offers(tsquery, search.search_filter) is
  'Returns the published offers of the sandbox of a filter that contain the words (null: any words) and pass the '
  'filter.';
