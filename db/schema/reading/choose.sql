-- Several extractions of one text: a model's first, the built-in reader's last. For each field, the first one counts
-- that the text states. A stated value comes before an inferred one.

create or replace function reading.choose_field(
  name text, text text, extractions jsonb, member text default null
) returns jsonb
  language plpgsql stable
as $$
declare
  key constant text := coalesce(choose_field.member, choose_field.name);
  -- Of the built-in reader's places, all that it inferred counts.
  known constant jsonb := case when choose_field.name = 'location' then extractions -> -1 -> key end;
begin
  return (
    select g.field
    from jsonb_array_elements(extractions) with ordinality as e (extraction, n)
    cross join lateral reading.ground_field(choose_field.name, choose_field.text, e.extraction -> key, known)
      as g (field)
    where g.field is not null
    -- Every title consists of words of the text, so the first one counts.
    order by choose_field.name <> 'title' and g.field ->> 'basis' = 'inferred', e.n
    limit 1);
end
$$;
comment on function reading.choose_field(text, text, jsonb, text) is
  'Returns a field of several extractions: the first stated one that is grounded, else the first inferred one, or '
  'null. `member` is the field''s name in the extraction if it is another.';

create or replace function reading.choose_category(text text, extractions jsonb, domain text) returns jsonb
  language plpgsql stable
as $$
begin
  -- A category means something only with the domain that the same extraction gives.
  return reading.choose_field('category', choose_category.text, (
    select coalesce(jsonb_agg(e.extraction order by e.n), '[]')
    from jsonb_array_elements(extractions) with ordinality as e (extraction, n)
    join market.category c on c.category = e.extraction -> 'category' ->> 'value' and c.domain = choose_category.domain
    where e.extraction -> 'domain' ->> 'value' = choose_category.domain));
end
$$;
comment on function reading.choose_category(text, jsonb, text) is
  'Returns the category of several extractions that belongs to a domain: the first one that is grounded, or null.';

create or replace function reading.choose_offer_kind(text text, extractions jsonb, domain text) returns jsonb
  language plpgsql stable
as $$
begin
  return reading.choose_field('offer_kind', choose_offer_kind.text, (
    select coalesce(jsonb_agg(e.extraction order by e.n), '[]')
    from jsonb_array_elements(extractions) with ordinality as e (extraction, n)
    where choose_offer_kind.domain is null or exists (
      select from market.domain d
      where d.domain = choose_offer_kind.domain and e.extraction -> 'offer_kind' ->> 'value' = any (d.kinds))));
end
$$;
comment on function reading.choose_offer_kind(text, jsonb, text) is
  'Returns the kind of offer of several extractions that a domain allows (any without a domain), or null.';

create or replace function reading.choose_list(name text, text text, extractions jsonb, most integer) returns jsonb
  language plpgsql stable
as $$
begin
  return coalesce((
    select list.fields
    from jsonb_array_elements(extractions) with ordinality as e (extraction, n)
    cross join lateral (
      select jsonb_agg(g.field order by f.n) as fields
      from jsonb_array_elements(
        case jsonb_typeof(e.extraction -> choose_list.name) when 'array' then e.extraction -> choose_list.name
          else '[]' end)
        with ordinality as f (field, n)
      cross join lateral reading.ground_field(choose_list.name, choose_list.text, f.field) as g (field)
      where f.n <= most and g.field is not null) as list
    where list.fields is not null
    order by e.n limit 1), '[]');
end
$$;
comment on function reading.choose_list(text, text, jsonb, integer) is
  'Returns the grounded entries of a list: of the first extraction that has any. Of each list, the first `most` count.';

create or replace function reading.choose_language(extractions jsonb) returns text
  language sql immutable
as $$
  -- Other tags, such as one of 21 characters, are dropped.
  select substring(e.extraction ->> 'language' from '^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$')
  from jsonb_array_elements(extractions) with ordinality as e (extraction, n)
  where e.extraction ->> 'language' ~ '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$' and length(e.extraction ->> 'language') <= 20
  order by e.n limit 1
$$;
comment on function reading.choose_language(jsonb) is
  'Returns the language that the first extraction with one gives (BCP 47, at most 20 characters), or null.';
