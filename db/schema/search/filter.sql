-- The visibility rule and the hard filters of a search, in one place for all kinds of candidates. Written to be
-- inlined, so that each condition can use an index.

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
  -- This is a function and not a subquery, because PostgreSQL does not inline an SQL function that contains a subquery.
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
begin
  return row(
    as_of, search.text_array(filters -> 'domain'), search.text_array(filters -> 'category'),
    search.text_array(filters -> 'offer_kind'),
    round((price ->> 'min')::numeric * 100), round((price ->> 'max')::numeric * 100), price ->> 'currency',
    price ->> 'period',
    search.place_query(filters ->> 'location'), filters, searcher, internal.accounts_being_hidden(), sandbox_id,
    null, null, null, null
  )::search.search_filter;
end
$$;
comment on function search.to_search_filter(jsonb, timestamptz, uuid, uuid) is
  'Returns the filters of a request as a search_filter, for a moment in time, a searching account, and the sandbox '
  'that is searched (null: the market).';

create or replace function search.posted_since(c search.search_filter) returns timestamptz
  language sql stable
as $$ select (c.filters ->> 'posted_since')::date::timestamp at time zone 'UTC' $$;
comment on function search.posted_since(search.search_filter) is
  'Returns the beginning of the day since which offers must be published; null when that filter is not set.';

create or replace function search.facet_query(c search.search_filter) returns tsquery
  language plpgsql immutable
as $$
begin
  return (
    select string_agg('(' || f.query::text || ')', ' & ')::tsquery
    from (values
      (c.place),
      (c.near),
      (search.any_lexeme(array(select 'domain/' || d from unnest(c.domains) as d))),
      (search.any_lexeme(array(select 'category/' || k from unnest(c.categories) as k))),
      (search.any_lexeme(array(select 'kind/' || k from unnest(c.kinds) as k))),
      (search.price_bucket_query(c.price_min, c.price_max, c.currency))) as f (query)
    where f.query::text <> '');
end
$$;
comment on function search.facet_query(search.search_filter) is
  'Returns the filters that market.offer.facets indexes, without time, as a query that every passing offer matches; '
  'null when there are none.';

create or replace function search.passes_filter(offer market.offer, c search.search_filter) returns boolean
  language sql stable
as $$
  select offer.published_at <= c.as_of
    and (c.hidden is null or (offer.account_id = any (c.hidden)) is not true)
    and (c.domains is null or offer.domain = any (c.domains))
    and (c.categories is null or offer.category = any (c.categories))
    and (c.kinds is null or offer.offer_kind = any (c.kinds))
    and (c.price_min is null or offer.price_hundredths >= c.price_min)
    and (c.price_max is null or offer.price_hundredths <= c.price_max)
    and (c.currency is null or offer.price_currency = c.currency or offer.price_hundredths = 0)
    and (c.period is null or offer.price_period = c.period)
    and (c.place is null or offer.facets @@ c.place)
    and (c.radius_km is null
      or search.distance_km(offer.latitude, offer.longitude, c.latitude, c.longitude) <= c.radius_km)
    and (c.filters ->> 'posted_since' is null or offer.published_at >= search.posted_since(c))
    and (c.filters ->> 'reviewed' is null or offer.reviewed = (c.filters ->> 'reviewed')::boolean)
    and (c.filters ->> 'has_images' is null or (cardinality(offer.images) > 0) = (c.filters ->> 'has_images')::boolean)
    and (not coalesce((c.filters ->> 'exclude_own')::boolean, false) or offer.account_id is distinct from c.searcher)
    and (c.filters ->> 'verified_publisher' is null or (c.filters ->> 'verified_publisher')::boolean
      = search.is_verified(offer.account_id))
$$;
comment on function search.passes_filter(market.offer, search.search_filter) is
  'Returns whether an offer was published by the filter''s moment and passes every filter that is set.';

create or replace function search.matches_filter(offer market.offer, c search.search_filter) returns boolean
  language sql stable
as $$ select offer.status = 'published' and offer.sandbox_id is null and search.passes_filter(offer, c) $$;
comment on function search.matches_filter(market.offer, search.search_filter) is
  'Returns whether an offer is published in the market (search.sandbox_offers: in a sandbox) and passes every filter '
  'that is set.';
