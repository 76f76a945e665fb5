-- The market publishes only values that the text states. An extracted value counts only if its quote stands in the text
-- at the given position and cuts no number and no word. Free text consists of words of its quote. What needs a language
-- (amounts, currencies, phone numbers, places) the built-in reader decides (src/reader/builtin/stated.ts): it proposes
-- the values, and the worker sends nothing else of a model's extraction.

create or replace function reading.is_quoted(text text, field jsonb) returns boolean
  -- PostgreSQL inlines it, so that the check of all quotes of a market (inspect.check_moderation) calls nothing for
  -- each.
  language sql immutable
as $$
  -- An empty quote is contained in every text, so it states nothing. A span that ends before it starts is empty. No
  -- text has a million characters.
  select coalesce(field ->> 'quote' <> '' and case
    when field ->> 'start' ~ '^[0-9]{1,6}$' and field ->> 'end' ~ '^[0-9]{1,6}$' then
      substr(text, (field ->> 'start')::integer + 1,
        greatest((field ->> 'end')::integer - (field ->> 'start')::integer, 0)) = field ->> 'quote' end, false)
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

create or replace function reading.cuts_word(text text, field jsonb) returns boolean
  language plpgsql immutable
as $$
declare
  start constant integer := (field ->> 'start')::integer;
  quote constant text := field ->> 'quote';
  -- The letters of alphabets whose words have spaces between them; src/reader/quotes.ts takes whole words.
  letter constant text := '[A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0388-\u0481\u048a-\u0556\u0561-\u0587'
    || '\u05d0-\u05ea\u0620-\u064a]';
begin
  return start > 0 and substr(text, start, 1) ~ letter and left(quote, 1) ~ letter
    or right(quote, 1) ~ letter and substr(text, start + length(quote) + 1, 1) ~ letter;
end
$$;
comment on function reading.cuts_word(text, jsonb) is
  'Returns whether the quote of a field begins or ends inside a word, such as "rent" in "current".';

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

create or replace function reading.hide_spans(text text, spans jsonb) returns text
  language plpgsql immutable
as $$
declare
  shown text := text;
  span record;
begin
  if spans = '[]' then
    return text;
  end if;
  -- From the last one, so that the positions before it stay right.
  for span in select * from jsonb_to_recordset(spans) as s (start integer, "end" integer) order by s.start desc loop
    shown := overlay(shown placing '[…]' from span.start + 1 for span."end" - span.start);
  end loop;
  -- A mark is longer than a passage of one or two characters.
  return left(regexp_replace(shown, '\[…\](\s*\[…\])+', '[…]', 'g'), 4000);
end
$$;
comment on function reading.hide_spans(text, jsonb) is
  'Returns a text with […] in place of each span [{start, end}]; spans that follow each other are one.';

create or replace function reading.states_words(passage text, words text) returns boolean
  language plpgsql immutable
as $$
declare
  said constant text := reading.fold(reading.plain_text(passage));
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
    in ' ' || array_to_string(reading.words(reading.plain_text(passage)), ' ') || ' ') > 0, false);
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
