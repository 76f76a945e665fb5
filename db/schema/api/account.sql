-- The account, as the person whose it is sees and keeps it: profile, sign-in methods, a copy of everything, and its end.

create or replace function market.own_sessions(out sessions integer, out signed_in_seconds_ago integer)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  select count(*), extract(epoch from now() - max(s.signed_in_at) filter (where s.id = market.session_id()))
  into sessions, signed_in_seconds_ago
  from market.session s where s.account_id = market.account_id() and market.is_alive(s);
end
$$;
comment on function market.own_sessions() is
  'In how many browsers the person is signed in, and how long ago in this one; null when this one only approved an agent.';
grant execute on function market.own_sessions() to souk_person;

create or replace function market.own_account() returns jsonb
  language plpgsql stable
as $$
declare
  account market.account;
  profile market.profile;
  signed record;
begin
  select * into account from market.account a where a.id = market.account_id();
  if not found then
    perform market.fail(401, 'unauthorized', 'You are not signed in, or this account no longer exists.');
  end if;
  select * into profile from market.profile p where p.account_id = account.id;
  signed := market.own_sessions();
  return jsonb_build_object(
    'display_name', account.display_name,
    'contact_email', profile.contact_email,
    'contact_phone', profile.contact_phone,
    'member_since', market.utc(account.created_at),
    'label', market.account_label(account.id),
    'methods', (
      select coalesce(jsonb_agg(jsonb_build_object('method', m.method, 'email', m.email, 'proved_at', market.utc(m.proved_at))
        order by m.proved_at), '[]')
      from market.proved_method m where m.account_id = account.id),
    'available_methods', market.methods(true),
    'unavailable_methods', market.methods(false),
    'sessions', signed.sessions,
    'signed_in_seconds_ago', signed.signed_in_seconds_ago);
end
$$;
comment on function market.own_account() is 'The account of the person that calls, as its settings show it.';
grant execute on function market.own_account() to souk_person;

create or replace function api.get_account() returns jsonb
  language plpgsql stable
as $$ begin return market.own_account(); end $$;
comment on function api.get_account() is 'What the settings show of the account. For its person.';
grant execute on function api.get_account() to souk_api;

create or replace function api.update_profile(display_name text, contact_email text, contact_phone text) returns jsonb
  language plpgsql volatile
as $$
declare
  name text := market.visible_name(update_profile.display_name);
  email text := market.clean_email(update_profile.contact_email);
  phone text := market.clean_phone(update_profile.contact_phone);
  errors jsonb := market.profile_errors(name, email, phone);
begin
  if errors <> '[]' then
    perform market.fail_fields(errors);
  end if;
  update market.account a set display_name = name
  where a.id = market.account_id() and a.display_name is distinct from name;
  insert into market.profile as p (account_id, contact_email, contact_phone)
  select market.account_id(), email, phone
  where email is not null or phone is not null or exists (select from market.profile o where o.account_id = market.account_id())
  on conflict on constraint profile_pkey do update
  set contact_email = excluded.contact_email, contact_phone = excluded.contact_phone, updated_at = now()
  where (p.contact_email, p.contact_phone) is distinct from (excluded.contact_email, excluded.contact_phone);
  return market.own_account();
end
$$;
comment on function api.update_profile(text, text, text) is
  'Keeps what the person tells about themselves; empty means nothing told. 400 bad_request with the fields to fix.';
grant execute on function api.update_profile(text, text, text) to souk_api;

create or replace function market.forget_method(method text, confirmed boolean) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if market.account_id() is null then
    perform market.fail(401, 'unauthorized', 'You are not signed in, or your session has ended.');
  end if;
  perform market.lock_sessions(market.account_id());
  -- Two tabs that each remove "the one before the last" wait for each other.
  perform from market.account a where a.id = market.account_id() for no key update;
  if not exists (select from market.proved_method m where m.account_id = market.account_id() and m.method = forget_method.method) then
    perform market.fail(404, 'not_found', 'Your account has no such sign-in method.');
  end if;
  if not coalesce(forget_method.confirmed, false) and not exists (
    select from market.proved_method m where m.account_id = market.account_id() and m.method <> forget_method.method) then
    perform market.fail(409, 'invalid_state',
      'This is the only way to sign in to your account. Without it, whoever loses this browser loses the account. Add another one first, or confirm that you want none.',
      '{"confirm": true}');
  end if;
  delete from market.proved_method m where m.account_id = market.account_id() and m.method = forget_method.method;
  -- Whoever signed in by it elsewhere is out, on every replica, as after signing out.
  perform set_config('synchronous_commit', 'remote_apply', true);
  delete from market.session s where s.account_id = market.account_id() and s.id is distinct from market.session_id();
end
$$;
comment on function market.forget_method(text, boolean) is
  'Removes a sign-in method of the person that calls, and ends the account''s other sessions; the last one only when that is confirmed (409 with confirm).';
grant execute on function market.forget_method(text, boolean) to souk_person;

create or replace function api.remove_method(method text, confirmed boolean) returns jsonb
  language plpgsql volatile
as $$
begin
  perform market.require_recent_sign_in();
  perform market.forget_method(remove_method.method, remove_method.confirmed);
  return market.own_account();
end
$$;
comment on function api.remove_method(text, boolean) is
  'Removes a sign-in method, and ends the sessions of other browsers; 401 with sign_in_again when the sign-in is not recent, 409 with confirm for the last one.';
grant execute on function api.remove_method(text, boolean) to souk_api;

create or replace function market.erase_account() returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  erased uuid := market.account_id();
  -- Each takes some milliseconds, and a statement has five seconds.
  batch constant integer := 200;
  -- Each takes some hundredths of a millisecond, and what was emptied before is passed by every time.
  logged constant integer := 5000;
  emptied integer;
  offers uuid[];
  attempts uuid[];
begin
  perform market.lock_sessions(erased);
  -- First the account's own row: what is being published waits for it, or is waited for (jobs.finish_reading).
  perform from market.account a where a.id = erased for update;
  if not found or market.agent_id() is not null then
    perform market.fail(401, 'unauthorized', 'You are not signed in, or this account no longer exists.');
  end if;
  -- Its tokens and sessions are refused by every replica that synchronous_standby_names lists, as with a removed agent.
  perform set_config('synchronous_commit', 'remote_apply', true);
  -- Nobody publishes from here on, however many calls it takes.
  perform from market.agent a where a.account_id = erased order by a.id for update;
  update market.agent a set removed_at = now() where a.account_id = erased and a.removed_at is null;
  -- Then its offers: a vector that is being stored refers to one, and waits or is waited for.
  offers := array(select o.id from market.offer o where o.account_id = erased order by o.id limit batch for update);
  perform from market.ask a where a.account_id = erased order by a.id for update;

  delete from market.call c where c.scope in (select 'agent:' || a.id from market.agent a where a.account_id = erased);
  delete from market.idempotency_key k
  where k.owner_id = erased or k.owner_id in (select a.id from market.agent a where a.account_id = erased);
  perform pg_notify('submission', s.id::text) from market.submission s where s.account_id = erased and s.settled_at is null;
  delete from market.submission s where s.account_id = erased;

  -- The rows stay for the reports of others and for what moderation decided; nothing of what a person wrote does.
  update market.offer o set
    status = case when o.status in ('published', 'pending_review') then 'archived' else o.status end,
    title = 'Deleted offer', text = 'The account that published this offer was deleted.',
    language = null, images = '{}', price_hundredths = null, price_currency = null, price_period = null,
    location_text = null, metadata = '{}', contact = '{}', extraction = '{}', missing_fields = '{}', warnings = '{}',
    review_note = null, origin_ask_id = null, agent_id = null, account_id = null
  where o.id = any (offers);
  delete from market.offer_embedding e where e.offer_id = any (offers);
  delete from market.match m where m.offer_id = any (offers);
  -- There is nothing left to decide.
  update market.report r set settled_at = now() where r.offer_id = any (offers) and r.settled_at is null;
  update market.review_case c set closed_at = now(), reports = 0, held_by = null, held_until = null
  where c.offer_id = any (offers) and c.closed_at is null;
  if cardinality(offers) = batch then
    return false;
  end if;
  update market.audit_event e set before = null, after = null
  where (e.id, e.at) in (
    select o.id, o.at from market.audit_event o
    where o.subject_account_id = erased and (o.before is not null or o.after is not null) limit logged);
  get diagnostics emptied = row_count;
  if emptied = logged then
    return false;
  end if;
  update market.report r set account_id = null, agent_id = null, comment = null where r.account_id = erased;

  -- Attempts follow the verifications that they answer, as when one is finished; with them go those of its mailboxes.
  perform from market.verification v where v.account_id = erased order by v.id for update;
  attempts := array(
    select s.id from market.sign_in s where s.account_id = erased
    union
    select s.id from market.verification v join market.sign_in s on s.verification_id = v.id where v.account_id = erased
    union
    select s.id from market.proved_method p join market.sign_in s on s.email = p.email where p.account_id = erased);
  perform from market.sign_in s where s.id = any (attempts) order by s.id for update;
  delete from market.sign_in s where s.id = any (attempts);
  -- Agents, links, asks, profile, methods, sessions and verifications go with it.
  delete from market.account a where a.id = erased;
  -- What this call itself has logged.
  update market.audit_event e set before = null, after = null
  where e.subject_account_id = erased and (e.before is not null or e.after is not null);
  return true;
end
$$;
comment on function market.erase_account() is
  'Ends the account of the person that calls: agents refused, offers archived and emptied, everything else of theirs gone. False while there are more offers, or more events in the log: call again.';
grant execute on function market.erase_account() to souk_person;

create or replace function api.delete_account() returns jsonb
  language plpgsql volatile
as $$
begin
  perform market.require_recent_sign_in();
  return jsonb_build_object('done', market.erase_account());
end
$$;
comment on function api.delete_account() is
  'Deletes the account for good: {done}, to be called until it is; 401 with sign_in_again when it has a sign-in method and the sign-in is not recent.';
grant execute on function api.delete_account() to souk_api;
