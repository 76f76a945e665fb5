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
  -- Digits of all scripts that have their own; the first of each ten is nought.
  digits constant text := E'\u0660-\u0669\u06f0-\u06f9\u07c0-\u07c9\u0966-\u096f\u09e6-\u09ef\u0a66-\u0a6f\u0ae6-\u0aef'
    || E'\u0b66-\u0b6f\u0be6-\u0bef\u0c66-\u0c6f\u0ce6-\u0cef\u0d66-\u0d6f\u0de6-\u0def\u0e50-\u0e59'
    || E'\u0ed0-\u0ed9\u0f20-\u0f29\u1040-\u1049\u1090-\u1099\u17e0-\u17e9\u1810-\u1819\u1946-\u194f'
    || E'\u19d0-\u19d9\u1a80-\u1a89\u1a90-\u1a99\u1b50-\u1b59\u1bb0-\u1bb9\u1c40-\u1c49\u1c50-\u1c59'
    || E'\ua620-\ua629\ua8d0-\ua8d9\ua900-\ua909\ua9d0-\ua9d9\ua9f0-\ua9f9\uaa50-\uaa59\uabf0-\uabf9'
    || E'\U000104a0-\U000104a9\U00010d30-\U00010d39\U00010d40-\U00010d49\U00011066-\U0001106f'
    || E'\U000110f0-\U000110f9\U00011136-\U0001113f\U000111d0-\U000111d9\U000112f0-\U000112f9'
    || E'\U00011450-\U00011459\U000114d0-\U000114d9\U00011650-\U00011659\U000116c0-\U000116c9'
    || E'\U000116d0-\U000116d9\U000116da-\U000116e3\U00011730-\U00011739\U000118e0-\U000118e9'
    || E'\U00011950-\U00011959\U00011bf0-\U00011bf9\U00011c50-\U00011c59\U00011d50-\U00011d59'
    || E'\U00011da0-\U00011da9\U00011de0-\U00011de9\U00011f50-\U00011f59\U00016130-\U00016139'
    || E'\U00016a60-\U00016a69\U00016ac0-\U00016ac9\U00016b50-\U00016b59\U00016d70-\U00016d79'
    || E'\U0001e140-\U0001e149\U0001e2f0-\U0001e2f9\U0001e4f0-\U0001e4f9\U0001e5f1-\U0001e5fa'
    || E'\U0001e950-\U0001e959';
begin
  if octet_length(words) = char_length(words) then
    return internal.lower_case(words);
  end if;
  plain := internal.lower_case(regexp_replace(normalize(words, nfkd),
    '(?<![иИ])\u0306|[\u0300-\u0305\u0307-\u036f\u0640\u064b-\u065f\u0670\u093c\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff'
    || '\ufe00-\ufe0f\ufe20-\ufe2f]', '', 'g'));
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
  if plain ~ '[\u0629\u0649\u06a9\u06cc\u0901]' then
    plain := translate(plain, E'\u0629\u0649\u06a9\u06cc\u0901', E'\u0647\u064a\u0643\u064a\u0902');
  end if;
  if plain ~ ('[' || digits || ']') then
    plain := (
      select translate(plain, string_agg(chr(ascii(d.range[1]) + v), ''), string_agg(v::text, ''))
      from regexp_matches(digits, '(.)-', 'g') as d (range) cross join generate_series(0, 9) as v);
  end if;
  -- NFKD parts syllables of Korean and voiced letters of Japanese, which people take for one letter. In alphabets with
  -- capitals nothing is left that could be joined, but the Cyrillic "й".
  if plain ~ '[\u0306\u0590-\u1fff\u3040-\ud7ff\U00011000-\U00016fff]' then
    plain := normalize(plain, nfc);
  end if;
  return plain;
end
$$;
comment on function reading.fold(text) is
  'Returns words in the form in which they are compared: lower case, compatibility forms resolved, digits of any '
  'script as 0 to 9, without accents.';
grant execute on function reading.fold(text) to souk_agent, souk_person, souk_moderator;

create or replace function reading.unspaced() returns text
  language sql immutable parallel safe
as $$
  -- Thai, Lao, Burmese, Khmer, then kana and the signs of Chinese, then Korean.
  select '\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0edf\u1000-\u109f\u1780-\u17d3'
    || '\u3005-\u3007\u3021-\u302f\u3031-\u3035\u3038-\u303c\u3041-\u309f\u30a1-\u30fa\u30fc-\u312f\u31a0-\u31ff'
    || '\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af\u1100-\u11ff\uac00-\ud7ff'
$$;
comment on function reading.unspaced() is
  'Returns the letters of scripts that are written without spaces between words, and those of Korean, where words end '
  'in particles, for between the brackets of a regular expression.';
grant execute on function reading.unspaced() to souk_agent, souk_person, souk_moderator;

create or replace function reading.pairs(words text) returns text
  language plpgsql immutable strict parallel safe
as $$
begin
  -- The database has no dictionary that says where a word ends, so each two letters that follow each other are a word.
  -- A name is then a phrase of its pairs, which stands in a text exactly if the name does.
  return (
    select string_agg(
      case when r.run[1] is null then r.run[2] when char_length(r.run[1]) = 1 then ' ' || r.run[1] || ' '
      else (
        select ' ' || string_agg(p.pair, ' ' order by p.n) || ' '
        from (
          select p.n, p.letter || lead(p.letter) over (order by p.n) as pair
          from regexp_split_to_table(r.run[1], '') with ordinality as p (letter, n)) as p
        where p.pair is not null) end, '' order by r.n)
    from regexp_matches(words, '([' || reading.unspaced() || ']+)|([^' || reading.unspaced() || ']+)', 'g')
      with ordinality as r (run, n));
end
$$;
comment on function reading.pairs(text) is
  'Returns a folded text in which words of scripts without spaces are replaced by the pairs of their letters.';
grant execute on function reading.pairs(text) to souk_agent, souk_person, souk_moderator;

create or replace function reading.signs(words text) returns text
  language sql immutable parallel safe
as $$
  select regexp_replace(regexp_replace(words, '[^\u3400-\u9fff\U00020000-\U000323af]+', '', 'g'), '(.)', '\1 ', 'g')
$$;
comment on function reading.signs(text) is
  'Returns the signs of Chinese in a text one by one: each is also a word ("床"), which none of the pairs is.';
grant execute on function reading.signs(text) to souk_agent, souk_person, souk_moderator;

create or replace function reading.parted(words text) returns text
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
comment on function reading.parted(text) is
  'Returns a text folded, with spaces for white space, punctuation, signs and pictures. Hyphens before letters and '
  'quotation marks stay.';
grant execute on function reading.parted(text) to souk_agent, souk_person, souk_moderator;

create or replace function reading.plain_words(words text) returns text
  language plpgsql immutable strict parallel safe
as $$
declare
  plain constant text := reading.parted(words);
begin
  return case when plain ~ ('[' || reading.unspaced() || ']') then reading.pairs(plain) else plain end;
end
$$;
comment on function reading.plain_words(text) is
  'Returns a text folded, with spaces for white space, punctuation, signs and pictures. Whatever is stored as lexemes '
  'or looked for among them goes through this function. Hyphens before letters stay, because a hyphenated word is a '
  'lexeme and so are its parts, and so do the quotation marks of websearch_to_tsquery. Of scripts without spaces, each '
  'pair of letters is a word.';
grant execute on function reading.plain_words(text) to souk_agent, souk_person, souk_moderator;

create or replace function reading.words(words text) returns text[]
  language plpgsql immutable strict parallel safe
as $$
begin
  return array_remove(regexp_split_to_array(reading.plain_words(words), '[ "-]+'), '');
end
$$;
comment on function reading.words(text) is
  'Returns the words of a text, folded, in their order; of scripts without spaces, the pairs of letters. '
  'src/reader/text/tokens.ts has the same list of the characters that part words.';
grant execute on function reading.words(text) to souk_agent, souk_person, souk_moderator;

create or replace function reading.search_config(language text) returns regconfig
  language sql immutable parallel safe
as $$
  select case split_part(language, '-', 1)
    when 'ar' then 'pg_catalog.arabic'::regconfig
    when 'da' then 'pg_catalog.danish'::regconfig
    when 'de' then 'pg_catalog.german'::regconfig
    when 'en' then 'pg_catalog.english'::regconfig
    when 'es' then 'pg_catalog.spanish'::regconfig
    when 'fr' then 'pg_catalog.french'::regconfig
    when 'hi' then 'pg_catalog.hindi'::regconfig
    when 'it' then 'pg_catalog.italian'::regconfig
    when 'nl' then 'pg_catalog.dutch'::regconfig
    when 'pt' then 'pg_catalog.portuguese'::regconfig
    when 'ro' then 'pg_catalog.romanian'::regconfig
    when 'ru' then 'pg_catalog.russian'::regconfig
    when 'sv' then 'pg_catalog.swedish'::regconfig
    when 'tr' then 'pg_catalog.turkish'::regconfig
    else 'pg_catalog.simple'::regconfig
  end
$$;
comment on function reading.search_config(text) is
  'Returns the text search configuration of a language (BCP 47); simple for a language without a stemmer in '
  'PostgreSQL, such as Polish.';
grant execute on function reading.search_config(text) to souk_agent, souk_person, souk_moderator;

create or replace function reading.languages() returns text[]
  language sql immutable parallel safe
as $$
  select array['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl', 'sv', 'da', 'cs', 'ro', 'tr', 'ru', 'uk', 'ar', 'hi',
    'zh', 'ja', 'ko']
$$;
comment on function reading.languages() is 'Returns the languages of the market (ISO 639-1).';

create or replace function reading.compound_languages() returns text[]
  language sql immutable parallel safe
as $$ select array['de', 'nl', 'sv', 'da'] $$;
comment on function reading.compound_languages() is
  'Returns the languages of the market that write compounds as one word.';

create or replace function reading.without_endings(words text, language text) returns text
  language plpgsql immutable parallel safe
as $$
declare
  -- Those of src/reader/languages.ts (test/reader/languages.test.ts compares them).
  endings constant text := case split_part(language, '-', 1)
    when 'pl' then 'ami|ach|ego|emu|ymi|imi|iem|ow|om|em|ej|ym|ych|ich|im|ie|ia|iu|a|e|i|o|u|y'
    when 'cs' then 'ami|emi|ach|ich|ych|eho|emu|ovi|ou|um|em|im|ym|ej|mi|a|e|i|o|u|y'
    when 'uk' then
      'ами|ями|ого|його|ому|ьому|ими|іми|ах|ях|ові|еві|ів|їв|ей|ою|ею|ій|ом|ем|ам|ям|ий|а|я|о|е|є|и|і|ї|у|ю|ь|й'
    end;
begin
  return case when endings is null then words else
    regexp_replace(words, '(?<![^ "-])([^ "0-9-]{4,}?)(' || endings || ')(?![^ "-])', '\1', 'g') end;
end
$$;
comment on function reading.without_endings(text, text) is
  'Returns plain words (reading.plain_words) without the endings of Polish, Czech and Ukrainian, for which PostgreSQL '
  'has no stemmer; words of other languages as they are. Stems have at least four letters.';
grant execute on function reading.without_endings(text, text) to souk_agent, souk_person, souk_moderator;

create or replace function reading.stems(words text, language text) returns tsvector
  language plpgsql immutable parallel safe
as $$
begin
  return to_tsvector(reading.search_config(language), reading.without_endings(words, language));
end
$$;
comment on function reading.stems(text, text) is
  'Returns the stems of plain words (reading.plain_words) in a language, as lexemes.';
grant execute on function reading.stems(text, text) to souk_agent, souk_person, souk_moderator;

create or replace function reading.stem(word text, language text) returns text[]
  language sql immutable parallel safe
as $$
  select case language
    when 'ar' then ts_lexize('pg_catalog.arabic_stem', word)
    when 'da' then ts_lexize('pg_catalog.danish_stem', word)
    when 'de' then ts_lexize('pg_catalog.german_stem', word)
    when 'en' then ts_lexize('pg_catalog.english_stem', word)
    when 'es' then ts_lexize('pg_catalog.spanish_stem', word)
    when 'fr' then ts_lexize('pg_catalog.french_stem', word)
    when 'hi' then ts_lexize('pg_catalog.hindi_stem', word)
    when 'it' then ts_lexize('pg_catalog.italian_stem', word)
    when 'nl' then ts_lexize('pg_catalog.dutch_stem', word)
    when 'pt' then ts_lexize('pg_catalog.portuguese_stem', word)
    when 'ro' then ts_lexize('pg_catalog.romanian_stem', word)
    when 'ru' then ts_lexize('pg_catalog.russian_stem', word)
    when 'sv' then ts_lexize('pg_catalog.swedish_stem', word)
    when 'tr' then ts_lexize('pg_catalog.turkish_stem', word)
    else array[reading.without_endings(word, language)]
  end
$$;
comment on function reading.stem(text, text) is
  'Returns the stem of a folded word in a language of the market, in an array; an empty array for a stop word.';
