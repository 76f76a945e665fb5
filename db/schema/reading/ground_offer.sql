-- Turns the extractions of a text into the columns of an offer: keeps what the text states, classifies within the
-- taxonomy, and lists the missing fields.

create or replace function reading.ground_offer(text text, extractions jsonb, addressed jsonb default '[]')
  returns market.offer
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  offer market.offer;
  -- What is addressed to software describes no offer.
  said constant text := reading.without_spans(ground_offer.text, addressed);
  fields jsonb;
begin
  offer.text := reading.hide_spans(ground_offer.text, addressed);
  offer.sent_text := nullif(ground_offer.text, offer.text);
  offer.language := reading.choose_language(extractions);
  fields := jsonb_build_object(
    'title', coalesce(reading.choose_field('title', said, extractions), reading.first_line_field(said)),
    'domain', reading.choose_field('domain', said, extractions),
    'price', reading.choose_field('price', said, extractions),
    'location', reading.choose_field('location', said, extractions),
    'contact', reading.choose_list('contacts', said, extractions, 10),
    'party', reading.choose_field('party', said, extractions),
    'condition', reading.choose_field('condition', said, extractions),
    'space', reading.choose_field('space', said, extractions),
    'features', nullif(reading.choose_list('features', said, extractions, 20), '[]'),
    'attributes', nullif(reading.choose_list('attributes', said, extractions, 20), '[]'));
  offer.domain := fields -> 'domain' ->> 'value';
  fields := fields || jsonb_build_object(
    'category', reading.choose_category(said, extractions, offer.domain),
    'offer_kind', reading.choose_offer_kind(said, extractions, offer.domain));
  -- Without the missing fields, but with the empty members of the others.
  select jsonb_object_agg(f.key, f.value) into fields from jsonb_each(fields) as f where f.value <> 'null';
  offer.extraction := fields;

  offer.title := coalesce(fields -> 'title' ->> 'value', reading.first_line(said), reading.first_line(offer.text));
  offer.category := fields -> 'category' ->> 'value';
  offer.offer_kind := fields -> 'offer_kind' ->> 'value';
  offer.price_thousandths := round((fields -> 'price' -> 'value' ->> 'amount')::numeric * 1000)::bigint;
  offer.price_currency := fields -> 'price' -> 'value' ->> 'currency';
  offer.price_period := fields -> 'price' -> 'value' ->> 'period';
  offer.price_unit := fields -> 'price' -> 'value' ->> 'unit';
  offer.location_text := fields -> 'location' -> 'value' ->> 'text';
  select coalesce(jsonb_object_agg(m.name, jsonb_strip_nulls(m.value)), '{}') into offer.metadata
  from (values
    ('pricing', fields -> 'price' -> 'value'),
    ('location', fields -> 'location' -> 'value'),
    ('condition', fields -> 'condition' -> 'value'),
    ('space', fields -> 'space' -> 'value'),
    ('features', jsonb_path_query_array(fields, '$.features[*].value')),
    ('attributes', (select jsonb_object_agg(a -> 'value' ->> 'name', a -> 'value' -> 'value')
      from jsonb_path_query(fields, '$.attributes[*]') as a))) as m (name, value)
  where m.value not in ('null', '[]');
  offer.contact := reading.contact_object(jsonb_path_query_array(fields, '$.contact[*].value'),
    fields -> 'party' -> 'value');

  offer.missing_fields := reading.missing_fields(offer);
  offer.warnings := '{}';
  return offer;
end
$$;
comment on function reading.ground_offer(text, jsonb, jsonb) is
  'Returns an offer in which only the text and the columns derived from its extractions are set. For each field, the '
  'first extraction counts whose value the text states outside of the spans in `addressed`.';

create or replace function reading.missing_fields(offer market.offer) returns text[]
  language sql immutable
as $$
  select array_remove(array[
    case when offer.domain is null then 'domain' end,
    case when offer.category is null then 'category' end,
    case when offer.offer_kind is null then 'offer_kind' end,
    case when offer.metadata -> 'pricing' is null then 'price' end,
    case when offer.location_text is null then 'location' end,
    case when offer.contact -> 'methods' = '[]' then 'contact' end], null)
$$;
comment on function reading.missing_fields(market.offer) is 'Returns the fields that the text of an offer leaves open.';

create or replace function reading.contact_object(methods jsonb, party jsonb) returns jsonb
  language sql immutable
as $$
  select jsonb_build_object('schema_version', 2, 'methods', methods, 'additional', '[]'::jsonb,
    'primary', jsonb_build_object('methods', methods) || coalesce(jsonb_strip_nulls(party), '{}'))
$$;
comment on function reading.contact_object(jsonb, jsonb) is
  'Returns the contact object (schema_version 2) for contact methods and the party that they reach.';

create or replace function reading.says_only_contact(text text, contacts jsonb) returns boolean
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  rest constant text := reading.without_spans(says_only_contact.text, coalesce(contacts, '[]'));
begin
  if jsonb_array_length(coalesce(contacts, '[]')) = 0 or length(regexp_replace(rest, '\s+', ' ', 'g')) > 60 then
    return false;
  end if;
  return not exists (
    select from unnest(reading.words(rest)) as word
    where word
      <> all (array['mich', 'mir', 'uns', 'moi', 'nous', 'mi', 'nos', 'ci', 'mij', 'ons', 'mnie', 'mig', 'oss'])
      and not exists (select from reading.label l where l.form = word and l.concept = 'function_word')
      -- Also a word of a phrase: "ruf mich an".
      and not exists (
        select from reading.label l
        where l.concept in ('contact_call', 'contact_sms', 'contact_whatsapp', 'contact_mail', 'contact_link',
            'contact_use', 'contact_request')
          and position(' ' || word || ' ' in ' ' || l.form || ' ') > 0));
end
$$;
comment on function reading.says_only_contact(text, jsonb) is
  'Returns whether a text has nothing beside its contacts (fields with start and end) but marks and words such as '
  '"call me".';

create or replace function reading.lacks_country_code(contact jsonb) returns boolean
  language sql immutable
as $$
  select exists (select from jsonb_array_elements(contact -> 'methods') as m
    where internal.contact_form(m ->> 'type') = 'number' and m ->> 'value' not like '+%')
$$;
comment on function reading.lacks_country_code(jsonb) is
  'Returns whether a contact has a number that is not in E.164, because nothing shows its country.';
