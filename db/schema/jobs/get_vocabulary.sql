-- What the built-in reader and the instructions to a model are made from: the taxonomy, the words and the examples.

create or replace function jobs.get_vocabulary() returns jsonb
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'version', (select c.changed_at::text from market.vocabulary_change c),
    'taxonomy', (
      select jsonb_agg(jsonb_build_object(
        'domain', d.domain,
        'kinds', d.kinds,
        'categories', (
          select coalesce(jsonb_agg(c.category order by c.position), '[]')
          from market.category c
          where c.domain = d.domain)) order by d.position)
      from market.domain d),
    'terms', (
      select coalesce(
        jsonb_agg(jsonb_build_object('term', v.term, 'language', v.language, 'sense', v.sense, 'weight', v.weight) order by v.id),
        '[]')
      from market.vocabulary v),
    'asks', (
      select coalesce(jsonb_agg(jsonb_build_object('text', e.text, 'kind', e.ask_kind, 'category', e.category) order by e.id), '[]')
      from market.ask_example e))
$$;
comment on function jobs.get_vocabulary() is 'The taxonomy, the words and the examples of the market, as the makers of readings take them.';
grant execute on function jobs.get_vocabulary() to souk_worker;

create or replace function jobs.vocabulary_changed_at() returns text
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$ select c.changed_at::text from market.vocabulary_change c $$;
comment on function jobs.vocabulary_changed_at() is
  'When the vocabulary, the examples or the taxonomy last changed: when it differs from what a worker knows, the worker gets them again.';
grant execute on function jobs.vocabulary_changed_at() to souk_worker;
