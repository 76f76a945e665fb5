-- Nothing is published that the text does not say: a value counts only when its quote stands in the text, where the
-- reading says it stands, and states the value. Both makers' readings are held to this.

create function market.is_quoted(text text, field jsonb) returns boolean
  language sql immutable
as $$
  select coalesce(
    substr(text, (field ->> 'start')::integer, (field ->> 'end')::integer - (field ->> 'start')::integer)
      = field ->> 'quote', false)
$$;
comment on function market.is_quoted(text, jsonb) is 'Whether substr(text, start, end - start) = quote: offsets in code points, start counted from 1, end exclusive.';

create function market.states_amount(quote text, amount numeric) returns boolean
  language sql immutable
as $$
  -- The digits of the quote, separators taken out, are the amount, or it in hundredths or tenths ("1,5"), or, beside a
  -- word for thousands or millions, it without its zeros.
  select amount = 0 and quote !~ '[1-9]' or exists (
    select
    from regexp_matches(quote, '\d(?:[\d.,''’   ]*\d)?', 'g') as m (number),
    lateral (select regexp_replace(m.number[1], '\D', '', 'g') as joined) as j,
    lateral unnest(array[j.joined] || regexp_split_to_array(m.number[1], '\D+')) as d (digits)
    where d.digits <> '' and length(d.digits) <= 15 and (
      d.digits::numeric in (amount, amount * 10, amount * 100)
      or quote ~* '\d\s*(k|grand|m|mil|mille|mila|mln|mio|million|millions|tsd|tausend|duizend|tys|thousand|lakh|lac)\M'
        and amount > 0 and rtrim(d.digits, '0') <> ''
        and ltrim(rtrim(d.digits, '0'), '0') = ltrim(rtrim(replace(amount::text, '.', ''), '0'), '0')))
$$;
comment on function market.states_amount(text, numeric) is 'Whether a quote states an amount: its digits, with k, grand, mil and the like as factors; no digits for 0.';

create function market.states_contact(quote text, method jsonb) returns boolean
  language sql immutable
as $$
  select case
    when method ->> 'type' = 'email' then
      not exists (
        select from regexp_split_to_table(market.fold(method ->> 'value'), '[^[:alnum:]]+') as piece
        where position(piece in market.fold(quote)) = 0)
    when method ->> 'type' = 'url' then
      position(rtrim(regexp_replace(lower(method ->> 'value'), '^https?://(www\.)?', ''), '/') in lower(quote)) > 0
    else
      length(regexp_replace(method ->> 'value', '\D', '', 'g')) >= 5
      and position(right(regexp_replace(method ->> 'value', '\D', '', 'g'), 6)
        in regexp_replace(quote, '\D', '', 'g')) > 0
  end
$$;
comment on function market.states_contact(text, jsonb) is
  'Whether a quote states a way to be reached: every piece of an e-mail address, the address of a link, the last six digits of a number.';

create function market.states_title(text text, title text) returns boolean
  language sql immutable
as $$
  select not exists (
    select from regexp_split_to_table(market.fold(title), '[^[:alnum:]]+') as word
    where word <> '' and position(word in market.fold(text)) = 0)
$$;
comment on function market.states_title(text, text) is 'Whether every word of a title stands in the text.';

create function market.contains_secret(text text) returns text
  language plpgsql immutable
as $$
declare
  digits text;
  total integer;
begin
  if text ~ 'agt_[0-9A-Za-z]{49}' then
    return 'The text contains an agent token. Take it out, and since it has been shown, remove that agent and connect a new one.';
  end if;
  -- Card numbers: 15 digits of American Express or 16 of the others, in groups or not, right by Luhn's formula (ISO/IEC 7812-1).
  for digits in
    select regexp_replace(m[1], '\D', '', 'g')
    from regexp_matches(text, '(?<![\d+])(\d(?:[ -]?\d){14,15})(?![ -]?\d)', 'g') as m
  loop
    if digits ~ '^(3[47]\d{13}|4\d{15}|5[1-5]\d{14}|2[2-7]\d{14}|6(011|5\d\d)\d{12}|35\d{14})$' then
      select sum(case when n % 2 = 1 then d else d * 2 - case when d > 4 then 9 else 0 end end) into total
      from (select substr(reverse(digits), n, 1)::integer as d, n from generate_series(1, length(digits)) as n) as luhn;
      if total % 10 = 0 then
        return 'The text contains a payment card number. Take it out, and tell the person to have the card replaced.';
      end if;
    end if;
  end loop;
  return null;
end
$$;
comment on function market.contains_secret(text) is
  'What to do about a secret pasted into a text (an agent token, a payment card number), or null when there is none.';
grant execute on function market.contains_secret(text) to souk_agent;
