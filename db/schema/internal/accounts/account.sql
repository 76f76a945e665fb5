-- An account as its own person sees it in the settings: its data and its sign-in methods.

create or replace function internal.own_sessions(out sessions integer, out signed_in_seconds_ago integer)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  select count(*)::integer,
    extract(epoch from now() - max(s.signed_in_at) filter (where s.id = internal.session_id()))::integer
  into sessions, signed_in_seconds_ago
  from market.session s where s.account_id = internal.account_id() and internal.is_session_alive(s);
end
$$;
comment on function internal.own_sessions() is
  'Returns the number of live sessions of the calling person''s account, and how many seconds ago the person signed in '
  'in this session; the second is null when this browser only approved an agent.';
grant execute on function internal.own_sessions() to souk_person;

create or replace function internal.own_account() returns jsonb
  language plpgsql stable
as $$
declare
  account market.account;
  profile market.profile;
  signed record;
begin
  select * into account from market.account a where a.id = internal.account_id();
  if not found then
    perform internal.raise_problem(401, 'unauthorized', 'own_account_gone');
  end if;
  select * into profile from market.profile p where p.account_id = account.id;
  signed := internal.own_sessions();
  return jsonb_build_object(
    'display_name', account.display_name,
    'contact_email', profile.contact_email,
    'contact_phone', profile.contact_phone,
    'contact_visibility', profile.contact_visibility,
    'member_since', internal.utc(account.created_at),
    'label', internal.account_label(account.id),
    'methods', (
      select coalesce(
        jsonb_agg(jsonb_build_object('method', m.method, 'email', m.email, 'proved_at', internal.utc(m.proved_at))
        order by m.proved_at), '[]')
      from market.proved_method m where m.account_id = account.id),
    'available_methods', internal.sign_in_methods(true),
    'unavailable_methods', internal.sign_in_methods(false),
    'sessions', signed.sessions,
    'signed_in_seconds_ago', signed.signed_in_seconds_ago,
    'kept_after_deletion', internal.kept_after_deletion());
end
$$;
comment on function internal.own_account() is
  'Returns the account of the calling person as the settings page shows it; 401 when it no longer exists.';
grant execute on function internal.own_account() to souk_person;

create or replace function internal.account_methods(account_id uuid) returns jsonb
  language plpgsql stable
as $$
begin
  return (select coalesce(jsonb_agg(jsonb_build_object('method', p.method, 'email', p.email) order by m.position), '[]')
    from market.proved_method p join market.sign_in_method m on m.method = p.method
    where p.account_id = account_methods.account_id);
end
$$;
comment on function internal.account_methods(uuid) is
  'Returns the methods that an account has proved as [{method, email}], for the account''s own person.';

create or replace function internal.delete_proved_method(method text, confirmed boolean) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if internal.account_id() is null then
    perform internal.raise_problem(401, 'unauthorized', 'not_signed_in');
  end if;
  perform internal.lock_sessions(internal.account_id());
  -- Two requests that each remove a method must run one after the other. Otherwise each could find that the other
  -- method is left, and no method would remain.
  perform from market.account a where a.id = internal.account_id() for no key update;
  if not exists (select from market.proved_method m
    where m.account_id = internal.account_id() and m.method = delete_proved_method.method) then
    perform internal.raise_problem(404, 'not_found', 'no_method');
  end if;
  if not coalesce(delete_proved_method.confirmed, false) and not exists (
    select from market.proved_method m
    where m.account_id = internal.account_id() and m.method <> delete_proved_method.method) then
    perform internal.raise_problem(409, 'invalid_state', 'last_method',
      extra => '{"confirm": true}');
  end if;
  perform internal.notify_addresses(internal.account_id(), 'method_removed', delete_proved_method.method);
  delete from market.proved_method m
  where m.account_id = internal.account_id() and m.method = delete_proved_method.method;
  -- Sign out all other browsers.
  delete from market.session s
  where s.account_id = internal.account_id() and s.id is distinct from internal.session_id();
  if not exists (select from market.proved_method m where m.account_id = internal.account_id()) then
    -- Nobody can sign in again, so this browser's session lasts as long as one that only approved an agent.
    update market.session s set signed_in_at = null where s.id = internal.session_id();
  end if;
end
$$;
comment on function internal.delete_proved_method(text, boolean) is
  'Removes a sign-in method of the calling person and ends all other sessions of the account. Raises 401 without a '
  'session, 404 when the account has no such method, and 409 (confirm) when it is the last method and `confirmed` is '
  'not true.';
grant execute on function internal.delete_proved_method(text, boolean) to souk_person;
