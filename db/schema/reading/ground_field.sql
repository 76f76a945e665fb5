-- What of one extracted field may be published: each function returns the field with only the members that it has, or
-- null when nothing is left of it. Free text consists of words of its quote. Every value is bounded, so that no
-- extraction makes a statement fail.

create or replace function reading.bounded_amount(amount jsonb) returns jsonb
  language plpgsql immutable
as $$
begin
  -- Nothing costs more, and a bigint of thousandths would overflow.
  return case when jsonb_typeof(amount) = 'number' and amount::numeric between 0 and 1e12 then amount end;
end
$$;
comment on function reading.bounded_amount(jsonb) is
  'Returns an amount of an extraction if it can be stored, else null.';

create or replace function reading.bounded_text(value jsonb, max_length integer) returns jsonb
  language plpgsql immutable
as $$
begin
  return case when jsonb_typeof(value) = 'string' and length(value #>> '{}') <= max_length then value end;
end
$$;
comment on function reading.bounded_text(jsonb, integer) is
  'Returns a text of an extraction if it has at most `max_length` characters, else null.';

create or replace function reading.ground_price(field jsonb) returns jsonb
  language plpgsql immutable
as $$
declare
  price constant jsonb := field -> 'value';
  amount constant jsonb := reading.bounded_amount(price -> 'amount');
begin
  -- A price without an amount may be free to negotiate. An amount that cannot be stored is no price.
  if amount is null and price ->> 'amount' is not null then
    return null;
  end if;
  return field || jsonb_build_object('value', jsonb_build_object(
    'amount', amount,
    'amount_max', reading.bounded_amount(price -> 'amount_max'),
    'currency', substring(price ->> 'currency' from '^[A-Z]{3}$'),
    'period', case when price ->> 'period' in ('one_time', 'hour', 'day', 'week', 'month', 'year', 'project')
      then price ->> 'period' end,
    'type', case when price ->> 'type' in ('fixed', 'range', 'from', 'free', 'on_request', 'exchange')
      then price ->> 'type' end,
    'negotiable', coalesce(price -> 'negotiable' = 'true', false),
    'deposit', reading.bounded_amount(price -> 'deposit'),
    'unit', case when price ->> 'unit' = any (reading.price_units()) then price ->> 'unit' end,
    -- The label is the price as quoted, whatever label the extractor gives.
    'label', left(reading.plain_text(field ->> 'quote'), 200)));
end
$$;
comment on function reading.ground_price(jsonb) is
  'Returns the price of an offer with the members that a price has, within their bounds, or null.';

create or replace function reading.ground_budget(field jsonb) returns jsonb
  language plpgsql immutable
as $$
declare
  price constant jsonb := field -> 'value';
  min constant jsonb := reading.bounded_amount(price -> 'min');
  max constant jsonb := reading.bounded_amount(price -> 'max');
begin
  return case when coalesce(min, max) is not null then
    field || jsonb_build_object('value', jsonb_build_object('min', min, 'max', max,
      'currency', substring(price ->> 'currency' from '^[A-Z]{3}$'),
      'period', case when price ->> 'period' in ('one_time', 'hour', 'day', 'week', 'month', 'year', 'project')
        then price ->> 'period' end,
      'unit', case when price ->> 'unit' = any (reading.price_units()) then price ->> 'unit' end)) end;
end
$$;
comment on function reading.ground_budget(jsonb) is
  'Returns the price of an ask with the members that it has, within their bounds, or null.';

create or replace function reading.ground_place(field jsonb) returns jsonb
  language plpgsql immutable
as $$
declare
  place constant jsonb := field -> 'value';
begin
  return case when reading.states_name(field ->> 'quote', place ->> 'text') then
    field || jsonb_build_object('value', jsonb_build_object(
      'text', left(place ->> 'text', 200),
      'country', substring(place ->> 'country' from '^[A-Z]{2}$'),
      'region', reading.bounded_text(place -> 'region', 100),
      'city', reading.bounded_text(place -> 'city', 100),
      'district', reading.bounded_text(place -> 'district', 100),
      'postal_code', reading.bounded_text(place -> 'postal_code', 20),
      'point', search.sound_point(place -> 'point'),
      'remote', coalesce(place -> 'remote' = 'true', false))) end;
end
$$;
comment on function reading.ground_place(jsonb) is
  'Returns a place with the members that it has, within their bounds, if its quote names it, or null.';

create or replace function reading.ground_near(field jsonb) returns jsonb
  language plpgsql immutable
as $$
declare
  near constant jsonb := field -> 'value';
  radius_km constant numeric := case when jsonb_typeof(near -> 'radius_km') = 'number'
    then (near ->> 'radius_km')::numeric end;
begin
  -- Where no number is stated, the radius is the usual one.
  return case when search.sound_point(near) is not null and reading.states_name(field ->> 'quote', near ->> 'place')
    and coalesce(radius_km between 1 and 500, true)
  then field || jsonb_build_object('value', jsonb_build_object('place', left(near ->> 'place', 200),
      'lat', near -> 'lat', 'lon', near -> 'lon',
      'radius_km', coalesce(radius_km, search.default_radius_km()))) end;
end
$$;
comment on function reading.ground_near(jsonb) is
  'Returns the circle in which an ask looks, as {place, lat, lon, radius_km}, within its bounds, if its quote names '
  'the place, or null.';

create or replace function reading.ground_space(field jsonb) returns jsonb
  language plpgsql immutable
as $$
declare
  space constant jsonb := field -> 'value';
  kept jsonb;
begin
  select jsonb_object_agg(part.name, space -> part.name) into kept
  from (values ('area_m2', 0, 1e9), ('rooms', 0, 1000), ('bedrooms', 0, 1000), ('bathrooms', 0, 1000),
    ('floor', -100, 1000), ('furnished', null, null), ('available_from', null, null), ('pets_allowed', null, null))
    as part (name, min, max)
  -- A larger number of rooms is a number of something else.
  where case
    when part.name = 'available_from' then space ->> part.name ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'
    when part.min is null then jsonb_typeof(space -> part.name) = 'boolean'
    else case jsonb_typeof(space -> part.name) when 'number'
      then (space -> part.name)::numeric between part.min and part.max end end;
  return case when kept is not null then field || jsonb_build_object('value', kept) end;
end
$$;
comment on function reading.ground_space(jsonb) is
  'Returns the details of a home or another space that are within the bounds of the API, or null.';

create or replace function reading.ground_party(text text, field jsonb) returns jsonb
  language plpgsql immutable
as $$
declare
  party constant jsonb := field -> 'value';
begin
  if length(party ->> 'name') <= 120 and reading.states_name(field ->> 'quote', party ->> 'name') then
    return field || jsonb_build_object('value', jsonb_build_object('name', party ->> 'name',
      'kind', substring(party ->> 'kind' from '^(?:person|organization)$'),
      'role', case when length(party ->> 'role') <= 80 and reading.states_words(text, party ->> 'role')
        then party ->> 'role' end));
  end if;
  return null;
end
$$;
comment on function reading.ground_party(text, jsonb) is
  'Returns a party if its quote names it, with a role that the text states, or null.';

create or replace function reading.ground_attribute(field jsonb) returns jsonb
  language plpgsql immutable
as $$
declare
  attribute constant jsonb := field -> 'value';
  name constant text := attribute ->> 'name';
begin
  -- A boolean has no words that a quote could state: all that it claims stands in its name.
  return case when length(name) <= 60 and name ~ '^[a-z][a-z0-9]*(_[a-z0-9]+)*$'
    and case jsonb_typeof(attribute -> 'value')
      when 'string' then length(attribute ->> 'value') <= 200
        and reading.states_words(field ->> 'quote', attribute ->> 'value')
      when 'number' then abs((attribute ->> 'value')::numeric) <= 1e12
      else jsonb_typeof(attribute -> 'value') = 'boolean'
        and reading.states_name(field ->> 'quote', replace(name, '_', ' ')) end then field end;
end
$$;
comment on function reading.ground_attribute(jsonb) is
  'Returns an attribute {name, value} if its quote has the words of its value, or null.';

create or replace function reading.ground_contact(field jsonb) returns jsonb
  language plpgsql immutable
as $$
declare
  method constant jsonb := field -> 'value';
begin
  return case when internal.contact_form(method ->> 'type') is not null
    and length(method ->> 'value') between 3 and 2048 then
    field || jsonb_build_object('value', jsonb_build_object('type', method -> 'type', 'value', method -> 'value',
      'preferred', coalesce(method -> 'preferred' = 'true', false))) end;
end
$$;
comment on function reading.ground_contact(jsonb) is
  'Returns a contact method {type, value, preferred} within its bounds, or null.';

create or replace function reading.visible_value(value jsonb) returns jsonb
  language sql immutable
as $$
  select case jsonb_typeof(value)
    when 'string' then to_jsonb(internal.visible_sentence(value #>> '{}'))
    when 'object' then (select jsonb_object_agg(m.key, case jsonb_typeof(m.value)
        when 'string' then to_jsonb(internal.visible_sentence(m.value #>> '{}')) else m.value end)
      from jsonb_each(value) as m)
    else value end
$$;
comment on function reading.visible_value(jsonb) is
  'Returns a value of a field as it is shown in one line, without invisible characters. The quote keeps them.';

create or replace function reading.bounded_field(field jsonb) returns jsonb
  language plpgsql immutable
as $$
begin
  -- Nearly every field has only members of the right form.
  if field ? 'value' and field - array['value', 'quote', 'start', 'end', 'basis', 'confidence'] = '{}'
    and field ->> 'basis' in ('stated', 'inferred')
    and (case jsonb_typeof(field -> 'confidence') when 'number'
      then (field ->> 'confidence')::numeric between 0 and 1 end)
  then
    return field || jsonb_build_object('value', reading.visible_value(field -> 'value'));
  end if;
  return (
    select jsonb_object_agg(m.key, case m.key when 'value' then reading.visible_value(m.value) else m.value end)
    from jsonb_each(field) as m
    where m.key in ('value', 'quote', 'start', 'end')
      or m.key = 'basis' and m.value in ('"stated"', '"inferred"')
      or m.key = 'confidence' and case jsonb_typeof(m.value) when 'number' then m.value::numeric between 0 and 1 end);
end
$$;
comment on function reading.bounded_field(jsonb) is
  'Returns a field with the members that a field has, without those that have values of no meaning. Its value is as it '
  'is shown.';

create or replace function reading.ground_field(name text, text text, field jsonb) returns jsonb
  language plpgsql stable
as $$
declare
  value constant text := field ->> 'value';
  holds boolean;
begin
  if not reading.is_quoted(text, field) or reading.cuts_number(text, field) or reading.cuts_word(text, field) then
    return null;
  end if;
  -- These are statements and not one expression, because PostgreSQL would prepare every branch of it for each field.
  case name
    when 'price' then return reading.bounded_field(reading.ground_price(field));
    when 'budget' then return reading.bounded_field(reading.ground_budget(field));
    when 'location' then return reading.bounded_field(reading.ground_place(field));
    when 'near' then return reading.bounded_field(reading.ground_near(field));
    when 'space' then return reading.bounded_field(reading.ground_space(field));
    when 'party' then return reading.bounded_field(reading.ground_party(text, field));
    when 'attributes' then return reading.bounded_field(reading.ground_attribute(field));
    when 'contacts' then return reading.bounded_field(reading.ground_contact(field));
    when 'title' then holds := length(value) <= 120 and reading.states_words(text, value);
    when 'domain' then holds := exists (select from market.domain d where d.domain = value);
    when 'category' then holds := exists (select from market.category c where c.category = value);
    when 'offer_kind' then holds := exists (select from market.domain d where value = any (d.kinds));
    when 'ask_kind' then holds := exists (select from market.ask_kind k where k.ask_kind = value);
    when 'reads_as' then holds := value in ('ask', 'offer');
    when 'condition' then
      holds := value in ('new', 'like_new', 'used_good', 'used_fair', 'refurbished', 'for_parts');
    -- features, must and exclude
    else holds := length(value) <= 80 and reading.states_words(field ->> 'quote', value);
  end case;
  return case when holds then reading.bounded_field(field) end;
end
$$;
comment on function reading.ground_field(text, text, jsonb) is
  'Returns a field of an extraction if its quote stands at its place in the text and has the words of its free text, '
  'or null. The names are those of the extraction; "budget" is the price of an ask.';
