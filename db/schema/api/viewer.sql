-- Who looks at a page, and signing out.

create or replace function market.account_methods(account_id uuid) returns jsonb
  language plpgsql stable
as $$
begin
  return (select coalesce(jsonb_agg(jsonb_build_object('method', p.method, 'email', p.email) order by m.position), '[]')
    from market.proved_method p join market.sign_in_method m on m.method = p.method
    where p.account_id = account_methods.account_id);
end
$$;
comment on function market.account_methods(uuid) is 'The methods that an account has proved, with the mailbox of each, for its own person.';

create or replace function api.get_viewer(session_hash bytea) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  session record := market.find_session(get_viewer.session_hash);
begin
  if session.session_id is null then
    return jsonb '{"viewer": null}';
  end if;
  perform market.keep_session(session.session_id);
  return jsonb_build_object('viewer', jsonb_build_object(
    'display_name', (select a.display_name from market.account a where a.id = session.account_id),
    'label', market.account_label(session.account_id),
    'methods', market.account_methods(session.account_id),
    'signed_in_seconds_ago', floor(extract(epoch from now() - session.signed_in_at))::integer,
    'is_moderator', false));
end
$$;
comment on function api.get_viewer(bytea) is
  'viewer: who is signed in with this session (display_name, label, methods, signed_in_seconds_ago, is_moderator), or null.';
grant execute on function api.get_viewer(bytea) to souk_api;

create or replace function api.sign_out() returns jsonb
  language plpgsql volatile
as $$
begin
  -- As with a removed agent: over on every replica, too, before the answer.
  perform set_config('synchronous_commit', 'remote_apply', true);
  delete from market.session s where s.id = market.session_id();
  return jsonb '{}';
end
$$;
comment on function api.sign_out() is 'Ends the session that a person calls with.';
grant execute on function api.sign_out() to souk_api;

create or replace function api.sign_out_everywhere() returns jsonb
  language plpgsql volatile
as $$
begin
  perform set_config('synchronous_commit', 'remote_apply', true);
  perform market.lock_sessions(market.account_id());
  delete from market.session s where s.account_id = market.account_id();
  return jsonb '{}';
end
$$;
comment on function api.sign_out_everywhere() is 'Ends every session of the account that a person calls for, this one, too.';
grant execute on function api.sign_out_everywhere() to souk_api;
