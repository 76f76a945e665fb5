-- The taxonomy and the words, as the reader takes them. They are json and not jsonb, which would take several times as
-- long to make for 44,000 words.

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

create or replace function reading.terms() returns json
  language sql stable
as $$
  select coalesce(
    json_agg(json_build_object('term', v.term, 'language', v.language, 'sense', v.sense, 'weight', v.weight)), '[]')
  from reading.vocabulary v
$$;
comment on function reading.terms() is 'The words and what they say, in no order: the reader sorts them.';
