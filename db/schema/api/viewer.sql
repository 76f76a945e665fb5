-- The person whose browser requests a page, and signing out.

create or replace function api.get_viewer(session_hash bytea) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  session record := internal.find_session(get_viewer.session_hash);
begin
  if session.session_id is null then
    return jsonb '{"viewer": null}';
  end if;
  perform internal.touch_session(session.session_id);
  return jsonb_build_object('viewer', jsonb_build_object(
    'display_name', (select a.display_name from market.account a where a.id = session.account_id),
    'label', internal.account_label(session.account_id),
    'methods', internal.account_methods(session.account_id),
    'signed_in_seconds_ago', floor(extract(epoch from now() - session.signed_in_at))::integer));
end
$$;
comment on function api.get_viewer(bytea) is
  'Returns viewer: the person signed in with this session (display_name, label, methods, signed_in_seconds_ago), or '
  'null.';

create or replace function api.sign_out() returns jsonb
  language plpgsql volatile
as $$
begin
  delete from market.session s where s.id = internal.session_id();
  return jsonb '{}';
end
$$;
comment on function api.sign_out() is 'Ends the session of the calling person.';

create or replace function api.sign_out_everywhere() returns jsonb
  language plpgsql volatile
as $$
begin
  perform internal.lock_sessions(internal.account_id());
  delete from market.session s where s.account_id = internal.account_id();
  return jsonb '{}';
end
$$;
comment on function api.sign_out_everywhere() is
  'Ends every session of the calling person''s account, including this one.';
