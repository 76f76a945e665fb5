-- Turns an extraction into the columns of an offer: keeps what the text states, classifies within the taxonomy, and
-- lists the missing fields.

create or replace function reading.ground_offer(text text, extraction jsonb) returns market.offer
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  offer market.offer;
  price jsonb := extraction -> 'price';
  place jsonb := extraction -> 'location';
  contacts jsonb;
  methods jsonb;
begin
  offer.text := ground_offer.text;
  offer.language := extraction ->> 'language';
  offer.title := left(extraction -> 'title' ->> 'value', 120);
  if coalesce(offer.title, '') = '' or not reading.states_title(offer.text, offer.title)
    or not reading.is_quoted(offer.text, extraction -> 'title') then
    offer.title := reading.first_line(offer.text);
    offer.extraction := '{}';
  else
    offer.extraction := jsonb_build_object('title', extraction -> 'title');
  end if;

  -- A domain, category or kind outside the taxonomy is dropped.
  select d.domain into offer.domain from market.domain d where d.domain = extraction -> 'domain' ->> 'value';
  select c.category into offer.category from market.category c
  where c.domain = offer.domain and c.category = extraction -> 'category' ->> 'value';
  select min(k.kind) into offer.offer_kind from market.domain d, unnest(d.kinds) as k (kind)
  where k.kind = extraction -> 'offer_kind' ->> 'value' and d.domain = coalesce(offer.domain, d.domain);
  select offer.extraction || coalesce(jsonb_object_agg(f.name, extraction -> f.name), '{}') into offer.extraction
  from (values ('domain', offer.domain), ('category', offer.category), ('offer_kind', offer.offer_kind))
    as f (name, value)
  where f.value is not null and reading.is_quoted(offer.text, extraction -> f.name);

  offer.metadata := '{}';
  if reading.is_quoted(offer.text, price)
    and (price -> 'value' ->> 'amount' is null
      or reading.states_amount(price ->> 'quote', (price -> 'value' ->> 'amount')::numeric))
    and (price -> 'value' ->> 'amount_max' is null
      or reading.states_amount(price ->> 'quote', (price -> 'value' ->> 'amount_max')::numeric))
  then
    -- The label is the price as quoted, whatever label the extractor gives. The deposit may stand elsewhere in the
    -- text, so the whole text is checked for it.
    price := jsonb_set(price, '{value,label}', to_jsonb(left(price ->> 'quote', 200)));
    if price -> 'value' ->> 'deposit' is not null
      and not reading.states_amount(offer.text, (price -> 'value' ->> 'deposit')::numeric) then
      price := price #- '{value,deposit}';
    end if;
    offer.extraction := offer.extraction || jsonb_build_object('price', price);
    offer.metadata := jsonb_build_object('pricing', jsonb_strip_nulls(price -> 'value'));
    offer.price_hundredths := round((price -> 'value' ->> 'amount')::numeric * 100)::bigint;
    offer.price_currency := price -> 'value' ->> 'currency';
    offer.price_period := price -> 'value' ->> 'period';
  end if;
  if reading.is_quoted(offer.text, place)
    and position(reading.fold(place -> 'value' ->> 'text') in reading.fold(place ->> 'quote')) > 0 then
    offer.extraction := offer.extraction || jsonb_build_object('location', place);
    offer.metadata := offer.metadata || jsonb_build_object('location', jsonb_strip_nulls(place -> 'value'));
    offer.location_text := left(place -> 'value' ->> 'text', 200);
  end if;

  select coalesce(jsonb_agg(c.field order by c.n), '[]') into contacts
  from jsonb_array_elements(coalesce(extraction -> 'contacts', '[]')) with ordinality as c (field, n)
  where reading.is_quoted(offer.text, c.field) and reading.states_contact(c.field ->> 'quote', c.field -> 'value');
  select coalesce(jsonb_agg(c -> 'value'), '[]') into methods from jsonb_array_elements(contacts) as c;
  offer.extraction := offer.extraction || jsonb_build_object('contact', contacts);
  offer.contact := jsonb_build_object('schema_version', 2, 'methods', methods, 'additional', '[]'::jsonb,
    'primary', jsonb_build_object('methods', methods)
      || case when reading.is_quoted(offer.text, extraction -> 'party')
          and reading.states_title(offer.text, extraction -> 'party' -> 'value' ->> 'name')
        then jsonb_strip_nulls(extraction -> 'party' -> 'value') else '{}' end);

  if reading.is_quoted(offer.text, extraction -> 'condition') then
    offer.metadata := offer.metadata || jsonb_build_object('condition', extraction -> 'condition' -> 'value');
  end if;
  if reading.is_quoted(offer.text, extraction -> 'space')
    and jsonb_strip_nulls(extraction -> 'space' -> 'value') <> '{}' then
    offer.metadata := offer.metadata
      || jsonb_build_object('space', jsonb_strip_nulls(extraction -> 'space' -> 'value'));
  end if;
  offer.metadata := offer.metadata
    || coalesce((select jsonb_build_object('features', jsonb_agg(f -> 'value'))
      from jsonb_array_elements(coalesce(extraction -> 'features', '[]')) as f
      where reading.is_quoted(offer.text, f) and reading.states_title(offer.text, f ->> 'value')
      having count(*) > 0), '{}')
    || coalesce(
      (select jsonb_build_object('attributes', jsonb_object_agg(a -> 'value' ->> 'name', a -> 'value' -> 'value'))
      from jsonb_array_elements(coalesce(extraction -> 'attributes', '[]')) as a
      where reading.is_quoted(offer.text, a)
      having count(*) > 0), '{}');

  offer.missing_fields := array_remove(array[
    case when offer.domain is null then 'domain' end,
    case when offer.category is null then 'category' end,
    case when offer.offer_kind is null then 'offer_kind' end,
    case when offer.metadata -> 'pricing' is null then 'price' end,
    case when offer.location_text is null then 'location' end,
    case when methods = '[]' then 'contact' end], null);
  offer.warnings := '{}';
  return offer;
end
$$;
comment on function reading.ground_offer(text, jsonb) is
  'Returns an offer in which only the text and the columns derived from the extraction are set. Extracted values that '
  'the text does not state are left out.';
