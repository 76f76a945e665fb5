-- What a person told about themselves. Private: the person sees it, and no agent does, not even their own.

create table market.profile (
  account_id uuid constraint profile_pkey primary key
    constraint profile_account_fkey references market.account on delete cascade,
  contact_email text,
  contact_phone text,
  updated_at timestamptz not null default now(),
  constraint profile_contact_email_length check (char_length(contact_email) between 3 and 254),
  constraint profile_contact_phone_form check (contact_phone ~ '^\+[1-9][0-9]{6,14}$')
);
comment on table market.profile is 'One row is what a person told about themselves: private, and never shown to an agent.';
comment on column market.profile.account_id is 'Who.';
comment on column market.profile.contact_email is 'Where the person wants mail; told, not proved.';
comment on column market.profile.contact_phone is 'E.164; told, not proved.';
comment on column market.profile.updated_at is 'When it was last told.';

alter table market.profile enable row level security;
alter table market.profile force row level security;
create policy "the owner sees all" on market.profile to souk_owner using (true) with check (true);
create policy "a person sees what it told" on market.profile for select to souk_person
  using (account_id = (select market.account_id()));
create policy "a person tells" on market.profile for insert to souk_person
  with check (account_id = (select market.account_id()));
create policy "a person tells anew" on market.profile for update to souk_person
  using (account_id = (select market.account_id())) with check (account_id = (select market.account_id()));
create policy "a person names the account" on market.account for update to souk_person
  using (id = (select market.account_id())) with check (id = (select market.account_id()));
grant select, insert (account_id, contact_email, contact_phone),
  update (contact_email, contact_phone, updated_at) on market.profile to souk_person;
grant update (display_name) on market.account to souk_person;

create or replace function market.clean_email(address text) returns text
  language sql immutable
as $$ select nullif(lower(btrim(normalize(address, NFC), E' \t\r\n\u00a0')), '') $$;
comment on function market.clean_email(text) is 'An e-mail address as a person typed it, perhaps none, in the one form in which it is kept and compared: trimmed, lower-case, NFC; null when empty.';

create or replace function market.clean_phone(number text) returns text
  language sql immutable
as $$ select nullif(regexp_replace(regexp_replace(number, '[\s()./\u00a0\u2010-\u2013-]', '', 'g'), '^00', '+'), '') $$;
comment on function market.clean_phone(text) is 'A phone number without what people write between its digits; null when empty.';

create or replace function market.profile_errors(display_name text, contact_email text, contact_phone text) returns jsonb
  language sql immutable
as $$
  select coalesce(jsonb_agg(jsonb_build_object('pointer', e.pointer, 'detail', e.detail)), '[]')
  from (values
    ('/display_name', case when char_length(display_name) > 80 then 'A name may have at most 80 characters.' end),
    ('/contact_email', case
      when char_length(contact_email) > 254 then 'An e-mail address may have at most 254 characters.'
      when contact_email is not null and market.mailbox_of(contact_email) is null
        then 'This is not an e-mail address. Write it as lena@example.com, or leave it empty.' end),
    ('/contact_phone', case when contact_phone !~ '^\+[1-9][0-9]{6,14}$'
      then 'This is not a phone number with its country code. Write it as +49 30 1234567, or leave it empty.' end)
  ) as e (pointer, detail)
  where e.detail is not null
$$;
comment on function market.profile_errors(text, text, text) is 'What is wrong with a cleaned profile: [{pointer, detail}].';

create or replace function market.own_contact(out email text, out phone text)
  language plpgsql stable
as $$
begin
  select p.contact_email, p.contact_phone into email, phone
  from market.profile p where p.account_id = market.account_id();
  email := coalesce(email, (select m.email from market.proved_method m
    where m.account_id = market.account_id() and m.email is not null order by m.proved_at desc limit 1));
end
$$;
comment on function market.own_contact() is 'How to reach the person that calls: as they told, else the mailbox they proved. An agent may not ask.';
grant execute on function market.clean_email(text), market.clean_phone(text), market.profile_errors(text, text, text),
  market.own_contact() to souk_person;
