-- What of one extracted field may be published: each function returns the field with only the values that its quote
-- states, or null when nothing is left of it. Every value is bounded, so that no extraction makes a statement fail.

create or replace function reading.stated_amount(passage text, amount jsonb, known jsonb) returns jsonb
  language plpgsql immutable
as $$
begin
  return case when jsonb_typeof(amount) = 'number' and amount::numeric between 0 and 1e12
    and (amount = known or reading.states_amount(passage, amount::numeric)) then amount end;
end
$$;
comment on function reading.stated_amount(text, jsonb, jsonb) is
  'Returns an amount of an extraction if a passage states it, or if it is the one that the built-in reader found there '
  '(`known`), else null.';

create or replace function reading.contradicts_price(text text, field jsonb) returns boolean
  language plpgsql immutable
as $$
declare
  currency constant text := field -> 'value' ->> 'currency';
  period constant text := field -> 'value' ->> 'period';
  start constant integer := (field ->> 'start')::integer;
  -- The sign may stand beside the quote: "EUR 180", "180 €".
  around constant text := substr(text, greatest(start - 4, 1), length(field ->> 'quote') + 5 + least(start, 5));
begin
  if currency is not null and coalesce(currency
    <> all (coalesce(reading.currencies_in(field ->> 'quote'), reading.currencies_in(around))), false) then
    return true;
  end if;
  if period in ('hour', 'day', 'week', 'month', 'year') then
    return coalesce(period <> all (reading.periods_in(field ->> 'quote')), false);
  end if;
  return false;
end
$$;
comment on function reading.contradicts_price(text, jsonb) is
  'Returns whether the words of a price name other currencies than the extracted one, or other periods.';

create or replace function reading.ground_price(text text, field jsonb, known jsonb) returns jsonb
  language plpgsql immutable
as $$
declare
  price constant jsonb := field -> 'value';
  -- What the built-in reader found in the same words.
  own constant jsonb := case when known ->> 'quote' = field ->> 'quote' then known -> 'value' end;
  quote constant text := field ->> 'quote';
  amount constant jsonb := reading.stated_amount(quote, price -> 'amount', own -> 'amount');
begin
  -- A price without an amount may be free to negotiate. A price with another amount than the text's is no price.
  if amount is null and price ->> 'amount' is not null
    or price is distinct from own and reading.contradicts_price(text, field) then
    return null;
  end if;
  return field || jsonb_build_object('value', jsonb_build_object(
    'amount', amount,
    'amount_max', reading.stated_amount(quote, price -> 'amount_max', own -> 'amount_max'),
    'currency', substring(price ->> 'currency' from '^[A-Z]{3}$'),
    'period', case when price ->> 'period' in ('one_time', 'hour', 'day', 'week', 'month', 'year', 'project')
      then price ->> 'period' end,
    'type', case when price ->> 'type' in ('fixed', 'range', 'from', 'free', 'on_request', 'exchange')
      then price ->> 'type' end,
    'negotiable', coalesce(price -> 'negotiable' = 'true', false),
    -- The deposit may stand elsewhere in the text.
    'deposit', reading.stated_amount(text, price -> 'deposit', own -> 'deposit'),
    -- The label is the price as quoted, whatever label the extractor gives.
    'label', left(quote, 200)));
end
$$;
comment on function reading.ground_price(text, jsonb, jsonb) is
  'Returns the price of an offer with the amounts that its quote states, or null. `known` is the price that the '
  'built-in reader found.';

create or replace function reading.ground_budget(text text, field jsonb, known jsonb) returns jsonb
  language plpgsql immutable
as $$
declare
  price constant jsonb := field -> 'value';
  -- What the built-in reader found in the same words.
  own constant jsonb := case when known ->> 'quote' = field ->> 'quote' then known -> 'value' end;
  least constant jsonb := reading.stated_amount(field ->> 'quote', price -> 'min', own -> 'min');
  most constant jsonb := reading.stated_amount(field ->> 'quote', price -> 'max', own -> 'max');
begin
  if coalesce(least, most) is null or price is distinct from own and reading.contradicts_price(text, field) then
    return null;
  end if;
  return field || jsonb_build_object('value', jsonb_build_object('min', least, 'max', most,
    'currency', substring(price ->> 'currency' from '^[A-Z]{3}$'),
    'period', case when price ->> 'period' in ('one_time', 'hour', 'day', 'week', 'month', 'year', 'project')
      then price ->> 'period' end));
end
$$;
comment on function reading.ground_budget(text, jsonb, jsonb) is
  'Returns the price of an ask with the bounds that its quote states, or null. `known` is the price that the built-in '
  'reader found.';

create or replace function reading.stated_count(quote text, count jsonb) returns jsonb
  language plpgsql immutable
as $$
begin
  return case when jsonb_typeof(count) = 'number' and (
      exists (select from reading.stated_numbers(quote) as stated where stated = abs(count::numeric))
      or count #>> '{}' = any (string_to_array(reading.digits_of_words(quote), ' '))
      or count::numeric = reading.spoken_number(quote)) then count end;
end
$$;
comment on function reading.stated_count(text, jsonb) is
  'Returns a number of an extraction if a quote states it in digits or words, else null.';

create or replace function reading.names_concept(quote text, concept text) returns boolean
  language plpgsql stable
as $$
declare
  said constant text := ' ' || array_to_string(reading.words(quote), ' ') || ' ';
begin
  return exists (
    select from reading.label l
    where l.concept = names_concept.concept
      and position(' ' || l.form || case when l.is_prefix then '' else ' ' end in said) > 0);
end
$$;
comment on function reading.names_concept(text, text) is
  'Returns whether a quote contains a label of a concept of the lexicon, in any language.';

create or replace function reading.ground_space(field jsonb, known jsonb) returns jsonb
  language plpgsql stable
as $$
declare
  space constant jsonb := field -> 'value';
  quote constant text := field ->> 'quote';
  kept jsonb;
begin
  select jsonb_object_agg(part.name, case
      when part.name in ('furnished', 'pets_allowed') then
        case when space -> part.name = known -> 'value' -> part.name
          or reading.names_concept(quote, case part.name || ' ' || (space ->> part.name)
            when 'furnished true' then 'space_furnished' when 'furnished false' then 'space_unfurnished'
            when 'pets_allowed true' then 'space_pets' when 'pets_allowed false' then 'space_no_pets' end)
          then space -> part.name end
      -- There are words for the ground floor and the one below.
      when part.name = 'floor' and space -> part.name in ('0', '-1') then space -> part.name
      when part.name = 'area_m2' then (
        -- As stated, or converted from square feet, hectares or acres and rounded.
        select space -> part.name
        from reading.stated_numbers(quote) as stated, unnest(array[1, 0.09290304, 10000, 4046.86]) as factor
        where jsonb_typeof(space -> part.name) = 'number'
          and abs(stated * factor - (space -> part.name)::numeric) <= greatest(0.1, stated * factor / 100)
        limit 1)
      when part.name = 'available_from' then
        -- A day of any month, or the first day of a month that is named.
        case
          when space ->> part.name ~ '^[0-9]{4}-[0-9]{2}-(01|[0-9]{2})$' and (space ->> part.name ~ '-01$' or exists (
            select from reading.stated_numbers(translate(quote, '-.', '  ')) as stated
            where stated = right(space ->> part.name, 2)::numeric)) then space -> part.name end
      else reading.stated_count(quote, space -> part.name) end)
  into kept
  from (values ('area_m2', 0, 1e9), ('rooms', 0, 1000), ('bedrooms', 0, 1000), ('bathrooms', 0, 1000),
    ('floor', -100, 1000), ('furnished', null, null), ('available_from', null, null), ('pets_allowed', null, null))
    as part (name, least, most)
  -- A larger number of rooms is a number of something else.
  where case jsonb_typeof(space -> part.name) when 'number'
    then (space -> part.name)::numeric between part.least and part.most else true end;
  return case when jsonb_strip_nulls(kept) <> '{}' then field || jsonb_build_object('value', kept) end;
end
$$;
comment on function reading.ground_space(jsonb, jsonb) is
  'Returns the details of a home or another space that their quote states and that are within the bounds of the API, '
  'or null. `known` are those that the built-in reader found.';

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

create or replace function reading.ground_attribute(text text, field jsonb) returns jsonb
  language plpgsql immutable
as $$
declare
  attribute constant jsonb := field -> 'value';
  name constant text := attribute ->> 'name';
  -- Words that only name a property or a unit, so that a text need not say them: those in the names of the properties
  -- of schema.org's Product, Vehicle, Accommodation, Book, Event, Service and JobPosting, with usual units. A word that
  -- could claim something by itself (verified, approved, free) must stand in the text.
  neutral constant text[] := string_to_array('age area artist audience author battery bedrooms bed binding bits body '
    'bore brand breed build built bulbs buttons cable capacity category channels class clearance cm code color colors '
    'colour colours connector consumption copies count cpu cylinders date day days degree delivery depth diameter '
    'dimensions disc discs displacement display distance doors drive duration edition emissions employment energy '
    'engine experience fabric feet fit floors format frame from fuel ft gb gears gender generation grams group guests '
    'handle hdd head heating height hour hours hp inch inches isbn issue items keyboard keys kg km kw kwh land '
    'language '
    'last layers length lens level lines liters litres load lot make manufacturer mass material max mb megapixels '
    'meters metres mileage miles min minutes mm model month months movement ms name number of ownership owners pack '
    'pages parking part parts pattern people per period persons pieces place plates platform players plot ports power '
    'previous processor production purchase quantity ram range rating region registration release resolution rooms '
    'rows scale screen season seating seats serial series service serviced set shape shelves shoe shutter side '
    'since size sizes sleeve sleeves sockets speaker speed speeds sqft sqm start storage strings style subject system '
    'tank tb team term thickness tickets time times title to total transmission travel trim type types tyre tyres unit '
    'units until usage use version voice volume volt voltage volts warranty watt wattage watts week weekly weeks '
    'weight '
    'wheel wheels width wood work year years zoom m m2 m3 cc l g w v', ' ');
begin
  -- A boolean has no words that a quote could state: all that it claims stands in its name.
  return case when length(name) <= 60 and name ~ '^[a-z][a-z0-9]*(_[a-z0-9]+)*$'
    and not exists (select from unnest(string_to_array(name, '_')) as word
      where word <> all (neutral) and not reading.states_name(text, word))
    and case jsonb_typeof(attribute -> 'value')
      when 'string' then length(attribute ->> 'value') <= 200
        and reading.states_words(field ->> 'quote', attribute ->> 'value')
      when 'number' then reading.stated_count(field ->> 'quote', attribute -> 'value') is not null
        or reading.stated_amount(field ->> 'quote', attribute -> 'value', null) is not null
      else jsonb_typeof(attribute -> 'value') = 'boolean'
        and reading.states_name(field ->> 'quote', replace(name, '_', ' ')) end then field end;
end
$$;
comment on function reading.ground_attribute(text, jsonb) is
  'Returns an attribute {name, value} if its quote states the value, and the name consists of words of the text or of '
  'words that only name a property or a unit. Otherwise null.';

create or replace function reading.ground_contact(field jsonb) returns jsonb
  language plpgsql immutable
as $$
declare
  method constant jsonb := field -> 'value';
begin
  return case when length(method ->> 'value') <= 2048 and reading.states_contact(field ->> 'quote', method) then
    field || jsonb_build_object('value', jsonb_build_object('type', method -> 'type', 'value', method -> 'value',
      'preferred', coalesce(method -> 'preferred' = 'true', false))) end;
end
$$;
comment on function reading.ground_contact(jsonb) is
  'Returns a contact method {type, value, preferred} if its quote states it, or null.';

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

create or replace function reading.ground_field(name text, text text, field jsonb, known jsonb default null)
  returns jsonb
  language plpgsql stable
as $$
declare
  value constant text := field ->> 'value';
  quote constant text := field ->> 'quote';
  holds boolean;
begin
  if not reading.is_quoted(text, field) or reading.cuts_number(text, field) then
    return null;
  end if;
  -- These are statements and not one expression, because PostgreSQL would prepare every branch of it for each field.
  case name
    when 'price' then return reading.bounded_field(reading.ground_price(text, field, known));
    when 'budget' then return reading.bounded_field(reading.ground_budget(text, field, known));
    when 'location' then return reading.bounded_field(reading.ground_place(text, field, known));
    when 'near' then return reading.bounded_field(reading.ground_near(field));
    when 'space' then return reading.bounded_field(reading.ground_space(field, known));
    when 'party' then return reading.bounded_field(reading.ground_party(text, field));
    when 'attributes' then return reading.bounded_field(reading.ground_attribute(text, field));
    when 'contacts' then return reading.bounded_field(reading.ground_contact(field));
    when 'title' then holds := length(value) <= 120 and reading.states_words(text, value);
    when 'domain' then holds := exists (select from market.domain d where d.domain = value);
    when 'category' then holds := exists (select from market.category c where c.category = value);
    when 'offer_kind' then holds := exists (select from market.domain d where value = any (d.kinds));
    when 'ask_kind' then holds := exists (select from market.ask_kind k where k.ask_kind = value);
    when 'condition' then
      holds := value in ('new', 'like_new', 'used_good', 'used_fair', 'refurbished', 'for_parts')
        and (value = known ->> 'value' or reading.names_concept(quote, 'condition/' || value));
    -- features, must and exclude
    else holds := length(value) <= 80 and reading.states_words(quote, value);
  end case;
  return case when holds then reading.bounded_field(field) end;
end
$$;
comment on function reading.ground_field(text, text, jsonb, jsonb) is
  'Returns a field of an extraction with the values that the text states, or null. The names are those of the '
  'extraction; "budget" is the price of an ask. `known` is what the built-in reader found for the same field.';
