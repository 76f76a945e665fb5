-- The lexemes by which filters find an offer (search.document.facets), and the values that facets count.

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
  'Returns a query of search.document.facets that finds the offers of a sample (search.samples).';

create or replace function search.facets_of(
  d search.document, region text, reviewed boolean, has_images boolean
) returns tsvector
  language plpgsql immutable
as $$
begin
  return to_tsvector('simple', reading.plain_words(concat_ws(' ', d.location_text, d.city, facets_of.region)))
    -- The country is a lexeme with a prefix, so that no word of a place equals it: the "de" in Rio de Janeiro does not
    -- mean Germany.
    || array_to_tsvector(array_remove(array['country/' || internal.lower_case(d.country),
      'domain/' || d.domain, 'category/' || d.category, 'kind/' || d.offer_kind,
      'price/' || search.price_bucket(d.price_thousandths),
      'price/' || d.price_currency || '/' || search.price_bucket(d.price_thousandths),
      'currency/' || d.price_currency, 'period/' || d.price_period, 'reviewed/' || facets_of.reviewed,
      'has_images/' || facets_of.has_images]
      || search.time_buckets(d.published_at) || search.cells(d.latitude, d.longitude) || search.samples(d.id), null));
end
$$;
comment on function search.facets_of(search.document, text, boolean, boolean) is
  'Returns search.document.facets for the other columns of a row, the region of its place, and whether the offer is '
  'reviewed and has images.';

create or replace function search.price_range(thousandths bigint, currency text, period text) returns text
  language plpgsql immutable parallel safe
as $$
declare
  amount constant numeric := thousandths / 1000.0;
  -- 1, 10, 100 ...: a range begins at one, two or five of them.
  unit numeric;
  least numeric := 0::numeric;
  most numeric := 10::numeric;
begin
  if thousandths is null then
    return null;
  elsif thousandths <= 0 then
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
  'Returns the range of a price in thousandths as a facet names it, such as "100-200 EUR" or "500-1000 EUR per month": '
  'from the first amount to just below the second. free: nothing is to be paid.';

create or replace function search.facet_names() returns text[]
  language sql immutable parallel safe
as $$ select array['category', 'offer_kind', 'price', 'condition', 'location'] $$;
comment on function search.facet_names() is 'Returns the names of the facets, in the order of their values.';
