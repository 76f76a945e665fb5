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
    - case when filters -> 'price' ?| array['min', 'max']
        or filters -> 'price' ? 'currency' and not coalesce(extraction -> 'price' ? 'no_currency', false)
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
      when price ? 'currency' then concat_ws(' ', 'from ' || (price ->> 'min'), 'up to ' || (price ->> 'max'),
        price ->> 'currency', case when price ? 'no_currency' then '(the query names no currency)' end) end,
    'nothing that mentions ' || (select string_agg(quote_ident(left(e, 60)), ' or ')
      from jsonb_array_elements_text(extraction -> 'exclude') as e)], null);
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

create or replace function search.market_currency(sandbox_id uuid) returns text
  language plpgsql stable
  set plan_cache_mode = 'force_custom_plan'
as $$
begin
  return coalesce(internal.setting('currency') #>> '{}', (
    select n.price_currency
    from (
      select d.price_currency from search.document d
      where search.is_listed(d.sandbox_id, market_currency.sandbox_id) and d.price_currency is not null
      order by d.published_at desc limit 200) as n
    group by 1 order by count(*) desc, 1 limit 1));
end
$$;
comment on function search.market_currency(uuid) is
  'Returns the currency of amounts that name none: the setting currency, or else that of most of the newest 200 priced '
  'offers of the market or a sandbox; null without any.';

create or replace function search.with_currency(extraction jsonb, filters jsonb, sandbox_id uuid) returns jsonb
  language plpgsql stable
as $$
begin
  return case when extraction -> 'price' ? 'no_currency' then
    jsonb_set(extraction, '{price,currency}', coalesce(filters -> 'price' -> 'currency',
      extraction -> 'price' -> 'currency', to_jsonb(search.market_currency(with_currency.sandbox_id)), jsonb 'null'))
    else extraction end;
end
$$;
comment on function search.with_currency(jsonb, jsonb, uuid) is
  'Returns what was read from a query, with a currency for a bound that names none: that of the filters, of the place, '
  'or of the market.';

create or replace function search.has_offers(sandbox_id uuid, facets tsquery default null) returns boolean
  language plpgsql stable
  set plan_cache_mode = 'force_custom_plan'
  set enable_seqscan = off
as $$
begin
  return exists (
    select from search.document d
    where search.is_listed(d.sandbox_id, has_offers.sandbox_id)
      and (has_offers.facets is null or d.facets @@ has_offers.facets));
end
$$;
comment on function search.has_offers(uuid, tsquery) is
  'Returns whether the market, or a sandbox, has an offer with these facets (null: any offer).';

create or replace function search.missing_notices(extraction jsonb, filters jsonb, is_empty boolean, sandbox_id uuid)
  returns jsonb
  language plpgsql stable
as $$
declare
  currency constant text := coalesce(filters, '{}') -> 'price' ->> 'currency';
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object('code', m.code, 'summary', case m.code
      when 'currency_unused' then internal.sentence('currency_unused', jsonb_build_object('currency', m.name))
      when 'postal_code' then
        internal.sentence('postal_code', jsonb_build_object('place', quote_ident(left(m.name, 60))))
      else internal.sentence('no_offer_there', jsonb_build_object('place', quote_ident(left(m.name, 60)))) end)), '[]')
    from (
      select case when p.place ~ '[0-9]' then 'postal_code' else 'place_unknown' end as code, p.place as name
      from (
        select filters ->> 'location' as place, is_empty as is_checked
        union select extraction ->> 'unknown_place', true
        union select q ->> 'text', is_empty
          from jsonb_array_elements(coalesce(extraction -> 'places', '[]')) as q) as p
      where p.place is not null and (p.place ~ '[0-9]'
        or p.is_checked and not search.has_offers(missing_notices.sandbox_id, search.place_query(p.place)))
      union all
      select 'currency_unused', currency
      where is_empty and currency is not null
        and not search.has_offers(missing_notices.sandbox_id, search.any_lexeme(array['currency/' || currency]))) as m);
end
$$;
comment on function search.missing_notices(jsonb, jsonb, boolean, uuid) is
  'Returns the notices that name a place in which nothing is offered, a postal code, and a currency in which nothing '
  'costs anything: of the filters, or read from the query. is_empty: whether nothing was found.';
