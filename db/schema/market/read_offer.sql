-- From a grounded reading to the columns of an offer: verified, classified within the taxonomy, and what is missing said.

create or replace function market.read_offer(text text, reading jsonb) returns market.offer
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  offer market.offer;
  price jsonb := reading -> 'price';
  place jsonb := reading -> 'location';
  contacts jsonb;
  methods jsonb;
begin
  offer.text := read_offer.text;
  offer.language := reading ->> 'language';
  offer.title := left(reading -> 'title' ->> 'value', 120);
  if coalesce(offer.title, '') = '' or not market.states_title(offer.text, offer.title)
    or not market.is_quoted(offer.text, reading -> 'title') then
    offer.title := market.first_line(offer.text);
    offer.extraction := '{}';
  else
    offer.extraction := jsonb_build_object('title', reading -> 'title');
  end if;

  -- A domain, category or kind outside the taxonomy is as good as none.
  select d.domain into offer.domain from market.domain d where d.domain = reading -> 'domain' ->> 'value';
  select c.category into offer.category from market.category c
  where c.domain = offer.domain and c.category = reading -> 'category' ->> 'value';
  select min(k.kind) into offer.offer_kind from market.domain d, unnest(d.kinds) as k (kind)
  where k.kind = reading -> 'offer_kind' ->> 'value' and d.domain = coalesce(offer.domain, d.domain);
  select offer.extraction || coalesce(jsonb_object_agg(f.name, reading -> f.name), '{}') into offer.extraction
  from (values ('domain', offer.domain), ('category', offer.category), ('offer_kind', offer.offer_kind)) as f (name, value)
  where f.value is not null and market.is_quoted(offer.text, reading -> f.name);

  offer.metadata := '{}';
  if market.is_quoted(offer.text, price)
    and (price -> 'value' ->> 'amount' is null or market.states_amount(price ->> 'quote', (price -> 'value' ->> 'amount')::numeric))
    and (price -> 'value' ->> 'amount_max' is null or market.states_amount(price ->> 'quote', (price -> 'value' ->> 'amount_max')::numeric))
  then
    -- The label is the words as stated, whatever the maker calls them; a deposit may be stated elsewhere, so it must be said.
    price := jsonb_set(price, '{value,label}', to_jsonb(left(price ->> 'quote', 200)));
    if price -> 'value' ->> 'deposit' is not null
      and not market.states_amount(offer.text, (price -> 'value' ->> 'deposit')::numeric) then
      price := price #- '{value,deposit}';
    end if;
    offer.extraction := offer.extraction || jsonb_build_object('price', price);
    offer.metadata := jsonb_build_object('pricing', jsonb_strip_nulls(price -> 'value'));
    offer.price_hundredths := round((price -> 'value' ->> 'amount')::numeric * 100);
    offer.price_currency := price -> 'value' ->> 'currency';
    offer.price_period := price -> 'value' ->> 'period';
  end if;
  if market.is_quoted(offer.text, place)
    and position(market.fold(place -> 'value' ->> 'text') in market.fold(place ->> 'quote')) > 0 then
    offer.extraction := offer.extraction || jsonb_build_object('location', place);
    offer.metadata := offer.metadata || jsonb_build_object('location', jsonb_strip_nulls(place -> 'value'));
    offer.location_text := left(place -> 'value' ->> 'text', 200);
  end if;

  select coalesce(jsonb_agg(c.field order by c.n), '[]') into contacts
  from jsonb_array_elements(coalesce(reading -> 'contacts', '[]')) with ordinality as c (field, n)
  where market.is_quoted(offer.text, c.field) and market.states_contact(c.field ->> 'quote', c.field -> 'value');
  select coalesce(jsonb_agg(c -> 'value'), '[]') into methods from jsonb_array_elements(contacts) as c;
  offer.extraction := offer.extraction || jsonb_build_object('contact', contacts);
  offer.contact := jsonb_build_object('schema_version', 2, 'methods', methods, 'additional', '[]'::jsonb,
    'primary', jsonb_build_object('methods', methods)
      || case when market.is_quoted(offer.text, reading -> 'party')
          and market.states_title(offer.text, reading -> 'party' -> 'value' ->> 'name')
        then jsonb_strip_nulls(reading -> 'party' -> 'value') else '{}' end);

  if market.is_quoted(offer.text, reading -> 'condition') then
    offer.metadata := offer.metadata || jsonb_build_object('condition', reading -> 'condition' -> 'value');
  end if;
  if market.is_quoted(offer.text, reading -> 'space') and jsonb_strip_nulls(reading -> 'space' -> 'value') <> '{}' then
    offer.metadata := offer.metadata || jsonb_build_object('space', jsonb_strip_nulls(reading -> 'space' -> 'value'));
  end if;
  offer.metadata := offer.metadata
    || coalesce((select jsonb_build_object('features', jsonb_agg(f -> 'value'))
      from jsonb_array_elements(coalesce(reading -> 'features', '[]')) as f
      where market.is_quoted(offer.text, f) and market.states_title(offer.text, f ->> 'value')
      having count(*) > 0), '{}')
    || coalesce((select jsonb_build_object('attributes', jsonb_object_agg(a -> 'value' ->> 'name', a -> 'value' -> 'value'))
      from jsonb_array_elements(coalesce(reading -> 'attributes', '[]')) as a
      where market.is_quoted(offer.text, a)
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
comment on function market.read_offer(text, jsonb) is
  'What of a grounded reading may be published: an offer with every column that the text decides, and nothing else set.';

create or replace function market.understood(offer market.offer) returns jsonb
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
      'title', offer.title, 'domain', offer.domain, 'category', offer.category, 'offer_kind', offer.offer_kind,
      'extraction', offer.extraction)
    || jsonb_strip_nulls(jsonb_build_object(
      'price', offer.metadata -> 'pricing' -> 'label',
      'location', offer.location_text,
      'contact', (
        select c -> 'quote' from jsonb_array_elements(offer.extraction -> 'contact') with ordinality as t (c, n)
        order by (c -> 'value' ->> 'preferred')::boolean desc, n limit 1)))
    || case when offer.missing_fields <> '{}' then jsonb_build_object('missing_fields', offer.missing_fields) else '{}' end
    || case when offer.warnings <> '{}' then jsonb_build_object('warnings', offer.warnings) else '{}' end
$$;
comment on function market.understood(market.offer) is 'How a text was understood: the members that OfferPublished and a preview share.';
