create table market.proved_method (
  account_id uuid not null constraint proved_method_account_fkey references market.account on delete cascade,
  method text not null constraint proved_method_method_fkey references market.sign_in_method on delete restrict,
  subject_hash bytea not null,
  proved_at timestamptz not null default now(),
  email text,
  constraint proved_method_pkey primary key (account_id, method),
  constraint proved_method_subject_key unique (method, subject_hash),
  constraint proved_method_method_form check (method in ('google', 'apple', 'email')),
  constraint proved_method_subject_hash_is_sha256 check (octet_length(subject_hash) = 32),
  constraint proved_method_email_length check (char_length(email) between 3 and 254)
);
-- Moderators look up an account by its mailbox (internal.find_by_mailbox).
create index proved_method_email_idx on market.proved_method (email) where email is not null;

create policy "a caller sees what its account proved" on market.proved_method for select to souk_agent, souk_person
  using (account_id = (select internal.visible_account_id()));

comment on table market.proved_method is
  'One row is one sign-in method that an account has proved. One subject (a person at a provider, or an e-mail '
  'address) can be proved for one account only.';
comment on column market.proved_method.subject_hash is
  'SHA-256 of the method and the subject, which is the provider''s id of the person or the e-mail address.';
comment on column market.proved_method.email is
  'The e-mail address that the provider verified; null when it verified none. Agents never see it.';
grant select (account_id, method, proved_at) on market.proved_method to souk_agent, souk_person;
grant select (email) on market.proved_method to souk_person;
