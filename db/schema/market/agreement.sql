-- What was read from a query against one offer: what rules it out, and what speaks for it. Only what the query surely says
-- rules out, and only what the offer surely says: an offer whose price or city nobody knows stays in, further down.

create or replace function market.place_agreement(offer market.offer, place tsquery, countries text[]) returns real
  language plpgsql stable
as $$
declare
  country text := offer.metadata -> 'location' ->> 'country';
begin
  return case
    when place is null then 0
    when offer.place @@ place then 1
    when offer.location_text is null then 0
    when countries <> '{}' and country <> all (countries) then null
    when offer.metadata -> 'location' ->> 'city' is not null then null
    else 0 end;
end
$$;
comment on function market.place_agreement(market.offer, tsquery, text[]) is
  '1 when the offer is there, 0 when that is not known, null when it is elsewhere.';

create or replace function market.price_agreement(offer market.offer, price jsonb) returns real
  language plpgsql stable
as $$
declare
  most numeric := (price ->> 'max')::numeric * 100;
  least numeric := (price ->> 'min')::numeric * 100;
  slack constant numeric := 1.15;
begin
  -- Converted never: another currency, or a day's price against a month's, says nothing.
  return case
    when price is null or offer.price_hundredths is null then 0
    when most = 0 then case when offer.price_hundredths = 0 then 1 end
    when offer.price_hundredths > 0 and offer.price_currency is distinct from price ->> 'currency' then 0
    when offer.price_hundredths > 0 and offer.price_period <> price ->> 'period' then 0
    when offer.price_hundredths > most * slack then null
    when offer.price_hundredths > most or offer.price_hundredths < least then -1
    else 1 end;
end
$$;
comment on function market.price_agreement(market.offer, jsonb) is
  '1 within the price, -1 a little above or below, 0 when it cannot be compared, null when it is well above.';
