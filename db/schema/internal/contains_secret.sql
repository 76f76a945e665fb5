-- A text that contains a secret is refused before it is stored or shown.

create or replace function internal.contains_secret(text text) returns text
  language plpgsql immutable
as $$
declare
  digits text;
  total integer;
begin
  if text ~ 'agt_[0-9A-Za-z]{49}' then
    return
      'The text contains an agent token. Take it out, and since it has been shown, remove that agent and connect a new '
      'one.';
  end if;
  -- Card numbers have 15 digits (American Express) or 16 (others), may be written in groups, and pass the Luhn check
  -- (ISO/IEC 7812-1). Bank account numbers (IBAN, ISO 13616) are removed first, because an IBAN may end like a card
  -- number.
  for digits in
    select regexp_replace(m[1], '[^0-9]', '', 'g')
    from regexp_matches(regexp_replace(text, '\m[A-Z]{2}[0-9]{2}( ?[0-9A-Z]{4}){2,7}( ?[0-9A-Z]{1,3})?\M', ' ', 'g'),
      '(?<![0-9+])([0-9](?:[ -]?[0-9]){14,15})(?![ -]?[0-9])', 'g') as m
  loop
    if digits ~ ('^(3[47]\d{13}|4\d{15}|5[1-5]\d{14}|2(22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}'
        '|6(011|5\d\d)\d{12}|35(2[89]|[3-8]\d)\d{12})$') then
      select sum(case when n % 2 = 1 then d else d * 2 - case when d > 4 then 9 else 0 end end)::integer into total
      from (select substr(reverse(digits), n, 1)::integer as d, n from generate_series(1, length(digits)) as n) as luhn;
      if total % 10 = 0 then
        return 'The text contains a payment card number. Take it out, and tell the person to have the card replaced.';
      end if;
    end if;
  end loop;
  return null;
end
$$;
comment on function internal.contains_secret(text) is
  'Returns a sentence that says what to do about a secret in the text (an agent token or a payment card number); null '
  'when there is none.';
grant execute on function internal.contains_secret(text) to souk_agent, souk_person;
