-- What of one extracted field may be published: each function returns the field with only the values that its quote
-- states, or null when nothing is left of it. Every value is bounded, so that no extraction makes a statement fail.

create or replace function reading.stated_amount(passage text, amount jsonb) returns jsonb
  language sql immutable
as $$
  select case when jsonb_typeof(amount) = 'number' and amount::numeric between 0 and 1e12
    and reading.states_amount(passage, amount::numeric) then amount end
$$;
comment on function reading.stated_amount(text, jsonb) is
  'Returns an amount of an extraction if a passage states it, else null.';

create or replace function reading.contradicts_price(text text, field jsonb) returns boolean
  language plpgsql immutable
as $$
declare
  price constant jsonb := field -> 'value';
  start constant integer := (field ->> 'start')::integer;
  -- The sign may stand beside the quote: "EUR 180", "180 €".
  around constant text := substr(text, greatest(start - 4, 1), length(field ->> 'quote') + 5 + least(start, 5));
begin
  return coalesce(
    price ->> 'currency' <> all (coalesce(reading.currencies_in(field ->> 'quote'), reading.currencies_in(around)))
    or price ->> 'period' in ('hour', 'day', 'week', 'month', 'year')
      and price ->> 'period' <> all (reading.periods_in(field ->> 'quote')), false);
end
$$;
comment on function reading.contradicts_price(text, jsonb) is
  'Returns whether the words of a price name other currencies than the extracted one, or other periods.';

create or replace function reading.ground_price(text text, field jsonb) returns jsonb
  language plpgsql immutable
as $$
declare
  price constant jsonb := field -> 'value';
  quote constant text := field ->> 'quote';
  amount constant jsonb := reading.stated_amount(quote, price -> 'amount');
begin
  -- A price without an amount may be free to negotiate. A price with another amount than the text's is no price.
  if amount is null and price ->> 'amount' is not null or reading.contradicts_price(text, field) then
    return null;
  end if;
  return field || jsonb_build_object('value', jsonb_build_object(
    'amount', amount,
    'amount_max', reading.stated_amount(quote, price -> 'amount_max'),
    'currency', substring(price ->> 'currency' from '^[A-Z]{3}$'),
    'period', substring(price ->> 'period' from '^(?:one_time|hour|day|week|month|year|project)$'),
    'type', left(price ->> 'type', 20),
    'negotiable', coalesce(price -> 'negotiable' = 'true', false),
    -- The deposit may stand elsewhere in the text.
    'deposit', reading.stated_amount(text, price -> 'deposit'),
    -- The label is the price as quoted, whatever label the extractor gives.
    'label', left(quote, 200)));
end
$$;
comment on function reading.ground_price(text, jsonb) is
  'Returns the price of an offer with the amounts that its quote states, or null.';

create or replace function reading.ground_budget(text text, field jsonb) returns jsonb
  language plpgsql immutable
as $$
declare
  price constant jsonb := field -> 'value';
  least constant jsonb := reading.stated_amount(field ->> 'quote', price -> 'min');
  most constant jsonb := reading.stated_amount(field ->> 'quote', price -> 'max');
begin
  if coalesce(least, most) is null or reading.contradicts_price(text, field) then
    return null;
  end if;
  return field || jsonb_build_object('value', jsonb_build_object('min', least, 'max', most,
    'currency', substring(price ->> 'currency' from '^[A-Z]{3}$'),
    'period', substring(price ->> 'period' from '^(?:one_time|hour|day|week|month|year|project)$')));
end
$$;
comment on function reading.ground_budget(text, jsonb) is
  'Returns the price of an ask with the bounds that its quote states, or null.';

create or replace function reading.stated_count(quote text, count jsonb) returns jsonb
  language sql immutable
as $$
  select case when jsonb_typeof(count) = 'number' and (
      exists (select from reading.stated_numbers(quote) as stated where stated = abs(count::numeric))
      or count #>> '{}' = any (string_to_array(reading.digits_of_words(quote), ' '))
      or count::numeric = reading.spoken_number(quote)) then count end
$$;
comment on function reading.stated_count(text, jsonb) is
  'Returns a number of an extraction if a quote states it in digits or words, else null.';

create or replace function reading.ground_space(field jsonb) returns jsonb
  language plpgsql immutable
as $$
declare
  space constant jsonb := field -> 'value';
  quote constant text := field ->> 'quote';
  kept jsonb;
begin
  select jsonb_object_agg(part.name, case
      when part.name in ('furnished', 'pets_allowed') then
        case when jsonb_typeof(space -> part.name) = 'boolean' then space -> part.name end
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
  from unnest(array['area_m2', 'rooms', 'bedrooms', 'bathrooms', 'floor', 'furnished', 'available_from',
    'pets_allowed']) as part (name);
  return case when jsonb_strip_nulls(kept) <> '{}' then field || jsonb_build_object('value', kept) end;
end
$$;
comment on function reading.ground_space(jsonb) is
  'Returns the details of a home or another space with the numbers that their quote states, or null.';

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
begin
  return case when attribute ->> 'name' ~ '^[a-z][a-z0-9_]{0,59}$' and case jsonb_typeof(attribute -> 'value')
      when 'string' then length(attribute ->> 'value') <= 200
        and reading.states_words(field ->> 'quote', attribute ->> 'value')
      when 'number' then reading.stated_count(field ->> 'quote', attribute -> 'value') is not null
        or reading.stated_amount(field ->> 'quote', attribute -> 'value') is not null
      else jsonb_typeof(attribute -> 'value') = 'boolean' end then field end;
end
$$;
comment on function reading.ground_attribute(jsonb) is
  'Returns an attribute {name, value} if its quote states the value, or null.';

create or replace function reading.ground_field(name text, text text, field jsonb, known jsonb default null)
  returns jsonb
  language plpgsql stable
as $$
declare
  value constant text := field ->> 'value';
begin
  if not reading.is_quoted(text, field) or reading.cuts_number(text, field) then
    return null;
  end if;
  return case name
    when 'price' then reading.ground_price(text, field)
    when 'budget' then reading.ground_budget(text, field)
    when 'location' then reading.ground_place(text, field, known)
    when 'space' then reading.ground_space(field)
    when 'party' then reading.ground_party(text, field)
    when 'attributes' then reading.ground_attribute(field)
    when 'contacts' then case when length(field -> 'value' ->> 'value') <= 2048
      and reading.states_contact(field ->> 'quote', field -> 'value') then field end
    else case when case name
        when 'title' then length(value) <= 120 and reading.states_words(text, value)
        when 'domain' then exists (select from market.domain d where d.domain = value)
        when 'category' then exists (select from market.category c where c.category = value)
        when 'offer_kind' then exists (select from market.domain d where value = any (d.kinds))
        when 'ask_kind' then exists (select from market.ask_kind k where k.ask_kind = value)
        when 'condition' then value in ('new', 'like_new', 'used_good', 'used_fair', 'refurbished', 'for_parts')
        -- features, must and exclude
        else length(value) <= 80 and reading.states_words(field ->> 'quote', value) end then field end
    end;
end
$$;
comment on function reading.ground_field(text, text, jsonb, jsonb) is
  'Returns a field of an extraction with the values that the text states, or null. The names are those of the '
  'extraction; "budget" is the price of an ask. `known` is the place that the built-in reader found.';
