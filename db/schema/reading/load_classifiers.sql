-- The shipped classifiers were trained on the shipped vocabulary and examples. A database with another vocabulary or
-- other examples keeps its own classifiers. A worker trains them again when its training set changes.

create or replace function reading.load_classifiers(learning integer, classifiers json, is_of_these boolean)
  returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if load_classifiers.is_of_these then
    perform jobs.store_classifiers(
      (select c.changed_at from reading.vocabulary_change c), load_classifiers.learning, load_classifiers.classifiers);
  elsif not exists (select from reading.classifier) then
    -- The database has no classifiers yet. The shipped ones are better than none until a worker has trained its own.
    perform jobs.store_classifiers('-infinity', load_classifiers.learning, load_classifiers.classifiers);
  end if;
end
$$;
comment on function reading.load_classifiers(integer, json, boolean) is
  'Stores the shipped classifiers if they were trained on the vocabulary and examples of this database (is_of_these), '
  'or if the database has no classifiers.';
