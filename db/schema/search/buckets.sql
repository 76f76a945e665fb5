-- What filters and time say of an offer, as lexemes. They are indexed together with its words (market.offer.search), so
-- that one index answers "sofa, in Bristol, for sale, of the last days" by the rarest of these, and reads no more of
-- the lists of the common ones than it needs.

create or replace function search.time_buckets(moment timestamptz) returns text[]
  language sql immutable parallel safe
as $$
  -- Stretches of an hour, and eightfold from level to level: 2.7 days at 2, three weeks at 3, ... and 30 years at 6.
  -- Nothing of ours is called here: a restored dump makes the table that calls this before it makes other functions.
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
  'The stretches of time in which a moment lies, as lexemes; nulls when there is no moment.';
grant execute on function search.time_buckets(timestamptz) to souk_agent, souk_person, souk_moderator;

create or replace function search.time_bucket(moment timestamptz, level integer) returns bigint
  language sql immutable parallel safe
as $$ select floor(extract(epoch from moment at time zone 'UTC'))::bigint / (3600 * 8 ^ level)::bigint $$;
comment on function search.time_bucket(timestamptz, integer) is
  'The number of the stretch of time in which a moment lies, at a level of 0 to 6 (search.time_buckets).';

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
  'A query of market.offer.facets for what was published between two moments, and somewhat around them: the fewer '
  'stretches at most, the more around.';

create or replace function search.price_bucket(hundredths bigint) returns integer
  language sql immutable parallel safe
as $$
  -- 0 is free of charge, 1 up to about ten; from there doubled from step to step, up to 26: a price up to a limit is
  -- few steps.
  select case when hundredths <= 0 then 0
    else least(greatest(ceil(ln(hundredths::double precision + 1) / ln(2.0::double precision))::integer - 9, 1), 26) end
$$;
comment on function search.price_bucket(bigint) is
  'How high a price is, roughly: it never falls where the price rises.';
grant execute on function search.price_bucket(bigint) to souk_agent, souk_person, souk_moderator;

create or replace function search.price_bucket_query(at_least bigint, at_most bigint, currency text) returns tsquery
  language plpgsql immutable parallel safe
as $$
begin
  if coalesce(at_least, at_most) is null then
    return null;
  end if;
  -- What is free is so in any currency.
  return search.any_lexeme(array(
    select concat_ws('/', 'price', case when n > 0 then currency end, n)
    from generate_series(search.price_bucket(coalesce(at_least, 0)), coalesce(search.price_bucket(at_most), 26)) as n));
end
$$;
comment on function search.price_bucket_query(bigint, bigint, text) is
  'A query of market.offer.facets for all prices between two and somewhat around them; null when nothing is asked.';
