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

create or replace function search.to_search_filter(filters jsonb, as_of timestamptz, searcher uuid)
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
    search.place_query(filters ->> 'location'), filters, searcher)::search.search_filter;
end
$$;
comment on function search.to_search_filter(jsonb, timestamptz, uuid) is
  'Returns the filters of a request as a search_filter, for a moment in time and a searching account.';

create or replace function search.matches_filter(offer market.offer, c search.search_filter) returns boolean
  language sql stable
as $$
  select offer.status = 'published' and offer.published_at <= c.as_of
    and (c.domains is null or offer.domain = any (c.domains))
    and (c.categories is null or offer.category = any (c.categories))
    and (c.kinds is null or offer.offer_kind = any (c.kinds))
    and (c.price_min is null or offer.price_hundredths >= c.price_min)
    and (c.price_max is null or offer.price_hundredths <= c.price_max)
    and (c.currency is null or offer.price_currency = c.currency or offer.price_hundredths = 0)
    and (c.period is null or offer.price_period = c.period)
    and (c.place is null or offer.facets @@ c.place)
    and (c.filters ->> 'posted_since' is null
      or offer.published_at >= (c.filters ->> 'posted_since')::date::timestamp at time zone 'UTC')
    and (c.filters ->> 'reviewed' is null or offer.reviewed = (c.filters ->> 'reviewed')::boolean)
    and (c.filters ->> 'has_images' is null or (cardinality(offer.images) > 0) = (c.filters ->> 'has_images')::boolean)
    and (not coalesce((c.filters ->> 'exclude_own')::boolean, false) or offer.account_id is distinct from c.searcher)
    and (c.filters ->> 'verified_publisher' is null or (c.filters ->> 'verified_publisher')::boolean
      = search.is_verified(offer.account_id))
$$;
comment on function search.matches_filter(market.offer, search.search_filter) is
  'Returns whether an offer is published at the filter''s moment and passes every filter that is set.';
