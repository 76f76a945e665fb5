-- The account, as the person whose it is sees and keeps it: profile, sign-in methods, a copy of everything, and its
-- end.

create or replace function api.get_account() returns jsonb
  language plpgsql stable
as $$ begin return internal.own_account(); end $$;
comment on function api.get_account() is 'What the settings show of the account. For its person.';
grant execute on function api.get_account() to souk_api;

create or replace function api.update_profile(display_name text, contact_email text, contact_phone text) returns jsonb
  language plpgsql volatile
as $$
declare
  name text := internal.visible_name(update_profile.display_name);
  email text := internal.clean_email(update_profile.contact_email);
  phone text := internal.clean_phone(update_profile.contact_phone);
  errors jsonb := internal.profile_errors(name, email, phone);
begin
  if errors <> '[]' then
    perform internal.raise_field_problems(errors);
  end if;
  update market.account a set display_name = name
  where a.id = internal.account_id() and a.display_name is distinct from name;
  insert into market.profile as p (account_id, contact_email, contact_phone)
  select internal.account_id(), email, phone
  where email is not null or phone is not null
    or exists (select from market.profile o where o.account_id = internal.account_id())
  on conflict on constraint profile_pkey do update
  set contact_email = excluded.contact_email, contact_phone = excluded.contact_phone, updated_at = now()
  where (p.contact_email, p.contact_phone) is distinct from (excluded.contact_email, excluded.contact_phone);
  return internal.own_account();
end
$$;
comment on function api.update_profile(text, text, text) is
  'Keeps what the person tells about themselves; empty means nothing told. 400 bad_request with the fields to fix.';
grant execute on function api.update_profile(text, text, text) to souk_api;

create or replace function api.remove_method(method text, confirmed boolean) returns jsonb
  language plpgsql volatile
as $$
begin
  perform internal.require_recent_sign_in();
  perform internal.delete_proved_method(remove_method.method, remove_method.confirmed);
  return internal.own_account();
end
$$;
comment on function api.remove_method(text, boolean) is
  'Removes a sign-in method, and ends the sessions of other browsers; 401 with sign_in_again when the sign-in is not '
  'recent, 409 with confirm for the last one.';
grant execute on function api.remove_method(text, boolean) to souk_api;

create or replace function api.delete_account() returns jsonb
  language plpgsql volatile
as $$
begin
  perform internal.require_recent_sign_in();
  return jsonb_build_object('done', internal.erase_account());
end
$$;
comment on function api.delete_account() is
  'Deletes the account for good: {done}, to be called until it is; 401 with sign_in_again when it has a sign-in method '
  'and the sign-in is not recent.';
grant execute on function api.delete_account() to souk_api;
