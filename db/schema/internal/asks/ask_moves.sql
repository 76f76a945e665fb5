-- An ask's status changes: active to archived or fulfilled, and back.

create or replace function internal.move_ask() returns trigger
  language plpgsql volatile
as $$
begin
  if old.status <> new.status and (old.status, new.status) not in (
    ('active', 'archived'), ('archived', 'active'), ('active', 'fulfilled'), ('fulfilled', 'active'))
  then
    perform internal.raise_problem(409, 'invalid_state',
      'ask_cannot_become', jsonb_build_object('status', old.status, 'wanted', new.status));
  end if;
  return new;
end
$$;
comment on function internal.move_ask() is
  'Raises 409 invalid_state for a status change of an ask, except from active to archived or fulfilled, and back.';
grant execute on function internal.move_ask() to souk_agent, souk_person;

create or replace function internal.refresh_ask() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform internal.enqueue('embed_ask', new.id);
  return null;
end
$$;
comment on function internal.refresh_ask() is
  'Enqueues the job that embeds and matches an ask which became active or watched again, so that the ask gets the '
  'matches that it missed.';

create or replace function internal.own_ask(id uuid) returns market.ask
  language plpgsql stable
as $$
declare
  ask market.ask;
begin
  select * into ask from market.ask a where a.id = own_ask.id and a.account_id = internal.account_id();
  if not found then
    perform internal.raise_problem(404, 'not_found', 'no_ask');
  end if;
  return ask;
end
$$;
comment on function internal.own_ask(uuid) is
  'Returns an ask of the caller''s account. Raises 404 when the account has no such ask.';
grant execute on function internal.own_ask(uuid) to souk_agent, souk_person;

create or replace function internal.lock_own_ask(id uuid) returns market.ask
  language plpgsql volatile
as $$
begin
  -- Whoever comes second sees what the first has made of the ask, and which of them called first.
  perform internal.lock_own_account();
  perform from market.ask a where a.id = lock_own_ask.id and a.account_id = internal.account_id() for no key update;
  return internal.own_ask(lock_own_ask.id);
end
$$;
comment on function internal.lock_own_ask(uuid) is
  'Locks the caller''s account and then its ask with this id, and returns the ask. Raises 404 when the account has no '
  'such ask.';
grant execute on function internal.lock_own_ask(uuid) to souk_agent, souk_person;

create or replace function internal.set_ask_status(id uuid, status text) returns jsonb
  language plpgsql volatile
as $$
declare
  ask market.ask;
begin
  perform internal.require_permission('manage_asks');
  ask := internal.lock_own_ask(set_ask_status.id);
  perform internal.admit('manage', null, null, '[]');
  if ask.status <> set_ask_status.status then
    update market.ask a set status = set_ask_status.status, updated_at = now() where a.id = ask.id returning * into ask;
  end if;
  return internal.ask_document(ask);
end
$$;
comment on function internal.set_ask_status(uuid, text) is
  'Sets the status of an ask of the caller''s account and returns the Ask; an ask that already has the status stays as '
  'it is. Raises 403 without permission, 404 for an ask of another account, 429 beyond the limit of manage, and 409 '
  'invalid_state when the change is not allowed.';
grant execute on function internal.set_ask_status(uuid, text) to souk_agent, souk_person;
