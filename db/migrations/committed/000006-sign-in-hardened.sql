--! Previous: sha1:13562343f970bbd32678a572f61ff367f1e63963
--! Hash: sha1:d73df2a52190df1a40e872dd72320314f3e7b097
--! Message: sign-in-hardened

-- Signing in, as a review left it.

set local role souk_owner;

comment on column market.call.scope is 'Whose window: agent:<id>, address:<network>, mailbox:<half a SHA-256>, or mailbox_at:<half a SHA-256>, of mailbox and network.';

-- A finished attempt keeps no mailbox.
alter table market.sign_in drop constraint sign_in_email_whole;
update market.sign_in set email = null where finished_at is not null;
alter table market.sign_in add constraint sign_in_email_whole check (
  num_nonnulls(link_hash, code_hash) = case method when 'email' then 2 else 0 end
  and (email is not null) = (method = 'email' and finished_at is null));
create index sign_in_email_idx on market.sign_in (email) where email is not null;
comment on column market.sign_in.email is 'The mailbox that a link and a code went to; null once it is finished.';

-- Functions beside tables whose text changed (as db/schema has them)

drop function if exists api.approve_connection(bytea,bytea,bytea);

drop function if exists market.lock_connection(bytea);

CREATE OR REPLACE FUNCTION market.sessions_key(account_id uuid)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE
AS $function$ select hashtextextended('sessions ' || sessions_key.account_id, 0) $function$;
comment on function market.sessions_key(uuid) is 'The advisory lock on the sessions of an account: taken before the account by whoever ends several of them.';
grant execute on function market.sessions_key(uuid) to souk_person;

CREATE OR REPLACE FUNCTION market.lock_sessions(account_id uuid)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  -- Entering writes to a session before anything else is locked: who ends all of them waits here, holding nothing yet.
  perform pg_advisory_xact_lock(market.sessions_key(lock_sessions.account_id));
end
$function$;
comment on function market.lock_sessions(uuid) is 'Waits until nobody else of the account writes to its sessions in a transaction that goes on.';
grant execute on function market.lock_sessions(uuid) to souk_person;

CREATE OR REPLACE FUNCTION market.keep_session(session_id uuid)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  -- Once an hour is enough.
  due uuid := (select s.account_id from market.session s
    where s.id = keep_session.session_id and s.seen_at <= now() - interval '1 hour');
begin
  -- Where nothing can be written (a replica, a pool that reads), the next request that can writes it; and requests of one
  -- account must not queue for it.
  if due is not null and not current_setting('transaction_read_only')::boolean
      and pg_try_advisory_xact_lock(market.sessions_key(due)) then
    update market.session s set seen_at = now()
    where s.id = (select o.id from market.session o where o.id = keep_session.session_id for update skip locked);
  end if;
end
$function$;
comment on function market.keep_session(uuid) is 'Remembers that a session is used, to the hour.';
grant execute on function market.keep_session(uuid) to souk_api;

CREATE OR REPLACE FUNCTION market.refuse_stale_sign_in(account_id uuid, signed_in_at timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  if market.needs_sign_in(refuse_stale_sign_in.account_id, refuse_stale_sign_in.signed_in_at) then
    perform market.fail(401, 'unauthorized', 'To be sure that it is you, sign in again. Then repeat what you were doing.',
      '{"sign_in_again": true}');
  end if;
end
$function$;
comment on function market.refuse_stale_sign_in(uuid,timestamp with time zone) is 'Refuses (401, sign_in_again) when who signed in to the account then has to do so again (market.needs_sign_in).';
grant execute on function market.refuse_stale_sign_in(uuid,timestamp with time zone) to souk_person;

CREATE OR REPLACE FUNCTION market.require_recent_sign_in()
 RETURNS void
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  signed_in_at timestamptz;
begin
  select s.signed_in_at into signed_in_at from market.session s
  where s.id = market.session_id() and s.account_id = market.account_id();
  if not found then
    perform market.fail(401, 'unauthorized', 'Only a person who is signed in on the website can do this.');
  end if;
  perform market.refuse_stale_sign_in(market.account_id(), signed_in_at);
end
$function$;
comment on function market.require_recent_sign_in() is 'Refuses (401, sign_in_again) a person who has a sign-in method and did not sign in within 15 minutes, and (401) whoever is not a person.';
grant execute on function market.require_recent_sign_in() to souk_person;

CREATE OR REPLACE FUNCTION market.lock_sign_in(flow_hash bytea, subject_hash bytea)
 RETURNS market.sign_in
 LANGUAGE plpgsql
AS $function$
declare
  attempt market.sign_in;
  accounts uuid[];
begin
  -- One subject at a time: a new person who finishes in two tabs becomes one account.
  perform pg_advisory_xact_lock(hashtextextended('subject ' || encode(lock_sign_in.subject_hash, 'hex'), 0));
  -- The account that a method is added to, and the one that the subject proves: nobody else can make it prove another.
  accounts := array(
    select s.account_id from market.sign_in s where s.flow_hash = lock_sign_in.flow_hash and s.account_id is not null
    union
    select p.account_id from market.sign_in s
    join market.proved_method p on p.method = s.method and p.subject_hash = lock_sign_in.subject_hash
    where s.flow_hash = lock_sign_in.flow_hash
    order by 1);
  perform market.lock_sessions(o.account_id) from unnest(accounts) as o (account_id);
  -- The strongest lock: a verification that is being started refers to the account, and waits or is waited for.
  perform from market.account a where a.id = any (accounts) order by a.id for update;
  select * into attempt from market.sign_in s where s.flow_hash = lock_sign_in.flow_hash for update;
  return attempt;
end
$function$;
comment on function market.lock_sign_in(bytea,bytea) is 'The attempt of a browser, locked, after its subject and the accounts of both; nulls when there is none.';

CREATE OR REPLACE FUNCTION market.missing_session(account_id uuid, session_account uuid)
 RETURNS text
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return case
    when missing_session.session_account = missing_session.account_id then null
    when exists (select from market.proved_method p where p.account_id = missing_session.account_id) then 'sign_in'
    -- The agent has the link, too: without the browser of its person it would make the account its own.
    when exists (select from market.account a where a.id = missing_session.account_id and a.claimed_at is not null)
      and exists (select from market.session s where s.account_id = missing_session.account_id
        and s.expires_at > now() and s.seen_at > now() - interval '7 days') then 'browser'
    when missing_session.session_account is not null then 'sign_out' end;
end
$function$;
comment on function market.missing_session(uuid,uuid) is 'What whoever has this account''s session, or none, has to do before proving a method of an account by its agent''s link: sign_in to it, come with the browser in which its agent was approved, or sign_out of another account; null when nothing is missing.';

CREATE OR REPLACE FUNCTION market.check_verification(verification market.verification, account_id uuid, session_hash bytea)
 RETURNS void
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  missing text := market.missing_session(verification.account_id, (market.find_session(check_verification.session_hash)).account_id);
begin
  if verification.id is null then
    perform market.fail(404, 'not_found', 'There is no such link. Check that it was copied whole.');
  elsif verification.status = 'expired' or verification.status = 'pending' and verification.expires_at <= now() then
    perform market.fail(410, 'link_expired', 'This link no longer works. Ask your agent for a new one.');
  elsif verification.status <> 'pending' then
    perform market.fail(409, 'invalid_state', format('This request of your agent is %s, and that is final.', verification.status));
  elsif verification.account_id is distinct from check_verification.account_id then
    perform market.fail(409, 'invalid_state', 'Your agent has moved to another account since. Open its link again.');
  elsif missing = 'sign_in' then
    perform market.fail(401, 'unauthorized',
      'This link is for an account that has a sign-in method already. Sign in to that account, then open the link again.');
  elsif missing = 'browser' then
    perform market.fail(409, 'invalid_state',
      'This link works only in the browser in which you approved your agent. Open it there.');
  elsif missing = 'sign_out' then
    perform market.fail(409, 'invalid_state',
      'You are signed in to another account than the one that this agent acts for. Sign out, then open the link again.');
  end if;
end
$function$;
comment on function market.check_verification(market.verification,uuid,bytea) is 'Refuses a link that is unknown (404), over (410), decided or of another account (409), and whoever is not signed in to its account (market.missing_session): 401 once that has a method, else 409.';

CREATE OR REPLACE FUNCTION market.complete_sign_in(attempt market.sign_in, subject_hash bytea, email text, name text, session_hash bytea, new_session_hash bytea)
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
declare
  verification market.verification;
  session record := market.find_session(complete_sign_in.session_hash);
  -- Locked by market.lock_sign_in, as attempt.account_id is.
  holder uuid := (select p.account_id from market.proved_method p
    where p.method = attempt.method and p.subject_hash = complete_sign_in.subject_hash);
  known constant boolean := holder is not null;
  account market.account;
begin
  if attempt.verification_id is not null then
    select * into verification from market.verification v where v.id = attempt.verification_id for update;
    perform market.check_verification(verification, attempt.account_id, complete_sign_in.session_hash);
  elsif attempt.purpose = 'add' and session.account_id is distinct from attempt.account_id then
    -- On a shared computer the next person would add a method of theirs to this account.
    perform market.fail(409, 'invalid_state', 'You signed out, or changed to another account, after you began. Sign in and start again.');
  end if;
  if attempt.purpose = 'add' then
    perform market.refuse_stale_sign_in(attempt.account_id, session.signed_in_at);
  end if;
  if attempt.purpose = 'add' and holder <> attempt.account_id then
    perform market.fail(409, 'invalid_state', format(
      'This %s sign-in belongs to another account. Sign in with it there and remove it from that account, or use another one here. Accounts are never merged.',
      market.method_name(attempt.method)));
  end if;

  if coalesce(attempt.account_id, holder) is null then
    insert into market.account (display_name, claimed_at)
    values (left(market.visible_name(complete_sign_in.name), 80), now()) returning * into account;
  else
    select * into account from market.account a where a.id = coalesce(attempt.account_id, holder);
    update market.account a set claimed_at = now() where a.id = account.id and a.claimed_at is null;
  end if;
  if known then
    update market.proved_method p set email = complete_sign_in.email
    where p.account_id = account.id and p.method = attempt.method
      and p.email is distinct from complete_sign_in.email;
  else
    insert into market.proved_method (account_id, method, subject_hash, email)
    values (account.id, attempt.method, complete_sign_in.subject_hash, complete_sign_in.email)
    on conflict do nothing;
    if not found then
      perform market.fail(409, 'invalid_state', format(
        'Your account has another %s sign-in already. Remove that one first, or go on using it.', market.method_name(attempt.method)));
    end if;
  end if;
  update market.verification v set status = 'completed'
  where v.account_id = account.id and v.method = attempt.method and v.status = 'pending' and v.expires_at > now();

  -- A secret that this browser had before it signed in is worth nothing afterwards; nor is any that came before the
  -- account's first method, since nobody proved anything then. In one order, whosever they are.
  delete from market.session s
  where s.id in (
    select o.id from market.session o
    where o.secret_hash = complete_sign_in.session_hash
      or o.account_id = account.id and not known and not exists (
        select from market.proved_method p where p.account_id = account.id and p.method <> attempt.method)
    order by o.id for update);
  insert into market.session (account_id, secret_hash, signed_in_at)
  values (account.id, complete_sign_in.new_session_hash, now());
  update market.sign_in s set finished_at = now(), email = null where s.id = attempt.id;
  return jsonb_build_object(
    'label', market.account_label(account.id),
    'display_name', account.display_name,
    'new_account', attempt.account_id is null and holder is null,
    'purpose', attempt.purpose,
    'added', not known);
end
$function$;
comment on function market.complete_sign_in(market.sign_in,bytea,text,text,bytea,bytea) is 'Ends a locked, open attempt whose subject was proved: label, display_name, new_account, purpose, added. An account''s first method ends its other sessions. 401 (sign_in_again when a method is added long after signing in), 404, 409 or 410 as its verification or another account is in the way.';

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

CREATE OR REPLACE FUNCTION market.lock_connection(secret_hash bytea, session_account uuid)
 RETURNS market.connection
 LANGUAGE plpgsql
AS $function$
declare
  connection market.connection;
begin
  -- The accounts come first, as when one is deleted: that of the agent, and that of the session.
  perform from market.account a
  where a.id in (
    select g.account_id from market.agent g join market.connection c on c.agent_id = g.id
    where c.secret_hash = lock_connection.secret_hash
    union all select lock_connection.session_account)
  order by a.id for update;
  -- Then the agent's row, as a removal locks it: approving and removing wait for each other.
  perform from market.agent a join market.connection c on c.agent_id = a.id
  where c.secret_hash = lock_connection.secret_hash for update of a;
  select * into connection from market.connection c where c.secret_hash = lock_connection.secret_hash for update;
  return connection;
end
$function$;
comment on function market.lock_connection(bytea,uuid) is 'The connection of a link, locked after its account, this one, and its agent; nulls when there is none.';

CREATE OR REPLACE FUNCTION market.account_to_bind(agent_account uuid, session_account uuid)
 RETURNS uuid
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return case
    when account_to_bind.session_account is not null then account_to_bind.session_account
    when exists (select from market.proved_method p where p.account_id = account_to_bind.agent_account)
      then account_to_bind.agent_account
    -- Someone is or was at home there, and would share the account with the person who approves now.
    when exists (select from market.account a where a.id = account_to_bind.agent_account and a.claimed_at is not null)
      or exists (select from market.session s where s.account_id = account_to_bind.agent_account) then null
    else account_to_bind.agent_account end;
end
$function$;
comment on function market.account_to_bind(uuid,uuid) is 'Whom an agent of this account would act for if whoever has this session, or none, approved it; null when an account has to be made for that.';

CREATE OR REPLACE FUNCTION market.shown_account(account_id uuid, is_new boolean, secret_hash bytea)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select encode(sha256(shown_account.secret_hash || convert_to(
    case when shown_account.is_new then 'new' else shown_account.account_id::text end, 'UTF8')), 'hex')
$function$;
comment on function market.shown_account(uuid,boolean,bytea) is 'What a form says of the account that its page showed, so that no other is bound: the same for the same account and link, and it tells nothing.';

CREATE OR REPLACE FUNCTION api.get_connection(secret_hash bytea, session_hash bytea DEFAULT NULL::bytea)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  connection market.connection;
  agent market.agent;
  session record := market.find_session(get_connection.session_hash);
  person uuid;
  has_method boolean;
  is_new boolean;
begin
  select * into connection from market.connection c where c.secret_hash = get_connection.secret_hash;
  perform market.check_connection(connection);
  select * into agent from market.agent a where a.id = connection.agent_id;
  person := market.account_to_bind(agent.account_id, session.account_id);
  has_method := exists (select from market.proved_method p where p.account_id = person);
  is_new := session.account_id is null and not has_method;
  return jsonb_build_object(
    'agent_name', agent.name, 'code', connection.code,
    'requested_at', market.utc(connection.created_at),
    'requested_minutes_ago', floor(extract(epoch from now() - connection.created_at) / 60)::integer,
    'expires_in', ceil(extract(epoch from connection.expires_at - now()))::integer,
    'account', jsonb_build_object(
      -- Without a session this may be the agent itself looking: it learns no mailbox.
      'label', case when session.account_id is not null or not has_method then market.account_label(person)
        else market.account_label_for_agent(person) end,
      'is_new', is_new,
      'shown', market.shown_account(person, is_new, connection.secret_hash),
      'has_method', has_method,
      'needs_sign_in', market.needs_sign_in(person, session.signed_in_at),
      'agent_is_first', not exists (
        select from market.agent a where a.account_id = person and a.connected_at is not null and a.removed_at is null)));
end
$function$;
comment on function api.get_connection(bytea,bytea) is 'What the approval page shows: agent_name, code, requested_at, expires_in (seconds), and the account that this session, or a new one, would bind: label, is_new, shown (for api.approve_connection), has_method, needs_sign_in, agent_is_first; 404, 409 or 410 otherwise. Changes nothing.';
grant execute on function api.get_connection(bytea,bytea) to souk_api;

CREATE OR REPLACE FUNCTION api.approve_connection(secret_hash bytea, session_hash bytea, new_session_hash bytea, shown text DEFAULT NULL::text)
 RETURNS jsonb
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  signed_in uuid := (market.find_session(approve_connection.session_hash)).account_id;
  connection market.connection := market.lock_connection(approve_connection.secret_hash, signed_in);
  session record := market.find_session(approve_connection.session_hash);
  made record := market.find_session(approve_connection.new_session_hash);
  agent market.agent;
  person uuid;
  has_method boolean;
begin
  select * into agent from market.agent a where a.id = connection.agent_id;
  person := case when connection.approved_at is null
    then market.account_to_bind(agent.account_id, session.account_id) else agent.account_id end;
  has_method := exists (select from market.proved_method p where p.account_id = person);
  -- A second click, and the same button after "back", answer what the first did.
  if connection.approved_at is not null and agent.removed_at is null
      and person in (made.account_id, session.account_id) then
    return jsonb_build_object('agent_name', agent.name, 'agent_id', agent.id, 'has_method', has_method,
      'new_session', made.account_id is not distinct from person);
  end if;
  perform market.check_connection(connection);
  if session.account_id is distinct from signed_in then
    perform market.fail(401, 'unauthorized', 'Your account was deleted, or you were signed out, a moment ago. Open the link again.');
  end if;

  -- Signed in, out, or in to another account since the page was shown, in another tab perhaps.
  if approve_connection.shown
      <> market.shown_account(person, session.account_id is null and not has_method, connection.secret_hash) then
    perform market.fail(409, 'invalid_state', case when session.account_id is null
      then 'You are not signed in any more. See below for whom the agent would act now.'
      else format('You are now signed in as %s. See below whether the agent should act for that account.', market.account_label(person)) end,
      '{"account_changed": true}');
  elsif market.needs_sign_in(person, session.signed_in_at) then
    perform market.fail(401, 'unauthorized', case when session.account_id is null
      then 'A person has proved a sign-in method for this agent already. Sign in, then open the link again.'
      else 'To be sure that it is you, sign in again. Then approve.' end, '{"sign_in_again": true}');
  elsif (select count(*) from market.agent a
      where a.account_id = person and a.removed_at is null and a.connected_at is not null) >= 25 then
    perform market.fail(409, 'invalid_state', 'Your account has 25 agents, which is the most. Remove one you no longer use, then open the link again.');
  end if;
  if person is null then
    insert into market.account default values returning id into person;
  end if;
  update market.connection c set approved_at = now() where c.agent_id = connection.agent_id;
  update market.account a set claimed_at = now() where a.id = person and a.claimed_at is null;
  if session.account_id is null then
    insert into market.session (account_id, secret_hash) values (person, approve_connection.new_session_hash);
  end if;
  perform market.adopt_agent(agent, person);
  if exists (select from market.proved_method p where p.account_id = person and p.email is not null) then
    perform market.enqueue('send_approval_notice', agent.id);
  end if;
  return jsonb_build_object('agent_name', agent.name, 'agent_id', agent.id, 'has_method', has_method,
    'new_session', session.account_id is null);
end
$function$;
comment on function api.approve_connection(bytea,bytea,bytea,text) is 'Approves: the agent acts for the person with this session, or for a new account that the new session signs in; the same person again gets the same answer. Gives agent_id, agent_name, new_session, has_method; 401 (sign_in_again), 404, 409 (account_changed when it is another account than the one shown) or 410 otherwise.';
grant execute on function api.approve_connection(bytea,bytea,bytea,text) to souk_api;

CREATE OR REPLACE FUNCTION api.decline_connection(secret_hash bytea)
 RETURNS jsonb
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  connection market.connection := market.lock_connection(decline_connection.secret_hash, null);
begin
  perform market.check_connection(connection);
  insert into market.call (scope, action) values ('address:' || connection.address, 'decline');
  -- Its link dies with it.
  update market.agent a set removed_at = now() where a.id = connection.agent_id;
  return jsonb '{}';
end
$function$;
comment on function api.decline_connection(bytea) is '"Not mine": ends the link and the agent''s token; 404, 409 or 410 when the link is not open.';
grant execute on function api.decline_connection(bytea) to souk_api;

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

CREATE OR REPLACE FUNCTION market.forget_method(method text, confirmed boolean)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
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
$function$;
comment on function market.forget_method(text,boolean) is 'Removes a sign-in method of the person that calls, and ends the account''s other sessions; the last one only when that is confirmed (409 with confirm).';
grant execute on function market.forget_method(text,boolean) to souk_person;

CREATE OR REPLACE FUNCTION api.remove_method(method text, confirmed boolean)
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
begin
  perform market.require_recent_sign_in();
  perform market.forget_method(remove_method.method, remove_method.confirmed);
  return market.own_account();
end
$function$;
comment on function api.remove_method(text,boolean) is 'Removes a sign-in method, and ends the sessions of other browsers; 401 with sign_in_again when the sign-in is not recent, 409 with confirm for the last one.';
grant execute on function api.remove_method(text,boolean) to souk_api;

CREATE OR REPLACE FUNCTION market.erase_account()
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  erased uuid := market.account_id();
  -- Each takes some milliseconds, and a statement has five seconds.
  batch constant integer := 200;
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
  if cardinality(offers) = batch then
    return false;
  end if;
  update market.report r set account_id = null, agent_id = null, comment = null where r.account_id = erased;

  -- Attempts go before the verifications that they answer, as when one is finished, with those of its mailboxes.
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
  update market.audit_event e set before = null, after = null
  where e.subject_account_id = erased and (e.before is not null or e.after is not null);
  return true;
end
$function$;
comment on function market.erase_account() is 'Ends the account of the person that calls: agents refused, offers archived and emptied, everything else of theirs gone. False while there are more offers: call again.';
grant execute on function market.erase_account() to souk_person;

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

CREATE OR REPLACE FUNCTION api.get_verification_page(secret_hash bytea, session_hash bytea)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  verification market.verification;
  session_account uuid := (market.find_session(get_verification_page.session_hash)).account_id;
  mine boolean;
  missing text;
begin
  select * into verification from market.verification v where v.secret_hash = get_verification_page.secret_hash;
  if not found then
    perform market.fail(404, 'not_found', 'There is no such link. Check that it was copied whole.');
  end if;
  mine := coalesce(session_account = verification.account_id, false);
  missing := market.missing_session(verification.account_id, session_account);
  return (
    select jsonb_build_object(
      'status', d.document -> 'status',
      'method', verification.method,
      'agent_name', (select a.name from market.agent a where a.id = verification.agent_id),
      'account_label', case when mine then market.account_label(verification.account_id)
        else market.account_label_for_agent(verification.account_id) end,
      'requires', case when missing is null then 'nothing' else 'session' end,
      'missing', missing,
      'mine', mine,
      'expires_in', d.document -> 'expires_in')
    from (select market.verification_document(verification, '', '') as document) as d);
end
$function$;
comment on function api.get_verification_page(bytea,bytea) is 'What the page of a verification link shows: status, method, agent_name, account_label, requires (nothing or session), missing (market.missing_session), mine, expires_in (seconds); 404 otherwise. Changes nothing.';
grant execute on function api.get_verification_page(bytea,bytea) to souk_api;

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
  session record := market.find_session(start_sign_in.session_hash);
  account_id uuid;
  mailbox text := market.mailbox_of(start_sign_in.email);
begin
  if not exists (select from market.sign_in_method m where m.method = start_sign_in.method and m.available) then
    perform market.fail(400, 'unknown_method', 'This way to sign in is not offered. Choose another one.',
      jsonb_build_object('options', market.methods(true)));
  end if;
  if start_sign_in.verification_hash is not null then
    -- The account goes before the verification, as when it is proved.
    account_id := (select v.account_id from market.verification v where v.secret_hash = start_sign_in.verification_hash);
    perform from market.account a where a.id = account_id for key share;
    select * into verification from market.verification v
    where v.secret_hash = start_sign_in.verification_hash for key share;
    perform market.check_verification(verification, account_id, start_sign_in.session_hash);
    if verification.method <> start_sign_in.method then
      perform market.fail(400, 'bad_request', format('Your agent asked for %s. Continue with that.', market.method_name(verification.method)));
    end if;
  elsif start_sign_in.purpose = 'add' then
    account_id := session.account_id;
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
  -- A method is a key to the account for good: no session that was left open somewhere may add one.
  if session.account_id = account_id then
    perform market.refuse_stale_sign_in(account_id, session.signed_in_at);
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
comment on function api.start_sign_in(bytea,text,text,bytea,bytea,text,bytea,bytea,text) is 'Begins an attempt to sign in, to add a method to the session''s account, or to prove what an agent''s link asks for. 400, 401 (sign_in_again), 404, 409, 410, or 429 for mail. The answer is the address that the mail goes to, as it is kept (email), and does not tell whether an account exists.';
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

CREATE OR REPLACE FUNCTION api.sign_out_everywhere()
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
begin
  perform set_config('synchronous_commit', 'remote_apply', true);
  perform market.lock_sessions(market.account_id());
  delete from market.session s where s.account_id = market.account_id();
  return jsonb '{}';
end
$function$;
comment on function api.sign_out_everywhere() is 'Ends every session of the account that a person calls for, this one, too.';
grant execute on function api.sign_out_everywhere() to souk_api;

reset role;
