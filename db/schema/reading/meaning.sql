create table reading.meaning (
  single boolean constraint meaning_pkey primary key default true,
  topics text[] not null,
  vectors bytea not null,
  words text[] not null,
  weights bytea not null,
  counts bytea not null,
  parts bytea not null,
  constraint meaning_single check (single),
  constraint meaning_topics_length check (cardinality(topics) <= 65536),
  constraint meaning_vectors_length check (octet_length(vectors) = 256 * cardinality(topics)),
  constraint meaning_words_length check (cardinality(words) <= 1000000),
  constraint meaning_weights_length check (octet_length(weights) = cardinality(words)),
  constraint meaning_counts_length check (octet_length(counts) = cardinality(words)),
  constraint meaning_parts_length check (octet_length(parts) % 3 = 0)
);

comment on table reading.meaning is
  'The one row is what words mean to the built-in embedder: each has topics (things, categories, domains) with '
  'weights, and each topic has a vector. Nobody edits it: a worker learns it together with reading.classifier. '
  'inspect.word_meanings shows it word by word.';
comment on column reading.meaning.single is 'Always true, so that there is at most one row.';
comment on column reading.meaning.topics is 'The names of the topics: a concept, DOMAIN/CATEGORY or DOMAIN.';
comment on column reading.meaning.vectors is
  'The vectors of the topics, one after the other: 256 signed bytes each, all vectors of the same length.';
comment on column reading.meaning.words is 'The words and phrases, folded and sorted by bytes.';
comment on column reading.meaning.weights is
  'How much each word says, in eightieths: one byte for each word. Frequent words and words without a clear meaning '
  'say little.';
comment on column reading.meaning.counts is 'How many parts each word has: one byte for each word.';
comment on column reading.meaning.parts is
  'The parts of the words, one after the other, three bytes each: the number of the topic from 0 on (the lower byte '
  'first) and its weight in 160ths.';
grant select on reading.meaning to souk_dba;
