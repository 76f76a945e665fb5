-- The contact data in a person's profile: how they are cleaned, checked and used.

create or replace function internal.clean_email(address text) returns text
  language sql immutable
as $$ select nullif(internal.lower_case(btrim(normalize(address, nfc), E' \t\r\n\u00a0')), '') $$;
comment on function internal.clean_email(text) is
  'Returns an e-mail address in the form in which it is stored and compared: trimmed, NFC, and A to Z in lower case '
  '(internal.lower_case); null when empty.';
grant execute on function internal.clean_email(text) to souk_person;

create or replace function internal.clean_phone(number text) returns text
  language sql immutable
as $$
  select nullif(regexp_replace(
    regexp_replace(number, '[' || internal.white_space() || '()./\u2010-\u2013-]', '', 'g'), '^00', '+'), '')
$$;
comment on function internal.clean_phone(text) is
  'Returns a phone number without the separators that people write, and with + for a leading 00; null when empty.';
grant execute on function internal.clean_phone(text) to souk_person;

create or replace function internal.profile_errors(display_name text, contact_email text, contact_phone text)
  returns jsonb
  language sql immutable
as $$
  select coalesce(jsonb_agg(jsonb_build_object('pointer', e.pointer, 'detail', e.detail)), '[]')
  from (values
    ('/display_name', case when char_length(display_name) > 80 then 'display_name_too_long' end),
    ('/contact_email', case
      when char_length(contact_email) > 254 then 'address_too_long'
      when contact_email is not null and internal.mailbox_of(contact_email) is null
        then 'no_address' end),
    ('/contact_phone', case when contact_phone !~ '^\+[1-9][0-9]{6,14}$'
      then 'no_phone_number' end)
  ) as e (pointer, detail)
  where e.detail is not null
$$;
comment on function internal.profile_errors(text, text, text) is
  'Returns what is wrong with a cleaned profile: [{pointer, detail}].';
grant execute on function internal.profile_errors(text, text, text) to souk_person;

create or replace function internal.own_contact(out email text, out phone text)
  language plpgsql stable
as $$
begin
  select p.contact_email, p.contact_phone into email, phone
  from market.profile p where p.account_id = internal.account_id();
  email := coalesce(email, (select m.email from market.proved_method m
    where m.account_id = internal.account_id() and m.email is not null order by m.proved_at desc limit 1));
end
$$;
comment on function internal.own_contact() is
  'Returns how to reach the calling person: the contact in the profile, otherwise the e-mail address that was proved '
  'last. Agents may not call it.';
grant execute on function internal.own_contact() to souk_person;
