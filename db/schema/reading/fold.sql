-- Words are compared without case and accents. src/reader/text/fold.ts and tokens.ts give the same results, so the
-- reader and the database see the same words. Nothing here depends on the locale of the database or its version of
-- Unicode.

create or replace function reading.fold(words text) returns text
  language plpgsql immutable strict parallel safe
as $$
declare
  plain text;
  -- The letters from the Latin to the Armenian alphabet that NFKD leaves alone. lower() depends on the locale.
  capitals constant text[] := array[
    ['ÆÐØÞĐĦŁŊŒŦƁƂƄƆƇƉƊƋƎƏƐƑƓƔƖƗƘƜƝƟƢƤƦƧƩƬƮƱƲƳƵƷƸƼǤǶǷȜȠȢȤȺȻȽȾɁɃɄɅɆɈɊɌɎ',
      'æðøþđħłŋœŧɓƃƅɔƈɖɗƌǝəɛƒɠɣɩɨƙɯɲɵƣƥʀƨʃƭʈʊʋƴƶʒƹƽǥƕƿȝƞȣȥⱥȼƚⱦɂƀʉʌɇɉɋɍɏ'],
    ['ͰͲͶͿΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩϏϘϚϜϞϠϢϤϦϨϪϬϮϷϺϽϾϿ',
      'ͱͳͷϳαβγδεζηθικλμνξοπρστυφχψωϗϙϛϝϟϡϣϥϧϩϫϭϯϸϻͻͼͽ'],
    ['ЂЄЅІЈЉЊЋЏАБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯѠѢѤѦѨѪѬѮѰѲѴѸѺѼѾҀҊҌҎҐҒҔҖҘҚҜҞҠҢҤҦҨҪҬҮҰҲҴҶҸҺҼҾӀӃӅӇӉӋӍӔӘӠӨӶӺӼӾԀԂ'
      || 'ԄԆԈԊԌԎԐԒԔԖԘԚԜԞԠԢԤԦԨԪԬԮ',
      'ђєѕіјљњћџабвгдежзиклмнопрстуфхцчшщъыьэюяѡѣѥѧѩѫѭѯѱѳѵѹѻѽѿҁҋҍҏґғҕҗҙқҝҟҡңҥҧҩҫҭүұҳҵҷҹһҽҿӏӄӆӈӊӌӎӕәӡөӷӻӽӿԁԃ'
      || 'ԅԇԉԋԍԏԑԓԕԗԙԛԝԟԡԣԥԧԩԫԭԯ'],
    ['ԱԲԳԴԵԶԷԸԹԺԻԼԽԾԿՀՁՂՃՄՅՆՇՈՉՊՋՌՍՎՏՐՑՒՓՔՕՖ',
      'աբգդեզէըթժիլխծկհձղճմյնշոչպջռսվտրցւփքօֆ']];
  alphabet text[];
begin
  if octet_length(words) = char_length(words) then
    return internal.lower_case(words);
  end if;
  plain := internal.lower_case(regexp_replace(normalize(words, nfkd),
    '[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f]', '', 'g'));
  -- Most texts have none of these letters, and to look for them takes a tenth of the time that replacing them takes.
  foreach alphabet slice 1 in array capitals loop
    if plain ~ ('[' || alphabet[1] || ']') then
      plain := translate(plain, alphabet[1], alphabet[2]);
    end if;
  end loop;
  if plain ~ '[ßẞæœłøđðıþς]' then
    plain := translate(
      replace(replace(replace(replace(plain, 'ß', 'ss'), 'ẞ', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'łøđðıþς', 'lodditσ');
  end if;
  return plain;
end
$$;
comment on function reading.fold(text) is
  'Returns words in the form in which they are compared: lower case, compatibility forms resolved, without accents.';
grant execute on function reading.fold(text) to souk_agent, souk_person, souk_moderator;

create or replace function reading.plain_words(words text) returns text
  -- In PL/pgSQL, because a generated column calls it: the body of a function in SQL would be inlined when a dump
  -- creates the table, and the dump need not have created reading.fold by then.
  language plpgsql immutable strict parallel safe
as $$
begin
  -- The parser of PostgreSQL would take "sofa/couch" for a file, "good.Price" for a host and "-40" for a number, and
  -- what is a letter to it depends on the locale.
  return regexp_replace(reading.fold(words),
    '-(?=[0-9])|[\u0001-\u0021\u0023-\u002c\u002e-\u002f\u003a-\u0060\u007b-\u00bf\u00d7\u00f7\u02b0-\u02ff\u0375'
    || '\u0387\u03f6\u0482\u055a-\u055f\u0589-\u058f\u05be\u05c0\u05c3\u05c6\u05f3-\u05f4\u0600-\u060f\u061b-\u061f'
    || '\u066a-\u066d\u06d4\u06dd-\u06de\u06e9\u06fd-\u06fe\u0964-\u0965\u0970\u0e3f\u0e4f\u0e5a-\u0e5b'
    || '\u10fb\u2000-\u2bff\u2e00-\u2e7f\u3000-\u3004\u3008-\u3020\u3030\u3036-\u3037\u303d-\u303f\u30a0'
    || '\u30fb\ue000-\uf8ff\ufd3e-\ufd4f\ufe10-\ufe6f\ufeff\ufff0-\uffff\U0001d000-\U0001d35f'
    || '\U0001f000-\U0001fbef\U000e0000-\U0010ffff]+', ' ', 'g');
end
$$;
comment on function reading.plain_words(text) is
  'Returns a text folded, with spaces for white space, punctuation, signs and pictures. Whatever is stored as lexemes '
  'or looked for among them goes through this function. Hyphens before letters stay, because a hyphenated word is a '
  'lexeme and so are its parts, and so do the quotation marks of websearch_to_tsquery.';
grant execute on function reading.plain_words(text) to souk_agent, souk_person, souk_moderator;

create or replace function reading.words(words text) returns text[]
  language plpgsql immutable strict parallel safe
as $$
begin
  return array_remove(regexp_split_to_array(reading.plain_words(words), '[ "-]+'), '');
end
$$;
comment on function reading.words(text) is
  'Returns the words of a text, folded, in their order. src/reader/text/tokens.ts has the same list of the characters '
  'that part words.';
grant execute on function reading.words(text) to souk_agent, souk_person, souk_moderator;

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
    when 'sv' then 'pg_catalog.swedish'::regconfig
    else 'pg_catalog.simple'::regconfig
  end
$$;
comment on function reading.search_config(text) is
  'Returns the text search configuration of a language (BCP 47); simple for a language without a stemmer in '
  'PostgreSQL, such as Polish.';
grant execute on function reading.search_config(text) to souk_agent, souk_person, souk_moderator;

create or replace function reading.languages() returns text[]
  language sql immutable parallel safe
as $$ select array['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl', 'sv'] $$;
comment on function reading.languages() is 'Returns the languages of the market (ISO 639-1).';

create or replace function reading.compound_languages() returns text[]
  language sql immutable parallel safe
as $$ select array['de', 'nl', 'sv'] $$;
comment on function reading.compound_languages() is
  'Returns the languages of the market that write compounds as one word.';

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
    when 'sv' then ts_lexize('pg_catalog.swedish_stem', word)
    else array[word]
  end
$$;
comment on function reading.stem(text, text) is
  'Returns the stem of a folded word in a language of the market, in an array; an empty array for a stop word.';
