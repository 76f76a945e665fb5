-- The account as its person sees it, and its end.

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
  'In how many browsers the person is signed in, and how long ago in this one; null when this one only approved an '
  'agent.';
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
    perform internal.raise_problem(401, 'unauthorized', 'You are not signed in, or this account no longer exists.');
  end if;
  select * into profile from market.profile p where p.account_id = account.id;
  signed := internal.own_sessions();
  return jsonb_build_object(
    'display_name', account.display_name,
    'contact_email', profile.contact_email,
    'contact_phone', profile.contact_phone,
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
    'signed_in_seconds_ago', signed.signed_in_seconds_ago);
end
$$;
comment on function internal.own_account() is 'The account of the person that calls, as its settings show it.';
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
  'The methods that an account has proved, with the mailbox of each, for its own person.';

create or replace function internal.delete_proved_method(method text, confirmed boolean) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if internal.account_id() is null then
    perform internal.raise_problem(401, 'unauthorized', 'You are not signed in, or your session has ended.');
  end if;
  perform internal.lock_sessions(internal.account_id());
  -- Two tabs that each remove "the one before the last" wait for each other.
  perform from market.account a where a.id = internal.account_id() for no key update;
  if not exists (select from market.proved_method m
    where m.account_id = internal.account_id() and m.method = delete_proved_method.method) then
    perform internal.raise_problem(404, 'not_found', 'Your account has no such sign-in method.');
  end if;
  if not coalesce(delete_proved_method.confirmed, false) and not exists (
    select from market.proved_method m
    where m.account_id = internal.account_id() and m.method <> delete_proved_method.method) then
    perform internal.raise_problem(409, 'invalid_state',
      'This is the only way to sign in to your account. Without it, whoever loses this browser loses the account. Add '
      'another one first, or confirm that you want none.',
      '{"confirm": true}');
  end if;
  delete from market.proved_method m
  where m.account_id = internal.account_id() and m.method = delete_proved_method.method;
  -- Whoever signed in by it elsewhere is out, on every replica, as after signing out.
  perform set_config('synchronous_commit', 'remote_apply', true);
  delete from market.session s
  where s.account_id = internal.account_id() and s.id is distinct from internal.session_id();
end
$$;
comment on function internal.delete_proved_method(text, boolean) is
  'Removes a sign-in method of the person that calls, and ends the account''s other sessions; the last one only when '
  'that is confirmed (409 with confirm).';
grant execute on function internal.delete_proved_method(text, boolean) to souk_person;

create or replace function internal.erase_account() returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  erased uuid := internal.account_id();
  -- Each takes some milliseconds, and a statement has five seconds.
  batch constant integer := 200;
  -- Each takes some hundredths of a millisecond, and what was emptied before is passed by every time.
  logged constant integer := 5000;
  emptied integer;
  offers uuid[];
  attempts uuid[];
begin
  perform internal.lock_sessions(erased);
  -- First the account's own row: what is being published waits for it, or is waited for (jobs.complete_submission).
  perform from market.account a where a.id = erased for update;
  if not found or internal.agent_id() is not null then
    perform internal.raise_problem(401, 'unauthorized', 'You are not signed in, or this account no longer exists.');
  end if;
  -- Its tokens and sessions are refused by every replica that synchronous_standby_names lists, as with a removed agent.
  perform set_config('synchronous_commit', 'remote_apply', true);
  -- Nobody publishes from here on, however many calls it takes.
  perform from market.agent a where a.account_id = erased order by a.id for update;
  update market.agent a set removed_at = now() where a.account_id = erased and a.removed_at is null;
  -- Then its offers: a vector that is being stored refers to one, and waits or is waited for.
  offers := array(select o.id from market.offer o where o.account_id = erased order by o.id limit batch for update);
  perform from market.ask a where a.account_id = erased order by a.id for update;

  delete from market.rate_limit_hit c
  where c.scope in (select 'agent:' || a.id from market.agent a where a.account_id = erased);
  delete from market.idempotency_key k
  where k.owner_id = erased or k.owner_id in (select a.id from market.agent a where a.account_id = erased);
  perform pg_notify('submission', s.id::text) from market.submission s
  where s.account_id = erased and s.completed_at is null;
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
  update market.report r set completed_at = now() where r.offer_id = any (offers) and r.completed_at is null;
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
comment on function internal.erase_account() is
  'Ends the account of the person that calls: agents refused, offers archived and emptied, everything else of theirs '
  'gone. False while there are more offers, or more events in the log: call again.';
grant execute on function internal.erase_account() to souk_person;
