-- The link that makes the person who accepts it a moderator. `npm start` gives one while the database has no
-- moderator; no call of the API can create one. Reading the link changes nothing, accepting deletes it.

create or replace function api.get_moderator_link(secret_hash bytea) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from market.moderator_link l
      where l.secret_hash = get_moderator_link.secret_hash and l.expires_at > now()) then
    perform internal.raise_problem(404, 'not_found', 'moderator_link_used');
  end if;
  return jsonb '{}';
end
$$;
comment on function api.get_moderator_link(bytea) is 'Returns {} when the link still works. Raises 404 otherwise.';

create or replace function api.accept_moderator_link(secret_hash bytea, session_hash bytea, new_session_hash bytea)
  returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  person uuid := (internal.find_session(accept_moderator_link.session_hash)).account_id;
  new_session constant boolean := person is null;
begin
  delete from market.moderator_link l
  where l.secret_hash = accept_moderator_link.secret_hash and l.expires_at > now();
  if not found then
    perform internal.raise_problem(404, 'not_found', 'moderator_link_used');
  end if;
  if new_session then
    insert into market.account (claimed_at) values (now()) returning id into person;
    insert into market.session (account_id, secret_hash) values (person, accept_moderator_link.new_session_hash);
  end if;
  insert into market.moderator (account_id, appointed_by) values (person, 'first-start link') on conflict do nothing;
  return jsonb_build_object('new_session', new_session);
end
$$;
comment on function api.accept_moderator_link(bytea, bytea, bytea) is
  'Makes the person of the session a moderator. Without a session, it creates an account, and a session with '
  'new_session_hash. The link works once. Returns {new_session}: whether it created one. Raises 404 for an unknown, '
  'used or expired link.';
