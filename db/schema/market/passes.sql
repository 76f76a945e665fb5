-- The visibility rule and the hard filters of a search, in one place for every way of finding candidates. Written to be
-- inlined by the planner, so that each condition can use an index.

create or replace function market.text_array(filter jsonb) returns text[]
  language plpgsql immutable parallel safe
as $$
begin
  return case jsonb_typeof(filter)
    when 'string' then array[filter #>> '{}']
    when 'array' then array(select jsonb_array_elements_text(filter))
  end;
end
$$;
comment on function market.text_array(jsonb) is 'A string or an array of strings as text[]; null when absent.';

create or replace function market.is_verified(account_id uuid) returns boolean
  language plpgsql stable
as $$
begin
  -- A function and not a subselect, since PostgreSQL inlines no SQL function that holds a subselect.
  return exists (select from market.proved_method m where m.account_id = is_verified.account_id);
end
$$;
comment on function market.is_verified(uuid) is 'Whether an account has proved a sign-in method.';

create type market.conditions as (
  as_of timestamptz,
  domains text[],
  categories text[],
  kinds text[],
  price_min bigint,
  price_max bigint,
  currency text,
  period text,
  place tsquery,
  filters jsonb,
  searcher uuid
);
comment on type market.conditions is 'The hard filters of a search as the planner can use them: null where there is none. Prices in hundredths.';

create or replace function market.conditions_of(filters jsonb, as_of timestamptz, searcher uuid) returns market.conditions
  language plpgsql stable
as $$
declare
  price jsonb := coalesce(filters -> 'price', '{}');
begin
  return row(
    as_of, market.text_array(filters -> 'domain'), market.text_array(filters -> 'category'), market.text_array(filters -> 'offer_kind'),
    round((price ->> 'min')::numeric * 100), round((price ->> 'max')::numeric * 100), price ->> 'currency', price ->> 'period',
    market.place_query(filters ->> 'location'), filters, searcher)::market.conditions;
end
$$;
comment on function market.conditions_of(jsonb, timestamptz, uuid) is 'The filters of a request, as of a moment, for a searcher.';

create or replace function market.passes(offer market.offer, c market.conditions) returns boolean
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
      = market.is_verified(offer.account_id))
$$;
comment on function market.passes(market.offer, market.conditions) is
  'Whether an offer is live, as of a moment, and passes every filter that is there.';
