-- What an offer is compared with, before and when it is published: live offers of the same thing. This says what
-- similar offers ask (price_guidance), that the price is far below, and that the account offers the thing already.
--
-- The same thing is of the same category and kind, and its title has one of the names of the thing that this title has,
-- in any language (concepts). With a designation, such as in "iPhone 13", offers that have it too are compared first.

create or replace function search.thing_of(
  title text, language text, category text, out named tsquery, out designated tsquery, out every tsquery
)
  language plpgsql stable
as $$
declare
  class constant tsvector := array_to_tsvector(array[thing_of.category]);
begin
  select
    coalesce(
      string_agg(t.titled::text, ' | ') filter (where class @@ t.classes),
      string_agg(t.titled::text, ' | ') filter (where t.weight >= 2),
      string_agg('(' || t.titled::text || ')', ' & ') filter (where t.weight >= 1))::tsquery,
    string_agg('(' || t.titled::text || ')', ' & ') filter (where t.is_number and length(t.words[1]) >= 2)::tsquery,
    string_agg('(' || t.titled::text || ')', ' & ') filter (where t.weight >= 1 or t.is_number)::tsquery
  into named, designated, every
  from (
    select q.titled, q.classes, q.weight, q.words, array_to_string(q.words, '') ~ '[0-9]' as is_number
    from search.query_terms(search.as_written(thing_of.title), split_part(thing_of.language, '-', 1)) as q) as t;
  designated := named && designated;
end
$$;
comment on function search.thing_of(text, text, text) is
  'Returns what finds offers of the same thing by their titles, for a title in a language (null: unknown) in a '
  'category "domain/category". named: any of the names of the thing; designated: also its designation, null without '
  'one; every: all words that count.';

create or replace function search.comparison(offer market.offer, account_id uuid, sandbox_id uuid) returns jsonb
  language plpgsql stable
  set plan_cache_mode = 'force_custom_plan'
  -- As in search.look.
  set enable_seqscan = off
  set enable_indexscan = off
as $$
declare
  thing record;
  -- So many say what such a thing costs, and more would only take time.
  most constant integer := 500;
  day constant timestamptz := now() - interval '1 day';
  c search.search_filter;
  asked tsquery;
begin
  if offer.domain is null or offer.category is null or offer.offer_kind is null then
    return jsonb '{}';
  end if;
  thing := search.thing_of(offer.title, offer.language, offer.domain || '/' || offer.category);
  if thing.named is null then
    return jsonb '{}';
  end if;
  c.as_of := now();
  c.domains := array[offer.domain];
  c.categories := array[offer.category];
  c.kinds := array[offer.offer_kind];
  c.hidden := internal.accounts_being_hidden();
  c.sandbox_id := comparison.sandbox_id;
  asked := search.facet_query(c);
  return (
    with alike as materialized (
      -- The price of a unit stands in the document only.
      select d.id, d.account_id, d.words @@ thing.designated as is_designated,
        case when offer.price_unit is null then d.price_thousandths / 1000.0
          else (d.document -> 'metadata' -> 'pricing' ->> 'amount')::numeric end as price
      from search.document d
      where search.matches_filter(d, c, asked) and d.words @@ thing.named
        and d.account_id <> comparison.account_id and d.published_at <= day
        and d.price_currency = offer.price_currency and d.price_period is not distinct from offer.price_period
        and case when offer.price_unit is null then d.price_thousandths > 0
          else d.document -> 'metadata' -> 'pricing' ->> 'unit' = offer.price_unit end
      limit most
    ), enough as materialized (
      select count(*) >= 8 and count(distinct a.account_id) >= 5 as are_designated from alike a where a.is_designated
    ), guidance as (
      select percentile_cont(array[0.25, 0.5, 0.75]) within group (order by a.price) as quartiles,
        count(*) as offers, count(distinct a.account_id) as accounts
      from alike a cross join enough e
      where offer.price_thousandths > 0 and (a.is_designated or not e.are_designated)
    ), own as (
      select d.id
      from market.offer o join search.document d on d.id = o.id
      where o.account_id = comparison.account_id and o.status = 'published' and o.id is distinct from offer.id
        and search.matches_filter(d, c, asked) and d.words @@ thing.every
      order by o.id desc limit 1
    )
    select jsonb_strip_nulls(jsonb_build_object(
      'price_guidance', case when g.offers >= 8 and g.accounts >= 5 then jsonb_build_object(
        'low', search.rounded_price(g.quartiles[1]), 'median', search.rounded_price(g.quartiles[2]),
        'high', search.rounded_price(g.quartiles[3]), 'currency', offer.price_currency, 'count', g.offers) end,
      -- A price of a quarter of the lower quartile is mostly a slip, or the price of a part.
      'is_far_below', nullif(g.offers >= 8 and g.accounts >= 5
        and offer.price_thousandths / 1000.0 < g.quartiles[1] / 4, false),
      'own_offer_id', (select o.id from own o)))
    from guidance g);
end
$$;
comment on function search.comparison(market.offer, uuid, uuid) is
  'Compares an offer of an account, which need not be stored yet, with live offers of the same thing, of the market or '
  'of a sandbox. Returns {price_guidance, is_far_below, own_offer_id}, each only if there is something to say.';

create or replace function search.rounded_price(amount double precision) returns numeric
  language sql immutable parallel safe
as $$ select trim_scale(round(amount::numeric, case when amount >= 10 then 0 else 2 end)) $$;
comment on function search.rounded_price(double precision) is
  'Returns an amount of money as guidance says it: whole from ten on.';
