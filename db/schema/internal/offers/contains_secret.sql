-- A text that contains a secret is refused before it is stored or shown.

create or replace function internal.is_card_number(digits text) returns boolean
  language plpgsql immutable
as $$
begin
  -- Issuers' ranges and lengths as in credit-card-type 10.3 (Braintree, MIT licence), and RuPay's (NPCI), which that
  -- library lacks. Elo, Hiper, Naranja and Verve lie in the ranges of others. Left out are lengths that are also those
  -- of phone and article numbers (Maestro of 12 to 15 digits, UnionPay of 14 and 15), and JCB's former 1800 and 2131.
  return exists (
    select from (values
      ('Visa', '4', '4', array[16, 18, 19]),
      ('Mastercard', '51', '55', array[16]),
      ('Mastercard', '2221', '2720', array[16]),
      ('American Express', '34', '34', array[15]),
      ('American Express', '37', '37', array[15]),
      ('Diners Club', '300', '305', array[14, 16, 19]),
      ('Diners Club', '36', '36', array[14, 16, 19]),
      ('Diners Club', '38', '39', array[14, 16, 19]),
      ('Discover', '6011', '6011', array[16, 19]),
      ('Discover', '644', '659', array[16, 19]),
      ('JCB', '3528', '3589', array[16, 17, 18, 19]),
      ('UnionPay', '62', '62', array[16, 17, 18, 19]),
      ('UnionPay', '8100', '8171', array[16, 17, 18, 19]),
      ('Maestro', '50', '50', array[16, 17, 18, 19]),
      ('Maestro', '56', '59', array[16, 17, 18, 19]),
      ('Maestro', '63', '63', array[16, 17, 18, 19]),
      ('Maestro', '67', '67', array[16, 17, 18, 19]),
      ('Mir', '2200', '2204', array[16, 17, 18, 19]),
      ('Hipercard', '606282', '606282', array[16]),
      ('RuPay', '60', '60', array[16]),
      ('RuPay', '81', '82', array[16]),
      ('Troy', '9792', '9792', array[16])) as issuer (name, min, max, lengths)
    where length(digits) = any (issuer.lengths)
      and left(digits, length(issuer.min)) between issuer.min and issuer.max)
    -- The check digit (Luhn, ISO/IEC 7812-1).
    and (
      select sum(case when n % 2 = 1 then d else d * 2 - case when d > 4 then 9 else 0 end end) % 10 = 0
      from (select substr(reverse(digits), n, 1)::integer as d, n
        from generate_series(1, length(digits)) as n) as luhn);
end
$$;
comment on function internal.is_card_number(text) is
  'Returns whether digits are a payment card number: in the range and length of a known issuer, with a correct check '
  'digit.';
grant execute on function internal.is_card_number(text) to souk_agent, souk_person;

create or replace function internal.comparable_text(text text) returns text
  language plpgsql immutable
as $$
declare
  -- The digit zero of scripts whose digits Unicode does not make equal to ours, from Arabic to Mongolian.
  zeros constant integer[] := array[1632, 1776, 1984, 2406, 2534, 2662, 2790, 2918, 3046, 3174, 3302, 3430, 3664, 3792,
    3872, 4160, 6112, 6160];
  plain text := text;
begin
  if octet_length(plain) <> char_length(plain) then
    -- Compatible characters are made equal: every kind of space, hyphen and letter. Marks on digits are dropped
    -- (keycaps).
    plain := translate(
      normalize(regexp_replace(plain, '[\u0300-\u036f\u20d0-\u20ff\ufe00-\ufe0f]', '', 'g'), nfkc),
      U&'\2010\2012\2013\2212', '----');
    plain := translate(plain,
      (select string_agg(chr(zero + digit), '' order by zero, digit)
        from unnest(zeros) as zero, generate_series(0, 9) as digit),
      repeat('0123456789', cardinality(zeros)));
  end if;
  return (select string_agg(internal.visible_sentence(line), E'\n' order by n)
    from regexp_split_to_table(plain, '[\r\n]+') with ordinality as l (line, n));
end
$$;
comment on function internal.comparable_text(text) is
  'Returns a text as a reader sees it, for comparison: compatible characters and digits of other scripts are made '
  'equal, and invisible characters are dropped. Within a line, white space is one space.';
grant execute on function internal.comparable_text(text) to souk_agent, souk_person;

create or replace function internal.contains_secret(text text) returns text
  language plpgsql immutable
as $$
declare
  plain constant text := internal.comparable_text(contains_secret.text);
begin
  if plain ~ '(agt_|rft_[0-9A-Za-z]{43})[0-9A-Za-z]{49}' then
    return
      'text_contains_token';
  end if;
  if exists (
    -- The number may go on in the next line. Or another number ends or begins there, so each line is also checked
    -- alone.
    select from (values (plain), (translate(plain, E'\n', ' '))) as t (text)
    cross join lateral (
      -- Links have long numbers, and a bank account number (IBAN, ISO 13616) may end like a card number.
      select regexp_replace(t.text collate "C",
        'https?://\S+|\m[A-Z]{2}[0-9]{2}( ?[0-9A-Z]{4}){2,7}( ?[0-9A-Z]{1,3})?\M', ' ', 'g') as text) as r
    -- Digits as on cards: without groups, or in groups of 4-4-4-4 (of 19 digits 4-4-4-4-3), 4-6-5, 4-6-4 or 6-13. Not
    -- the fraction of a decimal number, and not part of a longer number: further digits, or another group of four,
    -- unless it is a month and a year, which is when the card expires. A shorter group after the number may be the date
    -- or the code on the card, too.
    cross join lateral regexp_matches(r.text,
      '(?<![0-9+]|[0-9][.,])(?:([0-9]{14,19})'
        '|(?<![0-9]{4}[ .-])([0-9]{4}([ .-])[0-9]{4}\3[0-9]{4}\3[0-9]{4})(\3[0-9]{3}(?![0-9]))?'
          '(?:(?![ .-][0-9]{4})|(?=[ .-](?:0[1-9]|1[0-2])[2-4][0-9](?![0-9]|[ .-][0-9]{4})))'
        '|([0-9]{4}([ .-])[0-9]{6}\6[0-9]{4,5}|[0-9]{6}[ -][0-9]{13}))'
        '(?![0-9]|[.][0-9])', 'g') as m
    cross join lateral (values (m[1]), (m[2]), (m[2] || m[4]), (m[5])) as found (number)
    where internal.is_card_number(regexp_replace(found.number, '[ .-]', '', 'g'))) then
    return 'text_contains_card_number';
  end if;
  return null;
end
$$;
comment on function internal.contains_secret(text) is
  'Returns a sentence that says what to do about a secret in the text (an agent token or a payment card number); null '
  'when there is none.';
grant execute on function internal.contains_secret(text) to souk_agent, souk_person;
