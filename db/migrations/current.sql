-- Signing in: sessions that end when unused, attempts to sign in, and the mailbox that a provider vouched for.

set local role souk_owner;

-- It gives more than the account now.
drop function market.find_session(bytea);

alter table market.session add column signed_in_at timestamptz, add column seen_at timestamptz not null default now();
create index session_expires_at_idx on market.session (expires_at);
create index session_seen_at_idx on market.session (seen_at);
comment on column market.session.expires_at is 'When the cookie stops working, however often it is used.';
comment on column market.session.signed_in_at is 'When the person signed in by a proved method; null when this browser only approved an agent.';
comment on column market.session.seen_at is 'When it was last used, to the hour; 7 days later it has ended.';
create policy "a person sees the sessions of the account" on market.session for select to souk_person
  using (account_id = (select market.account_id()));
create policy "a person signs out" on market.session for delete to souk_person
  using (account_id = (select market.account_id()));
grant select (id, account_id, created_at, expires_at, signed_in_at, seen_at), delete on market.session to souk_person;

alter table market.proved_method add column email text,
  add constraint proved_method_email_length check (char_length(email) between 3 and 254);
comment on column market.proved_method.email is 'The mailbox that the provider vouched for, null when it vouched for none. Agents never see it.';
grant select (email) on market.proved_method to souk_person;

create index verification_expires_at_idx on market.verification (expires_at);
create index verification_expires_at_pending_idx on market.verification (expires_at) where status = 'pending';
create policy "an agent notes what its account proved already" on market.verification for insert to souk_agent
  with check (account_id = (select market.account_id()) and agent_id = (select market.agent_id()) and status = 'completed'
    and exists (select from market.proved_method p
      where p.account_id = (select market.account_id()) and p.method = verification.method));
create policy "an agent notes that its account proves what it asked for" on market.verification for update to souk_agent
  using (account_id = (select market.account_id()) and agent_id = (select market.agent_id()) and status = 'pending')
  with check (agent_id = (select market.agent_id()) and status = 'completed' and expires_at > now()
    and exists (select from market.proved_method p
      where p.account_id = (select market.account_id()) and p.method = verification.method));
alter policy "an agent notes that a link ran out" on market.verification
  with check (status = 'expired' and expires_at <= now());
grant insert (status) on market.verification to souk_agent;

alter table market.connection add column notified_at timestamptz;
comment on column market.connection.notified_at is 'When the message about the approval went to the person''s mailbox.';

create index agent_created_at_unapproved_idx on market.agent (created_at) where connected_at is null;

comment on column market.call.scope is 'Whose window: agent:<id>, address:<network>, or mailbox:<half a SHA-256>.';
comment on column market.call.action is 'publish_offer, create_ask, preview_offer, connect, decline or sign_in_mail.';

--!include api/connect_agent.sql
--!include market/require_recent_sign_in.sql
--!include market/account_label.sql
--!include market/sign_in.sql
--!include api/verification_page.sql
--!include api/sign_in.sql
--!include api/viewer.sql
--!include jobs/approval_notice.sql

-- Functions beside tables whose text changed (as db/schema has them)

drop function if exists market.usable_connection(bytea);

drop function if exists api.get_connection(bytea);

CREATE OR REPLACE FUNCTION market.session_id()
 RETURNS uuid
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$ select nullif(current_setting('market.session_id', true), '')::uuid $function$;
comment on function market.session_id() is 'The session of the calling person, null when the caller is an agent.';
grant execute on function market.session_id() to souk_agent, souk_person;

CREATE OR REPLACE FUNCTION market.settle_removed_agent()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  -- The next call is refused on every replica that synchronous_standby_names lists; without standbys this changes nothing.
  perform set_config('synchronous_commit', 'remote_apply', true);
  update market.connection set declined_at = now() where agent_id = new.id and approved_at is null and declined_at is null;
  delete from market.idempotency_key where agent_id = new.id;
  update market.verification v
  set status = case when v.expires_at <= now() then 'expired' else 'cancelled' end
  where v.agent_id = new.id and v.status = 'pending';
  return new;
end
$function$;
comment on function market.settle_removed_agent() is 'What dies with a removed agent: its open links and its keys.';

CREATE OR REPLACE FUNCTION market.find_session(secret_hash bytea, OUT session_id uuid, OUT account_id uuid, OUT signed_in_at timestamp with time zone)
 RETURNS record
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  select s.id, s.account_id, s.signed_in_at into session_id, account_id, signed_in_at
  from market.session s
  where s.secret_hash = find_session.secret_hash and s.expires_at > now() and s.seen_at > now() - interval '7 days';
end
$function$;
comment on function market.find_session(bytea) is 'The live session whose secret has this SHA-256, with its account and when its person signed in; nulls when there is none.';
grant execute on function market.find_session(bytea) to souk_api;

CREATE OR REPLACE FUNCTION market.keep_session(session_id uuid)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  -- Where nothing can be written (a replica, a pool that reads), the next request that can writes it.
  if not current_setting('transaction_read_only')::boolean then
    -- Once an hour is enough, and requests of one browser must not queue for it.
    update market.session s set seen_at = now()
    where s.id = (
      select o.id from market.session o
      where o.id = keep_session.session_id and o.seen_at <= now() - interval '1 hour' for update skip locked);
  end if;
end
$function$;
comment on function market.keep_session(uuid) is 'Remembers that a session is used, to the hour.';
grant execute on function market.keep_session(uuid) to souk_api;

CREATE OR REPLACE FUNCTION market.needs_sign_in(account_id uuid, signed_in_at timestamp with time zone)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return exists (select from market.proved_method m where m.account_id = needs_sign_in.account_id)
    and (needs_sign_in.signed_in_at is null or needs_sign_in.signed_in_at <= now() - interval '15 minutes');
end
$function$;
comment on function market.needs_sign_in(uuid,timestamp with time zone) is 'Whether a session that signed in then has to do so again before what cannot be undone: 15 minutes, for accounts that have a method.';
grant execute on function market.needs_sign_in(uuid,timestamp with time zone) to souk_person;

CREATE OR REPLACE FUNCTION market.verification_document(verification market.verification, base_url text, link_key bytea)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  status text := case when verification.status = 'pending' and verification.expires_at <= now()
    then 'expired' else verification.status end;
begin
  return jsonb_build_object(
    'id', verification.id,
    'method', verification.method,
    'status', status,
    'expires_in', case when status = 'pending'
      then ceil(extract(epoch from verification.expires_at - now()))::integer else 0 end,
    'summary', case status
      when 'pending' then 'Give this link to the person you act for and do not open it yourself. Then read this verification until its status is no longer pending.'
      when 'completed' then 'The method is proved. The limits of the account have risen.'
      when 'expired' then 'The link ran out of time. Start a new verification when the person is ready.'
      else 'The person cancelled. Ask before you start a new one.'
    end)
    -- Another agent of the account sees the verification, but cannot make its link.
    || case when status = 'pending' and verification.agent_id = market.agent_id() then jsonb_build_object('url',
      verification_document.base_url || '/verify/' || market.verification_secret(link_key, verification.id))
      else '{}' end;
end
$function$;
comment on function market.verification_document(market.verification,text,bytea) is 'A verification as clients see it; the link only while pending.';
grant execute on function market.verification_document(market.verification,text,bytea) to souk_agent, souk_person;

CREATE OR REPLACE FUNCTION market.enter_agent(token_hash bytea)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  agent record;
begin
  agent := market.find_agent(enter_agent.token_hash);
  if agent.agent_id is null then
    perform market.fail(401, 'unauthorized',
      'This token is unknown or was removed. Call POST /v1/connect once to create a new agent, and keep the token it returns.');
  end if;
  perform set_config('market.agent_id', agent.agent_id::text, true),
    set_config('market.session_id', '', true),
    set_config('market.account_id', agent.account_id::text, true),
    set_config('market.connected', agent.connected::text, true),
    set_config('role', 'souk_agent', true);
  return true;
end
$function$;
comment on function market.enter_agent(bytea) is 'Makes the rest of the statement run as the agent with this token hash, or fails with 401. Writes nothing.';
grant execute on function market.enter_agent(bytea) to souk_api;

CREATE OR REPLACE FUNCTION market.enter_person(secret_hash bytea)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  session record;
begin
  session := market.find_session(enter_person.secret_hash);
  if session.session_id is null then
    perform market.fail(401, 'unauthorized', 'You are not signed in, or your session has ended.');
  end if;
  perform market.keep_session(session.session_id);
  perform set_config('market.agent_id', '', true),
    set_config('market.session_id', session.session_id::text, true),
    set_config('market.account_id', session.account_id::text, true),
    set_config('market.connected', 'true', true),
    set_config('role', 'souk_person', true);
  return true;
end
$function$;
comment on function market.enter_person(bytea) is 'Makes the rest of the statement run as the person with this session, or fails with 401. Writes nothing but that it was used.';
grant execute on function market.enter_person(bytea) to souk_api;

CREATE OR REPLACE FUNCTION market.enqueue(task text, id uuid)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  -- Eight attempts with graphile-worker's exponential backoff are about an hour.
  perform graphile_worker.add_job(enqueue.task, json_build_object('id', enqueue.id),
    job_key => enqueue.task || ':' || enqueue.id, max_attempts => 8,
    -- A queue does one job after the other: an embedder that hangs holds four of a worker's hands, a mail server that
    -- hangs one, and neither those that read.
    queue_name => case
      when enqueue.task = 'read_submission' then null
      when enqueue.task like 'send\_%' then 'mail'
      else 'embed ' || (hashtext(enqueue.id::text) & 3) end);
end
$function$;
comment on function market.enqueue(text,uuid) is 'Gives the worker a job about one row. For the market''s own functions.';

CREATE OR REPLACE FUNCTION jobs.forget_sign_ins()
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  forgotten integer;
begin
  -- A day longer than it works, so that an old mail's link says what happened to it.
  delete from market.sign_in s
  where s.id in (
    select o.id from market.sign_in o where o.expires_at <= now() - interval '1 day' limit 10000 for update skip locked);
  delete from market.session s
  where s.id in (
    select o.id from market.session o
    where o.expires_at <= now() or o.seen_at <= now() - interval '7 days' limit 10000 for update skip locked);
  get diagnostics forgotten = row_count;
  update market.verification v set status = 'expired'
  where v.id in (
    select o.id from market.verification o
    where o.status = 'pending' and o.expires_at <= now() limit 10000 for update skip locked);
  delete from market.verification v
  where v.id in (
    select o.id from market.verification o
    where o.status <> 'pending' and o.expires_at <= now() - interval '30 days' limit 10000 for update skip locked);
  return forgotten;
end
$function$;
comment on function jobs.forget_sign_ins() is 'Forgets attempts to sign in a day after they ended, sessions that ended, and verifications that ended 30 days ago; notes which verifications ran out. Gives how many sessions.';
grant execute on function jobs.forget_sign_ins() to souk_worker;

CREATE OR REPLACE FUNCTION jobs.forget_agents()
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  forgotten integer;
begin
  -- The account goes with jobs.forget_keys, unless a person proved a method on it. A report keeps its reporter.
  delete from market.agent a
  where a.id in (
    select o.id from market.agent o join market.publisher p on p.account_id = o.account_id
    where o.connected_at is null and o.created_at <= now() - interval '7 days'
      and p.last_active_at <= now() - interval '7 days'
      and not exists (select from market.report r where r.account_id = o.account_id)
      and not exists (select from market.submission s where s.agent_id = o.id)
      and not exists (select from market.verification v
        where v.agent_id = o.id and v.created_at > now() - interval '7 days')
    limit 1000 for update of o skip locked);
  get diagnostics forgotten = row_count;
  return forgotten;
end
$function$;
comment on function jobs.forget_agents() is 'Forgets agents that nobody approved, 7 days after they were made or last did more than read; gives how many.';
grant execute on function jobs.forget_agents() to souk_worker;

CREATE OR REPLACE FUNCTION jobs.mark_approval_notice(agent_id uuid)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
  update market.connection c set notified_at = now()
  where c.agent_id = mark_approval_notice.agent_id and c.notified_at is null
$function$;
comment on function jobs.mark_approval_notice(uuid) is 'Notes that the message about an approved agent was sent.';
revoke execute on function jobs.mark_approval_notice(uuid) from souk_worker
;
grant execute on function jobs.mark_approval_notice(uuid) to souk_worker;

CREATE OR REPLACE FUNCTION market.lock_connection(secret_hash bytea)
 RETURNS market.connection
 LANGUAGE plpgsql
AS $function$
declare
  connection market.connection;
begin
  -- The agent's row first, as a removal locks it: approving and removing wait for each other.
  perform from market.agent a join market.connection c on c.agent_id = a.id
  where c.secret_hash = lock_connection.secret_hash for update of a;
  select * into connection from market.connection c where c.secret_hash = lock_connection.secret_hash for update;
  return connection;
end
$function$;
comment on function market.lock_connection(bytea) is 'The connection of a link, locked after its agent; nulls when there is none.';

CREATE OR REPLACE FUNCTION api.get_connection(secret_hash bytea, session_hash bytea)
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
begin
  select * into connection from market.connection c where c.secret_hash = get_connection.secret_hash;
  perform market.check_connection(connection);
  select * into agent from market.agent a where a.id = connection.agent_id;
  person := coalesce(session.account_id, agent.account_id);
  has_method := exists (select from market.proved_method p where p.account_id = person);
  return jsonb_build_object(
    'agent_name', agent.name, 'code', connection.code,
    'requested_at', market.utc(connection.created_at),
    'requested_minutes_ago', floor(extract(epoch from now() - connection.created_at) / 60)::integer,
    'expires_in', ceil(extract(epoch from connection.expires_at - now()))::integer,
    'account', jsonb_build_object(
      -- Without a session this may be the agent itself looking: it learns no mailbox.
      'label', case when session.account_id is not null or not has_method then market.account_label(person)
        else market.account_label_for_agent(person) end,
      'is_new', session.account_id is null and not has_method,
      'has_method', has_method,
      'needs_sign_in', market.needs_sign_in(person, session.signed_in_at),
      'agent_is_first', not exists (
        select from market.agent a where a.account_id = person and a.connected_at is not null and a.removed_at is null)));
end
$function$;
comment on function api.get_connection(bytea,bytea) is 'What the approval page shows: agent_name, code, requested_at, expires_in (seconds), and the account that this session, or a new one, would bind: label, is_new, has_method, needs_sign_in, agent_is_first; 404, 409 or 410 otherwise. Changes nothing.';
grant execute on function api.get_connection(bytea,bytea) to souk_api;

CREATE OR REPLACE FUNCTION market.adopt_agent(agent market.agent, account_id uuid)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  update market.agent a set connected_at = now(), account_id = adopt_agent.account_id where a.id = agent.id;
  if agent.account_id = adopt_agent.account_id then
    return;
  end if;
  -- What the agent has under way comes along; what it reported is not forgotten.
  update market.verification v set account_id = adopt_agent.account_id
  -- A method that the first account proved stays its own: a person got that account by it.
  where v.agent_id = agent.id and v.status <> 'completed';
  update market.verification v set status = 'completed'
  where v.agent_id = agent.id and v.status = 'pending' and v.expires_at > now()
    and exists (select from market.proved_method p where p.account_id = v.account_id and p.method = v.method);
  update market.submission s set account_id = adopt_agent.account_id where s.agent_id = agent.id;
  update market.report r set account_id = adopt_agent.account_id where r.account_id = agent.account_id
    and not exists (
      select from market.report o where o.offer_id = r.offer_id and o.account_id = adopt_agent.account_id);
  -- One voice an account: what both reported was reported already.
  delete from market.report r where r.account_id = agent.account_id;
  -- The provisional account stays a while: a call under way may still write to it. jobs.forget_keys forgets it.
end
$function$;
comment on function market.adopt_agent(market.agent,uuid) is 'Connects an agent to a person''s account, with what it has under way.';

CREATE OR REPLACE FUNCTION api.approve_connection(secret_hash bytea, session_hash bytea, new_session_hash bytea)
 RETURNS jsonb
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  connection market.connection := market.lock_connection(approve_connection.secret_hash);
  session record := market.find_session(approve_connection.session_hash);
  made record := market.find_session(approve_connection.new_session_hash);
  agent market.agent;
  person uuid;
  answer jsonb;
begin
  select * into agent from market.agent a where a.id = connection.agent_id;
  person := case when connection.approved_at is null and session.account_id is not null then session.account_id else agent.account_id end;
  answer := jsonb_build_object('agent_name', agent.name, 'agent_id', agent.id,
    'has_method', exists (select from market.proved_method p where p.account_id = person));
  -- A second click, and the same button after "back", answer what the first did.
  if connection.approved_at is not null and agent.removed_at is null
      and person in (made.account_id, session.account_id) then
    return answer || jsonb_build_object('new_session', made.account_id is not distinct from person);
  end if;
  perform market.check_connection(connection);

  perform from market.account a where a.id = person for update;
  if not found then
    perform market.fail(401, 'unauthorized', 'This account was deleted. Open the link again.');
  elsif market.needs_sign_in(person, session.signed_in_at) then
    perform market.fail(401, 'unauthorized', case when session.account_id is null
      then 'A person has proved a sign-in method for this agent already. Sign in, then open the link again.'
      else 'To be sure that it is you, sign in again. Then approve.' end, '{"sign_in_again": true}');
  elsif (select count(*) from market.agent a
      where a.account_id = person and a.removed_at is null and a.connected_at is not null) >= 25 then
    perform market.fail(409, 'invalid_state', 'Your account has 25 agents, which is the most. Remove one you no longer use, then open the link again.');
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
  return answer || jsonb_build_object('new_session', session.account_id is null);
end
$function$;
comment on function api.approve_connection(bytea,bytea,bytea) is 'Approves: the agent acts for the person with this session, or for a new account that the new session signs in; the same person again gets the same answer. Gives agent_id, agent_name, new_session, has_method; 401 (sign_in_again), 404, 409 or 410 otherwise.';
grant execute on function api.approve_connection(bytea,bytea,bytea) to souk_api;

CREATE OR REPLACE FUNCTION api.decline_connection(secret_hash bytea)
 RETURNS jsonb
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  connection market.connection := market.lock_connection(decline_connection.secret_hash);
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

CREATE OR REPLACE FUNCTION api.start_verification(method text, base_url text, link_key bytea)
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
declare
  verification market.verification;
  proved boolean := exists (select from market.proved_method p
    where p.account_id = market.account_id() and p.method = start_verification.method);
  started boolean := false;
  new_id uuid := market.uuid_v7();
begin
  if not exists (select from market.sign_in_method m where m.method = start_verification.method and m.available) then
    perform market.fail(400, 'unknown_method',
      case when market.methods(true) = '[]' then 'No sign-in method is offered at present; nothing you do requires one.'
        else 'This sign-in method is not offered. Choose one of options.' end,
      jsonb_build_object('options', market.methods(true)));
  end if;
  if proved then
    -- There is nothing to wait for.
    select * into verification from market.verification v
    where v.account_id = market.account_id() and v.method = start_verification.method and v.status = 'completed'
    order by v.id desc limit 1;
    if not found then
      insert into market.verification (id, account_id, agent_id, method, secret_hash, status)
      values (new_id, market.account_id(), market.agent_id(), start_verification.method,
        sha256(convert_to(market.verification_secret(link_key, new_id), 'UTF8')), 'completed')
      returning * into verification;
    end if;
    return jsonb_build_object('status', 200, 'body',
      market.verification_document(verification, start_verification.base_url, start_verification.link_key)
        || '{"summary": "The account has proved this method already."}');
  end if;
  update market.verification v set status = 'expired'
  where v.agent_id = market.agent_id() and v.method = start_verification.method and v.status = 'pending' and v.expires_at <= now();
  insert into market.verification (id, account_id, agent_id, method, secret_hash)
  values (new_id, market.account_id(), market.agent_id(), start_verification.method,
    sha256(convert_to(market.verification_secret(link_key, new_id), 'UTF8')))
  on conflict do nothing;
  started := found;
  -- Proved while we waited: market.complete_sign_in did not see the new link.
  update market.verification v set status = 'completed'
  where v.id = new_id and exists (select from market.proved_method p
    where p.account_id = market.account_id() and p.method = start_verification.method);
  -- The newest is the open one, or was decided at this very moment.
  select * into verification from market.verification v
  where v.agent_id = market.agent_id() and v.method = start_verification.method
  order by v.status = 'pending' desc, v.id desc limit 1;
  return jsonb_build_object('status', case when started and verification.status = 'pending' then 201 else 200 end,
    'body', market.verification_document(verification, start_verification.base_url, start_verification.link_key));
end
$function$;
comment on function api.start_verification(text,text,bytea) is 'Verification: 201 with a new link, 200 with the same one while pending, 200 completed when proved already; 400 unknown_method.';
grant execute on function api.start_verification(text,text,bytea) to souk_api;

CREATE OR REPLACE FUNCTION api.keep_query_embedding(query_hash bytea, model text, embedding text)
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
begin
  perform market.require_connected('search_offers');
  insert into market.query_embedding (model, query_hash, embedding)
  select keep_query_embedding.model, keep_query_embedding.query_hash, vector
  from market.unit_vector(keep_query_embedding.embedding) as vector
  where vector is not null and market.setting('embedding_model') = to_jsonb(keep_query_embedding.model)
  on conflict do nothing;
  return jsonb '{}';
end
$function$;
comment on function api.keep_query_embedding(bytea,text,text) is 'Keeps the vector of a query for whoever asks the same.';
revoke execute on function api.keep_query_embedding(bytea,text,text) from souk_api;
grant execute on function api.keep_query_embedding(bytea,text,text) to souk_api
;

reset role;
