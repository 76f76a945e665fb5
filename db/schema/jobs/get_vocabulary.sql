-- The data for the built-in reader and for the instructions to a model: the taxonomy, the lexicon, the classifiers and
-- the meanings of words.

create or replace function jobs.vocabulary_changed_at() returns text
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select concat_ws(' ', c.changed_at, (select max(l.learned_at) from reading.classifier l))
  from reading.vocabulary_change c
$$;
comment on function jobs.vocabulary_changed_at() is
  'Returns a version of the lexicon, examples, taxonomy and classifiers, made from the times of their last changes. A '
  'process that has another version loads them again.';

create or replace function jobs.get_vocabulary() returns json
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select json_build_object(
    'version', jobs.vocabulary_changed_at(),
    'taxonomy', reading.taxonomy(),
    'concepts', reading.concepts(),
    'labels', reading.labels(),
    'places', reading.places(),
    'learning', (select max(c.learning) from reading.classifier c),
    'classifiers', (
      select coalesce(
        json_object_agg(c.name, json_build_object('classes', c.classes, 'bias', c.bias, 'features', c.features,
          'weights', reading.base64(c.weights))),
        '{}')
      from reading.classifier c),
    'meaning', (
      select json_build_object('topics', m.topics, 'vectors', reading.base64(m.vectors), 'words', m.words,
        'weights', reading.base64(m.weights), 'counts', reading.base64(m.counts),
        'parts', reading.base64(m.parts))
      from reading.meaning m))
$$;
comment on function jobs.get_vocabulary() is
  'Returns the taxonomy, the lexicon, the places, the classifiers and the meanings of words as {version, taxonomy, '
  'concepts, labels, places, learning, classifiers, meaning}, for the extractors and the embedder. learning: the '
  'version of the code by which the classifiers were learned; null if there are none.';
