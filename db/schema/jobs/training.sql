-- Training of the classifiers and of the meanings of words: a worker asks whether the training set has changed, trains
-- for some seconds, and stores the result.

create or replace function jobs.get_training_set(learning integer) returns json
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select json_build_object(
    'changed_at', v.changed_at,
    'vocabulary', json_build_object('taxonomy', reading.taxonomy(), 'concepts', reading.concepts(),
      'labels', reading.labels(), 'places', reading.places()),
    'things', reading.things(),
    'examples', (
      select coalesce(json_agg(e), '[]')
      from (
        select x.text, x.language, x.offer_kind, x.ask_kind, x.domain, x.category
        from reading.example x order by x.text collate "C") as e))
  from reading.vocabulary_change v
  where not exists (
    select from reading.classifier c
    -- Two versions of the worker may run at once. The older one must keep the newer one's classifiers; otherwise each
    -- would replace the other's again and again.
    where c.learned_from = v.changed_at and c.learning >= get_training_set.learning)
$$;
comment on function jobs.get_training_set(integer) is
  'Returns the training set (the lexicon and the examples) when it has changed since the last training by this version '
  'of the algorithm or a later one; null otherwise.';

create or replace function jobs.store_classifiers(changed_at timestamptz, learning integer, classifiers json)
  returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- If several workers trained on the same set, only the first stores its result. If a result from a newer set is
  -- already stored, the worker stores nothing.
  perform pg_advisory_xact_lock(hashtext('reading.classifier'));
  if exists (
    select from reading.classifier c
    where (c.learned_from, c.learning) >= (store_classifiers.changed_at, store_classifiers.learning)) then
    return;
  end if;
  delete from reading.classifier;
  insert into reading.classifier (name, classes, bias, features, weights, learned_from, learning)
  select l.name,
    array(select json_array_elements_text(l.learned -> 'classes')),
    array(select json_array_elements_text(l.learned -> 'bias')::real),
    array(select json_array_elements_text(l.learned -> 'features')),
    decode(l.learned ->> 'weights', 'base64'),
    store_classifiers.changed_at, store_classifiers.learning
  from json_each(store_classifiers.classifiers) as l (name, learned)
  where l.name <> 'meaning';
  delete from reading.meaning;
  insert into reading.meaning (topics, vectors, words, weights, counts, parts)
  select array(select json_array_elements_text(l.learned -> 'topics')), decode(l.learned ->> 'vectors', 'base64'),
    array(select json_array_elements_text(l.learned -> 'words')), decode(l.learned ->> 'weights', 'base64'),
    decode(l.learned ->> 'counts', 'base64'), decode(l.learned ->> 'parts', 'base64')
  from json_each(store_classifiers.classifiers) as l (name, learned)
  where l.name = 'meaning';
end
$$;
comment on function jobs.store_classifiers(timestamptz, integer, json) is
  'Replaces the classifiers and the meanings of words, unless a training on a later set, or on the same set by the '
  'same or a later version of the algorithm, is already stored. classifiers: by name {classes, bias, features, '
  'weights}, and as `meaning` {topics, vectors, words, weights, counts, parts}; bytes as base64.';
