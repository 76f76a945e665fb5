create table market.reason (
  code text constraint reason_pkey primary key,
  rank smallint not null,
  summary text not null,
  sentence text not null,
  origin text not null default 'operator',
  constraint reason_code_form check (code ~ '^[a-z_]{1,40}$'),
  constraint reason_summary_length check (char_length(summary) between 1 and 120),
  constraint reason_sentence_length check (char_length(sentence) between 1 and 500),
  constraint reason_origin_known check (origin in ('shipped', 'operator'))
);

comment on table market.reason is
  'One row is one reason for a report, or for removing an offer or suspending an account.';
comment on column market.reason.code is 'The code that agents see.';
comment on column market.reason.rank is 'The position in lists.';
comment on column market.reason.summary is 'The meaning of the code, for moderators.';
comment on column market.reason.sentence is 'The sentence for the owner when the moderator wrote none.';
