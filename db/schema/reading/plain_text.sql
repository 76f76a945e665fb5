-- HTML is stored as it was sent. What is shown in one line, compared or searched is the text that it shows.

create or replace function reading.plain_text(text text) returns text
  language plpgsql immutable strict parallel safe
as $$
declare
  plain text := text;
  entity text[];
  code integer;
begin
  -- Most texts have neither.
  if plain !~ '[<&]' then
    return plain;
  end if;
  plain := regexp_replace(plain, '<!--.*?-->|</?[A-Za-z][^<>]*>', ' ', 'g');
  -- The ends of the names of accents, and the combining marks. src/reader/text/markup.ts has the same.
  foreach entity slice 1 in array array[['grave', E'\u0300'], ['acute', E'\u0301'], ['circ', E'\u0302'],
    ['tilde', E'\u0303'], ['uml', E'\u0308'], ['ring', E'\u030a'], ['caron', E'\u030c'], ['cedil', E'\u0327'],
    ['ogon', E'\u0328']]
  loop
    plain := regexp_replace(plain, '&([A-Za-z])' || entity[1] || ';', '\1' || entity[2], 'g');
  end loop;
  for entity in select regexp_matches(plain, '&#(x?)([0-9A-Fa-f]{1,6});', 'g') loop
    code := case when entity[1] = 'x' then ('x' || lpad(entity[2], 8, '0'))::bit(32)::integer
      when entity[2] ~ '^[0-9]+$' then entity[2]::integer else 0 end;
    -- No control characters and no halves of surrogate pairs.
    if code between 32 and 55295 or code between 57344 and 1114111 then
      plain := replace(plain, '&#' || entity[1] || entity[2] || ';', chr(code));
    end if;
  end loop;
  foreach entity slice 1 in array array[['nbsp', ' '], ['ensp', ' '], ['emsp', ' '], ['thinsp', ' '], ['lt', '<'],
    ['gt', '>'], ['quot', '"'], ['apos', ''''], ['euro', '€'], ['pound', '£'], ['yen', '¥'], ['cent', '¢'],
    ['sect', '§'], ['deg', '°'], ['sup2', '²'], ['sup3', '³'], ['frac12', '½'], ['times', '×'], ['middot', '·'],
    ['bull', '•'], ['ndash', '–'], ['mdash', '—'], ['hellip', '…'], ['lsquo', '‘'], ['rsquo', '’'], ['ldquo', '“'],
    ['rdquo', '”'], ['bdquo', '„'], ['laquo', '«'], ['raquo', '»'], ['iexcl', '¡'], ['iquest', '¿'], ['ordm', 'º'],
    ['ordf', 'ª'], ['copy', '©'], ['reg', '®'], ['trade', '™'], ['szlig', 'ß'], ['aelig', 'æ'], ['AElig', 'Æ'],
    ['oelig', 'œ'], ['OElig', 'Œ'], ['oslash', 'ø'], ['Oslash', 'Ø'], ['lstrok', 'ł'], ['Lstrok', 'Ł'], ['amp', '&']]
  loop
    plain := replace(plain, '&' || entity[1] || ';', entity[2]);
  end loop;
  return normalize(plain, nfc);
end
$$;
comment on function reading.plain_text(text) is
  'Returns the text that HTML shows: tags as spaces, entities as their characters.';
grant execute on function reading.plain_text(text) to souk_agent, souk_person;
