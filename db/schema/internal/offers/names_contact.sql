-- Which titles may be shown where contacts must not appear.

create or replace function internal.names_contact(title text, contact jsonb) returns boolean
  language sql immutable
as $$
  -- An address, a link, a domain, or six digits that belong together, as in a number, in the digits of any script. It
  -- is better to leave out too many titles.
  select internal.lower_case(internal.comparable_text(title)) ~ '@|://|www\.|[a-z0-9-]\.[a-z]{2,}|([0-9][ ./()+-]*){6,}'
    or exists (
      select from jsonb_path_query(contact, '$.**.value') as v (value)
      where strpos(reading.fold(title), reading.fold(v.value #>> '{}')) > 0)
    or exists (
      select from jsonb_path_query(contact, '$.**.name') as n (value)
      where strpos(reading.fold(title), reading.fold(n.value #>> '{}')) > 0)
$$;
comment on function internal.names_contact(text, jsonb) is
  'Returns whether a title may contain a contact: one that the offer states, or anything that looks like one.';
