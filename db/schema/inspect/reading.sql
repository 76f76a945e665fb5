-- What the classifiers of the built-in reader have learned.

create or replace view inspect.classifier_weights with (security_invoker = true) as
select c.name as classifier, s.class, f.feature,
  -- A signed byte: values from 128 on stand for -128 to -1.
  ((case when s.byte > 127 then s.byte - 256 else s.byte end) / 10.0)::numeric(4, 1) as weight
-- The concatenation decompresses the weights once here, so that get_byte does not do so for each byte.
from (select name, classes, features, weights || ''::bytea as weights from reading.classifier offset 0) as c
cross join lateral unnest(c.features) with ordinality as f (feature, n)
cross join lateral (
  select k.class, get_byte(c.weights, ((f.n - 1) * cardinality(c.classes) + k.n - 1)::integer) as byte
  from unnest(c.classes) with ordinality as k (class, n)
  offset 0) as s
where s.byte <> 0;
comment on view inspect.classifier_weights is
  'When texts get the wrong kind or category: which features count for and against each class. For example, the '
  'features of asks to rent: where classifier = ''ask_kind'' and class = ''rent'' order by weight desc. To correct a '
  'classifier, add examples to reading.example, and a worker trains on them within a minute.';
comment on column inspect.classifier_weights.classifier is
  'ask_kind, offer_kind, or the group of domains whose categories the classifier tells apart.';
comment on column inspect.classifier_weights.class is 'The kind, or DOMAIN/CATEGORY.';
comment on column inspect.classifier_weights.feature is
  'The feature that a text may have: a word, two words, or a fact about the text.';
comment on column inspect.classifier_weights.weight is
  'The log weight of the feature for the class. A negative weight counts against the class.';
grant select on inspect.classifier_weights to souk_dba;
