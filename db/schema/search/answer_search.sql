-- The answer to a search: it checks the filters and returns a page of results with notices.

create or replace function search.allowed_values(request jsonb) returns jsonb
  language plpgsql stable
as $$
begin
  if not coalesce(request -> 'filters' ?| array['domain', 'category', 'offer_kind'], false) then
    return jsonb '[]';
  end if;
  -- A filter value that is not in the taxonomy is an error of the caller, not an empty result.
  return (select coalesce(jsonb_agg(jsonb_build_object('pointer', '/filters/' || f.name,
    'detail', format('%s is not a known %s. Allowed: %s.', quote_ident(left(v.value, 60)), f.name,
      array_to_string(f.allowed, ', ')))), '[]')
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
comment on function search.allowed_values(jsonb) is
  'Returns errors for unknown values in the filters domain, category and offer_kind, at most five for each filter: '
  '[{pointer, detail}].';
grant execute on function search.allowed_values(jsonb) to souk_agent, souk_person;

create or replace function search.answer_search(
  request jsonb, extraction jsonb, embedding text, model text, notices jsonb
) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
  -- One generic plan has a branch for each way of searching. Branches that do not run cost nothing, but planning the
  -- query on each call would take 0.5 ms.
  set plan_cache_mode = 'force_generic_plan'
as $$
declare
  query text := btrim(normalize(coalesce(request ->> 'query', ''), nfc));
  filters jsonb := coalesce(request -> 'filters', '{}');
  sort text := coalesce(request ->> 'sort', 'relevance');
  size integer := coalesce((request ->> 'limit')::integer, 10);
  -- A cursor is valid only for the search that returned it.
  list text := 'search ' || md5((request - 'cursor' - 'limit' - 'detail')::text);
  after jsonb := internal.position_of(request ->> 'cursor', list);
  errors jsonb := search.allowed_values(request);
  as_of timestamptz := coalesce((after ->> 'as_of')::timestamptz, now());
  vector public.halfvec :=
    case when internal.setting('embedding_model') = to_jsonb(model) then search.unit_vector(embedding) end;
  before integer := coalesce((after ->> 'rank')::integer, 0);
  skip integer := case when query <> '' then before else 0 end;
  understood jsonb := search.without_filtered(extraction, filters);
  results jsonb;
  last record;
  more boolean;
begin
  if internal.account_id() is null then
    perform internal.raise_problem(401, 'unauthorized', 'Call with a token or a session.');
  end if;
  if jsonb_array_length(errors) > 0 then
    perform internal.raise_field_problems(errors);
  end if;
  if query = '' and filters = '{}' then
    perform internal.raise_field_problems(
      '[{"pointer": "/query", "detail": "Say what to look for: a query, a filter, or both."}]');
  end if;

  -- A list without a query continues after the last sort key. A ranked list is short and continues after the last rank.
  with ranked as (
    select s.offer_id, s.score, null::numeric as sort_key
    from search.search_offers(query, understood, filters, vector, model, as_of, internal.account_id(), 100) as s
    where query <> '' and sort = 'relevance'
    union all
    select s.offer_id, s.score,
      case sort when 'newest' then extract(epoch from o.published_at) else o.price_hundredths end
    from search.search_offers(query, understood, filters, vector, model, as_of, internal.account_id(), 1000) as s
    join market.offer o on o.id = s.offer_id
    where query <> '' and sort <> 'relevance' and (sort = 'newest' or o.price_hundredths is not null)
    union all
    select b.offer_id, 0, b.sort_key
    from search.browse_offers(filters, as_of, internal.account_id(),
      case sort when 'relevance' then 'newest' else sort end,
      after, size + 1) as b
    where query = ''
  ), ordered as (
    select r.offer_id, r.score, row_number() over (order by
      case sort when 'relevance' then r.score end desc,
      case sort when 'price_asc' then r.sort_key end,
      case when sort <> 'price_asc' then r.sort_key end desc,
      case sort when 'price_asc' then r.offer_id end,
      r.offer_id desc) as n
    from ranked r
  ), page as (
    select p.n, p.score, o as offer
    from ordered p join market.offer o on o.id = p.offer_id
    where p.n > skip and p.n <= skip + size + 1
  )
  select
    coalesce(jsonb_agg(internal.search_result_document(p.offer) || jsonb_build_object(
        'score', round(p.score::numeric, 4), 'rank', before - skip + p.n)
      order by p.n) filter (where p.n <= skip + size), '[]'),
    coalesce(max(p.n) > skip + size, false)
  into results, more from page p;
  if request ->> 'detail' = 'compact' then
    select coalesce(jsonb_agg(r || jsonb_build_object('metadata', null,
      'document', (r -> 'document') || jsonb_build_object('description', left(r -> 'document' ->> 'description', 200)))
        order by n), '[]')
    into results from jsonb_array_elements(results) with ordinality as t (r, n);
  end if;
  select o.id, o.published_at, o.price_hundredths into last
  from market.offer o where o.id = (results -> -1 ->> 'id')::uuid;

  return jsonb_build_object(
    'type', 'results', 'query', coalesce(request ->> 'query', ''),
    'classification', search.classify_query(understood, filters),
    'results', results,
    'page', internal.page(jsonb_build_object('list', list, 'as_of', as_of, 'id', last.id, 'time', last.published_at,
      'price', last.price_hundredths, 'rank', results -> -1 -> 'rank'), more),
    'notices', notices || search.query_notices(understood),
    'next', case when results = '[]' and after is null then jsonb_build_array(jsonb_build_object(
        'summary', 'Nothing is offered yet. State what the person wants as an ask, and read its matches later.',
        'method', 'POST', 'path', '/v1/asks'))
      when results = '[]' then '[]'
      else jsonb_build_array(jsonb_build_object(
        'summary', 'Read one offer in full before the person decides.',
        'method', 'GET', 'path', '/v1/offers/' || (results -> 0 ->> 'id'))) end);
end
$$;
comment on function search.answer_search(jsonb, jsonb, text, text, jsonb) is
  'Returns the SearchResponse to a request, given what was read from its query, the query''s vector, and notices. '
  'Raises 400 for a bad filter or cursor, and 401 without a caller. Runs as its owner, because search operators are '
  'not leakproof; search.matches_filter states which offers are visible.';
grant execute on function search.answer_search(jsonb, jsonb, text, text, jsonb) to souk_agent, souk_person;
