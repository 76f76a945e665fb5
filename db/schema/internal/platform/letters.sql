-- What is a capital letter, and what is white space, in a database of any locale: lower() makes "INFO" to "ınfo" in a
-- Turkish one, and \s is other characters in each. Whatever identifies or hides something is compared by these two, or
-- by reading.fold.

create or replace function internal.lower_case(text text) returns text
  language sql immutable parallel safe
as $$ select lower(lower_case.text collate "C") $$;
comment on function internal.lower_case(text) is
  'Returns a text with A to Z in lower case. Other letters stay, because which of them are equal depends on the '
  'language: two spellings of an address with such letters are two addresses.';
grant execute on function internal.lower_case(text) to souk_agent, souk_person, souk_moderator;

create or replace function internal.white_space() returns text
  language sql immutable parallel safe
as $$ select '\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000' $$;
comment on function internal.white_space() is
  'Returns the characters that Unicode calls white space, for between the brackets of a regular expression.';
grant execute on function internal.white_space() to souk_agent, souk_person, souk_moderator;
