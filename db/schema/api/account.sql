-- What a person may do with their account: read it, change the profile, remove sign-in methods, and delete it.

create or replace function api.get_account() returns jsonb
  language plpgsql stable
as $$ begin return internal.own_account(); end $$;
comment on function api.get_account() is 'Returns the account as the settings page shows it. For a person only.';

create or replace function api.update_profile(
  display_name text, contact_email text, contact_phone text, contact_visibility text default null
) returns jsonb
  language plpgsql volatile
as $$
declare
  name text := internal.visible_name(update_profile.display_name);
  email text := internal.clean_email(update_profile.contact_email);
  phone text := internal.clean_phone(update_profile.contact_phone);
  errors jsonb := internal.profile_errors(name, email, phone)
    || internal.visibility_errors(update_profile.contact_visibility);
begin
  if errors <> '[]' then
    perform internal.raise_field_problems(errors);
  end if;
  update market.account a set display_name = name
  where a.id = internal.account_id() and a.display_name is distinct from name;
  insert into market.profile as p (account_id, contact_email, contact_phone, contact_visibility)
  select internal.account_id(), email, phone, update_profile.contact_visibility
  where email is not null or phone is not null or update_profile.contact_visibility is not null
    or exists (select from market.profile o where o.account_id = internal.account_id())
  on conflict on constraint profile_pkey do update
  set contact_email = excluded.contact_email, contact_phone = excluded.contact_phone,
    contact_visibility = excluded.contact_visibility, updated_at = now()
  where (p.contact_email, p.contact_phone, p.contact_visibility)
    is distinct from (excluded.contact_email, excluded.contact_phone, excluded.contact_visibility);
  return internal.own_account();
end
$$;
comment on function api.update_profile(text, text, text, text) is
  'Stores the person''s display name, e-mail address and phone number, and who sees the contact of new offers; null '
  'clears one. Returns the account. Raises 400 bad_request with the invalid fields.';

create or replace function api.remove_method(method text, confirmed boolean, record_key bytea default null)
  returns jsonb
  language plpgsql volatile
as $$
begin
  perform internal.require_recent_sign_in();
  perform internal.use_record_key(remove_method.record_key);
  perform internal.delete_proved_method(remove_method.method, remove_method.confirmed);
  return internal.own_account();
end
$$;
comment on function api.remove_method(text, boolean, bytea) is
  'Removes a sign-in method and ends the account''s sessions in other browsers. Returns the account. Raises 401 with '
  'sign_in_again when the sign-in is not recent, 404 when the account has no such method, and 409 with confirm when it '
  'is the last method and confirmed is not true.';

create or replace function api.delete_account(record_key bytea default null) returns jsonb
  language plpgsql volatile
as $$
begin
  perform internal.require_recent_sign_in();
  perform internal.use_record_key(delete_account.record_key);
  return jsonb_build_object('done', internal.erase_account());
end
$$;
comment on function api.delete_account(bytea) is
  'Deletes a part of the account and returns {done}. The caller repeats the call until done is true. If the account '
  'was suspended, had offers removed or had a limit set, this is kept for twelve months (market.kept_record). Raises '
  '401 with sign_in_again when the account has a sign-in method and the sign-in is not recent.';
