-- What excludes an offer from the matches of an ask: price, place, exclusions.

create or replace function search.is_foreign_money(ask market.ask, offer search.document) returns boolean
  language sql stable
as $$
  -- Prices are never converted. An offer in another currency cannot be compared.
  select coalesce((ask.price_max_thousandths is not null or ask.criteria -> 'price' ->> 'min' is not null)
    and offer.price_thousandths > 0
    and offer.price_currency is distinct from ask.price_currency, false)
$$;
comment on function search.is_foreign_money(market.ask, search.document) is
  'Returns whether an offer costs money in another currency than the ask''s price limits.';

create or replace function search.place_verdict(ask market.ask, offer search.document) returns text
  language sql stable
as $$
  select case
    when ask.place_query is null then null
    when ask.radius_km is not null then case when search.distance_km(offer.latitude, offer.longitude,
      ask.latitude, ask.longitude) <= ask.radius_km then 'met' else 'violated' end
    when offer.location_text is null then 'unknown'
    when offer.facets @@ ask.place_query
      or offer.is_remote and ask.criteria @> '{"location": {"remote": true}}' then 'met'
    when offer.country <> ask.criteria -> 'location' ->> 'country' then 'violated'
    -- A district whose city is unknown may belong to the wanted city.
    when offer.city is null then 'unknown'
    else 'violated' end
$$;
comment on function search.place_verdict(market.ask, search.document) is
  'Returns whether an offer is where the ask wants it: met, unknown or violated; null when the ask names no place. An '
  'offer without a point is not within any distance.';

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
  'Returns whether an offer says that the item can be sent, judged by its words and concepts (search.document.words).';

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
  'Returns the currency (ISO 4217) of a country (ISO 3166-1); null for a country that is not in this list.';

create or replace function search.is_eligible(ask market.ask, offer search.document) returns boolean
  language sql stable
as $$
  -- Written to be inlined, because it runs for every ask that shares a word with an offer.
  select ask.status = 'active' and ask.read_at is not null
    and offer.account_id is distinct from ask.account_id
    -- In the market, or in the same sandbox.
    and offer.sandbox_id is not distinct from ask.sandbox_id
    -- An ask without a domain matches nothing: no answer is better than a wrong one.
    and ask.domain is not null
    -- What is wanted for nothing must not cost anything, in any currency.
    and not coalesce(ask.price_max_thousandths = 0 and offer.price_thousandths > 0, false)
    -- Prices for different periods (a day, a month) or for a unit are not compared. What is free is not too cheap.
    and not coalesce((offer.price_thousandths > ask.price_max_thousandths
        or offer.price_thousandths > 0
          and offer.price_thousandths < (ask.criteria -> 'price' ->> 'min')::numeric * 1000)
      and offer.price_currency is not distinct from ask.price_currency
      and ask.criteria -> 'price' -> 'unit' is null
      and coalesce(offer.price_period = ask.criteria -> 'price' ->> 'period', true), false)
    and (ask.exclude_query is null or not offer.words @@ ask.exclude_query)
    and case search.place_verdict(ask, offer)
      -- An offer without a known place must not have a price in another currency than that of the ask or of the wanted
      -- country. Otherwise it would match by its words alone.
      when 'unknown' then not search.is_foreign_money(ask, offer)
        and coalesce(offer.price_currency = search.currency_of(ask.criteria -> 'location' ->> 'country'), true)
        -- A home without any stated place does not match if its price is in euros, because the euro does not tell the
        -- country.
        and (offer.domain is distinct from 'real_estate' or offer.location_text is not null
          or offer.price_currency is distinct from 'EUR')
      -- An offer elsewhere matches only if it is a thing for sale that is sent within the country, and the ask states
      -- no distance.
      when 'violated' then ask.radius_km is null and offer.offer_kind = 'sale'
        and offer.domain is distinct from 'real_estate'
        and not search.is_foreign_money(ask, offer)
        and coalesce(offer.country = ask.criteria -> 'location' ->> 'country', false)
        and search.ships(offer.words)
      else true end
$$;
comment on function search.is_eligible(market.ask, search.document) is
  'Returns whether an offer passes all hard conditions of an ask: status, owner, sandbox, price, exclusions and place. '
  'The caller must check the kind.';
