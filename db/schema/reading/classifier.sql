-- What was learned from the examples: nobody writes it by hand, and whatever it was made from is kept elsewhere. A
-- worker learns again when words, taxonomy or examples change.

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

alter table reading.classifier enable row level security;
alter table reading.classifier force row level security;
create policy "the owner sees all" on reading.classifier to souk_owner using (true) with check (true);
create policy "a dba reads all" on reading.classifier for select to souk_dba using (true);

-- Reloaded: grants and comments from here on are loaded again whenever a file of db/schema changes.

comment on table reading.classifier is
  'One row tells classes of one sort apart: ask_kind, offer_kind, and the categories of goods, services, jobs_projects '
  'and community. inspect.classifier_weights shows what it has learned.';
comment on column reading.classifier.name is 'What it tells apart.';
comment on column reading.classifier.classes is 'The kinds, or DOMAIN/CATEGORY.';
comment on column reading.classifier.bias is
  'What speaks for each class before a text is looked at, as a logarithm, in the order of the classes.';
comment on column reading.classifier.features is
  'What a text may have: a word, two words, either with what the vocabulary knows in its stead ("<place>", "rent '
  '<vehicles>"), or a fact ("price:month", "thing:vehicles/cars").';
comment on column reading.classifier.weights is
  'How much each feature speaks for each class, or against it: for each feature, in their order, a signed byte per '
  'class, in tenths of a logarithm.';
comment on column reading.classifier.learned_from is
  'The reading.vocabulary_change that the words and examples were of.';
comment on column reading.classifier.learning is 'Which way of learning it was (src/language/builtin/learn.ts).';
comment on column reading.classifier.learned_at is 'When it was stored; differs from one learning to the next.';
grant select on reading.classifier to souk_dba;
