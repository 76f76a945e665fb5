-- The lexemes by which filters find an offer (market.offer.facets), and the values that facets count. A trigger keeps
-- them, and not a generated column, because an expression of a generated column cannot change without writing the whole
-- table anew under a lock.

create or replace function search.samples(id uuid) returns text[]
  language sql immutable parallel safe
as $$
  -- Each sample contains a quarter of the one before. The last bytes of a UUIDv7 are random.
  select array(select 'sample/' || level from generate_series(2, 6) as level
    where (get_byte(uuid_send(id), 14) * 256 + get_byte(uuid_send(id), 15)) % (4 ^ level)::integer = 0)
$$;
comment on function search.samples(uuid) is
  'Returns the samples of the market that an offer belongs to, as lexemes: sample/2 has a sixteenth of all offers, '
  'sample/3 a quarter of these, and so on.';

create or replace function search.sample_query(level integer) returns tsquery
  language sql immutable parallel safe
as $$ select ('''sample/' || level || '''')::tsquery $$;
comment on function search.sample_query(integer) is
  'Returns a query of market.offer.facets that finds the offers of a sample (search.samples).';

create or replace function search.offer_facets(offer market.offer) returns tsvector
  language plpgsql immutable
as $$
declare
  location constant jsonb := offer.metadata -> 'location';
begin
  return to_tsvector('simple', reading.plain_words(coalesce(offer.location_text, '') || ' '
      || coalesce(location ->> 'city', '') || ' ' || coalesce(location ->> 'region', '')))
    -- The country is a lexeme with a prefix, so that no word of a place equals it: the "de" in Rio de Janeiro does not
    -- mean Germany.
    || array_to_tsvector(array_remove(array['country/' || internal.lower_case(location ->> 'country'),
      'domain/' || offer.domain, 'category/' || offer.category, 'kind/' || offer.offer_kind,
      'price/' || search.price_bucket(offer.price_hundredths),
      'price/' || offer.price_currency || '/' || search.price_bucket(offer.price_hundredths)]
      || search.time_buckets(offer.published_at) || search.cells(offer.latitude, offer.longitude)
      || search.samples(offer.id), null));
end
$$;
comment on function search.offer_facets(market.offer) is
  'Returns market.offer.facets for the other columns of an offer.';

create or replace function search.price_range(hundredths bigint, currency text, period text) returns text
  language plpgsql immutable parallel safe
as $$
declare
  amount constant numeric := hundredths / 100.0;
  -- 1, 10, 100 ...: a range begins at one, two or five of them.
  unit numeric;
  least numeric := 0::numeric;
  most numeric := 10::numeric;
begin
  if hundredths is null then
    return null;
  elsif hundredths <= 0 then
    return 'free';
  elsif amount >= 10 then
    unit := 10 ^ floor(log(amount));
    least := unit * case when amount >= 5 * unit then 5 when amount >= 2 * unit then 2 else 1 end;
    most := unit * case when amount >= 5 * unit then 10 when amount >= 2 * unit then 5 else 2 end;
  end if;
  return concat_ws(' ', trunc(least) || '-' || trunc(most), currency,
    case when period <> 'one_time' then 'per ' || period end);
end
$$;
comment on function search.price_range(bigint, text, text) is
  'Returns the range of a price in hundredths as a facet names it, such as "100-200 EUR" or "500-1000 EUR per month": '
  'from the first amount to just below the second. free: nothing is to be paid.';

create or replace function search.facet_names() returns text[]
  language sql immutable parallel safe
as $$ select array['category', 'offer_kind', 'price', 'condition', 'location'] $$;
comment on function search.facet_names() is 'Returns the names of the facets, in the order of their values.';

create or replace function search.facet_values(offer market.offer) returns text[]
  language plpgsql immutable
as $$
declare
  location constant jsonb := offer.metadata -> 'location';
begin
  return array[offer.category, offer.offer_kind,
    search.price_range(offer.price_hundredths, offer.price_currency, offer.price_period),
    offer.metadata ->> 'condition',
    coalesce(location ->> 'city', location ->> 'region', location ->> 'country')];
end
$$;
comment on function search.facet_values(market.offer) is
  'Returns what facets count of an offer, in the order of search.facet_names: category, kind, price range, condition, '
  'and the most exact of town, region and country. Null where it is unknown.';

create or replace function search.set_offer_facets() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  point constant jsonb := search.sound_point(new.metadata -> 'location' -> 'point');
begin
  new.latitude := (point ->> 'lat')::double precision;
  new.longitude := (point ->> 'lon')::double precision;
  new.facets := search.offer_facets(new);
  new.facet_values := search.facet_values(new);
  return new;
end
$$;
comment on function search.set_offer_facets() is
  'Sets the facets, their values and the point of an offer that is added or changed.';
