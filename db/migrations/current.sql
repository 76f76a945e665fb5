-- Signing in, as a review left it.

set local role souk_owner;

comment on column market.call.scope is 'Whose window: agent:<id>, address:<network>, mailbox:<half a SHA-256>, or mailbox_at:<half a SHA-256>, of mailbox and network.';

-- Functions beside tables whose text changed (as db/schema has them)

CREATE OR REPLACE FUNCTION market.file_concepts()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  -- What belongs to nobody any more is not found.
  new.concepts := case when new.account_id is null then '' else market.concept_vector(new.title, new.text, new.language) end;
  return new;
end
$function$;
comment on function market.file_concepts() is 'Files an offer under what it names.';

CREATE OR REPLACE FUNCTION market.own_activity("limit" integer, cursor text)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  list constant text := 'activity';
  last_seen jsonb := market.position_of(cursor, list);
  activity jsonb;
  last_at timestamptz;
  last_id uuid;
  more boolean;
begin
  with page as (
    select e.*, row_number() over (order by e.at desc, e.id desc) as n
    from (
      select e.id, e.at, e.actor_type, e.agent_id, e.action, e.table_name, e.row_id from market.audit_event e
      where e.subject_account_id = market.account_id() and e.at > now() - interval '12 months'
        and e.table_name in ('offer', 'ask', 'agent', 'account', 'profile', 'proved_method')
        and (last_seen is null or (e.at, e.id) < ((last_seen ->> 'time')::timestamptz, (last_seen ->> 'id')::uuid))
      order by e.at desc, e.id desc limit own_activity.limit + 1) as e
  )
  select
    coalesce(jsonb_agg(jsonb_build_object(
      'at', market.utc(p.at), 'action', p.action,
      'agent', (select jsonb_build_object('id', a.id, 'name', a.name) from market.agent a where a.id = p.agent_id),
      'target', market.activity_target(p.table_name, p.row_id))
      || case when p.actor_type in ('moderator', 'job', 'dba') then jsonb_build_object('by', p.actor_type) else '{}' end
      order by p.n) filter (where p.n <= own_activity.limit), '[]'),
    coalesce(max(p.n) > own_activity.limit, false),
    (array_agg(p.at order by p.n) filter (where p.n <= own_activity.limit))[own_activity.limit],
    (array_agg(p.id order by p.n) filter (where p.n <= own_activity.limit))[own_activity.limit]
  into activity, more, last_at, last_id
  from page p;
  return jsonb_build_object('activity', activity,
    'page', market.page(jsonb_build_object('list', list, 'time', last_at, 'id', last_id), more));
end
$function$;
comment on function market.own_activity(integer,text) is 'What was done in the account of the person that calls, newest first.';
grant execute on function market.own_activity(integer,text) to souk_person;

CREATE OR REPLACE FUNCTION api.list_activity("limit" integer, cursor text)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$ begin return market.own_activity(list_activity.limit, list_activity.cursor); end $function$;
comment on function api.list_activity(integer,text) is 'What was done in the account in the last 12 months, newest first, and by which agent (null: the person, or whom by names: moderator, job, dba).';
grant execute on function api.list_activity(integer,text) to souk_api;

CREATE OR REPLACE FUNCTION api.export_account(part text DEFAULT 'account'::text, cursor text DEFAULT NULL::text)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  list constant text := 'export ' || export_account.part;
  after uuid;
  -- A hundred offers with all that was read of them are half a megabyte.
  size constant integer := 100;
  activity jsonb;
  items jsonb;
  last_id uuid;
begin
  perform market.require_recent_sign_in();
  if part = 'account' then
    return jsonb_build_object('items', (market.own_account() - 'available_methods' - 'unavailable_methods')
      || jsonb_build_object('id', market.account_id(), 'sessions', (
        select coalesce(jsonb_agg(jsonb_build_object('created_at', market.utc(s.created_at),
          'signed_in_at', market.utc(s.signed_in_at), 'seen_at', market.utc(s.seen_at),
          'expires_at', market.utc(s.expires_at)) order by s.created_at), '[]')
        from market.session s where s.account_id = market.account_id())), 'next_cursor', null);
  elsif part = 'activity' then
    activity := market.own_activity(size, cursor);
    return jsonb_build_object('items', activity -> 'activity', 'next_cursor', activity -> 'page' -> 'next_cursor');
  end if;
  after := (market.position_of(cursor, list) ->> 'id')::uuid;
  -- One branch yields rows; each can use the index of its table by account.
  with page as (
    select a.id, jsonb_build_object('id', a.id, 'name', a.name, 'created_at', market.utc(a.created_at),
      'connected_at', market.utc(a.connected_at), 'removed_at', market.utc(a.removed_at)) as item
    from market.agent a where part = 'agents' and a.account_id = market.account_id() and (after is null or a.id < after)
    union all (
    select o.id, market.owner_offer(o) || jsonb_build_object('agent_id', o.agent_id, 'origin_ask_id', o.origin_ask_id,
      'extraction', o.extraction, 'warnings', to_jsonb(o.warnings), 'reviewed', o.reviewed,
      'appeals', (select coalesce(jsonb_agg(jsonb_build_object('comment', p.comment, 'created_at', market.utc(p.created_at))
        order by p.created_at), '[]') from market.appeal p where p.offer_id = o.id)) as item
    from market.offer o where part = 'offers' and o.account_id = market.account_id() and (after is null or o.id < after)
    order by o.id desc limit size)
    union all (
    select a.id, market.ask_document(a) || jsonb_build_object('agent_id', a.agent_id, 'matches', market.matched_offers(a.id)) as item
    from market.ask a where part = 'asks' and a.account_id = market.account_id() and (after is null or a.id < after)
    order by a.id desc limit size)
    union all (
    select r.id, jsonb_build_object('id', r.id, 'offer_id', r.offer_id, 'agent_id', r.agent_id, 'reason', r.reason,
      'comment', r.comment, 'created_at', market.utc(r.created_at)) as item
    from market.report r where part = 'reports' and r.account_id = market.account_id() and (after is null or r.id < after)
    order by r.id desc limit size)
    union all (
    select v.id, jsonb_build_object('id', v.id, 'agent_id', v.agent_id, 'method', v.method, 'status', v.status,
      'created_at', market.utc(v.created_at)) as item
    from market.verification v where part = 'verifications' and v.account_id = market.account_id() and (after is null or v.id < after)
    order by v.id desc limit size)
  )
  select coalesce(jsonb_agg(p.item order by p.id desc), '[]'), min(p.id::text)::uuid into items, last_id
  from (select * from page order by id desc limit size) as p;
  return jsonb_build_object('items', items, 'next_cursor', case when jsonb_array_length(items) = size
    then market.cursor_of(jsonb_build_object('list', list, 'id', last_id)) end);
end
$function$;
comment on function api.export_account(text,text) is 'One piece of everything about the account: items of a part (account, agents, offers, asks, reports, verifications, activity) and the cursor of its next piece. Needs a recent sign-in.';
grant execute on function api.export_account(text,text) to souk_api;

CREATE OR REPLACE FUNCTION market.sign_in_mail_windows(email text, address text)
 RETURNS TABLE(scope text, cap integer, span interval)
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  network text := market.network_of(sign_in_mail_windows.address);
  mailbox text := encode(market.subject_hash('email', sign_in_mail_windows.email), 'hex');
begin
  -- The first keeps one network from using up what a mailbox has: its person, elsewhere, still gets a message. The
  -- others bound the guessing, of five tries a message.
  return query values
    ('mailbox_at:' || substr(encode(sha256(convert_to(mailbox || network, 'UTF8')), 'hex'), 1, 32), 5, interval '1 hour'),
    ('address:' || network, 20, interval '1 hour'),
    ('mailbox:' || substr(mailbox, 1, 32), 20, interval '1 hour'),
    ('mailbox:' || substr(mailbox, 1, 32), 60, interval '1 day');
end
$function$;
comment on function market.sign_in_mail_windows(text,text) is 'The windows that a sign-in message counts in: those of the mailbox as asked for from this network, of the network, and of the mailbox in an hour and in a day.';

CREATE OR REPLACE FUNCTION market.count_sign_in_mail(email text, address text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  scopes text[] := (select array_agg(distinct w.scope order by w.scope)
    from market.sign_in_mail_windows(count_sign_in_mail.email, count_sign_in_mail.address) as w);
  wait integer;
begin
  perform market.lock_window(s.scope, 'sign_in_mail') from unnest(scopes) as s (scope);
  wait := (select max(market.window_wait(w.scope, 'sign_in_mail', w.cap, w.span))
    from market.sign_in_mail_windows(count_sign_in_mail.email, count_sign_in_mail.address) as w);
  if wait is not null then
    perform market.fail(429, 'rate_limited',
      format('Too many sign-in messages were asked for. Try again in %s minutes. Until then only a message that this browser asked for can help, within 15 minutes: a code works only in the browser that asked for it.',
        ceil(wait / 60.0)), jsonb_build_object('retry_after', wait));
  end if;
  insert into market.call (scope, action) select s.scope, 'sign_in_mail' from unnest(scopes) as s (scope);
end
$function$;
comment on function market.count_sign_in_mail(text,text) is 'Counts a sign-in message: an hour has 5 for a mailbox from one address, 20 for an address, 20 for a mailbox, and a day 60 for a mailbox; 429 beyond.';

CREATE OR REPLACE FUNCTION api.start_sign_in(flow_hash bytea, method text, purpose text, session_hash bytea, verification_hash bytea, email text, link_hash bytea, code_hash bytea, address text)
 RETURNS jsonb
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  verification market.verification;
  account_id uuid;
  mailbox text := market.mailbox_of(start_sign_in.email);
begin
  if not exists (select from market.sign_in_method m where m.method = start_sign_in.method and m.available) then
    perform market.fail(400, 'unknown_method', 'This way to sign in is not offered. Choose another one.',
      jsonb_build_object('options', market.methods(true)));
  end if;
  if start_sign_in.verification_hash is not null then
    select * into verification from market.verification v
    where v.secret_hash = start_sign_in.verification_hash for key share;
    perform market.check_verification(verification, verification.account_id, start_sign_in.session_hash);
    if verification.method <> start_sign_in.method then
      perform market.fail(400, 'bad_request', format('Your agent asked for %s. Continue with that.', market.method_name(verification.method)));
    end if;
    account_id := verification.account_id;
  elsif start_sign_in.purpose = 'add' then
    account_id := (market.find_session(start_sign_in.session_hash)).account_id;
    if account_id is null then
      perform market.fail(401, 'unauthorized', 'Sign in first; then you can add another way to sign in.');
    end if;
  elsif start_sign_in.purpose is distinct from 'sign_in' then
    perform market.fail(400, 'bad_request', 'A sign-in is begun to sign in, or to add a method.');
  end if;
  -- An account that is being deleted goes first.
  perform from market.account a where a.id = account_id for key share;
  if account_id is not null and not found then
    perform market.fail(401, 'unauthorized', 'This account was deleted.');
  end if;
  if start_sign_in.method = 'email' then
    if mailbox is null then
      perform market.fail_fields('[{"pointer": "/email", "detail": "Enter an e-mail address, such as name@example.com."}]');
    end if;
    perform market.count_sign_in_mail(mailbox, start_sign_in.address);
  end if;
  insert into market.sign_in (flow_hash, method, purpose, account_id, verification_id, email, link_hash, code_hash, expires_at)
  values (start_sign_in.flow_hash, start_sign_in.method,
    case when account_id is null then 'sign_in' else 'add' end, account_id, verification.id,
    case when start_sign_in.method = 'email' then mailbox end,
    case when start_sign_in.method = 'email' then start_sign_in.link_hash end,
    case when start_sign_in.method = 'email' then start_sign_in.code_hash end,
    least(now() + interval '15 minutes', verification.expires_at))
  on conflict do nothing;
  if not found then
    perform market.fail(409, 'invalid_state', 'This sign-in was begun already. Start again.');
  end if;
  return jsonb_strip_nulls(jsonb_build_object('email', case when start_sign_in.method = 'email' then mailbox end));
end
$function$;
comment on function api.start_sign_in(bytea,text,text,bytea,bytea,text,bytea,bytea,text) is 'Begins an attempt to sign in, to add a method to the session''s account, or to prove what an agent''s link asks for. 400, 401, 404, 409, 410, or 429 for mail. The answer is the address that the mail goes to, as it is kept (email), and does not tell whether an account exists.';
grant execute on function api.start_sign_in(bytea,text,text,bytea,bytea,text,bytea,bytea,text) to souk_api;

CREATE OR REPLACE FUNCTION api.cancel_sign_in(flow_hash bytea, address text)
 RETURNS jsonb
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  attempt market.sign_in;
  window_scope text;
begin
  -- Nobody has entered a code yet: an attempt whose code was tried stays counted.
  delete from market.sign_in s
  where s.flow_hash = cancel_sign_in.flow_hash and s.method = 'email' and s.finished_at is null and s.tries = 0
  returning * into attempt;
  if attempt.id is null then
    return jsonb '{}';
  end if;
  for window_scope in
    select distinct w.scope from market.sign_in_mail_windows(attempt.email, cancel_sign_in.address) as w order by 1
  loop
    perform market.lock_window(window_scope, 'sign_in_mail');
    delete from market.call c where c.id = (
      select k.id from market.call k
      where k.scope = window_scope and k.action = 'sign_in_mail' and k.called_at >= attempt.created_at
      order by k.called_at desc limit 1);
  end loop;
  return jsonb '{}';
end
$function$;
comment on function api.cancel_sign_in(bytea,text) is 'Takes back an attempt whose mail could not be sent, with what was counted for it from this address. Nothing when it was finished, tried, or never begun.';
grant execute on function api.cancel_sign_in(bytea,text) to souk_api;

reset role;
