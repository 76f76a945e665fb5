-- Words are compared without case and accents.

create or replace function reading.fold(words text) returns text
  language sql immutable parallel safe
as $$
  select translate(
    replace(replace(replace(
      regexp_replace(normalize(lower(words), nfkd), '[\u0300-\u036f]', '', 'g'),
      'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'),
    'łøđðıþ', 'loddit')
$$;
comment on function reading.fold(text) is
  'Returns words in the form in which they are compared: lower case, compatibility forms resolved, without accents.';
grant execute on function reading.fold(text) to souk_agent, souk_person, souk_moderator;

create or replace function reading.search_config(language text) returns regconfig
  language sql immutable parallel safe
as $$
  select case split_part(language, '-', 1)
    when 'de' then 'pg_catalog.german'::regconfig
    when 'en' then 'pg_catalog.english'::regconfig
    when 'es' then 'pg_catalog.spanish'::regconfig
    when 'fr' then 'pg_catalog.french'::regconfig
    when 'it' then 'pg_catalog.italian'::regconfig
    when 'nl' then 'pg_catalog.dutch'::regconfig
    when 'pt' then 'pg_catalog.portuguese'::regconfig
    else 'pg_catalog.simple'::regconfig
  end
$$;
comment on function reading.search_config(text) is
  'Returns the text search configuration of a language (BCP 47); simple for a language without a stemmer in '
  'PostgreSQL, such as Polish.';
grant execute on function reading.search_config(text) to souk_agent, souk_person, souk_moderator;

create or replace function reading.languages() returns text[]
  language sql immutable parallel safe
as $$ select array['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl'] $$;
comment on function reading.languages() is 'Returns the languages of the market (ISO 639-1).';

create or replace function reading.stem(word text, language text) returns text[]
  language sql immutable parallel safe
as $$
  select case language
    when 'de' then ts_lexize('pg_catalog.german_stem', word)
    when 'en' then ts_lexize('pg_catalog.english_stem', word)
    when 'es' then ts_lexize('pg_catalog.spanish_stem', word)
    when 'fr' then ts_lexize('pg_catalog.french_stem', word)
    when 'it' then ts_lexize('pg_catalog.italian_stem', word)
    when 'nl' then ts_lexize('pg_catalog.dutch_stem', word)
    when 'pt' then ts_lexize('pg_catalog.portuguese_stem', word)
    else array[word]
  end
$$;
comment on function reading.stem(text, text) is
  'Returns the stem of a folded word in a language of the market, in an array; an empty array for a stop word.';
