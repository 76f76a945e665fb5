create table market.profile (
  account_id uuid constraint profile_pkey primary key
    constraint profile_account_fkey references market.account on delete cascade,
  contact_email text,
  contact_phone text,
  contact_visibility text,
  updated_at timestamptz not null default now(),
  constraint profile_contact_email_length check (char_length(contact_email) between 3 and 254),
  constraint profile_contact_visibility_known check (contact_visibility in ('public', 'approved', 'agreement')),
  constraint profile_contact_phone_form check (contact_phone ~ '^\+[1-9][0-9]{6,14}$')
);

create policy "a person sees its own profile" on market.profile for select to souk_person
  using (account_id = (select internal.account_id()));
create policy "a person creates its own profile" on market.profile for insert to souk_person
  with check (account_id = (select internal.account_id()));
create policy "a person updates its own profile" on market.profile for update to souk_person
  using (account_id = (select internal.account_id())) with check (account_id = (select internal.account_id()));

comment on table market.profile is
  'One row is what a person entered about being reached. Only the person sees it, and no agent, not even the person''s '
  'own.';
comment on column market.profile.contact_email is 'The contact e-mail address as the person entered it; not proved.';
comment on column market.profile.contact_phone is
  'The contact phone number in E.164 as the person entered it; not proved.';
comment on column market.profile.contact_visibility is
  'Who sees the contact of new offers that name nobody; null: as the operator chose.';
grant select, insert (account_id, contact_email, contact_phone, contact_visibility),
  update (contact_email, contact_phone, contact_visibility, updated_at) on market.profile to souk_person;
