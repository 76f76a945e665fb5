-- How pages name an account and a sign-in method to a person.

create or replace function internal.method_name(method text) returns text
  language sql immutable parallel safe
as $$
  select case when method = 'email' then 'e-mail' else upper(left(method, 1) collate "C") || substr(method, 2) end
  $$;
comment on function internal.method_name(text) is 'Returns the name of a sign-in method for use in a sentence.';
grant execute on function internal.method_name(text) to souk_person;

create or replace function internal.notice_email(account_id uuid) returns text
  language sql stable
as $$
  select p.email from market.proved_method p join market.sign_in_method m on m.method = p.method
  where p.account_id = notice_email.account_id and p.email is not null
  -- A person who signs in by e-mail reads that address, so it comes first.
  order by p.method <> 'email', m.position
  limit 1
$$;
comment on function internal.notice_email(uuid) is
  'Returns the e-mail address to which messages about an account are sent; null when none was proved.';
grant execute on function internal.notice_email(uuid) to souk_person;

create or replace function internal.account_label(account_id uuid) returns text
  language plpgsql stable
as $$
declare
  display_name text := (select a.display_name from market.account a where a.id = account_label.account_id);
  email text;
  method text;
begin
  select p.method, p.email into method, email
  from market.proved_method p join market.sign_in_method m on m.method = p.method
  where p.account_id = account_label.account_id
  order by p.email is null, m.position limit 1;
  return case
    when email is not null then coalesce(display_name || ' (' || email || ')', email)
    when display_name is not null then display_name
    when method is not null then format('the account that you sign in to with %s', internal.method_name(method))
    else 'a new account without a sign-in method' end;
end
$$;
comment on function internal.account_label(uuid) is
  'Returns the name of an account for the pages of its own person: display name and e-mail address, or one of them, or '
  'a description of the account when it has neither.';
grant execute on function internal.account_label(uuid) to souk_person;
