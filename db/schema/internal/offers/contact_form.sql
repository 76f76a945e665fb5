-- The ways to contact a publisher, and what the value of each is.

create or replace function internal.contact_form(type text) returns text
  language sql immutable
as $$
  select case
    when type = 'email' then 'address'
    when type in ('phone', 'sms', 'whatsapp') then 'number'
    when type = 'url' then 'link' end
$$;
comment on function internal.contact_form(text) is
  'Returns what the value of a contact of this type is: address, number (E.164) or link; null if there is no such '
  'type.';
