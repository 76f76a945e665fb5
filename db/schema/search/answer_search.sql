-- The answer to a search: it checks the filters and returns a page of results with notices.

create or replace function search.filter_errors(request jsonb) returns jsonb
  language plpgsql stable
as $$
declare
  price constant jsonb := request -> 'filters' -> 'price';
  -- What no offer can pass is an error of the caller, not an empty result.
  errors constant jsonb := case when (price ->> 'min')::numeric > (price ->> 'max')::numeric
    then jsonb_build_array(jsonb_build_object('pointer', '/filters/price', 'detail', 'price_range_empty',
      'params', jsonb_build_object('min', price -> 'min', 'max', price -> 'max')))
    else '[]' end;
begin
  if not coalesce(request -> 'filters' ?| array['domain', 'category', 'offer_kind'], false) then
    return errors;
  end if;
  return errors || (select coalesce(jsonb_agg(jsonb_build_object('pointer', '/filters/' || f.name,
    'detail', 'filter_unknown',
    'params', jsonb_build_object('value', quote_ident(left(v.value, 60)), 'filter', f.name,
      'allowed', array_to_string(f.allowed, ', ')))), '[]')
  from (values
    ('domain', array(select d.domain from market.domain d order by d.position)),
    ('category', array(select distinct c.category from market.category c order by 1)),
    ('offer_kind', array(select k.offer_kind from market.offer_kind k order by k.position)))
    as f (name, allowed),
  lateral (
    -- Five unknown values are enough for the message.
    select distinct u.value from unnest(search.text_array(request -> 'filters' -> f.name)) as u (value)
    where u.value <> all (f.allowed) order by u.value limit 5) as v);
end
$$;
comment on function search.filter_errors(jsonb) is
  'Returns errors for a price with a min above its max, and for unknown values in the filters domain, category and '
  'offer_kind, at most five for each filter: [{pointer, detail, params}].';
grant execute on function search.filter_errors(jsonb) to souk_agent, souk_person;

create or replace function search.answer_search(
  request jsonb, extraction jsonb, embedding text, model text, notices jsonb
) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  query text := btrim(internal.visible_text(coalesce(request ->> 'query', '')));
  filters jsonb := coalesce(request -> 'filters', '{}');
  sort text := coalesce(request ->> 'sort', 'relevance');
  size integer := coalesce((request ->> 'limit')::integer, 10);
  -- A cursor is valid only for the search that returned it.
  list text := 'search ' || md5((request - 'cursor' - 'limit' - 'detail')::text);
  after jsonb := internal.position_of(request ->> 'cursor', list);
  errors jsonb := search.filter_errors(request);
  as_of timestamptz := coalesce((after ->> 'as_of')::timestamptz, now());
  before integer := coalesce((after ->> 'rank')::integer, 0);
  -- A list without a query is sorted by one value, and continues after the last one.
  list_sort text := case sort when 'relevance' then 'newest' else sort end;
  understood jsonb := search.with_currency(search.without_filtered(extraction, filters), filters,
    internal.sandbox_id());
  -- The circle of the filter, or else the one that the query states.
  near jsonb := search.named_point(coalesce(filters -> 'near', understood -> 'near'));
  facets constant text[] := (select array_agg(distinct f) from jsonb_array_elements_text(request -> 'facets') as f);
  counts jsonb;
  c search.search_filter;
  ids uuid[];
  scores double precision[];
  is_complete boolean := true;
  results jsonb;
  last record;
  more boolean;
begin
  if internal.account_id() is null then
    perform internal.raise_problem(401, 'unauthorized', 'caller_missing');
  end if;
  if jsonb_array_length(errors) > 0 then
    perform internal.raise_field_problems(errors);
  end if;
  if query = '' and filters = '{}' then
    perform internal.raise_field_problems('[{"pointer": "/query", "detail": "search_for_nothing"}]');
  end if;

  c := search.to_search_filter(filters, as_of, internal.visible_account_id(), internal.sandbox_id());
  if near ->> 'lat' is not null then
    c := search.within(c, near);
  elsif sort = 'distance' then
    perform internal.raise_field_problems('[{"pointer": "/sort", "detail": "sort_without_place"}]');
  end if;
  if query <> '' then
    -- A ranked list is short and continues after the last rank.
    select s.ids[before + 1 : before + size + 1], s.scores[before + 1 : before + size], s.counts, s.is_complete
    into ids, scores, counts, is_complete
    from search.search_offers(query, understood, c,
      case when internal.setting('embedding_model') = to_jsonb(model) then search.unit_vector(embedding) end, model,
      sort, facets) as s;
  else
    if facets is not null then
      counts := search.count_facets(null, c, '{}', facets);
    end if;
    select l.ids, l.is_complete into ids, is_complete
    from search.list_offers(null, c, list_sort, size + 1, (after ->> 'key')::double precision, (after ->> 'id')::uuid)
      as l;
  end if;
  more := cardinality(ids) > size;
  select coalesce(jsonb_agg(internal.search_result_document(d, s,
      jsonb_build_object('score', round(coalesce(scores[p.n], 0)::numeric, 4), 'rank', before + p.n)
        || search.distance_member(search.distance_km(d.latitude, d.longitude, c.latitude, c.longitude)))
    order by p.n), '[]')
  into results
  from unnest(ids[:size]) with ordinality as p (id, n) join search.document d on d.id = p.id
  left join market.account_stats s on s.account_id = d.account_id;
  if request ->> 'detail' = 'compact' then
    select coalesce(jsonb_agg(r || jsonb_build_object('metadata', null,
      'document', (r -> 'document') || jsonb_build_object('description', left(r -> 'document' ->> 'description', 200)))
        order by n), '[]')
    into results from jsonb_array_elements(results) with ordinality as t (r, n);
  end if;
  select d.id, search.sort_key(d, list_sort, c) as key into last
  from search.document d where more and d.id = ids[size];

  return jsonb_build_object(
    'type', 'results', 'query', coalesce(request ->> 'query', ''),
    'classification', search.classify_query(understood, filters),
    'results', results,
    'page', internal.page(jsonb_build_object('list', list, 'as_of', as_of, 'id', last.id, 'key', last.key,
      'rank', before + size), more),
    'notices', notices || search.query_notices(understood) || search.near_notices(near)
      || search.missing_notices(understood, filters, results = '[]' and after is null, internal.sandbox_id())
      || internal.notices_about(results)
      || case when is_complete then '[]' else jsonb_build_array(jsonb_build_object('code', 'partly_looked',
        'summary', internal.sentence('list_partly_looked'))) end
      || case when is_complete and counts ? 'is_partial' then jsonb_build_array(jsonb_build_object(
        'code', 'partly_looked', 'summary', internal.sentence('facets_partly_looked'))) else '[]' end,
    'next', case when results = '[]' and after is null then
        jsonb_build_array(internal.next_step(case when search.has_offers(internal.sandbox_id())
          then 'search_found_nothing' else 'market_is_empty' end, 'POST', '/v1/asks'))
      when results = '[]' then '[]'
      else jsonb_build_array(
        internal.next_step('search_found_offers', 'GET', '/v1/offers/' || (results -> 0 ->> 'id'))) end)
    || case when facets is null then '{}' else jsonb_build_object('facets', counts - 'is_partial') end;
end
$$;
comment on function search.answer_search(jsonb, jsonb, text, text, jsonb) is
  'Returns the SearchResponse to a request, given what was read from its query, the query''s vector, and notices. '
  'Raises 400 for a bad filter or cursor, and 401 without a caller. Runs as its owner, because search operators are '
  'not leakproof; search.is_listed and search.passes_filter state which offers are visible.';
grant execute on function search.answer_search(jsonb, jsonb, text, text, jsonb) to souk_agent, souk_person;
