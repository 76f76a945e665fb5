--! Previous: sha1:b0a959f38a6db7a07849db334b5e00baf2e9e7f1
--! Hash: sha1:4e812a0cb076a6153fdc520d34a877c61a842f57
--! Message: learning-settled

-- Enter migration here

set local role souk_owner;

drop view inspect.classifier_weights;
--! Included inspect/reading.sql
-- What the built-in reader has learned.

create view inspect.classifier_weights with (security_invoker = true) as
select c.name as classifier, s.class, f.feature,
  -- A signed byte: from 128 on it counts from -128.
  ((case when s.byte > 127 then s.byte - 256 else s.byte end) / 10.0)::numeric(4, 1) as weight
-- Unpacked once, not for each byte.
from (select name, classes, features, weights || ''::bytea as weights from market.classifier offset 0) as c
cross join lateral unnest(c.features) with ordinality as f (feature, n)
cross join lateral (
  select k.class, get_byte(c.weights, ((f.n - 1) * cardinality(c.classes) + k.n - 1)::integer) as byte
  from unnest(c.classes) with ordinality as k (class, n)
  offset 0) as s
where s.byte <> 0;
comment on view inspect.classifier_weights is
  'When texts are read as the wrong kind or category: what speaks for and against it. For example, what makes an ask one to rent: where classifier = ''ask_kind'' and class = ''rent'' order by weight desc. Nothing is mended here: add examples to market.ask_example or market.offer_example, and a worker learns within a minute.';
comment on column inspect.classifier_weights.classifier is 'ask_kind, offer_kind, or what categories it tells apart.';
comment on column inspect.classifier_weights.class is 'The kind, or DOMAIN/CATEGORY.';
comment on column inspect.classifier_weights.feature is 'What a text may have: a word, two words, or a fact about it.';
comment on column inspect.classifier_weights.weight is 'How much it speaks for the class, or against it when negative; a logarithm.';
grant select on inspect.classifier_weights to souk_dba;
--! EndIncluded inspect/reading.sql

-- Functions beside tables whose text changed (as db/schema has them)

CREATE OR REPLACE FUNCTION market.accounts_being_hidden()
 RETURNS uuid[]
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  return (select array_agg(a.id) from market.account a
    where a.hiding and a.suspended_at is not null);
end
$function$;
comment on function market.accounts_being_hidden() is 'Accounts that were suspended and whose offers are not all archived yet: what is still live of them is shown to nobody else. Null when there are none, as nearly always.';
grant execute on function market.accounts_being_hidden() to souk_agent, souk_person;

CREATE OR REPLACE FUNCTION market.indexed_part(conditions market.conditions)
 RETURNS market.conditions
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
begin
  conditions.period := null;
  if num_nonnulls(conditions.price_min, conditions.price_max) = 0 then
    conditions.currency := null;
  end if;
  conditions.filters := case when conditions.filters ? 'posted_since'
    then jsonb_build_object('posted_since', conditions.filters -> 'posted_since') else '{}' end;
  return conditions;
end
$function$;
comment on function market.indexed_part(market.conditions) is 'The filters that the index of facets knows.';

CREATE OR REPLACE FUNCTION jobs.get_lesson(learning integer)
 RETURNS jsonb
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select jsonb_build_object(
    'changed_at', v.changed_at,
    'vocabulary', jobs.get_vocabulary() - 'classifiers',
    'examples', (
      select coalesce(
        jsonb_agg(jsonb_build_object('document', e.document, 'kind', e.kind, 'category', e.category, 'text', e.text)
          order by e.document, e.text collate "C"),
        '[]')
      from (
        select 'ask', a.ask_kind, a.category, a.text
        from market.ask_example a
        union all
        select 'offer', o.offer_kind, o.category, o.text
        from market.offer_example o) as e (document, kind, category, text)))
  from market.vocabulary_change v
  where not exists (
    select from market.classifier c
    -- Of workers of two releases the older leaves alone what the newer learned: else they would learn in turns.
    where c.learned_from = v.changed_at and c.learning >= get_lesson.learning)
$function$;
comment on function jobs.get_lesson(integer) is 'The words and the examples, when something changed since it was last learned from them in the given or a later way; otherwise null.';
grant execute on function jobs.get_lesson(integer) to souk_worker;

CREATE OR REPLACE FUNCTION jobs.store_classifiers(changed_at timestamp with time zone, learning integer, classifiers jsonb)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  -- Of workers that learned the same only the first stores it, and none what others overtook while it learned.
  perform pg_advisory_xact_lock(hashtext('market.classifier'));
  if exists (
    select from market.classifier c
    where (c.learned_from, c.learning) >= (store_classifiers.changed_at, store_classifiers.learning)) then
    return;
  end if;
  delete from market.classifier;
  insert into market.classifier (name, classes, bias, features, weights, learned_from, learning)
  select l.name,
    array(select jsonb_array_elements_text(l.learned -> 'classes')),
    array(select jsonb_array_elements_text(l.learned -> 'bias')::real),
    array(select jsonb_array_elements_text(l.learned -> 'features')),
    decode(l.learned ->> 'weights', 'base64'),
    store_classifiers.changed_at, store_classifiers.learning
  from jsonb_each(store_classifiers.classifiers) as l (name, learned);
end
$function$;
comment on function jobs.store_classifiers(timestamp with time zone,integer,jsonb) is 'Stores what was learned, in place of what was learned before, unless others stored the same or later meanwhile: by name the classes, the bias of each, the features, and their weights as base64.';
grant execute on function jobs.store_classifiers(timestamp with time zone,integer,jsonb) to souk_worker;

CREATE OR REPLACE FUNCTION api.get_vocabulary()
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$ begin return jobs.get_vocabulary(); end $function$;
comment on function api.get_vocabulary() is 'The taxonomy, the words and what was learned from the examples, as the reader of queries takes them.';
grant execute on function api.get_vocabulary() to souk_api;

CREATE OR REPLACE FUNCTION api.vocabulary_changed_at()
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$ begin return to_jsonb(jobs.vocabulary_changed_at()); end $function$;
comment on function api.vocabulary_changed_at() is 'When words, taxonomy or examples last changed, and when it was last learned from them: when it differs from what an API process knows, the process gets them again.';
grant execute on function api.vocabulary_changed_at() to souk_api;

reset role;
