-- Turns an extraction into the columns of an ask, and keeps only what the text states.

create or replace function reading.ground_ask(text text, extraction jsonb) returns market.ask
  language plpgsql stable
as $$
declare
  ask market.ask;
  price jsonb := extraction -> 'price';
  place jsonb := extraction -> 'location';
begin
  ask.language := extraction ->> 'language';
  ask.title := left(extraction -> 'title' ->> 'value', 120);
  if not reading.states_title(ground_ask.text, ask.title) then
    ask.title := reading.first_line(ground_ask.text);
  end if;
  select d.domain into ask.domain from market.domain d where d.domain = extraction -> 'domain' ->> 'value';
  select c.category into ask.category from market.category c
  where c.domain = ask.domain and c.category = extraction -> 'category' ->> 'value';
  select k.ask_kind into ask.ask_kind from market.ask_kind k where k.ask_kind = extraction -> 'ask_kind' ->> 'value';
  if not reading.is_quoted(ground_ask.text, price)
    or price -> 'value' ->> 'max' is not null
      and not reading.states_amount(price ->> 'quote', (price -> 'value' ->> 'max')::numeric)
    or price -> 'value' ->> 'min' is not null
      and not reading.states_amount(price ->> 'quote', (price -> 'value' ->> 'min')::numeric) then
    price := null;
  end if;
  if not reading.is_quoted(ground_ask.text, place)
    or position(reading.fold(place -> 'value' ->> 'text') in reading.fold(place ->> 'quote')) = 0 then
    place := null;
  end if;
  ask.price_max_hundredths := round((price -> 'value' ->> 'max')::numeric * 100)::bigint;
  ask.price_currency := price -> 'value' ->> 'currency';
  ask.criteria := jsonb_build_object(
    'keywords',
    (select coalesce(jsonb_agg(k), '[]') from jsonb_array_elements(coalesce(extraction -> 'keywords', '[]')) as k
      where reading.states_title(ground_ask.text, k #>> '{}')),
    'must', (select coalesce(jsonb_agg(m -> 'value'), '[]')
      from jsonb_array_elements(coalesce(extraction -> 'must', '[]')) as m
      where reading.is_quoted(ground_ask.text, m)),
    'exclude', (select coalesce(jsonb_agg(m -> 'value'), '[]')
      from jsonb_array_elements(coalesce(extraction -> 'exclude', '[]')) as m
      where reading.is_quoted(ground_ask.text, m)),
    'price', jsonb_strip_nulls(price -> 'value'),
    'location', jsonb_strip_nulls(place -> 'value'),
    'condition', case
      when reading.is_quoted(ground_ask.text, extraction -> 'condition') then extraction -> 'condition' -> 'value' end,
    'attributes', (select coalesce(jsonb_object_agg(a -> 'value' ->> 'name', a -> 'value' -> 'value'), '{}')
      from jsonb_array_elements(coalesce(extraction -> 'attributes', '[]')) as a
      where reading.is_quoted(ground_ask.text, a)));
  -- An ask to date a person names no thing that a matching offer would name too, so its words do not select offers.
  ask.keywords_query := case when ask.ask_kind is distinct from 'dating' then
    search.subject_query(ask.criteria -> 'keywords', ask.title, ask.language) end;
  ask.exclude_query := search.exclude_query(ask.criteria -> 'exclude', ask.language);
  ask.must_query := search.must_query(ask.criteria -> 'must', ask.language);
  ask.place_query := search.ask_place_query(ground_ask.text, place -> 'value' ->> 'text', place -> 'value' ->> 'city');
  return ask;
end
$$;
comment on function reading.ground_ask(text, jsonb) is
  'Returns an ask in which only the columns are set whose values the extraction contains and the text states.';
