-- Which characters of a chosen name are shown to others.

create or replace function internal.visible_name(name text) returns text
  language sql immutable
as $$
  -- Control, bidirectional and zero-width characters would let a name pretend to be other words on the approval page.
  -- The pages remove the same characters from names that this function did not clean (src/http/visible_text.ts). A test
  -- checks that both lists are equal.
  select nullif(btrim(regexp_replace(normalize(name, nfc),
    '[\u0001-\u001f\u007f-\u009f\u00ad\u034f\u061c\u070f\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e'
    '\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb]'
    '|[\U0001BCA0-\U0001BCA3]|[\U0001D173-\U0001D17A]|[\U000E0000-\U000E007F]',
    '', 'g'), E' \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000'), '')
$$;
comment on function internal.visible_name(text) is
  'Returns a name without invisible characters; null when nothing is left.';
grant execute on function internal.visible_name(text) to souk_person, souk_moderator;

create or replace function internal.visible_sentence(sentence text) returns text
  language sql immutable
as $$ select internal.visible_name(regexp_replace(sentence, '\s+', ' ', 'g')) $$;
comment on function internal.visible_sentence(text) is
  'Returns a sentence in one line, without invisible characters; null when nothing is left.';
grant execute on function internal.visible_sentence(text) to souk_moderator;

create or replace function internal.clean_name(name text) returns text
  language sql immutable
as $$ select coalesce(internal.visible_name(name), 'Unnamed agent') $$;
comment on function internal.clean_name(text) is
  'Returns the name that an agent gave itself, without invisible characters; "Unnamed agent" when nothing is left.';
