-- What is found, in one place for all lists and candidates: the documents of the market or of one sandbox, that contain
-- the words, match the facets, and pass the filters. These functions are inlined, and each function that searches has a
-- plan for each call (force_custom_plan). So the planner sees only the conditions that are set, knows their values, and
-- each of them can use an index.

create or replace function search.text_array(filter jsonb) returns text[]
  language plpgsql immutable parallel safe
as $$
begin
  return case jsonb_typeof(filter)
    when 'string' then array[filter #>> '{}']
    when 'array' then array(select jsonb_array_elements_text(filter))
  end;
end
$$;
comment on function search.text_array(jsonb) is
  'Returns a string, or an array of strings, as text[]; null when absent.';
grant execute on function search.text_array(jsonb) to souk_agent, souk_person;

create or replace function search.is_verified(account_id uuid) returns boolean
  language plpgsql stable
as $$
begin
  -- Looked up and not stored with each document: a person with thousands of offers proves who they are at once. It is a
  -- function and not a subquery, because PostgreSQL does not inline an SQL function that contains a subquery.
  return exists (select from market.proved_method m where m.account_id = is_verified.account_id);
end
$$;
comment on function search.is_verified(uuid) is 'Returns whether an account has proved a sign-in method.';

create or replace function search.to_search_filter(
  filters jsonb, as_of timestamptz, searcher uuid, sandbox_id uuid default null
)
  returns search.search_filter
  language plpgsql stable
as $$
declare
  price jsonb := coalesce(filters -> 'price', '{}');
  c search.search_filter;
begin
  c.as_of := to_search_filter.as_of;
  c.posted_since := (filters ->> 'posted_since')::date::timestamp at time zone 'UTC';
  c.domains := search.text_array(filters -> 'domain');
  c.categories := search.text_array(filters -> 'category');
  c.kinds := search.text_array(filters -> 'offer_kind');
  c.price_min := round((price ->> 'min')::numeric * 1000)::bigint;
  c.price_max := round((price ->> 'max')::numeric * 1000)::bigint;
  c.currency := price ->> 'currency';
  c.period := price ->> 'period';
  c.place := search.place_query(filters ->> 'location');
  c.reviewed := (filters -> 'reviewed')::boolean;
  c.has_images := (filters -> 'has_images')::boolean;
  c.verified_publisher := (filters -> 'verified_publisher')::boolean;
  c.not_by := case when (filters -> 'exclude_own')::boolean then searcher end;
  c.hidden := internal.accounts_being_hidden();
  c.sandbox_id := to_search_filter.sandbox_id;
  return c;
end
$$;
comment on function search.to_search_filter(jsonb, timestamptz, uuid, uuid) is
  'Returns the filters of a request as a search_filter, for a moment in time, a searching account, and the sandbox '
  'that is searched (null: the market).';

create or replace function search.any_value(facet text, wanted text[]) returns text
  language plpgsql immutable
as $$
begin
  return '(' || search.any_lexeme(array(select any_value.facet || '/' || w from unnest(wanted) as w))::text || ')';
end
$$;
comment on function search.any_value(text, text[]) is
  'Returns the text of a query for any of the values of a facet; null when there are none.';

create or replace function search.facet_query(c search.search_filter, with_prices boolean default true) returns tsquery
  language plpgsql immutable
as $$
begin
  -- One expression, in which only the filters that are set cost anything.
  return nullif(concat_ws(' & ',
    -- A place without any word is a lexeme that no offer has.
    case when c.place is not null then '(' || coalesce(nullif(c.place::text, ''), '''/''') || ')' end,
    case when c.near is not null then '(' || c.near::text || ')' end,
    case when c.domains is not null then search.any_value('domain', c.domains) end,
    case when c.categories is not null then search.any_value('category', c.categories) end,
    case when c.kinds is not null then search.any_value('kind', c.kinds) end,
    case when with_prices and (c.price_min is not null or c.price_max is not null) then
      '(' || search.price_bucket_query(c.price_min, c.price_max, c.currency)::text || ')'
    -- A free offer has no currency.
    when with_prices and c.currency is not null then
      '(' || search.any_lexeme(array['currency/' || c.currency, 'price/0'])::text || ')' end,
    case when c.period is not null then search.any_value('period', array[c.period]) end,
    '''reviewed/' || c.reviewed || '''',
    '''has_images/' || c.has_images || ''''), '')::tsquery;
end
$$;
comment on function search.facet_query(search.search_filter, boolean) is
  'Returns the filters that search.document.facets indexes, without time, as a query that every passing offer matches; '
  'null when there are none.';

create or replace function search.is_listed(sandbox_id uuid, wanted uuid) returns boolean
  language sql immutable
as $$
  -- With the wanted value known, one of the two conditions is left, and each has its index.
  select case when wanted is null then is_listed.sandbox_id is null else is_listed.sandbox_id = wanted end
$$;
comment on function search.is_listed(uuid, uuid) is
  'Returns whether a row of this sandbox (null: of the market) is one of the wanted sandbox (null: of the market).';

create or replace function search.matches_filter(d search.document, c search.search_filter, asked tsquery)
  returns boolean
  language sql stable
as $$
  select search.is_listed(d.sandbox_id, c.sandbox_id) and (asked is null or d.facets @@ asked)
    and search.passes_filter(d, c)
$$;
comment on function search.matches_filter(search.document, search.search_filter, tsquery) is
  'Returns whether a search with this filter may find a document. `asked` is search.facet_query of the filter.';

create or replace function search.passes_filter(d search.document, c search.search_filter) returns boolean
  language sql stable
as $$
  select d.published_at <= c.as_of
    and (c.posted_since is null or d.published_at >= c.posted_since)
    and (c.hidden is null or (d.account_id = any (c.hidden)) is not true)
    and (c.not_by is null or d.account_id is distinct from c.not_by)
    and (c.verified_publisher is null or search.is_verified(d.account_id) = c.verified_publisher)
    and (c.price_min is null or d.price_thousandths >= c.price_min)
    and (c.price_max is null or d.price_thousandths <= c.price_max)
    and (c.currency is null or d.price_currency = c.currency or d.price_thousandths = 0)
    and (c.excluded is null or not d.words @@ c.excluded)
    and (c.radius_km is null
      or search.distance_km(d.latitude, d.longitude, c.latitude, c.longitude) <= c.radius_km)
$$;
comment on function search.passes_filter(search.document, search.search_filter) is
  'Returns whether a document that matches the facets of a filter (search.facet_query) passes the filter, too: its '
  'moment, limits of time, price and distance, its account, and excluded words.';
