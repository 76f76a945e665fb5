-- What a search is about, according to its filters and to what was read from its query.

create or replace function search.without_filtered(extraction jsonb, filters jsonb) returns jsonb
  language plpgsql immutable
as $$
begin
  -- A filter overrides what was read from the query.
  return jsonb_strip_nulls(case when jsonb_typeof(extraction) = 'object' then extraction else '{}' end)
    - case when filters ? 'offer_kind' then 'offer_kind' else '' end
    - case when filters ? 'location' then 'places' else '' end
    - case when filters ?| array['location', 'near'] then 'near' else '' end
    -- No offer states a higher price (reading.stated_amount).
    - case when filters -> 'price' ?| array['min', 'max', 'currency']
        or greatest((extraction -> 'price' ->> 'min')::numeric, (extraction -> 'price' ->> 'max')::numeric) > 1e12
        then 'price' else '' end
    - case when filters ?| array['domain', 'category'] and (
        not coalesce(extraction ->> 'domain' = any (search.text_array(filters -> 'domain')), true)
        or not coalesce(extraction ->> 'category' = any (search.text_array(filters -> 'category')), true)) then 'domain'
        else '' end;
end
$$;
comment on function search.without_filtered(jsonb, jsonb) is
  'Returns what was read from a query, without the parts that the filters override, and without a price that no offer '
  'can have.';

create or replace function search.classify_query(extraction jsonb, filters jsonb) returns jsonb
  language plpgsql immutable
as $$
declare
  domains text[] := coalesce(search.text_array(filters -> 'domain'), search.text_array(extraction -> 'domain'));
  categories text[] := coalesce(search.text_array(filters -> 'category'),
    case when extraction ? 'domain' then search.text_array(extraction -> 'category') end);
  kinds text[] := coalesce(search.text_array(filters -> 'offer_kind'),
    case when extraction -> 'offer_kind' ->> 'certain' = 'true' then
      search.text_array(extraction -> 'offer_kind' -> 'value') end);
begin
  if cardinality(domains) is distinct from 1 and cardinality(kinds) is distinct from 1 then
    return null;
  end if;
  return jsonb_build_object(
    'domain', case when cardinality(domains) = 1 then domains[1] end,
    'category', case when cardinality(domains) = 1 and cardinality(categories) = 1 then categories[1] end,
    'kind', case when cardinality(kinds) = 1 then kinds[1] end);
end
$$;
comment on function search.classify_query(jsonb, jsonb) is
  'Returns domain, category and kind of a search, each null when filters and query do not state exactly one; null when '
  'neither domain nor kind is known.';

create or replace function search.query_notices(extraction jsonb) returns jsonb
  language plpgsql stable
as $$
declare
  kind text := case when extraction -> 'offer_kind' ->> 'certain' = 'true' then
    case extraction -> 'offer_kind' ->> 'value' when 'sale' then 'things for sale' when 'rental' then 'rentals'
      when 'service_offer' then 'services' when 'project_hire' then 'jobs' when 'dating' then 'dating'
      when 'friendship' then 'friendships and activities' end end;
  place text := (select string_agg(p ->> 'text', ' or ') from jsonb_array_elements(extraction -> 'places') as p);
  price jsonb := extraction -> 'price';
  said text[] := array_remove(array[
    'only ' || kind, 'in ' || place,
    case when (price ->> 'max')::numeric = 0 then 'free of charge'
      when price ? 'max' and price ? 'currency' then 'up to ' || concat_ws(' ', price ->> 'max', price ->> 'currency')
      when price ? 'min'
        and price ? 'currency' then 'from ' || concat_ws(' ', price ->> 'min', price ->> 'currency') end], null);
begin
  return case when cardinality(said) > 0 then jsonb_build_array(jsonb_build_object('code', 'read_from_query', 'summary',
      internal.sentence('read_from_query', jsonb_build_object('filters', array_to_string(said, ', ')))))
    else '[]' end
    || case
      when extraction -> 'corrections' <> '[]' then jsonb_build_array(jsonb_build_object('code', 'spelling', 'summary',
      internal.sentence('spelling', jsonb_build_object('words',
        array_to_string(search.text_array(extraction -> 'corrections'), ', ')))))
    else '[]' end;
end
$$;
comment on function search.query_notices(jsonb) is
  'Returns the notices that tell the caller which parts of the query became filters, and which words were corrected.';
