-- The weights that ship were learned from the words and examples that ship. A market with other words, or that has
-- learned for itself, keeps its own: a worker learns again when its words change.

create or replace function reading.load_classifiers(learning integer, classifiers json, is_of_these boolean)
  returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if load_classifiers.is_of_these then
    perform jobs.store_classifiers(
      (select c.changed_at from reading.vocabulary_change c), load_classifiers.learning, load_classifiers.classifiers);
  elsif not exists (select from reading.classifier) then
    -- Better than none until a worker has learned from the words that there are.
    perform jobs.store_classifiers('-infinity', load_classifiers.learning, load_classifiers.classifiers);
  end if;
end
$$;
comment on function reading.load_classifiers(integer, json, boolean) is
  'Stores the weights that ship when they were learned from the words and examples that are here, and otherwise only '
  'where there are none.';
