-- What a person is notified of, and where: the settings page "Alerts", and the link in a digest that switches it off.

create or replace function api.get_alerts() returns jsonb
  language plpgsql stable
as $$
declare
  -- For the rest, a person asks an agent.
  max_asks constant integer := 20;
begin
  return jsonb_build_object(
    'digest', coalesce(internal.own_digest(), '{"enabled": false, "sent_at": null}'),
    'email', internal.notice_email(internal.account_id()),
    'asks', (
      select coalesce(jsonb_agg(jsonb_build_object('id', a.id, 'title', a.title, 'text', a.text,
        'watch_enabled', a.watch_enabled) order by a.id desc), '[]')
      from (
        select o.id, o.title, o.text, o.watch_enabled from market.ask o
        where o.account_id = internal.account_id() and o.status = 'active' order by o.id desc limit max_asks) as a));
end
$$;
comment on function api.get_alerts() is
  'Returns {digest, email, asks}: whether new matches come by mail, the address to which they would (null when none is '
  'proved), and the newest 20 active asks with watch_enabled. For a person only.';

create or replace function api.set_digest(enabled boolean) returns jsonb
  language plpgsql volatile
as $$
begin
  if internal.account_id() is null then
    perform internal.raise_problem(401, 'unauthorized', 'not_signed_in');
  end if;
  if set_digest.enabled and internal.notice_email(internal.account_id()) is null then
    perform internal.raise_problem(409, 'invalid_state', 'no_proved_address');
  end if;
  insert into market.digest as d (account_id, enabled) values (internal.account_id(), set_digest.enabled)
  on conflict on constraint digest_pkey do update
    set enabled = excluded.enabled, changed_at = now(),
      -- Switching it off and on again does not bring a second mail on one day.
      due_at = greatest(now(), coalesce(d.sent_at, '-infinity') + interval '1 day')
  where d.enabled <> excluded.enabled;
  return internal.own_digest();
end
$$;
comment on function api.set_digest(boolean) is
  'Switches the digest of the calling person on or off. Raises 409 invalid_state when no e-mail address is proved.';

create or replace function api.get_digest_link(account_id uuid, key_hash bytea) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform internal.check_stop_key(get_digest_link.account_id, get_digest_link.key_hash);
  return jsonb_build_object('enabled',
    coalesce((select d.enabled from market.digest d where d.account_id = get_digest_link.account_id), false));
end
$$;
comment on function api.get_digest_link(uuid, bytea) is
  'Returns {enabled} for the page behind the link in a digest; raises 404 when the link is not one of ours.';

create or replace function api.stop_digest(account_id uuid, key_hash bytea) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform internal.check_stop_key(stop_digest.account_id, stop_digest.key_hash);
  update market.digest d set enabled = false, changed_at = now()
  where d.account_id = stop_digest.account_id and d.enabled;
  return jsonb_build_object('enabled', false);
end
$$;
comment on function api.stop_digest(uuid, bytea) is
  'Switches a digest off by the link in a mail, without a session; repeated, it changes nothing. Raises 404 when the '
  'link is not one of ours.';
