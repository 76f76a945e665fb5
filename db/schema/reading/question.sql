create table reading.question (
  field text not null,
  language text not null,
  question text not null,
  origin text not null default 'operator',
  constraint question_pkey primary key (field, language),
  constraint question_field_length check (char_length(field) between 1 and 40),
  constraint question_language_length check (char_length(language) between 2 and 20),
  constraint question_question_length check (char_length(question) between 1 and 300),
  constraint question_origin_known check (origin in ('shipped', 'operator'))
);

comment on table reading.question is
  'One row is one question to the person about a field that a text leaves open, in one language.';
comment on column reading.question.field is 'A member of missing_fields.';
comment on column reading.question.language is 'The language of the question (BCP 47).';
grant select on reading.question to souk_dba;

create or replace function reading.questions(
  missing_fields text[], language text, link text default null, places text default null
) returns jsonb
  language sql stable
as $$
  select coalesce(jsonb_agg(coalesce(own.question, english.question)
      -- In any language.
      || case f.field when 'contact' then coalesce(' ' || questions.link || '?', '')
        when 'which_place' then ' ' || questions.places else '' end order by f.n), '[]')
  from unnest(missing_fields) with ordinality as f (field, n)
  left join reading.question own on own.field = f.field and own.language = split_part(questions.language, '-', 1)
  join reading.question english on english.field = f.field and english.language = 'en'
$$;
comment on function reading.questions(text[], text, text, text) is
  'Returns one question for each missing field, in the language of the text or in English. The one for a contact '
  'proposes this link, and the one for a place of which there are several names these places.';
