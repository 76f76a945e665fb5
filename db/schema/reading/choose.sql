-- Several extractions of one text: a model's first, the built-in reader's last. For each field, the first one counts
-- that is grounded in the text. A stated value comes before an inferred one.

create or replace function reading.choose_field(
  name text, text text, extractions jsonb, member text default null
) returns jsonb
  language plpgsql stable
as $$
declare
  key constant text := coalesce(choose_field.member, choose_field.name);
  field jsonb;
  inferred jsonb;
begin
  -- A loop and not a query, because starting a query takes longer than grounding a field, and the first extraction
  -- mostly decides.
  for n in 0 .. jsonb_array_length(extractions) - 1 loop
    field := reading.ground_field(choose_field.name, choose_field.text, extractions -> n -> key);
    -- Every title consists of words of the text, so the first one counts.
    if field is not null and (choose_field.name = 'title' or field ->> 'basis' = 'stated') then
      return field;
    end if;
    inferred := coalesce(inferred, field);
  end loop;
  return inferred;
end
$$;
comment on function reading.choose_field(text, text, jsonb, text) is
  'Returns a field of several extractions: the first stated one that is grounded, else the first inferred one, or '
  'null. `member` is the field''s name in the extraction if it is another.';

create or replace function reading.choose_category(text text, extractions jsonb, domain text) returns jsonb
  language plpgsql stable
as $$
declare
  -- A category means something only with the domain that the same extraction gives.
  fitting jsonb := jsonb '[]';
begin
  for n in 0 .. jsonb_array_length(extractions) - 1 loop
    if extractions -> n -> 'domain' ->> 'value' = choose_category.domain
      and exists (select from market.category c
        where c.domain = choose_category.domain and c.category = extractions -> n -> 'category' ->> 'value') then
      fitting := fitting || jsonb_build_array(extractions -> n);
    end if;
  end loop;
  return reading.choose_field('category', choose_category.text, fitting);
end
$$;
comment on function reading.choose_category(text, jsonb, text) is
  'Returns the category of several extractions that belongs to a domain: the first one that is grounded, or null.';

create or replace function reading.choose_offer_kind(text text, extractions jsonb, domain text) returns jsonb
  language plpgsql stable
as $$
declare
  allowed constant text[] := (select d.kinds from market.domain d where d.domain = choose_offer_kind.domain);
  fitting jsonb := jsonb '[]';
begin
  for n in 0 .. jsonb_array_length(extractions) - 1 loop
    if choose_offer_kind.domain is null or extractions -> n -> 'offer_kind' ->> 'value' = any (allowed) then
      fitting := fitting || jsonb_build_array(extractions -> n);
    end if;
  end loop;
  return reading.choose_field('offer_kind', choose_offer_kind.text, fitting);
end
$$;
comment on function reading.choose_offer_kind(text, jsonb, text) is
  'Returns the kind of offer of several extractions that a domain allows (any without a domain), or null.';

create or replace function reading.choose_list(name text, text text, extractions jsonb, max_entries integer)
  returns jsonb
  language plpgsql stable
as $$
declare
  list jsonb;
  fields jsonb;
begin
  for n in 0 .. jsonb_array_length(extractions) - 1 loop
    list := extractions -> n -> choose_list.name;
    -- Most lists are empty.
    if jsonb_typeof(list) = 'array' and list <> '[]' then
      fields := (
        select jsonb_agg(g.field order by f.n)
        from jsonb_array_elements(list) with ordinality as f (field, n)
        cross join lateral reading.ground_field(choose_list.name, choose_list.text, f.field) as g (field)
        where f.n <= max_entries and g.field is not null);
      if fields is not null then
        return fields;
      end if;
    end if;
  end loop;
  return jsonb '[]';
end
$$;
comment on function reading.choose_list(text, text, jsonb, integer) is
  'Returns the grounded entries of a list: of the first extraction that has any. Of each list, the first `max_entries` '
  'count.';

create or replace function reading.choose_language(extractions jsonb) returns text
  language plpgsql immutable
as $$
begin
  -- Other tags are dropped: further subtags may be words, which no text should get published in its language.
  return (
    select e.extraction ->> 'language'
    from jsonb_array_elements(extractions) with ordinality as e (extraction, n)
    where e.extraction ->> 'language' ~ '^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?$'
    order by e.n limit 1);
end
$$;
comment on function reading.choose_language(jsonb) is
  'Returns the language that the first extraction with one gives, or null: a BCP 47 tag of a language, perhaps with a '
  'script and a region ("de", "pt-BR", "zh-Hant-TW").';
