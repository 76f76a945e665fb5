-- Filter values and times of an offer as lexemes. One index holds them together with the offer's words
-- (search.document.words). A search for "sofa, in Bristol, for sale, published recently" starts from the rarest of
-- these lexemes. It reads only a part of the long index entries of the common ones.

create or replace function search.time_buckets(moment timestamptz) returns text[]
  language sql immutable parallel safe
as $$
  -- A bucket of level 0 is one hour, and each level's buckets are eight times as long: 2.7 days at level 2, three weeks
  -- at level 3, 30 years at level 6.
  select array[
    'time/0/' || floor(extract(epoch from moment at time zone 'UTC'))::bigint / 3600,
    'time/1/' || floor(extract(epoch from moment at time zone 'UTC'))::bigint / 28800,
    'time/2/' || floor(extract(epoch from moment at time zone 'UTC'))::bigint / 230400,
    'time/3/' || floor(extract(epoch from moment at time zone 'UTC'))::bigint / 1843200,
    'time/4/' || floor(extract(epoch from moment at time zone 'UTC'))::bigint / 14745600,
    'time/5/' || floor(extract(epoch from moment at time zone 'UTC'))::bigint / 117964800,
    'time/6/' || floor(extract(epoch from moment at time zone 'UTC'))::bigint / 943718400]
$$;
comment on function search.time_buckets(timestamptz) is
  'Returns the time buckets of a moment, one for each level, as lexemes; nulls when there is no moment.';

create or replace function search.time_bucket(moment timestamptz, level integer) returns bigint
  language sql immutable parallel safe
as $$ select floor(extract(epoch from moment at time zone 'UTC'))::bigint / (3600 * 8 ^ level)::bigint $$;
comment on function search.time_bucket(timestamptz, integer) is
  'Returns the number of the time bucket of a moment at a level of 0 to 6 (search.time_buckets).';

create or replace function search.time_bucket_query(since timestamptz, until timestamptz, most integer default 16)
  returns tsquery
  language plpgsql immutable parallel safe
as $$
declare
  level integer := 0;
begin
  if since is null then
    return null;
  end if;
  while level < 6 and search.time_bucket(until, level) - search.time_bucket(since, level) >= most loop
    level := level + 1;
  end loop;
  return (
    select string_agg(format('''time/%s/%s''', level, n), ' | ')::tsquery
    from generate_series(search.time_bucket(since, level), search.time_bucket(until, level)) as n);
end
$$;
comment on function search.time_bucket_query(timestamptz, timestamptz, integer) is
  'Returns a query of search.document.facets that finds all offers published between two moments. It has at most '
  '`most` buckets. The buckets reach beyond the two moments, the further the fewer they are, so it also finds other '
  'offers.';

create or replace function search.price_bucket(thousandths bigint) returns integer
  language sql immutable parallel safe
as $$
  -- Bucket 0 is free of charge and bucket 1 ends at about eight units of the currency. Each further bucket, up to 26,
  -- ends at twice the price of the bucket before, so that a price limit needs only a few buckets.
  select case when thousandths <= 0 then 0
    else least(greatest(ceil(ln(thousandths::double precision + 1) / ln(2.0::double precision))::integer - 12, 1),
      26) end
$$;
comment on function search.price_bucket(bigint) is
  'Returns the bucket (0 to 26) of a price in thousandths; a higher price never has a lower bucket.';

create or replace function search.price_bucket_query(at_least bigint, at_most bigint, currency text) returns tsquery
  language plpgsql immutable parallel safe
as $$
begin
  if coalesce(at_least, at_most) is null then
    return null;
  end if;
  -- A free offer has no currency.
  return search.any_lexeme(array(
    select concat_ws('/', 'price', case when n > 0 then currency end, n)
    from generate_series(search.price_bucket(coalesce(at_least, 0)), coalesce(search.price_bucket(at_most), 26)) as n));
end
$$;
comment on function search.price_bucket_query(bigint, bigint, text) is
  'Returns a query of search.document.facets that finds all offers with a price from at_least to at_most '
  '(thousandths), and some with a price just outside; null when both limits are null.';
