-- Words that strangers gave and that are shown as names, and addresses they gave for mail.

create or replace function market.visible_words(words text) returns text
  language sql immutable
as $$
  -- Control, bidirectional and zero-width characters would let a name pretend to be other words on a page.
  select nullif(btrim(regexp_replace(normalize(words, NFC),
    '[\u0001-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb]|[\U000E0000-\U000E007F]', '', 'g'), E' \u00a0\u3000'), '')
$$;
comment on function market.visible_words(text) is 'A name without characters that cannot be seen; null when nothing is left.';
grant execute on function market.visible_words(text) to souk_person;

create or replace function market.clean_email(email text) returns text
  language sql immutable
as $$
  -- Nothing that ends a header line or begins another address passes; quoted local parts do not exist in practice.
  select e.email
  from (select lower(normalize(btrim(clean_email.email, E' \t\r\n\u00a0'), NFC)) as email) as e
  where char_length(e.email) <= 254 and e.email = market.visible_words(e.email)
    and e.email ~ '^[^\s@<>()\[\],;:"\\]{1,64}@([^\s@<>()\[\],;:"\\.]+\.)+[^\s@<>()\[\],;:"\\.]{2,63}$'
$$;
comment on function market.clean_email(text) is 'An e-mail address as it is kept and compared: trimmed, lower-case, NFC; null when it is none.';
grant execute on function market.clean_email(text) to souk_person;
