-- What a price can be for, other than the whole. src/base/enums.ts has the same list (test/db/enums.test.ts).

create or replace function reading.price_units() returns text[]
  language sql immutable parallel safe
as $$
  select array['square_meter', 'square_foot', 'hectare', 'acre', 'cubic_meter', 'liter', 'meter', 'foot', 'kilometer',
    'gram', 'kilogram', 'tonne', 'pound', 'item', 'person', 'word', 'page', 'other']
$$;
comment on function reading.price_units() is
  'Returns the units for which a price can be stated; other: another measure, such as 100 grams.';
grant execute on function reading.price_units() to souk_agent, souk_person, souk_moderator, souk_worker, souk_dba;
