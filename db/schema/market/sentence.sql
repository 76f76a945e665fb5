create table market.sentence (
  name text constraint sentence_pkey primary key,
  words text not null,
  origin text not null default 'operator',
  constraint sentence_name_form check (name ~ '^[a-z_]{1,60}$'),
  constraint sentence_words_length check (char_length(words) between 1 and 500),
  constraint sentence_origin_known check (origin in ('shipped', 'operator'))
);

comment on table market.sentence is 'One row is one sentence that the database says to callers (internal.sentence).';
comment on column market.sentence.name is 'The name by which functions say it.';
comment on column market.sentence.words is
  'What to say. Where a name stands in braces, the value of this parameter is put.';
