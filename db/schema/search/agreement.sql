-- What was read from a query against one offer: what rules it out, and what speaks for it. Only what the query surely
-- says rules out, and only what the offer surely says: an offer whose price or city nobody knows stays in, further
-- down. Written to be inlined: each is asked of every candidate.

create or replace function search.place_agreement(offer market.offer, place tsquery, countries text[]) returns real
  language sql stable
as $$
  select case
    when place is null or offer.location_text is null then 0
    when offer.facets @@ place then 1
    when countries <> '{}' and offer.metadata -> 'location' ->> 'country' <> all (countries) then null
    when offer.metadata -> 'location' ->> 'city' is not null then null
    else 0 end::real
$$;
comment on function search.place_agreement(market.offer, tsquery, text[]) is
  '1 when the offer is there, 0 when that is not known, null when it is elsewhere.';

create or replace function search.price_agreement(
  offer market.offer, at_most bigint, at_least bigint, currency text, period text
) returns real
  language sql stable
as $$
  -- Converted never: another currency, or a day's price against a month's, says nothing.
  select case
    when offer.price_hundredths is null or at_most is null and at_least is null then 0
    when offer.price_hundredths = 0 then 1
    when at_most = 0 then null
    when currency is null or offer.price_currency is distinct from currency or offer.price_period <> period then 0
    -- Above by little is shown, and stands lower: 1.15.
    when offer.price_hundredths > at_most * 1.15 then null
    when offer.price_hundredths > at_most or offer.price_hundredths < at_least then -1
    else 1 end::real
$$;
comment on function search.price_agreement(market.offer, bigint, bigint, text, text) is
  '1 within the price, -1 a little above or below, 0 when it cannot be compared, null when it is well above. '
  'Hundredths.';

create or replace function search.class_agreement(offer market.offer, domain text, category text, kind text)
  returns real
  language sql stable
as $$
  select (case
      when class_agreement.domain is null or offer.domain is null then 0
      when offer.domain = class_agreement.domain and offer.category = class_agreement.category then 0.3
      when offer.domain = class_agreement.domain then 0.1
      else -0.15 end
    + case
      when kind is null or offer.offer_kind is null then 0
      when offer.offer_kind = kind then 0.15
      -- To buy or to rent is often left open; a thing and a work, or work done and work wanted, never stand for each
      -- other.
      when kind in ('service_offer', 'project_hire') or offer.offer_kind in ('service_offer', 'project_hire') then -0.4
      else 0 end)::real
$$;
comment on function search.class_agreement(market.offer, text, text, text) is
  'How well the category and the kind of an offer agree with what was read from a query: -0.55 to 0.45.';
