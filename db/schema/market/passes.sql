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

create or replace function market.passes(
  offer market.offer, as_of timestamptz, domains text[], categories text[], kinds text[],
  price_min bigint, price_max bigint, currency text, period text, place tsquery, filters jsonb, account_id uuid
) returns boolean
  language sql stable
as $$
  select offer.status = 'published' and offer.published_at <= as_of
    and (domains is null or offer.domain = any (domains))
    and (categories is null or offer.category = any (categories))
    and (kinds is null or offer.offer_kind = any (kinds))
    and (price_min is null or offer.price_hundredths >= price_min)
    and (price_max is null or offer.price_hundredths <= price_max)
    and (currency is null or offer.price_currency = currency or offer.price_hundredths = 0)
    and (period is null or offer.price_period = period)
    and (place is null or offer.place @@ place)
    and (filters ->> 'posted_since' is null
      or offer.published_at >= (filters ->> 'posted_since')::date::timestamp at time zone 'UTC')
    and (filters ->> 'reviewed' is null or offer.reviewed = (filters ->> 'reviewed')::boolean)
    and (filters ->> 'has_images' is null or (cardinality(offer.images) > 0) = (filters ->> 'has_images')::boolean)
    and (not coalesce((filters ->> 'exclude_own')::boolean, false) or offer.account_id is distinct from account_id)
    and (filters ->> 'verified_publisher' is null or (filters ->> 'verified_publisher')::boolean
      = market.is_verified(offer.account_id))
$$;
comment on function market.passes(market.offer, timestamptz, text[], text[], text[], bigint, bigint, text, text, tsquery, jsonb, uuid) is
  'Whether an offer is live, as of a moment, and passes every filter that is there.';
