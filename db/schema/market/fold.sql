-- Words are compared without case and accents.

create or replace function market.fold(words text) returns text
  language sql immutable parallel safe
as $$
  select translate(
    replace(replace(replace(
      regexp_replace(normalize(lower(words), NFKD), '[\u0300-\u036f]', '', 'g'),
      'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'),
    'łøđðıþ', 'loddit')
$$;
comment on function market.fold(text) is 'Words as they are compared: lower case, compatibility forms resolved, no accents.';
grant execute on function market.fold(text) to souk_agent, souk_person, souk_moderator;

create or replace function market.search_config(language text) returns regconfig
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
comment on function market.search_config(text) is 'The stemmer of a language (BCP 47); simple where PostgreSQL has none, as for Polish.';
grant execute on function market.search_config(text) to souk_agent, souk_person, souk_moderator;
