-- The market publishes only values that the text states. An extracted value counts only if its quote stands in the text
-- at the given position and states the value. This holds for the extractions of a model and of the built-in reader.
--
-- A session of PostgreSQL keeps the last 32 regular expressions compiled. A text that needs more of them compiles each
-- of them anew, which takes longer than all the rest. So what is common is recognized without one.

create or replace function reading.is_quoted(text text, field jsonb) returns boolean
  language plpgsql immutable
as $$
begin
  -- An empty quote is contained in every text, so it states nothing. A span that ends before it starts is empty. No
  -- text has a million characters.
  return coalesce(field ->> 'quote' <> '' and case
    when field ->> 'start' ~ '^[0-9]{1,6}$' and field ->> 'end' ~ '^[0-9]{1,6}$' then
      substr(text, (field ->> 'start')::integer + 1,
        greatest((field ->> 'end')::integer - (field ->> 'start')::integer, 0)) = field ->> 'quote' end, false);
end
$$;
comment on function reading.is_quoted(text, jsonb) is
  'Returns whether a field''s quote stands in the text: substr(text, start + 1, end - start) = quote. Offsets are in '
  'code points, zero-based, end exclusive.';

create or replace function reading.is_inside_number(before text, after text) returns boolean
  language plpgsql immutable
as $$
begin
  -- Most quotes begin and end beside letters and spaces.
  return (right(before, 1) collate "C" between '0' and '9' or left(after, 1) collate "C" between '0' and '9')
    and before ~ '[0-9][.,''’]?$' and after ~ '^[.,''’]?[0-9]';
end
$$;
comment on function reading.is_inside_number(text, text) is
  'Returns whether the place between two characters before and two after it is inside a number.';

create or replace function reading.cuts_number(text text, field jsonb) returns boolean
  language plpgsql immutable
as $$
declare
  start constant integer := (field ->> 'start')::integer;
  quote constant text := field ->> 'quote';
begin
  return reading.is_inside_number(substr(text, greatest(start - 1, 1), least(start, 2)), left(quote, 2))
    or reading.is_inside_number(right(quote, 2), substr(text, start + length(quote) + 1, 2));
end
$$;
comment on function reading.cuts_number(text, jsonb) is
  'Returns whether the quote of a field begins or ends inside a number, such as "450" in "1.450".';

create or replace function reading.without_spans(text text, spans jsonb) returns text
  language plpgsql immutable
as $$
declare
  remaining text := text;
  span record;
begin
  for span in
    select (s ->> 'start')::integer as start, (s ->> 'end')::integer - (s ->> 'start')::integer as length
    from jsonb_array_elements(spans) as s
  loop
    remaining := overlay(remaining placing
      regexp_replace(substr(text, span.start + 1, span.length), '[^\r\n]', ' ', 'g')
      from span.start + 1 for span.length);
  end loop;
  return remaining;
end
$$;
comment on function reading.without_spans(text, jsonb) is
  'Returns a text in which the characters of spans [{start, end}] are spaces, so that all others keep their positions.';

create or replace function reading.stated_numbers(quote text) returns setof numeric
  language plpgsql immutable
as $$
declare
  -- Most quotes have one number without a separator.
  plain constant text := substring(quote from '^[^0-9½]*([0-9]{1,20})[^0-9½]*$');
begin
  if plain is not null then
    return next plain::numeric;
    return;
  end if;
  return query
  with pieces as (
    select regexp_split_to_array(m.number[1], '[ \u00a0\u2009\u202f''’]') as pieces
    -- No number is longer than this. A long row of numbers is split at this length.
    -- "12€50" is 12.50, and "3½" is 3.5.
    from regexp_matches(
      replace(regexp_replace(quote, '([0-9]) ?[€$£]([0-9]{2})(?![0-9])', '\1.\2', 'g'), '½', '.5'),
      '[0-9](?:[0-9.,''’ \u00a0\u2009\u202f]{0,30}[0-9])?', 'g') as m (number)
  ), written as (
    -- "iPhone 13 1 200 EUR" may contain 13 and 1200, so every run of pieces that looks like one number counts.
    select distinct run.digits
    from pieces, generate_subscripts(pieces.pieces, 1) as first, generate_series(first, first + 4) as last,
      lateral (select btrim(array_to_string(pieces.pieces[first:last], ' '), '., ') as digits) as run
    where last = first or run.digits ~ '^[0-9]{1,3}( [0-9]{3})+([.,][0-9]{1,2})?$'
  )
  -- The digits after the last separator are a group of thousands if there are three of them, and decimals otherwise.
  select case
    when w.digits ~ '[.,][0-9]{3}$' and w.digits !~ '^0' or w.digits !~ '[.,]'
    then regexp_replace(w.digits, '[^0-9]', '', 'g')::numeric
    else replace(regexp_replace(w.digits, '[^0-9](?=.*[.,])', '', 'g'), ',', '.')::numeric end
  from written w where length(w.digits) between 1 and 20;
end
$$;
comment on function reading.stated_numbers(text) is
  'Returns the numbers in a quote, such as "1.200,50", "1 200" and "1''200.-".';

create or replace function reading.spoken_number(quote text) returns numeric
  language plpgsql immutable
as $$
declare
  words text;
  rest text;
  piece record;
  total numeric := 0::numeric;
  current numeric := 0::numeric;
  before numeric[];
  found_any boolean := false;
begin
  -- Words that are not numbers (the currency, "and") are skipped. No price has more than 16 words.
  foreach words in array (regexp_split_to_array(reading.fold(left(quote, 200)), '[^a-z]+'))[1:16] loop
    rest := words;
    before := array[total, current];
    while rest <> '' loop
      select n.value, n.is_factor, w.word into piece
      from (values
      (1, false, 'one ein eine einen eins un une uno una um uma een jeden jedna'),
      (2, false, 'two zwei deux dos due dois duas twee dwa dwie couple'),
      (3, false, 'three drei trois tres tre drie trzy'),
      (4, false, 'four vier quatre cuatro quattro quatro cztery'),
      (5, false, 'five funf fuenf cinq cinco cinque vijf piec'),
      (6, false, 'six sechs seis sei zes szesc'),
      (7, false, 'seven sieben sept siete sette sete zeven siedem'),
      (8, false, 'eight acht huit ocho otto oito osiem'),
      (9, false, 'nine neun neuf nueve nove negen dziewiec'),
      (10, false, 'ten zehn dix diez dieci dez tien dziesiec'),
      (11, false, 'eleven elf onze once undici jedenascie'),
      (12, false, 'twelve zwolf douze doce dodici doze twaalf dwanascie'),
      (13, false, 'thirteen dreizehn treize trece tredici treze dertien trzynascie'),
      (14, false, 'fourteen vierzehn quatorze catorce quattordici catorze veertien czternascie'),
      (15, false, 'fifteen funfzehn quinze quince quindici vijftien pietnascie'),
      (16, false, 'sixteen sechzehn seize dieciseis sedici dezasseis dezesseis zestien szesnascie'),
      (17, false, 'seventeen siebzehn diecisiete diciassette dezassete dezessete zeventien siedemnascie'),
      (18, false, 'eighteen achtzehn dieciocho diciotto dezoito achttien osiemnascie'),
      (19, false, 'nineteen neunzehn diecinueve diciannove dezanove dezenove negentien dziewietnascie'),
      (20, false, 'twenty zwanzig vingt vingts veinte veinti venti vent vinte twintig dwadziescia'),
      (30, false, 'thirty dreissig trente treinta trenta trent trinta dertig trzydziesci'),
      (40, false, 'forty vierzig quarante cuarenta quaranta quarant quarenta veertig czterdziesci'),
      (50, false, 'fifty funfzig fuenfzig cinquante cincuenta cinquanta cinquant cinquenta vijftig piecdziesiat'),
      (60, false, 'sixty sechzig soixante sesenta sessanta sessant sessenta zestig szescdziesiat'),
      (70, false, 'seventy siebzig septante setenta settanta settant zeventig siedemdziesiat'),
      (80, false, 'eighty achtzig huitante octante ochenta ottanta ottant oitenta tachtig osiemdziesiat'),
      (90, false, 'ninety neunzig nonante noventa novanta novant negentig dziewiecdziesiat'),
      (100, false, 'cien ciento cem sto'),
      (200, false, 'doscientos doscientas duzentos duzentas dwiescie'),
      (300, false, 'trescientos trescientas trezentos trezentas trzysta trecento'),
      (400, false, 'cuatrocientos cuatrocientas quatrocentos quatrocentas czterysta'),
      (500, false, 'quinientos quinientas quinhentos quinhentas piecset'),
      (600, false, 'seiscientos seiscientas seiscentos seiscentas szescset'),
      (700, false, 'setecientos setecientas setecentos setecentas siedemset'),
      (800, false, 'ochocientos ochocientas oitocentos oitocentas osiemset'),
      (900, false, 'novecientos novecientas novecentos novecentas dziewiecset'),
      (100, true, 'hundred hundert cent cents cento honderd'),
      (1000, true, 'thousand grand tausend mille mila mil duizend tysiac tysiace tysiecy')
      ) as n (value, is_factor, list), unnest(string_to_array(n.list, ' ')) as w (word)
      where starts_with(rest, w.word)
      order by length(w.word) desc limit 1;
      if found then
        if piece.is_factor and piece.value >= 1000 then
          total := total + greatest(1, current) * piece.value;
          current := 0;
        elsif piece.is_factor then
          current := greatest(1, current) * piece.value;
        -- "quatre-vingts" is four times twenty.
        elsif piece.value = 20 and current % 100 = 4 then
          current := current + 76;
        else
          current := current + piece.value;
        end if;
        rest := substr(rest, length(piece.word) + 1);
      elsif rest <> words and rest ~ '^(und|en|e|y)' then
        rest := regexp_replace(rest, '^(und|en|e|y)', '');
      else
        -- A word that only begins with a number word is not a number: "centimes" is not a hundred.
        total := before[1];
        current := before[2];
        exit;
      end if;
      found_any := found_any or rest = '';
    end loop;
  end loop;
  return case when found_any then total + current end;
end
$$;
comment on function reading.spoken_number(text) is
  'Returns the number that a quote states in words of the eight languages ("a hundred quid", "fünfhundertfünfzig '
  'Euro"); null when it states none.';

create or replace function reading.states_amount(quote text, amount numeric) returns boolean
  language plpgsql immutable
as $$
begin
  -- In a range, a word for thousands or millions after one number also applies to the other: "10-12k".
  if amount <= 1e12 and exists (select from reading.stated_numbers(quote) as stated where stated = amount) then
    return true;
  end if;
  return (with factor as (
    select f.factor from (values
      ('¢|cents?|cts?|centimes|centimos|céntimos|centavos|centesimi|p|pence', 0.01),
      ('k|grand|mil|mille|mila|tsd|tausend|duizend|tys|tysi[aą]ce|tysi[eę]cy|thousand', 1000),
      ('lakh|lac', 100000),
      ('m|mln|mio|million|millions|millionen|millones|milioni|milh[oõ]es|miljoen', 1000000)) as f (words, factor)
    where quote ~* ('[0-9]\s*(' || f.words || ')\M')
  )
  -- Nothing costs more than 1e12, and a bigint of hundredths would overflow.
  select amount = 0 and quote !~ '[1-9]'
    or amount <= 1e12
    and exists (select from reading.stated_numbers(quote) as stated, factor f where stated * f.factor = amount)
    or quote !~ '[0-9]' and coalesce(reading.spoken_number(quote) = amount, false));
end
$$;
comment on function reading.states_amount(text, numeric) is
  'Returns whether a quote states an amount: in digits, with k, grand, mil and the like as factors, or in words. A '
  'quote without digits from 1 to 9 states 0.';

create or replace function reading.digits_of_words(quote text) returns text
  language plpgsql immutable
as $$
begin
  return (
    select string_agg(coalesce(d.digit, w.word), ' ' order by w.n)
    from unnest(reading.words(left(quote, 200))) with ordinality as w (word, n)
    left join (values
      ('zero', '0'), ('oh', '0'), ('null', '0'), ('nul', '0'), ('cero', '0'), ('one', '1'), ('two', '2'),
      ('three', '3'), ('four', '4'), ('five', '5'), ('six', '6'), ('seven', '7'), ('eight', '8'),
      ('nine', '9'), ('eins', '1'), ('zwei', '2'), ('zwo', '2'), ('drei', '3'), ('vier', '4'), ('funf', '5'),
      ('sechs', '6'), ('sieben', '7'), ('acht', '8'), ('neun', '9'), ('un', '1'), ('deux', '2'),
      ('trois', '3'), ('quatre', '4'), ('cinq', '5'), ('sept', '7'), ('huit', '8'), ('neuf', '9'),
      ('uno', '1'), ('dos', '2'), ('tres', '3'), ('cuatro', '4'), ('cinco', '5'), ('seis', '6'),
      ('siete', '7'), ('ocho', '8'), ('nueve', '9'), ('due', '2'), ('tre', '3'), ('quattro', '4'),
      ('cinque', '5'), ('sei', '6'), ('sette', '7'), ('otto', '8'), ('nove', '9'), ('um', '1'), ('dois', '2'),
      ('quatro', '4'), ('sete', '7'), ('oito', '8'), ('een', '1'), ('twee', '2'), ('drie', '3'), ('zes', '6'),
      ('zeven', '7'), ('negen', '9'), ('jeden', '1'), ('dwa', '2'), ('trzy', '3'), ('cztery', '4'),
      ('piec', '5'), ('szesc', '6'), ('siedem', '7'), ('osiem', '8'), ('dziewiec', '9')
    ) as d (word, digit) using (word));
end
$$;
comment on function reading.digits_of_words(text) is
  'Returns a quote with number words replaced by digits: "six one four 555-0177" becomes "6 1 4 555 0177".';

create or replace function reading.states_email(quote text, address text) returns boolean
  language plpgsql immutable
as $$
declare
  -- "anna [@] example.org" and "anna @ example.org" hide the address from harvesters.
  plain constant text := regexp_replace(lower(quote), '[][(){}<>[:space:]]*@[][(){}<>[:space:]]*', '@', 'g');
  at integer := position(lower(address) in plain);
begin
  if address !~ '^[^@[:space:]]+@[^@[:space:]]+$' then
    return false;
  end if;
  while at > 0 loop
    -- "lena@example.com" states neither na@example.com nor lena@example.co.
    if substr(plain, greatest(at - 1, 1), least(at - 1, 1)) !~ '[a-z0-9_%+-]'
      and substr(plain, at + length(address)) !~ '^[.-]*[a-z0-9_]' then
      return true;
    end if;
    at := coalesce(at + nullif(position(lower(address) in substr(plain, at + 1)), 0), 0);
  end loop;
  -- The address may be spelt ("kev at example dot com"): its parts in their order, with at most two words between. A
  -- quote that shows an address in full states no other.
  return plain !~ '[a-z0-9]@[a-z0-9-]+[.][a-z]' and (
    ' ' || array_to_string(reading.words(quote), ' ') || ' '
    ~ (' ' || array_to_string(reading.words(address), '( [^ ]+){0,2} ') || ' '));
end
$$;
comment on function reading.states_email(text, text) is
  'Returns whether a quote states an e-mail address, in full or spelt ("kev at example dot com").';

create or replace function reading.states_contact(quote text, method jsonb) returns boolean
  language plpgsql immutable
as $$
begin
  -- A phone number is compared by its last digits, because the quote need not contain a country code: by eight digits,
  -- or by six of a short number.
  return coalesce((with said as (
    select method ->> 'type' as type, method ->> 'value' as value,
      regexp_replace(method ->> 'value', '[^0-9]', '', 'g') as digits
  )
  select case
    when type = 'email' then reading.states_email(quote, value)
    when type = 'url' then
      position(rtrim(regexp_replace(lower(value), '^https?://(www\.)?', ''), '/') in lower(quote)) > 0
    when type in ('phone', 'sms', 'whatsapp') then
      length(digits) >= 5 and exists (
        -- Some people write a letter O to hide a zero.
        select from (values (quote), (translate(quote, 'oO', '00')), (reading.digits_of_words(quote))) as q (words)
        where position(right(digits, greatest(6, least(8, length(digits) - 3)))
          in regexp_replace(q.words, '[^0-9]', '', 'g')) > 0)
    else false
  end
  from said), false);
end
$$;
comment on function reading.states_contact(text, jsonb) is
  'Returns whether a quote states a contact method {type, value}: it must contain the e-mail address or all its parts, '
  'the URL, or the last digits of the phone number.';

create or replace function reading.states_words(passage text, words text) returns boolean
  language plpgsql immutable
as $$
declare
  said constant text := reading.fold(passage);
  wanted constant text[] := reading.words(words);
begin
  return coalesce(cardinality(wanted) > 0, false)
    and not exists (select from unnest(wanted) as word where position(word in said) = 0);
end
$$;
comment on function reading.states_words(text, text) is
  'Returns whether every one of the words stands in the passage, alone or in a longer word ("Fahrrad" in "Fahrräder"). '
  'No words are not stated.';

create or replace function reading.states_name(passage text, name text) returns boolean
  language plpgsql immutable
as $$
begin
  return coalesce(reading.words(name) <> '{}' and position(
    ' ' || array_to_string(reading.words(name), ' ') || ' '
    in ' ' || array_to_string(reading.words(passage), ' ') || ' ') > 0, false);
end
$$;
comment on function reading.states_name(text, text) is
  'Returns whether a name stands in the passage: its words as whole words, one after the other.';

create or replace function reading.first_line(text text) returns text
  language plpgsql immutable
as $$
begin
  return (
    select rtrim(left(line.words, 120))
    from regexp_split_to_table(text, '[\r\n]+') with ordinality as l (line, n),
      internal.visible_sentence(l.line) as line (words)
    where line.words is not null
    order by l.n limit 1);
end
$$;
comment on function reading.first_line(text) is
  'Returns the first line with visible text, at most 120 characters, for use as a title; null when there is none.';
grant execute on function reading.first_line(text) to souk_agent, souk_person;

create or replace function reading.first_line_field(text text) returns jsonb
  language plpgsql immutable
as $$
begin
  return (
    select jsonb_build_object('value', line, 'quote', line, 'start', position(line in text) - 1,
      'end', position(line in text) - 1 + length(line), 'basis', 'inferred',
      -- A first line is only a fair title, so it gets the lowest confidence that an extractor may give.
      'confidence', 0.5)
    from reading.first_line(text) as line
    where position(line in text) > 0);
end
$$;
comment on function reading.first_line_field(text) is
  'Returns the first line of a text as an extracted title; null when the text does not contain it as '
  'reading.first_line gives it.';
