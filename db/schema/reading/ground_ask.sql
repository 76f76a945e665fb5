-- Turns the extractions of a text into the columns of an ask, and keeps only what the text states.

create or replace function reading.ground_ask(text text, extractions jsonb, addressed jsonb default '[]')
  returns market.ask
  language plpgsql stable
as $$
declare
  ask market.ask;
  -- What is addressed to software describes nothing wanted.
  said constant text := reading.without_spans(ground_ask.text, addressed);
  price jsonb := reading.choose_field('budget', said, extractions, 'price') -> 'value';
  place jsonb := reading.choose_field('location', said, extractions) -> 'value';
  near jsonb := reading.choose_field('near', said, extractions) -> 'value';
begin
  ask.language := reading.choose_language(extractions);
  ask.title := coalesce(reading.choose_field('title', said, extractions) ->> 'value', reading.first_line(said),
    reading.first_line(reading.hide_spans(ground_ask.text, addressed)));
  ask.domain := reading.choose_field('domain', said, extractions) ->> 'value';
  ask.category := reading.choose_category(said, extractions, ask.domain) ->> 'value';
  ask.ask_kind := reading.choose_field('ask_kind', said, extractions) ->> 'value';
  -- The price of a unit is no limit for what a whole costs.
  ask.price_max_thousandths := case when price ->> 'unit' is null
    then round((price ->> 'max')::numeric * 1000)::bigint end;
  ask.price_currency := price ->> 'currency';
  ask.criteria := jsonb_build_object(
    'keywords', reading.choose_keywords(said, extractions),
    'must', jsonb_path_query_array(reading.choose_list('must', said, extractions, 10), '$[*].value'),
    'exclude', jsonb_path_query_array(reading.choose_list('exclude', said, extractions, 10), '$[*].value'),
    'price', jsonb_strip_nulls(price),
    'location', jsonb_strip_nulls(place),
    'condition', reading.choose_field('condition', said, extractions) -> 'value',
    'attributes', (select coalesce(jsonb_object_agg(a -> 'value' ->> 'name', a -> 'value' -> 'value'), '{}')
      from jsonb_array_elements(reading.choose_list('attributes', said, extractions, 20)) as a))
    || case when near is null then '{}' else jsonb_build_object('near', near) end;
  -- An ask to date a person names no thing that a matching offer would name too, so its words do not select offers.
  ask.keywords_query := case when ask.ask_kind is distinct from 'dating' then
    search.subject_query(ask.criteria -> 'keywords', ask.title, ask.language) end;
  ask.exclude_query := search.exclude_query(ask.criteria -> 'exclude', ask.language, ask.keywords_query);
  ask.must_query := search.must_query(ask.criteria -> 'must', ask.language);
  ask.latitude := (near ->> 'lat')::double precision;
  ask.longitude := (near ->> 'lon')::double precision;
  ask.radius_km := (near ->> 'radius_km')::real;
  ask.place_query := case when near is null then search.ask_place_query(said, place ->> 'text', place ->> 'city')
    else search.cell_query(ask.latitude, ask.longitude, ask.radius_km) end;
  return ask;
end
$$;
comment on function reading.ground_ask(text, jsonb, jsonb) is
  'Returns an ask in which only the columns are set that derive from its extractions. For each field, the first '
  'extraction counts whose value the text states outside of the spans in `addressed`.';

create or replace function reading.choose_keywords(text text, extractions jsonb) returns jsonb
  language plpgsql stable
as $$
begin
  return coalesce((
    select list.words
    from jsonb_array_elements(extractions) with ordinality as e (extraction, n)
    cross join lateral (
      select jsonb_agg(internal.visible_sentence(k.word) order by k.n) as words
      from jsonb_array_elements_text(
        case jsonb_typeof(e.extraction -> 'keywords') when 'array' then e.extraction -> 'keywords' else '[]' end)
        with ordinality as k (word, n)
      where k.n <= 20 and length(k.word) <= 60 and reading.states_words(choose_keywords.text, k.word)) as list
    where list.words is not null
    order by e.n limit 1), '[]');
end
$$;
comment on function reading.choose_keywords(text, jsonb) is
  'Returns the keywords that the text states: of the first extraction that has any.';
