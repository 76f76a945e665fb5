-- What rules an offer out for an ask: money, place, exclusions.

create or replace function search.is_foreign_money(ask market.ask, offer market.offer) returns boolean
  language sql stable
as $$
  -- Converted never: another currency cannot be compared.
  select coalesce(ask.price_max_hundredths is not null and offer.price_hundredths > 0
    and offer.price_currency is distinct from ask.price_currency, false)
$$;
comment on function search.is_foreign_money(market.ask, market.offer) is
  'Whether an offer costs money of another currency than an ask would pay in.';

create or replace function search.place_verdict(ask market.ask, offer market.offer) returns text
  language sql stable
as $$
  select case
    when ask.place_query is null then null
    when offer.location_text is null then 'unknown'
    when offer.facets @@ ask.place_query
      or offer.metadata @> '{"location": {"remote": true}}'
      and ask.criteria @> '{"location": {"remote": true}}' then 'met'
    when offer.metadata -> 'location' ->> 'country' <> ask.criteria -> 'location' ->> 'country' then 'violated'
    -- A quarter whose city is not known may lie in the city that is wanted.
    when offer.metadata -> 'location' ->> 'city' is null then 'unknown'
    else 'violated' end
$$;
comment on function search.place_verdict(market.ask, market.offer) is
  'Whether an offer is where an ask wants it: met, unknown or violated; null when the ask names no place.';

create or replace function search.ships(search tsvector) returns boolean
  language sql immutable parallel safe
as $$
  select search @@ '''concept/sent'''::tsquery and not search @@ (
    '(no|not|kein|keinen|pas|sans|sem|sin|senza|niente|geen|nie|bez) <->
      (shipping|postage|posting|post|delivery|versand|envoi|livraison|envio|envios|spedizione|spedisco|verzending
        |wysylki|wysylam)
    | (collection|pickup|collect|recogida|ritiro|recolha|ophalen) <-> only
    | (nur|solo|so|seulement|alleen|tylko) <->
      (abholung|selbstabholer|selbstabholung|recogida|ritiro|recolha|ophalen|odbior)')::tsquery
$$;
comment on function search.ships(tsvector) is
  'Whether an offer says that the thing is sent, by its words and concepts (market.offer.search).';

create or replace function search.currency_of(country text) returns text
  language sql immutable parallel safe
as $$
  select case
    when country in ('DE', 'FR', 'ES', 'IT', 'PT', 'NL', 'IE', 'AT', 'BE', 'FI', 'GR', 'LU', 'SK', 'SI', 'EE', 'LV',
      'LT', 'HR', 'MT', 'CY') then 'EUR'
    else '{"US": "USD", "CA": "CAD", "AU": "AUD", "NZ": "NZD", "GB": "GBP", "CH": "CHF", "PL": "PLN", "CZ": "CZK",
      "SE": "SEK", "NO": "NOK", "DK": "DKK", "HU": "HUF", "RO": "RON", "MX": "MXN", "BR": "BRL", "AR": "ARS",
      "CL": "CLP", "CO": "COP", "JP": "JPY", "CN": "CNY", "IN": "INR", "SG": "SGD", "ZA": "ZAR"}'::jsonb ->> country end
$$;
comment on function search.currency_of(text) is
  'What a country (ISO 3166-1) pays with, as ISO 4217; null for countries of which that is not kept.';

create or replace function search.is_eligible(ask market.ask, offer market.offer) returns boolean
  language sql stable
as $$
  -- Written to be inlined: it is asked of every ask that shares a word with an offer.
  select ask.status = 'active' and ask.read_at is not null
    and offer.account_id is distinct from ask.account_id
    -- Without a subject an ask matches nothing: better no answer than a wrong one.
    and ask.domain is not null
    -- Nor is a day's rent held against a month's.
    and not coalesce(offer.price_hundredths > ask.price_max_hundredths
      and offer.price_currency is not distinct from ask.price_currency
      and coalesce(offer.price_period = ask.criteria -> 'price' ->> 'period', true), false)
    and (ask.exclude_query is null or not offer.search @@ ask.exclude_query)
    and case search.place_verdict(ask, offer)
      -- Nothing in another currency answers from a place that nobody knows: it would be a hit by its words alone.
      when 'unknown' then not search.is_foreign_money(ask, offer)
        and coalesce(offer.price_currency = search.currency_of(ask.criteria -> 'location' ->> 'country'), true)
        -- A home is where it is: the euro does not tell in which country.
        and (offer.domain is distinct from 'real_estate' or offer.location_text is not null
          or offer.price_currency is distinct from 'EUR')
      -- Elsewhere is no answer, but for goods that are sent, within the country and for good.
      when 'violated' then offer.offer_kind = 'sale' and offer.domain is distinct from 'real_estate'
        and not search.is_foreign_money(ask, offer)
        and coalesce(offer.metadata -> 'location' ->> 'country' = ask.criteria -> 'location' ->> 'country', false)
        and search.ships(offer.search)
      else true end
$$;
comment on function search.is_eligible(market.ask, market.offer) is
  'Whether nothing hard stands between an ask and an offer of a kind that answers it.';
