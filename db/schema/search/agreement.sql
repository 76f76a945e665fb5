-- Compares what was read from a query with one offer: what excludes the offer, and what raises or lowers its score. An
-- offer is excluded only if both the query and the offer are certain. An offer with unknown price or city stays in the
-- results with a lower rank. These functions run for every candidate, so they are written to be inlined.

create or replace function search.place_agreement(d search.document, place tsquery, countries text[]) returns real
  language sql stable
as $$
  select case
    when place is null or d.location_text is null then 0
    when d.facets @@ place then 1
    when countries <> '{}' and d.country <> all (countries) then null
    when d.city is not null then null
    else 0 end::real
$$;
comment on function search.place_agreement(search.document, tsquery, text[]) is
  'Returns 1 when the offer is in the place, 0 when that is not known, and null when it is elsewhere.';

create or replace function search.price_agreement(
  d search.document, at_most bigint, at_least bigint, currency text, period text
) returns real
  language sql stable
as $$
  -- Prices are never converted. Another currency or another period (a day's price against a month's) cannot be
  -- compared.
  select case
    when d.price_thousandths is null or at_most is null and at_least is null then 0
    when d.price_thousandths = 0 then 1
    when at_most = 0 then null
    when currency is null or d.price_currency is distinct from currency or d.price_period <> period then 0
    -- An offer up to 15 % above the limit is shown, with a lower score.
    when d.price_thousandths > at_most * 1.15 then null
    when d.price_thousandths > at_most or d.price_thousandths < at_least then -1
    else 1 end::real
$$;
comment on function search.price_agreement(search.document, bigint, bigint, text, text) is
  'Returns 1 when the offer is free or its price is within the limits, -1 when its price is below at_least or up to 15 '
  '% above at_most, 0 when the prices cannot be compared, and null when its price is higher. Prices in thousandths.';

create or replace function search.class_agreement(
  d search.document, domain text, category text, kind text, weight market.ranking
) returns real
  language sql stable
as $$
  select (case
      when class_agreement.domain is null or d.domain is null then 0
      when d.domain = class_agreement.domain and d.category = class_agreement.category then weight.same_category
      when d.domain = class_agreement.domain then weight.same_domain
      else weight.other_domain end
    + case
      when kind is null or d.offer_kind is null then 0
      when d.offer_kind = kind then weight.same_kind
      -- A query often leaves open whether to buy or to rent. But an offer of a thing never answers a query for a
      -- service or a job, and a service never answers a query for a job.
      when kind in ('service_offer', 'project_hire')
        or d.offer_kind in ('service_offer', 'project_hire') then weight.other_kind
      else 0 end)::real
$$;
comment on function search.class_agreement(search.document, text, text, text, market.ranking) is
  'Returns how well category and kind of an offer agree with those read from a query.';
