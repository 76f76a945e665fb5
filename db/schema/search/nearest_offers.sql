-- The offers nearest to a vector that pass the filters. The HNSW index gives offers in about the order of distance, and
-- is read on until enough pass (pgvector's iterative scan). Where few pass, the newest that pass are compared one by
-- one. Which of the two is decided by a sample, and not by the planner: it multiplies the shares of filters that go
-- together, such as a place and its currency, and so takes far too few for what passes.

create or replace function search.nearest_in_index(
  near public.halfvec, model text, asked tsquery, c search.search_filter, most integer
) returns uuid[]
  language plpgsql stable
  set plan_cache_mode = 'force_custom_plan'
  set hnsw.iterative_scan = 'relaxed_order'
  set hnsw.ef_search = 100
  -- Of a model that statistics do not know, the planner expects one vector, and would look for it in the whole table.
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
as $$
declare
  documents constant double precision := search.document_count();
begin
  -- A larger market has more offers at about the same distance, so HNSW must look at more nodes to find the nearest.
  -- `npm run bench -- --sizes` prints which share of the ten truly nearest it finds.
  perform set_config('hnsw.ef_search', case when documents < 50000 then '100' when documents < 500000 then '150'
    else '400' end, true);
  -- The inner query reads the index. PostgreSQL fetches a row of it only when one more is needed, at most 1,000.
  return array(
    select n.id
    from (
      select d.id from search.document d
      where search.is_listed(d.sandbox_id, c.sandbox_id) and d.model = nearest_in_index.model
      order by d.embedding operator(public.<=>) near limit 1000) as n
    cross join lateral (
      select from search.document d where d.id = n.id and search.matches_filter(d, c, asked) offset 0) as d
    limit nearest_in_index.most);
end
$$;
comment on function search.nearest_in_index(public.halfvec, text, tsquery, search.search_filter, integer) is
  'Returns at most `most` of the 1,000 offers nearest to a vector, in about the order of distance, that pass the '
  'filters. `asked` is search.facet_query of the filter.';

create or replace function search.few_pass(asked tsquery, c search.search_filter) returns boolean
  language plpgsql stable
  set plan_cache_mode = 'force_custom_plan'
  -- As in search.look.
  set enable_seqscan = off
  set enable_indexscan = off
as $$
declare
  documents constant double precision := search.document_count();
  -- The sample with some thousand offers, or with a sixteenth of a small market (search.samples).
  level constant integer := least(6, greatest(2, floor(log(4, greatest(documents, 1)::numeric / 1000))))::integer;
  sample constant tsquery := search.sample_query(level);
begin
  return (
    select count(*) < 0.02 * documents / 4 ^ level from search.document d
    where search.is_listed(d.sandbox_id, c.sandbox_id) and d.facets @@ coalesce(asked && sample, sample)
      and search.passes_filter(d, c));
end
$$;
comment on function search.few_pass(tsquery, search.search_filter) is
  'Returns whether fewer than one of fifty offers pass the filters, judged by a sample of all offers.';

create or replace function search.nearest_offers(near public.halfvec, model text, c search.search_filter)
  returns table (offer_id uuid, distance double precision)
  language plpgsql stable
as $$
declare
  asked constant tsquery := search.facet_query(c);
  few constant boolean := num_nonnulls(asked::text, c.posted_since, c.verified_publisher) > 0
    and search.few_pass(asked, c);
  -- Where few pass, the index is read on and on for each, and those far away add little.
  enough constant integer := case when asked is null then 40 else 20 end;
  -- To compare this many takes a few times as long as to read 1,000 of the index.
  compared constant integer := 5000;
  newest uuid[] := array[]::uuid[];
  nearest uuid[] := array[]::uuid[];
begin
  if near is null then
    return;
  end if;
  if few then
    newest := (search.list_offers(null, c, 'newest', compared)).ids;
  end if;
  if not few or cardinality(newest) = compared then
    nearest := search.nearest_in_index(near, nearest_offers.model, asked, c, enough);
  end if;
  if not few and cardinality(nearest) < 10 then
    newest := (search.list_offers(null, c, 'newest', compared)).ids;
  end if;
  return query
    -- Materialized, because PostgreSQL could otherwise look for these few in the order of the HNSW index.
    with compared as materialized (
      select d.id, d.embedding operator(public.<=>) near as distance from search.document d
      where d.id = any (newest || nearest) and d.model = nearest_offers.model)
    select n.id, n.distance from compared n order by n.distance, n.id desc limit enough;
end
$$;
comment on function search.nearest_offers(public.halfvec, text, search.search_filter) is
  'Returns the offers, at most forty, or twenty with a filter, that pass it and are nearest to a vector of a model, '
  'with their cosine distance.';
