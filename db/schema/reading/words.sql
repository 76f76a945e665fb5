-- The taxonomy and the lexicon, as the reader takes them. They are json and not jsonb, which would take several times
-- as long to make for 52,000 words.

create or replace function reading.taxonomy() returns json
  language sql stable
as $$
  select json_agg(json_build_object(
    'domain', d.domain,
    'kinds', d.kinds,
    'categories', (
      select coalesce(json_agg(c.category order by c.position), '[]')
      from market.category c
      where c.domain = d.domain)) order by d.position)
  from market.domain d
$$;
comment on function reading.taxonomy() is 'The domains with their kinds of offer and their categories.';

create or replace function reading.concepts() returns json
  language sql stable
as $$
  select coalesce(json_agg(c), '[]')
  from (
    select c.concept, c.type, c.domain, c.category, c.offer_kind, c.ask_kind, c.condition
    from reading.concept c where c.type <> 'thing') as c
$$;
comment on function reading.concepts() is
  'The concepts that the reader uses, in no order: all but the things, which only the search uses.';

create or replace function reading.labels() returns json
  language sql stable
as $$
  -- Arrays take less than half the time of objects. src/reader/extraction.ts has the same order.
  select coalesce(json_agg(json_build_array(l.concept, l.language, l.form, l.weight, l.is_prefix)), '[]')
  from reading.label l where l.type <> 'thing'
$$;
comment on function reading.labels() is
  'The labels of reading.concepts() as [concept, language, form, weight, is_prefix], in no order: the reader sorts '
  'them.';

create or replace function reading.things() returns json
  language sql stable
as $$
  select json_build_object(
    'labels', (select coalesce(json_agg(json_build_array(l.concept, l.form)), '[]')
      from reading.label l where l.type = 'thing'),
    'broader', (select coalesce(json_agg(json_build_array(b.concept, b.broader)), '[]') from reading.broader b))
$$;
comment on function reading.things() is
  'The labels of things as [concept, form] and the broader concepts as [concept, broader], in no order.';

create or replace function reading.base64(bytes bytea) returns text
  language sql immutable
as $$
  -- PostgreSQL breaks lines after 76 characters. translate() takes four times as long for a megabyte.
  select replace(encode(bytes, 'base64'), chr(10), '')
$$;
comment on function reading.base64(bytea) is 'Bytes as base64 in one line.';
