-- Which characters of a chosen name are shown to others, and which of a text.

create or replace function internal.visible_name(name text) returns text
  language sql immutable
as $$
  -- Control, bidirectional and zero-width characters would let a name pretend to be other words on the approval page.
  -- The pages remove the same characters from names that this function did not clean (src/base/visible_text.ts). A test
  -- checks that both lists are equal.
  select nullif(btrim(regexp_replace(normalize(name, nfc),
    '[\u0001-\u001f\u007f-\u009f\u00ad\u034f\u061c\u070f\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e'
    '\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb]'
    '|[\U0001BCA0-\U0001BCA3]|[\U0001D173-\U0001D17A]|[\U000E0000-\U000E007F]',
    '', 'g'), E' \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000'), '')
$$;
comment on function internal.visible_name(text) is
  'Returns a name without invisible characters; null when nothing is left.';
grant execute on function internal.visible_name(text) to souk_agent, souk_person, souk_moderator;

create or replace function internal.visible_sentence(sentence text) returns text
  language sql immutable
as $$ select internal.visible_name(regexp_replace(sentence, '[' || internal.white_space() || ']+', ' ', 'g')) $$;
comment on function internal.visible_sentence(text) is
  'Returns a sentence in one line, without invisible characters; null when nothing is left.';
grant execute on function internal.visible_sentence(text) to souk_agent, souk_person, souk_moderator;

create or replace function internal.clean_name(name text) returns text
  language sql immutable
as $$ select coalesce(internal.visible_name(name), 'Unnamed agent') $$;
comment on function internal.clean_name(text) is
  'Returns the name that an agent gave itself, without invisible characters; "Unnamed agent" when nothing is left.';

create or replace function internal.visible_text(text text) returns text
  language plpgsql immutable
as $$
begin
  -- An invisible character lets a reader see another text than a person: "18\u200b0 EUR" looks like 180 and was read as
  -- 0, and a run of tags or variation selectors is an order that only a model sees. So these characters are not stored.
  -- A text needs its tabs and line breaks, one joiner after a letter or an emoji, and one variation selector after a
  -- character with variants (an emoji, a digit before a keycap mark, an ideograph). src/base/visible_text.ts has the
  -- same rule for the words of a search. A test compares the two.
  return regexp_replace(normalize(text, nfc),
    '[\u0001-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u070f\u115f\u1160\u17b4\u17b5'
    '\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb]'
    '|[\U0001BCA0-\U0001BCA3]|[\U0001D173-\U0001D17A]|[\U000E0000-\U000E007F]'
    '|(?<![\u00c0-\u065f\u066a-\u06ef\u06fa-\u0965\u0970-\u200a\u2190-\ufdff\ufe0f'
      '\U00010000-\U000E00FF])[\u200c\u200d]'
    '|(?<![\u00a9\u00ae\u2010-\u2027\u2030-\u205e\u2100-\uf8ff'
      '\U00010000-\U0003FFFF])[\ufe00-\ufe0f](?!\u20e3)'
    '|(?<![\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003FFFF])[\U000E0100-\U000E01EF]',
    '', 'g');
end
$$;
comment on function internal.visible_text(text) is
  'Returns a text of several lines in the form in which it is stored and read: NFC, without invisible characters.';
grant execute on function internal.visible_text(text) to souk_agent, souk_person, souk_moderator;
