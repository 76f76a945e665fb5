create table reading.classifier (
  name text constraint classifier_pkey primary key,
  classes text[] not null,
  bias real[] not null,
  features text[] not null,
  weights bytea not null,
  learned_from timestamptz not null,
  learning integer not null,
  learned_at timestamptz not null default clock_timestamp(),
  constraint classifier_name_form check (name ~ '^[a-z_]{1,40}$'),
  constraint classifier_name_length check (char_length(name) <= 40),
  constraint classifier_classes_length check (cardinality(classes) between 1 and 1000),
  constraint classifier_bias_length check (cardinality(bias) = cardinality(classes)),
  constraint classifier_features_length check (cardinality(features) <= 1000000),
  constraint classifier_weights_length check (octet_length(weights) = cardinality(features) * cardinality(classes))
);

comment on table reading.classifier is
  'One row is one linear classifier, which decides one question: the kind of a text, its category among those of a '
  'kind, or which passage is the price, the place, the title or a contact. Nobody edits it: a worker trains it again '
  'when the vocabulary, the taxonomy or the examples change. inspect.classifier_weights shows its weights.';
comment on column reading.classifier.name is 'What the classifier tells apart, such as ask_kind.';
comment on column reading.classifier.classes is
  'The classes: kinds, DOMAIN/CATEGORY, or roles of a passage; the one class "score" where passages are compared.';
comment on column reading.classifier.bias is
  'The score (a logarithm) of each class before any feature is counted, in the order of the classes.';
comment on column reading.classifier.features is
  'The features that a text or a passage may have: a template and at most two values, such as a word, where a concept '
  'may replace a word ("word sofa", "pair rent <vehicles>"), or a fact ("thing vehicles/cars", "marker money").';
comment on column reading.classifier.weights is
  'How much each feature speaks for or against each class, in tenths of a logarithm. One signed byte for each feature '
  'and class: first the bytes of the first feature for all classes, then those of the second feature, and so on.';
comment on column reading.classifier.learned_from is
  'The changed_at of reading.vocabulary_change when the training set was read.';
comment on column reading.classifier.learning is
  'The version of the training algorithm (LEARNING in src/reader/training/classifiers.ts).';
comment on column reading.classifier.learned_at is 'When the classifier was stored; different for each training.';
grant select on reading.classifier to souk_dba;
