create table reading.vocabulary_change (
  single boolean constraint vocabulary_change_pkey primary key default true,
  changed_at timestamptz not null default clock_timestamp(),
  constraint vocabulary_change_single check (single)
);

insert into reading.vocabulary_change default values;

comment on table reading.vocabulary_change is
  'One row holds the time when the lexicon, the examples or the taxonomy last changed, so that workers load them '
  'again.';
comment on column reading.vocabulary_change.single is 'Always true, so that there is one row.';
comment on column reading.vocabulary_change.changed_at is 'When the last change was made; different for each change.';
grant select on reading.vocabulary_change to souk_dba;
