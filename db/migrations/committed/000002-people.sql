--! Previous: sha1:87182c1f84d768bf4fa261b04392a300d16e9b56
--! Hash: sha1:055dbe7add17820554029b64267e188378c4c100
--! Message: people

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

--! Included market/visible_name.sql
-- What of a name that somebody chose is shown to others.

create or replace function market.visible_name(name text) returns text
  language sql immutable
as $$
  -- Control, bidirectional and zero-width characters would let a name pretend to be other words on the approval page.
  select nullif(btrim(regexp_replace(normalize(name, NFC),
    '[\u0001-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb]|[\U000E0000-\U000E007F]', '', 'g'), E' \u00a0\u3000'), '')
$$;
comment on function market.visible_name(text) is 'A name without characters that cannot be seen; null when nothing is left.';
grant execute on function market.visible_name(text) to souk_person;

create or replace function market.clean_name(name text) returns text
  language sql immutable
as $$ select coalesce(market.visible_name(name), 'Unnamed agent') $$;
comment on function market.clean_name(text) is 'What an agent calls itself, without characters that cannot be seen.';
--! EndIncluded market/visible_name.sql
--! Included market/require_recent_sign_in.sql
-- What cannot be taken back needs a person who has just shown, in this browser, who they are.

create or replace function market.require_recent_sign_in() returns void
  language plpgsql stable
as $$
declare
  signed_in_at timestamptz;
begin
  select s.signed_in_at into signed_in_at from market.session s
  where s.id = market.session_id() and s.account_id = market.account_id();
  if not found then
    perform market.fail(401, 'unauthorized', 'Only a person who is signed in on the website can do this.');
  elsif market.needs_sign_in(market.account_id(), signed_in_at) then
    perform market.fail(401, 'unauthorized', 'To be sure that it is you, sign in again. Then repeat what you were doing.',
      '{"sign_in_again": true}');
  end if;
end
$$;
comment on function market.require_recent_sign_in() is
  'Refuses (401, sign_in_again) a person who has a sign-in method and did not sign in within 15 minutes, and (401) whoever is not a person.';
grant execute on function market.require_recent_sign_in() to souk_person;
--! EndIncluded market/require_recent_sign_in.sql
--! Included market/account_label.sql
-- What tells a person which account this is, and which method.

create or replace function market.method_name(method text) returns text
  language sql immutable parallel safe
as $$ select case method_name.method when 'email' then 'e-mail' else initcap(method_name.method) end $$;
comment on function market.method_name(text) is 'What a sign-in method is called in a sentence.';
grant execute on function market.method_name(text) to souk_person;

create or replace function market.account_label(account_id uuid) returns text
  language plpgsql stable
as $$
declare
  display_name text := (select a.display_name from market.account a where a.id = account_label.account_id);
  email text;
  method text;
begin
  select p.method, p.email into method, email
  from market.proved_method p join market.sign_in_method m on m.method = p.method
  where p.account_id = account_label.account_id
  order by p.email is null, m.position limit 1;
  return case
    when email is not null then coalesce(display_name || ' (' || email || ')', email)
    when display_name is not null then display_name
    when method is not null then format('the account that you sign in to with %s', market.method_name(method))
    else 'a new account without a sign-in method' end;
end
$$;
comment on function market.account_label(uuid) is 'What an account is called on its own person''s pages: name and mailbox.';
grant execute on function market.account_label(uuid) to souk_person;

create or replace function market.account_label_for_agent(account_id uuid) returns text
  language plpgsql stable
as $$
begin
  -- Whoever holds a link may be the agent, which never learns an address.
  return coalesce((select a.display_name from market.account a where a.id = account_label_for_agent.account_id),
    'the account that this agent acts for');
end
$$;
comment on function market.account_label_for_agent(uuid) is 'What an account is called on a page behind a link of its agent, to whom nobody knows.';
--! EndIncluded market/account_label.sql
--! Included market/sign_in.sql
-- Signing in: one row is one attempt, bound to the browser that began it. What a provider or a mailbox has vouched for
-- ends here in market.complete_sign_in: an account that is known, a new one, or one more method of the same account.
--
-- Locks are taken in this order, so that no two attempts, removals or deletions wait for each other in a circle: who the
-- provider says it is, the account, the attempt, the verification.

create table market.sign_in (
  id uuid default market.uuid_v7() constraint sign_in_pkey primary key,
  flow_hash bytea not null constraint sign_in_flow_hash_key unique,
  method text not null,
  purpose text not null,
  account_id uuid constraint sign_in_account_fkey references market.account on delete cascade,
  verification_id uuid constraint sign_in_verification_fkey references market.verification on delete cascade,
  email text,
  link_hash bytea constraint sign_in_link_hash_key unique,
  code_hash bytea,
  tries smallint not null default 0,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '15 minutes',
  finished_at timestamptz,
  constraint sign_in_flow_hash_is_sha256 check (octet_length(flow_hash) = 32),
  constraint sign_in_method_form check (method in ('google', 'apple', 'email')),
  constraint sign_in_purpose_known check (purpose in ('sign_in', 'add')),
  constraint sign_in_adds_to_account check ((purpose = 'add') = (account_id is not null)),
  constraint sign_in_verification_adds check (verification_id is null or purpose = 'add'),
  constraint sign_in_email_length check (char_length(email) between 3 and 254),
  constraint sign_in_link_hash_is_sha256 check (octet_length(link_hash) = 32),
  constraint sign_in_code_hash_is_sha256 check (octet_length(code_hash) = 32),
  constraint sign_in_email_whole check (num_nonnulls(email, link_hash, code_hash) = case method when 'email' then 3 else 0 end),
  constraint sign_in_tries_range check (tries between 0 and 5)
);
create index sign_in_account_id_idx on market.sign_in (account_id);
create index sign_in_verification_id_idx on market.sign_in (verification_id);
-- For forgetting.
create index sign_in_expires_at_idx on market.sign_in (expires_at);
comment on table market.sign_in is 'One row is one attempt to sign in, or to prove a method. It holds no secret.';
comment on column market.sign_in.id is 'UUIDv7.';
comment on column market.sign_in.flow_hash is 'SHA-256 of the secret that only the browser which began holds.';
comment on column market.sign_in.method is 'google, apple or email.';
comment on column market.sign_in.purpose is 'sign_in, or add: a method for the account of account_id.';
comment on column market.sign_in.account_id is 'Whose method is to be proved; null when signing in.';
comment on column market.sign_in.verification_id is 'The request of an agent that this answers.';
comment on column market.sign_in.email is 'The mailbox that a link and a code went to.';
comment on column market.sign_in.link_hash is 'SHA-256 of the secret in the mailed link.';
comment on column market.sign_in.code_hash is 'SHA-256 of the browser''s secret and the mailed code: worth nothing without the browser.';
comment on column market.sign_in.tries is 'Wrong codes so far, of five.';
comment on column market.sign_in.created_at is 'When it began.';
comment on column market.sign_in.expires_at is 'When it ends unfinished: after 15 minutes, or with its verification.';
comment on column market.sign_in.finished_at is 'When it succeeded; it does so once.';

alter table market.sign_in enable row level security;
alter table market.sign_in force row level security;
create policy "the owner sees all" on market.sign_in to souk_owner using (true) with check (true);

create or replace function market.subject_hash(method text, subject text) returns bytea
  language sql immutable
as $$ select sha256(convert_to(subject_hash.method || ':' || subject_hash.subject, 'UTF8')) $$;
comment on function market.subject_hash(text, text) is 'Who a provider says it is, as it is kept: SHA-256 of method and subject; of email the subject is the address.';

create or replace function market.mailbox_of(email text) returns text
  language plpgsql immutable
as $$
declare
  mailbox text := market.clean_email(mailbox_of.email);
begin
  -- Nothing that ends a header line or begins another address passes; quoted local parts do not exist in practice.
  return case when char_length(mailbox) <= 254 and mailbox = market.visible_name(mailbox)
    and mailbox ~ '^[^\s@<>()\[\],;:"\\]{1,64}@([^\s@<>()\[\],;:"\\.]+\.)+[^\s@<>()\[\],;:"\\.]{2,63}$' then mailbox end;
end
$$;
comment on function market.mailbox_of(text) is 'An e-mail address as it is kept and compared (market.clean_email); null when mail cannot go there.';
grant execute on function market.mailbox_of(text) to souk_person;

create or replace function market.lock_sign_in(flow_hash bytea, subject_hash bytea) returns market.sign_in
  language plpgsql volatile
as $$
declare
  attempt market.sign_in;
begin
  -- One subject at a time: a new person who finishes in two tabs becomes one account.
  perform pg_advisory_xact_lock(hashtextextended('subject ' || encode(lock_sign_in.subject_hash, 'hex'), 0));
  -- The strongest lock: a verification that is being started refers to the account, and waits or is waited for.
  perform from market.account a
  where a.id = (select s.account_id from market.sign_in s where s.flow_hash = lock_sign_in.flow_hash)
  for update;
  select * into attempt from market.sign_in s where s.flow_hash = lock_sign_in.flow_hash for update;
  return attempt;
end
$$;
comment on function market.lock_sign_in(bytea, bytea) is 'The attempt of a browser, locked, after its subject and its account; nulls when there is none.';

create or replace function market.check_verification(verification market.verification, account_id uuid, session_hash bytea) returns void
  language plpgsql stable
as $$
begin
  if verification.id is null then
    perform market.fail(404, 'not_found', 'There is no such link. Check that it was copied whole.');
  elsif verification.status = 'expired' or verification.status = 'pending' and verification.expires_at <= now() then
    perform market.fail(410, 'link_expired', 'This link no longer works. Ask your agent for a new one.');
  elsif verification.status <> 'pending' then
    perform market.fail(409, 'invalid_state', format('This request of your agent is %s, and that is final.', verification.status));
  elsif verification.account_id is distinct from check_verification.account_id then
    perform market.fail(409, 'invalid_state', 'Your agent has moved to another account since. Open its link again.');
  elsif exists (select from market.proved_method p where p.account_id = verification.account_id)
      and (market.find_session(check_verification.session_hash)).account_id is distinct from verification.account_id then
    perform market.fail(401, 'unauthorized',
      'This link is for an account that has a sign-in method already. Sign in to that account, then open the link again.');
  end if;
end
$$;
comment on function market.check_verification(market.verification, uuid, bytea) is
  'Refuses a link that is unknown (404), over (410), decided or of another account (409), and (401) whoever is not signed in to its account once that has a method.';

create or replace function market.complete_sign_in(
  attempt market.sign_in, subject_hash bytea, email text, name text, session_hash bytea, new_session_hash bytea
) returns jsonb
  language plpgsql volatile
as $$
declare
  verification market.verification;
  holder uuid;
  account market.account;
  known boolean;
begin
  if attempt.verification_id is not null then
    select * into verification from market.verification v where v.id = attempt.verification_id for update;
    perform market.check_verification(verification, attempt.account_id, complete_sign_in.session_hash);
  elsif attempt.purpose = 'add' and
      (market.find_session(complete_sign_in.session_hash)).account_id is distinct from attempt.account_id then
    -- On a shared computer the next person would add a method of theirs to this account.
    perform market.fail(409, 'invalid_state', 'You signed out, or changed to another account, after you began. Sign in and start again.');
  end if;

  select p.account_id into holder from market.proved_method p
  where p.method = attempt.method and p.subject_hash = complete_sign_in.subject_hash;
  if attempt.purpose = 'sign_in' and holder is not null then
    perform from market.account a where a.id = holder for update;
    -- While we waited the account may have been deleted, or the method removed from it.
    select p.account_id into holder from market.proved_method p
    where p.method = attempt.method and p.subject_hash = complete_sign_in.subject_hash;
  end if;
  known := holder is not null;
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

  -- A secret that this browser had before it signed in is worth nothing afterwards.
  delete from market.session s where s.secret_hash = complete_sign_in.session_hash;
  insert into market.session (account_id, secret_hash, signed_in_at)
  values (account.id, complete_sign_in.new_session_hash, now());
  update market.sign_in s set finished_at = now() where s.id = attempt.id;
  return jsonb_build_object(
    'label', market.account_label(account.id),
    'display_name', account.display_name,
    'new_account', attempt.account_id is null and holder is null,
    'purpose', attempt.purpose,
    'added', not known);
end
$$;
comment on function market.complete_sign_in(market.sign_in, bytea, text, text, bytea, bytea) is
  'Ends a locked, open attempt whose subject was proved: label, display_name, new_account, purpose, added. 401, 404, 409 or 410 as its verification or another account is in the way.';
--! EndIncluded market/sign_in.sql
--! Included api/verification_page.sql
-- The page behind an agent's verification link. Looking changes nothing; the secret in the link is what admits, until
-- the account has a method: then it takes a session of that account.

create or replace function api.get_verification_page(secret_hash bytea, session_hash bytea) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  verification market.verification;
  mine boolean;
begin
  select * into verification from market.verification v where v.secret_hash = get_verification_page.secret_hash;
  if not found then
    perform market.fail(404, 'not_found', 'There is no such link. Check that it was copied whole.');
  end if;
  mine := coalesce((market.find_session(get_verification_page.session_hash)).account_id = verification.account_id, false);
  return (
    select jsonb_build_object(
      'status', d.document -> 'status',
      'method', verification.method,
      'agent_name', (select a.name from market.agent a where a.id = verification.agent_id),
      'account_label', case when mine then market.account_label(verification.account_id)
        else market.account_label_for_agent(verification.account_id) end,
      'requires', case when not mine and exists (
        select from market.proved_method p where p.account_id = verification.account_id) then 'session' else 'nothing' end,
      'mine', mine,
      'expires_in', d.document -> 'expires_in')
    from (select market.verification_document(verification, '', '') as document) as d);
end
$$;
comment on function api.get_verification_page(bytea, bytea) is
  'What the page of a verification link shows: status, method, agent_name, account_label, requires (nothing or session), mine, expires_in (seconds); 404 otherwise. Changes nothing.';
grant execute on function api.get_verification_page(bytea, bytea) to souk_api;

create or replace function api.cancel_verification(secret_hash bytea, session_hash bytea) returns jsonb
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  verification market.verification;
begin
  select * into verification from market.verification v where v.secret_hash = cancel_verification.secret_hash for update;
  if verification.status is distinct from 'cancelled' then
    perform market.check_verification(verification, verification.account_id, cancel_verification.session_hash);
    update market.verification v set status = 'cancelled' where v.id = verification.id;
  end if;
  return jsonb '{}';
end
$$;
comment on function api.cancel_verification(bytea, bytea) is
  '"Not now": ends a pending verification; again does nothing. 401, 404, 409 or 410 otherwise.';
grant execute on function api.cancel_verification(bytea, bytea) to souk_api;

create or replace function api.continue_verification(secret_hash bytea) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  page jsonb := api.get_verification_page(continue_verification.secret_hash, null);
begin
  if page ->> 'status' = 'pending' then
    perform market.fail(409, 'verification_incomplete', 'You have not signed in yet. Do that first; then continue.');
  end if;
  return jsonb_build_object('status', page -> 'status');
end
$$;
comment on function api.continue_verification(bytea) is
  'The final status of a verification: 409 verification_incomplete while it is pending, 404 when there is none.';
grant execute on function api.continue_verification(bytea) to souk_api;
--! EndIncluded api/verification_page.sql
--! Included api/sign_in.sql
-- The sign-in pages: begin an attempt, finish it by a mailed link or code, or by what a provider vouched for. These need
-- no entering: the secret that the browser holds is what admits.

create or replace function api.offer_methods(methods jsonb) returns jsonb
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  unknown text := (select min(o.method) from jsonb_array_elements_text(offer_methods.methods) as o (method)
    where not exists (select from market.sign_in_method m where m.method = o.method));
begin
  if unknown is not null then
    perform market.fail(400, 'unknown_method', format('There is no sign-in method %s.', unknown));
  end if;
  -- Processes that start together take the rows in one order.
  perform from market.sign_in_method m where m.available <> (offer_methods.methods ? m.method) order by m.position for update;
  update market.sign_in_method m set available = not m.available
  where m.available <> (offer_methods.methods ? m.method);
  return jsonb '{}';
end
$$;
comment on function api.offer_methods(jsonb) is
  'Makes exactly these sign-in methods (an array of names) available: those whose provider the operator has configured. Called at the start of each process.';
grant execute on function api.offer_methods(jsonb) to souk_api;

create or replace function market.count_sign_in_mail(email text, address text) returns void
  language plpgsql volatile
as $$
declare
  network text := 'address:' || market.network_of(count_sign_in_mail.address);
  mailbox text := 'mailbox:' || substr(encode(market.subject_hash('email', count_sign_in_mail.email), 'hex'), 1, 32);
  wait integer;
begin
  perform market.lock_window(network, 'sign_in_mail');
  perform market.lock_window(mailbox, 'sign_in_mail');
  wait := greatest(market.window_wait(network, 'sign_in_mail', 20), market.window_wait(mailbox, 'sign_in_mail', 5));
  if wait is not null then
    perform market.fail(429, 'rate_limited',
      format('Too many sign-in messages were asked for. The newest one in the mailbox may still work; else try again in %s minutes.',
        ceil(wait / 60.0)), jsonb_build_object('retry_after', wait));
  end if;
  insert into market.call (scope, action) values (network, 'sign_in_mail'), (mailbox, 'sign_in_mail');
end
$$;
comment on function market.count_sign_in_mail(text, text) is
  'Counts a sign-in message: 5 an hour for a mailbox, 20 an hour for an address; 429 beyond.';

create or replace function api.start_sign_in(
  flow_hash bytea, method text, purpose text, session_hash bytea, verification_hash bytea,
  email text, link_hash bytea, code_hash bytea, address text
) returns jsonb
  language plpgsql volatile security definer set search_path = ''
as $$
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
  return jsonb '{}';
end
$$;
comment on function api.start_sign_in(bytea, text, text, bytea, bytea, text, bytea, bytea, text) is
  'Begins an attempt to sign in, to add a method to the session''s account, or to prove what an agent''s link asks for. 400, 401, 404, 409, 410, or 429 for mail; the answer does not tell whether an account exists.';
grant execute on function api.start_sign_in(bytea, text, text, bytea, bytea, text, bytea, bytea, text) to souk_api;

create or replace function api.get_sign_in(flow_hash bytea) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  attempt market.sign_in;
begin
  select * into attempt from market.sign_in s where s.flow_hash = get_sign_in.flow_hash and s.expires_at > now();
  if not found then
    perform market.fail(404, 'not_found', 'This sign-in is over, or was begun in another browser. Start again.');
  end if;
  return jsonb_build_object(
    'method', attempt.method,
    'email', attempt.email,
    'expires_in', ceil(extract(epoch from attempt.expires_at - now()))::integer,
    'tries_left', 5 - attempt.tries,
    'finished', attempt.finished_at is not null);
end
$$;
comment on function api.get_sign_in(bytea) is
  'The attempt of a browser: method, email, expires_in (seconds), tries_left, finished; 404 when there is none or it is over.';
grant execute on function api.get_sign_in(bytea) to souk_api;

create or replace function market.check_sign_in_mail(attempt market.sign_in) returns void
  language plpgsql stable
as $$
begin
  if attempt.id is null or attempt.link_hash is null or attempt.finished_at is not null
      or attempt.expires_at <= now() or attempt.tries >= 5 then
    perform market.fail(410, 'link_expired',
      'This link or code no longer works: each works once, for 15 minutes, and not after five wrong codes. Start signing in again for a new message.');
  end if;
end
$$;
comment on function market.check_sign_in_mail(market.sign_in) is
  'Refuses (410) an attempt by mail that is unknown, finished, over, or out of tries.';

create or replace function api.get_mail_link(link_hash bytea, flow_hash bytea) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  attempt market.sign_in;
begin
  select * into attempt from market.sign_in s where s.link_hash = get_mail_link.link_hash;
  if not found then
    perform market.fail(404, 'not_found', 'There is no such link. Check that it was copied whole.');
  end if;
  perform market.check_sign_in_mail(attempt);
  return jsonb_build_object(
    'same_browser', coalesce(attempt.flow_hash = get_mail_link.flow_hash, false),
    'expires_in', ceil(extract(epoch from attempt.expires_at - now()))::integer);
end
$$;
comment on function api.get_mail_link(bytea, bytea) is
  'What opening a mailed link shows: same_browser (else only the code is shown), expires_in (seconds); 404, or 410 when it works no more. Changes nothing.';
grant execute on function api.get_mail_link(bytea, bytea) to souk_api;

create or replace function api.finish_mail_sign_in(
  flow_hash bytea, link_hash bytea, code_hash bytea, session_hash bytea, new_session_hash bytea
) returns jsonb
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  email text := (select s.email from market.sign_in s where s.flow_hash = finish_mail_sign_in.flow_hash);
  subject bytea := market.subject_hash('email', email);
  attempt market.sign_in := market.lock_sign_in(finish_mail_sign_in.flow_hash, subject);
begin
  if num_nonnulls(finish_mail_sign_in.link_hash, finish_mail_sign_in.code_hash) <> 1 then
    perform market.fail(400, 'bad_request', 'Enter the six-digit code, or open the link from the message.');
  end if;
  perform market.check_sign_in_mail(attempt);
  if finish_mail_sign_in.link_hash <> attempt.link_hash then
    perform market.fail(410, 'link_expired', 'This link is from an earlier message. Open the link from the newest one, or enter its code.');
  elsif finish_mail_sign_in.code_hash <> attempt.code_hash then
    -- An answer, not a refusal: a refusal would undo the counting.
    update market.sign_in s set tries = s.tries + 1 where s.id = attempt.id;
    return jsonb_build_object('wrong_code', true, 'tries_left', 4 - attempt.tries);
  end if;
  return market.complete_sign_in(attempt, subject, email, null,
    finish_mail_sign_in.session_hash, finish_mail_sign_in.new_session_hash);
end
$$;
comment on function api.finish_mail_sign_in(bytea, bytea, bytea, bytea, bytea) is
  'Finishes an attempt by its mailed link or code, in the browser that began it; as market.complete_sign_in, or wrong_code with tries_left. 410 when neither works any more.';
grant execute on function api.finish_mail_sign_in(bytea, bytea, bytea, bytea, bytea) to souk_api;

create or replace function api.finish_sign_in(
  flow_hash bytea, method text, subject text, email text, name text, session_hash bytea, new_session_hash bytea
) returns jsonb
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  subject_hash bytea := market.subject_hash(finish_sign_in.method, nullif(finish_sign_in.subject, ''));
  attempt market.sign_in;
begin
  if subject_hash is null then
    perform market.fail(400, 'bad_request', 'The sign-in provider did not say who you are. Start again.');
  end if;
  attempt := market.lock_sign_in(finish_sign_in.flow_hash, subject_hash);
  -- A mailbox is proved by its mail alone.
  if attempt.id is null or attempt.method <> finish_sign_in.method or attempt.method = 'email'
      or attempt.finished_at is not null or attempt.expires_at <= now() then
    perform market.fail(409, 'invalid_state', 'This sign-in was used already, or took longer than 15 minutes. Start again.');
  end if;
  return market.complete_sign_in(attempt, subject_hash, market.mailbox_of(finish_sign_in.email), finish_sign_in.name,
    finish_sign_in.session_hash, finish_sign_in.new_session_hash);
end
$$;
comment on function api.finish_sign_in(bytea, text, text, text, text, bytea, bytea) is
  'Finishes an attempt by what a provider vouched for (its subject; the e-mail only when verified), in the browser that began it; as market.complete_sign_in. 409 when it was finished, is over, or was begun another way.';
grant execute on function api.finish_sign_in(bytea, text, text, text, text, bytea, bytea) to souk_api;
--! EndIncluded api/sign_in.sql
--! Included api/viewer.sql
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
  language plpgsql volatile security definer set search_path = ''
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
  delete from market.session s where s.account_id = market.account_id();
  return jsonb '{}';
end
$$;
comment on function api.sign_out_everywhere() is 'Ends every session of the account that a person calls for, this one, too.';
grant execute on function api.sign_out_everywhere() to souk_api;
--! EndIncluded api/viewer.sql
--! Included jobs/approval_notice.sql
-- The message to a person whose agent was approved, so that a stranger's approval does not go unnoticed.

create or replace function jobs.get_approval_notice(agent_id uuid) returns jsonb
  language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
    'email', p.email,
    'agent_name', a.name,
    'connected_at', market.utc(a.connected_at),
    'display_name', t.display_name)
  from market.agent a
  join market.connection c on c.agent_id = a.id
  join market.account t on t.id = a.account_id
  join market.proved_method p on p.account_id = a.account_id
  join market.sign_in_method m on m.method = p.method
  where a.id = get_approval_notice.agent_id and a.removed_at is null and a.connected_at is not null
    and c.notified_at is null and p.email is not null
  -- Who signs in by mail reads that mailbox.
  order by p.method <> 'email', m.position
  limit 1
$$;
comment on function jobs.get_approval_notice(uuid) is
  'email, agent_name, connected_at and display_name for the message about an approved agent; null when no mailbox is known, the agent was removed, or the message was sent.';
grant execute on function jobs.get_approval_notice(uuid) to souk_worker;

create or replace function jobs.mark_approval_notice(agent_id uuid) returns void
  language sql volatile security definer set search_path = ''
as $$
  update market.connection c set notified_at = now()
  where c.agent_id = mark_approval_notice.agent_id and c.notified_at is null
$$;
comment on function jobs.mark_approval_notice(uuid) is 'Notes that the message about an approved agent was sent.';
grant execute on function jobs.mark_approval_notice(uuid) to souk_worker;
--! EndIncluded jobs/approval_notice.sql

--! Included market/claims.sql
-- Who is calling: claims set by market.enter_agent or market.enter_person for one transaction, null outside of one.

create or replace function market.agent_id() returns uuid
  language sql stable parallel safe
as $$ select nullif(current_setting('market.agent_id', true), '')::uuid $$;
comment on function market.agent_id() is 'The calling agent, null when the caller is not an agent.';

create or replace function market.account_id() returns uuid
  language sql stable parallel safe
as $$ select nullif(current_setting('market.account_id', true), '')::uuid $$;
comment on function market.account_id() is 'The account that is acted for, null outside a request.';

create or replace function market.connected() returns boolean
  language sql stable parallel safe
as $$ select coalesce(nullif(current_setting('market.connected', true), '')::boolean, false) $$;
comment on function market.connected() is 'Whether a person approved the caller; false outside a request.';

create or replace function market.session_id() returns uuid
  language sql stable parallel safe
as $$ select nullif(current_setting('market.session_id', true), '')::uuid $$;
comment on function market.session_id() is 'The session of the calling person, null when the caller is an agent.';

grant execute on function market.agent_id(), market.account_id(), market.connected(), market.session_id() to souk_agent, souk_person;
--! EndIncluded market/claims.sql
--! Included market/profile.sql
-- What a person told about themselves. Private: the person sees it, and no agent does, not even their own.

create table market.profile (
  account_id uuid constraint profile_pkey primary key
    constraint profile_account_fkey references market.account on delete cascade,
  contact_email text,
  contact_phone text,
  updated_at timestamptz not null default now(),
  constraint profile_contact_email_length check (char_length(contact_email) between 3 and 254),
  constraint profile_contact_phone_form check (contact_phone ~ '^\+[1-9][0-9]{6,14}$')
);
comment on table market.profile is 'One row is what a person told about themselves: private, and never shown to an agent.';
comment on column market.profile.account_id is 'Who.';
comment on column market.profile.contact_email is 'Where the person wants mail; told, not proved.';
comment on column market.profile.contact_phone is 'E.164; told, not proved.';
comment on column market.profile.updated_at is 'When it was last told.';

alter table market.profile enable row level security;
alter table market.profile force row level security;
create policy "the owner sees all" on market.profile to souk_owner using (true) with check (true);
create policy "a person sees what it told" on market.profile for select to souk_person
  using (account_id = (select market.account_id()));
create policy "a person tells" on market.profile for insert to souk_person
  with check (account_id = (select market.account_id()));
create policy "a person tells anew" on market.profile for update to souk_person
  using (account_id = (select market.account_id())) with check (account_id = (select market.account_id()));
create policy "a person names the account" on market.account for update to souk_person
  using (id = (select market.account_id())) with check (id = (select market.account_id()));
grant select, insert (account_id, contact_email, contact_phone),
  update (contact_email, contact_phone, updated_at) on market.profile to souk_person;
grant update (display_name) on market.account to souk_person;

create or replace function market.clean_email(address text) returns text
  language sql immutable
as $$ select nullif(lower(btrim(normalize(address, NFC), E' \t\r\n\u00a0')), '') $$;
comment on function market.clean_email(text) is 'An e-mail address as a person typed it, perhaps none, in the one form in which it is kept and compared: trimmed, lower-case, NFC; null when empty.';

create or replace function market.clean_phone(number text) returns text
  language sql immutable
as $$ select nullif(regexp_replace(regexp_replace(number, '[\s()./\u00a0\u2010-\u2013-]', '', 'g'), '^00', '+'), '') $$;
comment on function market.clean_phone(text) is 'A phone number without what people write between its digits; null when empty.';

create or replace function market.profile_errors(display_name text, contact_email text, contact_phone text) returns jsonb
  language sql immutable
as $$
  select coalesce(jsonb_agg(jsonb_build_object('pointer', e.pointer, 'detail', e.detail)), '[]')
  from (values
    ('/display_name', case when char_length(display_name) > 80 then 'A name may have at most 80 characters.' end),
    ('/contact_email', case
      when char_length(contact_email) > 254 then 'An e-mail address may have at most 254 characters.'
      when contact_email is not null and market.mailbox_of(contact_email) is null
        then 'This is not an e-mail address. Write it as lena@example.com, or leave it empty.' end),
    ('/contact_phone', case when contact_phone !~ '^\+[1-9][0-9]{6,14}$'
      then 'This is not a phone number with its country code. Write it as +49 30 1234567, or leave it empty.' end)
  ) as e (pointer, detail)
  where e.detail is not null
$$;
comment on function market.profile_errors(text, text, text) is 'What is wrong with a cleaned profile: [{pointer, detail}].';

create or replace function market.own_contact(out email text, out phone text)
  language plpgsql stable
as $$
begin
  select p.contact_email, p.contact_phone into email, phone
  from market.profile p where p.account_id = market.account_id();
  email := coalesce(email, (select m.email from market.proved_method m
    where m.account_id = market.account_id() and m.email is not null order by m.proved_at desc limit 1));
end
$$;
comment on function market.own_contact() is 'How to reach the person that calls: as they told, else the mailbox they proved. An agent may not ask.';
grant execute on function market.clean_email(text), market.clean_phone(text), market.profile_errors(text, text, text),
  market.own_contact() to souk_person;
--! EndIncluded market/profile.sql

-- A person in the browser calls what an agent calls: who sent a text may be nobody's agent, and a key is an account's.
alter table market.idempotency_key drop constraint idempotency_key_agent_fkey;
alter table market.idempotency_key rename column agent_id to owner_id;
comment on column market.idempotency_key.owner_id is 'Whose key: an agent, or the account of a person in the browser; two of them with the same key do not meet.';

alter table market.submission alter column agent_id drop not null;
comment on column market.submission.agent_id is 'The agent that sent it; null when the account''s person did.';
create policy "a person sees the submissions of the account" on market.submission for select to souk_person
  using (account_id = (select market.account_id()));
drop policy "a connected agent submits for its account" on market.submission;
create policy "a connected caller submits for its account" on market.submission for insert to souk_agent, souk_person
  with check (agent_id is not distinct from (select market.agent_id()) and account_id = (select market.account_id())
    and settled_at is null and ((select market.connected()) or kind = 'preview_offer')
    -- The worker changes what this names, whoever sent it.
    and (kind <> 'update_offer' or exists (
      select from market.offer o where o.id = target_id and o.account_id = (select market.account_id())))
    and (kind not in ('create_ask', 'update_ask') or exists (select from market.ask a where a.id = target_id))
    and (origin_ask_id is null or exists (select from market.ask a where a.id = origin_ask_id)));
grant select on market.submission to souk_person;
grant insert (id, kind, account_id, agent_id, target_id, origin_ask_id, text, images) on market.submission to souk_person;

comment on column market.offer.agent_id is 'Which agent published it; null when its person did.';
comment on column market.ask.agent_id is 'Which agent asked; null when its person did.';
drop policy "a connected agent asks for its account" on market.ask;
create policy "a connected caller asks for its account" on market.ask for insert to souk_agent, souk_person
  with check (account_id = (select market.account_id()) and agent_id is not distinct from (select market.agent_id())
    and status = 'active' and (select market.connected()));
grant insert (id, account_id, agent_id, text, watch_enabled) on market.ask to souk_person;

alter table market.report alter column account_id drop not null;
comment on column market.report.account_id is 'By whom; null when the account no longer exists.';
comment on column market.report.agent_id is 'Through which agent; null when a person did it in the browser.';
drop policy "an agent reports what it can see" on market.report;
create policy "a caller reports what it can see" on market.report for insert to souk_agent, souk_person
  with check (account_id = (select market.account_id()) and agent_id is not distinct from (select market.agent_id())
    and exists (select from market.offer o where o.id = offer_id and o.status = 'published'));
grant select, insert (id, offer_id, account_id, agent_id, reason, comment) on market.report to souk_person;

drop policy "every agent uses what was bought" on market.query_embedding;
drop policy "a connected agent has a vector kept" on market.query_embedding;
create policy "everyone uses what was bought" on market.query_embedding for select to souk_agent, souk_person using (true);
create policy "a connected caller has a vector kept" on market.query_embedding for insert to souk_agent, souk_person
  with check ((select market.connected()));
grant select, insert (model, query_hash, embedding) on market.query_embedding to souk_person;

--! Included market/audit.sql
-- The audit log: who did what to which row, written by triggers in the same transaction, and changed by nobody.
--
--   actor     agent, person, moderator   as the claims of the request say
--             job                        the worker's own upkeep; a text that it reads is its sender's act
--             dba                        anybody else, by the role that logged in
--   subject   the account whose row it was, which is what a person reads as the activity of the account
--   before, after   the columns that changed, of those that the trigger names: never a text, a name, a contact or a hash
--
-- Partitioned by month (UTC): a month that is twelve months gone is dropped whole. No foreign key, since what is logged
-- outlives what it is about.

create table market.audit_event (
  id uuid not null default market.uuid_v7(),
  at timestamptz not null default clock_timestamp(),
  actor_type text not null,
  account_id uuid,
  agent_id uuid,
  sql_role text not null,
  action text not null,
  table_name text not null,
  row_id text not null,
  subject_account_id uuid,
  before jsonb,
  after jsonb,
  request_id text,
  constraint audit_event_pkey primary key (id, at),
  constraint audit_event_actor_type_known check (actor_type in ('person', 'agent', 'moderator', 'job', 'dba')),
  constraint audit_event_sql_role_length check (char_length(sql_role) between 1 and 63),
  constraint audit_event_action_length check (char_length(action) between 1 and 60),
  constraint audit_event_table_name_length check (char_length(table_name) between 1 and 63),
  constraint audit_event_row_id_length check (char_length(row_id) between 1 and 60),
  constraint audit_event_request_id_length check (char_length(request_id) between 1 and 100)
) partition by range (at);
create index audit_event_subject_idx on market.audit_event (subject_account_id, at desc, id desc);
create index audit_event_row_id_idx on market.audit_event (row_id, at desc);
comment on table market.audit_event is 'One row is one change of one row that matters: append-only, kept for 12 months.';
comment on column market.audit_event.id is 'UUIDv7.';
comment on column market.audit_event.at is 'When.';
comment on column market.audit_event.actor_type is 'person, agent, moderator, job or dba.';
comment on column market.audit_event.account_id is 'Who acted, or for whom its agent did.';
comment on column market.audit_event.agent_id is 'The agent that acted.';
comment on column market.audit_event.sql_role is 'The role that the statement ran as; of a dba, the login.';
comment on column market.audit_event.action is 'What was done: offer.published, agent.removed, ...; else the table with created, updated or deleted.';
comment on column market.audit_event.table_name is 'Which table of schema market.';
comment on column market.audit_event.row_id is 'Which row: its id, or what it has for one (the method, the switch, the account of a profile).';
comment on column market.audit_event.subject_account_id is 'Whose row it was.';
comment on column market.audit_event.before is 'What changed, as it was; null for a new row.';
comment on column market.audit_event.after is 'What changed, as it is; null for a deleted row.';
comment on column market.audit_event.request_id is 'The Request-Id of the call, where it is known.';

alter table market.audit_event enable row level security;
alter table market.audit_event force row level security;
create policy "the owner sees all" on market.audit_event to souk_owner using (true) with check (true);
create policy "a person sees what was done in its account" on market.audit_event for select to souk_person
  using (subject_account_id = (select market.account_id()));
-- Not who a moderator is, nor what the log says of values.
grant select (id, at, actor_type, agent_id, action, table_name, row_id, subject_account_id) on market.audit_event to souk_person;

-- The net: what falls into no month is still written down.
create table market.audit_event_default partition of market.audit_event default;
alter table market.audit_event_default enable row level security;
alter table market.audit_event_default force row level security;
create policy "the owner sees all" on market.audit_event_default to souk_owner using (true) with check (true);

create or replace function jobs.keep_audit_partitions() returns integer
  language plpgsql volatile security definer set search_path = ''
  -- Whoever writes to the log waits behind this for its lock: better to try again tomorrow.
  set lock_timeout = '1s'
as $$
declare
  this_month timestamp := date_trunc('month', now() at time zone 'UTC');
  month timestamp;
  name text;
  changed integer := 0;
begin
  for ahead in 0..1 loop
    month := this_month + make_interval(months => ahead);
    name := 'audit_event_' || to_char(month, 'YYYY_MM');
    continue when to_regclass('market.' || name) is not null;
    -- Made apart and then attached, which unlike "partition of" lets others write to the log meanwhile.
    execute format('create table market.%I (like market.audit_event including defaults including constraints)', name);
    execute format('alter table market.%I enable row level security', name);
    execute format('alter table market.%I force row level security', name);
    execute format('create policy "the owner sees all" on market.%I to souk_owner using (true) with check (true)', name);
    execute format('with moved as (delete from market.audit_event_default where at >= %1$L and at < %2$L returning *)
      insert into market.%3$I select * from moved', month at time zone 'UTC', (month + interval '1 month') at time zone 'UTC', name);
    execute format('alter table market.audit_event attach partition market.%I for values from (%L) to (%L)',
      name, month at time zone 'UTC', (month + interval '1 month') at time zone 'UTC');
    changed := changed + 1;
  end loop;
  for name in
    select c.relname from pg_catalog.pg_inherits i join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'market.audit_event'::regclass and c.relname ~ '^audit_event_\d{4}_\d{2}$'
      and to_date(right(c.relname, 7), 'YYYY_MM') + interval '13 months' <= this_month
  loop
    execute format('drop table market.%I', name);
    changed := changed + 1;
  end loop;
  delete from market.audit_event_default d where d.at < now() - interval '12 months';
  return changed;
end
$$;
comment on function jobs.keep_audit_partitions() is
  'Makes the partitions of this and the next month, and drops those that are over 12 months gone; gives how many it made and dropped.';
grant execute on function jobs.keep_audit_partitions() to souk_worker;

do $$ begin perform jobs.keep_audit_partitions(); end $$;

create or replace function market.audit() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  was jsonb := case when tg_op <> 'INSERT' then to_jsonb(old) end;
  becomes jsonb := case when tg_op <> 'DELETE' then to_jsonb(new) end;
  subject uuid := coalesce(becomes ->> 'account_id', was ->> 'account_id',
    case when tg_table_name = 'account' then coalesce(becomes ->> 'id', was ->> 'id') end)::uuid;
  status text := case when tg_op = 'INSERT' or was -> 'status' <> becomes -> 'status' then becomes ->> 'status' end;
  login text := coalesce(nullif(current_setting('role'), 'none'), session_user);
  moderator uuid := nullif(current_setting('market.moderator_id', true), '')::uuid;
  agent uuid := market.agent_id();
  account uuid := coalesce(moderator, market.account_id());
  actor text;
  before jsonb;
  after jsonb;
begin
  if was - 'updated_at' = becomes - 'updated_at' then
    return null;
  end if;
  actor := case
    when moderator is not null then 'moderator'
    when agent is not null then 'agent'
    when account is not null then 'person'
    when login = 'souk_worker' then 'job'
    -- Nobody has entered: it is an agent that makes itself, or a person whom the secret of a link admits.
    when login = 'souk_api' then case when tg_table_name = 'agent' and tg_op = 'INSERT' then 'agent' else 'person' end
    else 'dba' end;
  select jsonb_object_agg(c.name, was -> c.name), jsonb_object_agg(c.name, becomes -> c.name) into before, after
  from unnest(tg_argv) as c (name) where coalesce(was -> c.name, 'null') <> coalesce(becomes -> c.name, 'null');
  insert into market.audit_event (actor_type, account_id, agent_id, sql_role, action, table_name, row_id,
    subject_account_id, before, after, request_id)
  values (actor, case when login = 'souk_api' then coalesce(account, subject) else account end, agent,
    case actor when 'dba' then session_user else login end,
    case
      when tg_table_name = 'offer' and status = 'published' and was ->> 'status' = 'removed' then 'offer.restored'
      when tg_table_name = 'offer' and status is not null then 'offer.' || status
      when tg_table_name = 'ask' and tg_op = 'UPDATE' and status is not null
        then 'ask.' || case status when 'active' then 'reopened' else status end
      when tg_table_name = 'agent' and was ->> 'removed_at' is null and becomes ->> 'removed_at' is not null then 'agent.removed'
      when tg_table_name = 'agent' and was ->> 'connected_at' is null and becomes ->> 'connected_at' is not null then 'agent.connected'
      when tg_table_name = 'account' and was ->> 'claimed_at' is null and becomes ->> 'claimed_at' is not null then 'account.claimed'
      when tg_table_name in ('account', 'profile') and tg_op <> 'DELETE' then 'profile.updated'
      when tg_table_name = 'proved_method' then case tg_op when 'DELETE' then 'method.removed' else 'method.proved' end
      else tg_table_name || case tg_op when 'INSERT' then '.created' when 'UPDATE' then '.updated' else '.deleted' end
    end,
    tg_table_name,
    coalesce(becomes ->> 'id', was ->> 'id', becomes ->> 'method', was ->> 'method', becomes ->> 'name', was ->> 'name', subject::text),
    subject,
    case when tg_op <> 'INSERT' then before end, case when tg_op <> 'DELETE' then after end,
    nullif(current_setting('market.request_id', true), ''));
  return null;
end
$$;
comment on function market.audit() is
  'Writes one change into the audit log. Its arguments are the columns whose values may stand there: none that a person wrote.';

create or replace trigger audit after insert or update or delete on market.offer for each row execute function market.audit(
  'account_id', 'agent_id', 'origin_ask_id', 'status', 'language', 'domain', 'category', 'offer_kind', 'price_hundredths',
  'price_currency', 'price_period', 'reviewed', 'published_at', 'removed_at');
create or replace trigger audit after insert or delete on market.ask for each row execute function market.audit(
  'account_id', 'agent_id', 'status', 'watch_enabled');
create or replace trigger audit_change after update on market.ask for each row
  -- That a text has now been read is part of what its sender did.
  when (old.read_at is not null or new.read_at is null or old.status <> new.status or old.text <> new.text)
  execute function market.audit(
    'account_id', 'agent_id', 'status', 'watch_enabled', 'language', 'domain', 'category', 'ask_kind', 'price_max_hundredths', 'price_currency');
create or replace trigger audit after insert or update or delete on market.agent for each row execute function market.audit(
  'account_id', 'connected_at', 'removed_at');
-- Every agent comes with an account: what counts is that a person claims it.
create or replace trigger audit after update or delete on market.account for each row execute function market.audit(
  'claimed_at');
create or replace trigger audit after insert or update or delete on market.proved_method for each row execute function market.audit(
  'method', 'proved_at');
create or replace trigger audit after insert or update or delete on market.profile for each row execute function market.audit();
create or replace trigger audit after insert or update or delete on market.setting for each row execute function market.audit(
  'value');
create or replace trigger audit after insert or update or delete on market.report for each row execute function market.audit(
  'offer_id', 'account_id', 'agent_id', 'reason');
--! EndIncluded market/audit.sql

-- Functions beside tables whose text changed (as db/schema has them)

drop function if exists market.usable_connection(bytea);

drop function if exists api.get_connection(bytea);

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
  delete from market.idempotency_key where owner_id = new.id;
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

CREATE OR REPLACE FUNCTION market.unit_vector(embedding text)
 RETURNS halfvec
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO ''
AS $function$
declare
  vector public.halfvec(512);
begin
  if embedding is null then
    return null;
  end if;
  -- The type itself refuses another size, NaN and infinity.
  vector := embedding::public.halfvec(512);
  if public.l2_norm(vector) < 0.5 or public.l2_norm(vector) > 1.5 then
    return null;
  end if;
  return vector;
exception when data_exception or program_limit_exceeded then
  return null;
end
$function$;
comment on function market.unit_vector(text) is 'A vector of 512 finite numbers and about unit length, or null: what is not one is never stored or compared.';
grant execute on function market.unit_vector(text) to souk_agent, souk_person;

CREATE OR REPLACE FUNCTION market.rate_headers(figures jsonb)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select case when figures is null then '{}' else jsonb_build_object(
    'RateLimit-Limit', figures -> 'limit',
    'RateLimit-Remaining', figures -> 'remaining',
    'RateLimit-Reset', figures -> 'resets_in') end
$function$;
comment on function market.rate_headers(jsonb) is 'The figures of a window as the response headers of the contract; none for a person, who has no window.';
grant execute on function market.rate_headers(jsonb) to souk_agent, souk_person;

CREATE OR REPLACE FUNCTION market.own_figures(action text)
 RETURNS jsonb
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  if market.account_id() is null then
    perform market.fail(401, 'unauthorized', 'Call with a token or a session.');
  end if;
  return case when market.agent_id() is not null then market.window_figures('agent:' || market.agent_id(), own_figures.action,
    market.call_cap(market.account_id(), own_figures.action)) end;
end
$function$;
comment on function market.own_figures(text) is 'limit, used, remaining and resets_in of the calling agent for an action; null for a person, whose calls are not counted.';
grant execute on function market.own_figures(text) to souk_agent, souk_person;

CREATE OR REPLACE FUNCTION market.admit(action text, idempotency_key text, request_hash bytea, errors jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  agent uuid := market.agent_id();
  -- An agent's keys are its own, those sent in the browser the account's.
  owner uuid := coalesce(agent, market.account_id());
  scope text := 'agent:' || agent;
  cap integer;
  figures jsonb;
  wait integer;
  held record;
begin
  if owner is null then
    perform market.fail(401, 'unauthorized', 'Call with a token or a session.');
  end if;

  if admit.idempotency_key is not null then
    delete from market.idempotency_key k
    where k.owner_id = owner and k.key = admit.idempotency_key and k.created_at <= now() - interval '24 hours';
    insert into market.idempotency_key (owner_id, key, request_hash)
    values (owner, admit.idempotency_key, admit.request_hash)
    on conflict do nothing;
    if not found then
      figures := market.own_figures(admit.action);
      select k.request_hash, s.status, s.body into held
      from market.idempotency_key k left join market.submission s on s.id = k.submission_id
      where k.owner_id = owner and k.key = admit.idempotency_key;
      if held.request_hash is distinct from admit.request_hash then
        perform market.fail(409, 'idempotency_key_reused',
          'This Idempotency-Key was used with another request. Use a new key for a new request, or repeat the first one exactly.',
          jsonb_build_object('headers', market.rate_headers(figures)));
      elsif held.status is null then
        perform market.fail(409, 'idempotency_in_flight',
          'The first request with this Idempotency-Key is still being answered. Repeat it with the same key in a second.',
          jsonb_build_object('retry_after', 1, 'headers', market.rate_headers(figures)));
      end if;
      return jsonb_build_object('status', held.status, 'body', held.body,
        'headers', market.rate_headers(figures) || '{"Idempotency-Replayed": "true"}');
    end if;
  end if;

  -- A person in the browser has no window.
  if agent is not null then
    cap := market.call_cap(market.account_id(), admit.action);
    perform market.lock_window(scope, admit.action);
    figures := market.window_figures(scope, admit.action, cap);
    if (figures ->> 'remaining')::integer = 0 then
      -- The figures are a moment older: what they promise must not come before the wait is over.
      wait := greatest(market.window_wait(scope, admit.action, cap), (figures ->> 'resets_in')::integer, 1);
      perform market.fail(429, 'rate_limited',
        format('This agent has used its %s calls of this hour. Wait %s seconds, then try again.', cap, wait),
        jsonb_build_object('retry_after', wait, 'headers', market.rate_headers(figures)));
    end if;
  end if;
  if jsonb_array_length(admit.errors) > 0 then
    perform market.fail_fields(admit.errors, market.rate_headers(figures));
  end if;
  if agent is not null then
    insert into market.call (scope, action) values (scope, admit.action);
    figures := market.window_figures(scope, admit.action, cap);
  end if;
  return jsonb_build_object('headers', market.rate_headers(figures));
end
$function$;
comment on function market.admit(text,text,bytea,jsonb) is 'Admits a call of whoever entered, counting an agent''s, or refuses it (409, 429, 400 in this order), or gives the answer to replay: status, body. Always gives headers.';
grant execute on function market.admit(text,text,bytea,jsonb) to souk_agent, souk_person;

CREATE OR REPLACE FUNCTION market.hold_answer(idempotency_key text, submission_id uuid)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  update market.idempotency_key k set submission_id = hold_answer.submission_id
  where k.owner_id = coalesce(market.agent_id(), market.account_id())
    and k.key = hold_answer.idempotency_key and k.submission_id is null
    and exists (select from market.submission s where s.id = hold_answer.submission_id and market.is_own(s));
end
$function$;
comment on function market.hold_answer(text,uuid) is 'Ties the caller''s key to the submission whose answer it replays.';
grant execute on function market.hold_answer(text,uuid) to souk_agent, souk_person;

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

CREATE OR REPLACE FUNCTION market.first_line(text text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select left(line.words, 120)
  from regexp_split_to_table(text, '[\r\n]+') with ordinality as l (line, n),
    lateral (select btrim(regexp_replace(l.line, '[\s\u00a0\u115f\u1160\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufeff\uffa0]+', ' ', 'g')) as words) as line
  where line.words <> ''
  order by l.n limit 1
$function$;
comment on function market.first_line(text) is 'The first line that says something, as a title: at most 120 characters; null when there is none.';
grant execute on function market.first_line(text) to souk_agent, souk_person;

CREATE OR REPLACE FUNCTION market.contains_secret(text text)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
declare
  digits text;
  total integer;
begin
  if text ~ 'agt_[0-9A-Za-z]{49}' then
    return 'The text contains an agent token. Take it out, and since it has been shown, remove that agent and connect a new one.';
  end if;
  -- Card numbers: 15 digits of American Express or 16 of the others, in groups or not, right by Luhn's formula (ISO/IEC 7812-1).
  -- Bank accounts (IBAN, ISO 13616) are taken out first: the end of one may look like a card.
  for digits in
    select regexp_replace(m[1], '[^0-9]', '', 'g')
    from regexp_matches(regexp_replace(text, '\m[A-Z]{2}[0-9]{2}( ?[0-9A-Z]{4}){2,7}( ?[0-9A-Z]{1,3})?\M', ' ', 'g'),
      '(?<![0-9+])([0-9](?:[ -]?[0-9]){14,15})(?![ -]?[0-9])', 'g') as m
  loop
    if digits ~ '^(3[47]\d{13}|4\d{15}|5[1-5]\d{14}|2(22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|6(011|5\d\d)\d{12}|35(2[89]|[3-8]\d)\d{12})$' then
      select sum(case when n % 2 = 1 then d else d * 2 - case when d > 4 then 9 else 0 end end) into total
      from (select substr(reverse(digits), n, 1)::integer as d, n from generate_series(1, length(digits)) as n) as luhn;
      if total % 10 = 0 then
        return 'The text contains a payment card number. Take it out, and tell the person to have the card replaced.';
      end if;
    end if;
  end loop;
  return null;
end
$function$;
comment on function market.contains_secret(text) is 'What to do about a secret pasted into a text (an agent token, a payment card number), or null when there is none.';
grant execute on function market.contains_secret(text) to souk_agent, souk_person;

CREATE OR REPLACE FUNCTION market.image_errors(images jsonb)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select coalesce(jsonb_agg(jsonb_build_object('pointer', '/images/' || (i.n - 1), 'detail', i.wrong) order by i.n), '[]')
  from (
    select n, case
        when url ~* '^data:' then 'Images are links: put the image on the web and send its https address instead of its data.'
        when url !~* '^https?://[^\s/?#@:]+(:\d{1,5})?([/?#]\S*)?$' then 'An image must be an absolute https link without spaces.'
        when char_length(url) > 2048 then 'A link may have at most 2,048 characters.'
      end as wrong
    from jsonb_array_elements_text(images) with ordinality as t (url, n)) as i
  where i.wrong is not null
$function$;
comment on function market.image_errors(jsonb) is 'What is wrong with image links: [{pointer, detail}].';
grant execute on function market.image_errors(jsonb) to souk_agent, souk_person;

CREATE OR REPLACE FUNCTION market.image_links(images jsonb)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select coalesce(array_agg(first.url order by first.n), '{}')
  from (select url, min(n) as n from jsonb_array_elements_text(images) with ordinality as t (url, n) group by url) as first
$function$;
comment on function market.image_links(jsonb) is 'The links in order, duplicates dropped.';
grant execute on function market.image_links(jsonb) to souk_agent, souk_person;

CREATE OR REPLACE FUNCTION market.image_warnings(images text[])
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select case when exists (select from unnest(images) as url where url ~* '^http:')
    then array['An image link uses http; many clients will not show it. Use https.'] else '{}' end
$function$;
comment on function market.image_warnings(text[]) is 'What is not wrong with image links but should be better.';
grant execute on function market.image_warnings(text[]) to souk_agent, souk_person;

CREATE OR REPLACE FUNCTION market.text_array(filter jsonb)
 RETURNS text[]
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
begin
  return case jsonb_typeof(filter)
    when 'string' then array[filter #>> '{}']
    when 'array' then array(select jsonb_array_elements_text(filter))
  end;
end
$function$;
comment on function market.text_array(jsonb) is 'A string or an array of strings as text[]; null when absent.';
grant execute on function market.text_array(jsonb) to souk_agent, souk_person;

CREATE OR REPLACE FUNCTION jobs.store_offer_embedding(id uuid, embedding text, model text)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  vector public.halfvec(512) := market.unit_vector(store_offer_embedding.embedding);
begin
  if vector is not null then
    insert into market.offer_embedding (offer_id, model, embedding)
    select o.id, store_offer_embedding.model, vector from market.offer o
    -- What is no longer live may have been erased while its vector was made.
    where o.id = store_offer_embedding.id and o.status = 'published' for key share
    on conflict (offer_id) do update set model = excluded.model, embedding = excluded.embedding;
  end if;
  perform market.match_offer(store_offer_embedding.id);
  return vector is not null;
end
$function$;
comment on function jobs.store_offer_embedding(uuid,text,text) is 'Keeps an offer''s vector and matches the offer; without a right vector (false) it is matched by its words.';
grant execute on function jobs.store_offer_embedding(uuid,text,text) to souk_worker;

CREATE OR REPLACE FUNCTION jobs.finish_reading(id uuid, reading jsonb, embedding text DEFAULT NULL::text, model text DEFAULT NULL::text)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  submission market.submission;
  outcome record;
begin
  -- The account's row first, as market.erase_account locks it: what is deleted meanwhile is not published.
  perform from market.account a
  where a.id = (select s.account_id from market.submission s where s.id = finish_reading.id) for key share;
  select * into submission from market.submission s where s.id = finish_reading.id for update;
  if submission.id is null or not market.awaits_reading(submission) then
    return false;
  end if;
  -- A text is published in the name of whoever sent it, so that is who the audit log names.
  perform set_config('market.account_id', submission.account_id::text, true),
    set_config('market.agent_id', coalesce(submission.agent_id::text, ''), true);
  -- Whatever the removal of an agent meets half way is not published; an ask that was answered belongs to the account.
  perform from market.agent a where a.id = submission.agent_id for share;
  if submission.settled_at is null and exists (select from market.agent a where a.id = submission.agent_id and a.removed_at is not null) then
    perform market.settle(submission.id, 401, jsonb_build_object('code', 'unauthorized', 'detail', 'This agent was removed.'));
    return true;
  end if;
  if submission.kind in ('create_ask', 'update_ask') then
    outcome := market.finish_ask(submission, finish_reading.reading, finish_reading.embedding, finish_reading.model);
  else
    outcome := market.finish_offer(submission, finish_reading.reading);
  end if;
  perform market.settle(submission.id, outcome.status, outcome.body);
  return true;
end
$function$;
comment on function jobs.finish_reading(uuid,jsonb,text,text) is 'Settles a submission by its grounded reading (for an ask with its vector, where there is one); false when it was settled before.';
grant execute on function jobs.finish_reading(uuid,jsonb,text,text) to souk_worker;

CREATE OR REPLACE FUNCTION jobs.forget_keys()
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  forgotten integer;
begin
  delete from market.idempotency_key k
  where (k.owner_id, k.key) in (
    select o.owner_id, o.key from market.idempotency_key o
    where o.created_at <= now() - interval '24 hours' limit 10000);
  get diagnostics forgotten = row_count;
  delete from market.submission s
  where s.id in (
    select o.id from market.submission o
    where o.created_at <= now() - interval '24 hours' and o.settled_at is not null limit 10000);
  delete from market.call c
  where c.id in (select o.id from market.call o where o.called_at <= now() - interval '1 day' limit 50000);
  delete from market.query_embedding q
  where (q.model, q.query_hash) in (
    select o.model, o.query_hash from market.query_embedding o
    where o.created_at <= now() - interval '30 days' limit 10000);
  -- Provisional accounts whose agent went to the account of a person who had one.
  delete from market.account a
  where a.id in (
    select o.id from market.account o
    where o.claimed_at is null and o.created_at <= now() - interval '24 hours'
      and not exists (select from market.agent g where g.account_id = o.id) limit 10000);
  return forgotten;
end
$function$;
comment on function jobs.forget_keys() is 'Forgets idempotency keys, settled submissions and counted calls of more than 24 hours ago, query vectors of more than 30 days ago, and accounts that lost their only agent before a person claimed them; gives how many keys.';
grant execute on function jobs.forget_keys() to souk_worker;

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

CREATE OR REPLACE FUNCTION api.list_agents()
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return jsonb_build_object('agents', (
    select coalesce(jsonb_agg(jsonb_build_object(
        'id', a.id, 'name', a.name, 'connected_at', market.utc(a.connected_at),
        'last_active', market.utc_month(greatest(a.connected_at, o.latest, s.latest)),
        'offers', o.number, 'asks', s.number,
        'removed_at', market.utc(a.removed_at))
      order by a.removed_at is not null, a.removed_at desc, a.id desc), '[]')
    from (
      -- An account has at most 25 live agents; of those that were removed the latest will do.
      select * from (
        select g.id, g.name, g.created_at, g.connected_at, g.removed_at from market.agent g
        where g.account_id = market.account_id() and g.connected_at is not null
        order by g.removed_at is not null, g.removed_at desc limit 100) as g) as a,
    lateral (select count(*) as number, max(o.created_at) as latest
      from market.offer o where o.agent_id = a.id and o.account_id = market.account_id()) as o,
    lateral (select count(*) as number, max(k.created_at) as latest
      from market.ask k where k.agent_id = a.id and k.account_id = market.account_id()) as s));
end
$function$;
comment on function api.list_agents() is 'The agents of the account, live ones first: what each calls itself, since when it acts, the month in which it last wrote, and what it did.';
grant execute on function api.list_agents() to souk_api;

CREATE OR REPLACE FUNCTION api.remove_own_agent()
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
begin
  if market.agent_id() is null then
    perform market.fail(409, 'invalid_state', 'You are not an agent, so there is none of yours to remove here. Remove an agent of your account in the settings.');
  end if;
  update market.agent a set removed_at = now() where a.id = market.agent_id() and a.removed_at is null;
  return jsonb '{}';
end
$function$;
comment on function api.remove_own_agent() is 'An agent removes itself.';
grant execute on function api.remove_own_agent() to souk_api;

CREATE OR REPLACE FUNCTION api.get_me(base_url text, link_key bytea)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  agent market.agent;
  account market.account;
  connected boolean := market.connected();
  acts_for text;
  email text;
  phone text;
begin
  if market.agent_id() is null then
    select c.email, c.phone into email, phone from market.own_contact() as c;
  end if;
  select a.id, a.account_id, a.name, null::bytea, a.created_at, a.connected_at, a.removed_at into agent
  from market.agent a where a.id = market.agent_id();
  select * into account from market.account a where a.id = market.account_id();
  acts_for := coalesce(account.display_name, 'the person who approved me');
  return jsonb_build_object(
    'id', account.id,
    'display_name', coalesce(account.display_name, ''),
    'account', jsonb_build_object(
      'connected', connected,
      'verified', market.verified_methods(),
      'available_methods', market.methods(true),
      'unavailable_methods', market.methods(false),
      'published_offers', (select p.lifetime from market.publisher p where p.account_id = account.id),
      'member_since', market.utc(account.created_at),
      'profile_url', get_me.base_url || '/settings'),
    'permissions', (
      select jsonb_object_agg(p.name, jsonb_build_object('allowed', connected or not p.needs_approval)
        || case when p.needs_approval and not connected then jsonb_build_object('accepted_methods', '[]'::jsonb,
          'summary', 'A person has to approve this agent first, through the connection link.') else '{}' end)
      from (values ('search_offers', false), ('read_offers', false), ('read_matches', false),
        ('start_verification', false), ('report_offer', false),
        ('publish_offer', true), ('create_ask', true), ('manage_offers', true), ('manage_asks', true)) as p (name, needs_approval)),
    'limits', (
      select coalesce(jsonb_object_agg(l.action, market.own_figures(l.action)), '{}')
      from (values ('publish_offer'), ('create_ask'), ('preview_offer')) as l (action)
      where market.agent_id() is not null),
    'pending_verifications', (
      select coalesce(jsonb_agg(market.verification_document(v, get_me.base_url, get_me.link_key) order by v.id), '[]')
      from market.verification v
      where v.account_id = account.id and v.status = 'pending' and v.expires_at > now()),
    'activity', jsonb_build_object(
      'asks_active', (select count(*) from market.ask a where a.account_id = account.id and a.status = 'active'),
      'offers_published', (select p.active from market.publisher p where p.account_id = account.id),
      'offers_pending_review', (select count(*) from market.offer o where o.account_id = account.id and o.status = 'pending_review')),
    'next', case
      when market.agent_id() is null then jsonb_build_array(
        jsonb_build_object('summary', 'Publish what you offer, in your own words.', 'method', 'POST', 'path', '/v1/offers'),
        jsonb_build_object('summary', 'State what you want, and read what matches.', 'method', 'POST', 'path', '/v1/asks'),
        jsonb_build_object('summary', 'See what the market has.', 'method', 'POST', 'path', '/v1/offers/search'))
      when not connected then jsonb_build_array(
        jsonb_build_object('summary', 'Ask the person to open the connection link, compare the code and approve. Then read this document again.', 'method', 'GET', 'path', '/v1/me'),
        jsonb_build_object('summary', 'Meanwhile you can search.', 'method', 'POST', 'path', '/v1/offers/search'))
      else case when agent.connected_at > now() - interval '1 hour' then jsonb_build_array(
        jsonb_build_object('summary', format('Tell the person: "I now act for %s. If that is not you, tell me to disconnect."', acts_for), 'method', 'GET', 'path', '/v1/me')) else '[]' end || jsonb_build_array(
        jsonb_build_object('summary', 'Publish what the person offers, in their own words.', 'method', 'POST', 'path', '/v1/offers'),
        jsonb_build_object('summary', 'State what the person wants, and read what matches.', 'method', 'POST', 'path', '/v1/asks'),
        jsonb_build_object('summary', 'If the person did not mean to connect you, disconnect.', 'method', 'DELETE', 'path', '/v1/me/agent')) end)
    || case when agent.id is not null
      then jsonb_build_object('agent', jsonb_build_object('id', agent.id, 'name', agent.name, 'connected', connected))
      else jsonb_strip_nulls(jsonb_build_object('email', email, 'phone', phone)) end;
end
$function$;
comment on function api.get_me(text,bytea) is 'Me: account, permissions, limits, open verifications, activity and what to do next; agent when one asks, email and phone when its person does.';
grant execute on function api.get_me(text,bytea) to souk_api;

CREATE OR REPLACE FUNCTION market.activity_target(table_name text, row_id text)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  -- What the thing is called now; what is gone has no name.
  return case table_name
    when 'offer' then jsonb_build_object('type', 'offer', 'id', row_id,
      'title', (select o.title from market.offer o where o.id = row_id::uuid))
    when 'ask' then jsonb_build_object('type', 'ask', 'id', row_id,
      'title', (select a.title from market.ask a where a.id = row_id::uuid))
    when 'agent' then jsonb_build_object('type', 'agent', 'id', row_id,
      'title', (select a.name from market.agent a where a.id = row_id::uuid))
    when 'proved_method' then jsonb_build_object('type', 'method', 'id', row_id, 'title', row_id)
  end;
end
$function$;
comment on function market.activity_target(text,text) is 'What an event was done to: {type, id, title}; null when it is the account itself.';
grant execute on function market.activity_target(text,text) to souk_person;

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
      select e.id, e.at, e.agent_id, e.action, e.table_name, e.row_id from market.audit_event e
      where e.subject_account_id = market.account_id() and e.at > now() - interval '12 months'
        and e.table_name in ('offer', 'ask', 'agent', 'account', 'profile', 'proved_method')
        and (last_seen is null or (e.at, e.id) < ((last_seen ->> 'time')::timestamptz, (last_seen ->> 'id')::uuid))
      order by e.at desc, e.id desc limit own_activity.limit + 1) as e
  )
  select
    coalesce(jsonb_agg(jsonb_build_object(
      'at', market.utc(p.at), 'action', p.action,
      'agent', (select jsonb_build_object('id', a.id, 'name', a.name) from market.agent a where a.id = p.agent_id),
      'target', market.activity_target(p.table_name, p.row_id)) order by p.n) filter (where p.n <= own_activity.limit), '[]'),
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
comment on function api.list_activity(integer,text) is 'What was done in the account in the last 12 months, newest first, and by which agent (null: the person).';
grant execute on function api.list_activity(integer,text) to souk_api;

CREATE OR REPLACE FUNCTION market.own_sessions(OUT sessions integer, OUT signed_in_seconds_ago integer)
 RETURNS record
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  select count(*), extract(epoch from now() - max(s.signed_in_at) filter (where s.id = market.session_id()))
  into sessions, signed_in_seconds_ago
  from market.session s where s.account_id = market.account_id() and s.expires_at > now() and s.seen_at > now() - interval '7 days';
end
$function$;
comment on function market.own_sessions() is 'In how many browsers the person is signed in, and how long ago in this one; null when this one only approved an agent.';
grant execute on function market.own_sessions() to souk_person;

CREATE OR REPLACE FUNCTION market.own_account()
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$
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
$function$;
comment on function market.own_account() is 'The account of the person that calls, as its settings show it.';
grant execute on function market.own_account() to souk_person;

CREATE OR REPLACE FUNCTION api.get_account()
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$ begin return market.own_account(); end $function$;
comment on function api.get_account() is 'What the settings show of the account. For its person.';
grant execute on function api.get_account() to souk_api;

CREATE OR REPLACE FUNCTION api.update_profile(display_name text, contact_email text, contact_phone text)
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
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
$function$;
comment on function api.update_profile(text,text,text) is 'Keeps what the person tells about themselves; empty means nothing told. 400 bad_request with the fields to fix.';
grant execute on function api.update_profile(text,text,text) to souk_api;

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
end
$function$;
comment on function market.forget_method(text,boolean) is 'Removes a sign-in method of the person that calls; the last one only when that is confirmed (409 with confirm).';
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
comment on function api.remove_method(text,boolean) is 'Removes a sign-in method; 401 with sign_in_again when the sign-in is not recent, 409 with confirm for the last one.';
grant execute on function api.remove_method(text,boolean) to souk_api;

CREATE OR REPLACE FUNCTION market.erase_account()
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  erased uuid := market.account_id();
  -- Each takes about a millisecond, and a statement has five seconds.
  batch constant integer := 1000;
  offers uuid[];
begin
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

  -- Agents, links, asks, profile, methods, sessions and verifications go with it.
  delete from market.account a where a.id = erased;
  update market.audit_event e set before = null, after = null
  where e.subject_account_id = erased and (e.before is not null or e.after is not null);
  return true;
end
$function$;
comment on function market.erase_account() is 'Ends the account of the person that calls: agents refused, offers archived and emptied, everything else of theirs gone. False while there are more offers: call again.';
grant execute on function market.erase_account() to souk_person;

CREATE OR REPLACE FUNCTION api.delete_account()
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
begin
  perform market.require_recent_sign_in();
  return jsonb_build_object('done', market.erase_account());
end
$function$;
comment on function api.delete_account() is 'Deletes the account for good: {done}, to be called until it is; 401 with sign_in_again when it has a sign-in method and the sign-in is not recent.';
grant execute on function api.delete_account() to souk_api;

CREATE OR REPLACE FUNCTION market.matched_offers(ask_id uuid)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return (select coalesce(jsonb_agg(m.offer_id order by m.score desc, m.offer_id), '[]')
    from market.match m where m.ask_id = matched_offers.ask_id);
end
$function$;
comment on function market.matched_offers(uuid) is 'The ids of the offers that match an ask, best first.';
grant execute on function market.matched_offers(uuid) to souk_person;

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
      || jsonb_build_object('id', market.account_id()), 'next_cursor', null);
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
      'extraction', o.extraction, 'warnings', to_jsonb(o.warnings), 'reviewed', o.reviewed) as item
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
  if market.agent_id() is null then
    perform market.fail(409, 'invalid_state', format('Links are for agents to hand to their person. Add the method in the settings: %s/settings',
      start_verification.base_url));
  end if;
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

CREATE OR REPLACE FUNCTION market.text_errors(text text)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select coalesce(jsonb_agg(jsonb_build_object('pointer', '/text', 'detail', e.detail)), '[]')
  from (values
    (case when coalesce(market.first_line(text), '') = '' then 'The text is empty.' end),
    (case when char_length(normalize(text, NFC)) > 4000 then 'A text may have at most 4,000 characters.' end),
    (market.contains_secret(text))) as e (detail)
  where e.detail is not null
$function$;
comment on function market.text_errors(text) is 'What is wrong with a text before it is read: [{pointer, detail}].';
grant execute on function market.text_errors(text) to souk_agent, souk_person;

CREATE OR REPLACE FUNCTION market.submission_errors(body jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return case when body ? 'text' then market.text_errors(body ->> 'text') else jsonb '[]' end
    || case when body ? 'images' then market.image_errors(body -> 'images') else jsonb '[]' end
    || case when body ->> 'origin_ask_id' is not null and not exists (
        select from market.ask a
        where a.id::text = lower(body ->> 'origin_ask_id') and a.account_id = market.account_id())
      then jsonb '[{"pointer": "/origin_ask_id", "detail": "This is not the id of one of your asks. Leave it out, or send an id that GET /v1/asks lists."}]'
      else jsonb '[]' end;
end
$function$;
comment on function market.submission_errors(jsonb) is 'What is wrong with an OfferSubmission of the right shape: [{pointer, detail}].';
grant execute on function market.submission_errors(jsonb) to souk_agent, souk_person;

CREATE OR REPLACE FUNCTION market.submit(kind text, action text, body jsonb, idempotency_key text, request_hash bytea, errors jsonb, target_id uuid)
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
declare
  admission jsonb;
  submission_id uuid := market.uuid_v7();
begin
  admission := market.admit(submit.action, submit.idempotency_key, submit.request_hash, submit.errors);
  if admission ? 'status' then
    return admission;
  end if;
  if submit.kind = 'create_ask' then
    insert into market.ask (id, account_id, agent_id, text, watch_enabled)
    values (submit.target_id, market.account_id(), market.agent_id(), normalize(body ->> 'text', NFC),
      coalesce((body ->> 'watch_enabled')::boolean, true));
  end if;
  insert into market.submission (id, kind, account_id, agent_id, target_id, origin_ask_id, text, images)
  values (submission_id, submit.kind, market.account_id(), market.agent_id(), submit.target_id,
    (body ->> 'origin_ask_id')::uuid, normalize(body ->> 'text', NFC), market.image_links(coalesce(body -> 'images', '[]')));
  perform market.note_activity();
  if submit.idempotency_key is not null then
    perform market.hold_answer(submit.idempotency_key, submission_id);
  end if;
  return admission || jsonb_build_object('submission', submission_id);
end
$function$;
comment on function market.submit(text,text,jsonb,text,bytea,jsonb,uuid) is 'Admits a text and has it read: {submission, headers}, or {status, body, headers} when a key replays.';
grant execute on function market.submit(text,text,jsonb,text,bytea,jsonb,uuid) to souk_agent, souk_person;

CREATE OR REPLACE FUNCTION market.is_own(submission market.submission)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  -- Of an account's texts an agent has those that it sent, and the person those sent in the browser.
  select submission.agent_id is not distinct from market.agent_id()
    and (market.agent_id() is not null or submission.account_id = market.account_id())
$function$;
comment on function market.is_own(market.submission) is 'Whether the caller sent this text.';
grant execute on function market.is_own(market.submission) to souk_agent, souk_person;

CREATE OR REPLACE FUNCTION market.answer_of(submission_id uuid)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
AS $function$
  select jsonb_build_object('status', s.status, 'body', s.body)
  from market.submission s
  where s.id = answer_of.submission_id and s.settled_at is not null and market.is_own(s)
$function$;
comment on function market.answer_of(uuid) is 'The settled answer of one of the caller''s submissions, else null.';
grant execute on function market.answer_of(uuid) to souk_agent, souk_person;

CREATE OR REPLACE FUNCTION api.withdraw_submission(submission_id uuid)
 RETURNS jsonb
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  if exists (select from market.submission s where s.id = withdraw_submission.submission_id and market.is_own(s)) then
    perform market.withdraw(withdraw_submission.submission_id);
  end if;
  return coalesce(market.answer_of(withdraw_submission.submission_id), '{}');
end
$function$;
comment on function api.withdraw_submission(uuid) is 'The deadline passed: cancels what is not yet decided, and gives the answer, which may have been decided in the meantime.';
grant execute on function api.withdraw_submission(uuid) to souk_api;

CREATE OR REPLACE FUNCTION market.allowed_values(request jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  if not coalesce(request -> 'filters' ?| array['domain', 'category', 'offer_kind'], false) then
    return jsonb '[]';
  end if;
  -- A filter that names what the taxonomy does not know is a mistake, not an empty result.
  return (select coalesce(jsonb_agg(jsonb_build_object('pointer', '/filters/' || f.name,
    'detail', format('%s is not a known %s. Allowed: %s.', quote_ident(left(v.value, 60)), f.name, array_to_string(f.allowed, ', ')))), '[]')
  from (values
    ('domain', array(select d.domain from market.domain d order by d.position)),
    ('category', array(select distinct c.category from market.category c order by 1)),
    ('offer_kind', array['sale', 'rental', 'service_offer', 'project_hire', 'dating', 'friendship'])) as f (name, allowed),
  lateral (
    -- A few of them will do to say what is wrong.
    select distinct u.value from unnest(market.text_array(request -> 'filters' -> f.name)) as u (value)
    where u.value <> all (f.allowed) order by u.value limit 5) as v);
end
$function$;
comment on function market.allowed_values(jsonb) is 'What is unknown in the classification filters of a search: [{pointer, detail}].';
grant execute on function market.allowed_values(jsonb) to souk_agent, souk_person;

CREATE OR REPLACE FUNCTION api.search_offers(request jsonb, embedding text, model text, notices jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return market.answer_search(request, embedding, model, notices);
end
$function$;
comment on function api.search_offers(jsonb,text,text,jsonb) is 'SearchResponse for a search body; embedding: the query''s vector by that model, or null, and then notices say why.';
grant execute on function api.search_offers(jsonb,text,text,jsonb) to souk_api;

CREATE OR REPLACE FUNCTION market.answer_search(request jsonb, embedding text, model text, notices jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  query text := btrim(normalize(coalesce(request ->> 'query', ''), NFC));
  filters jsonb := coalesce(request -> 'filters', '{}');
  sort text := coalesce(request ->> 'sort', 'relevance');
  size integer := coalesce((request ->> 'limit')::integer, 10);
  -- A cursor belongs to the search it came from.
  list text := 'search ' || md5((request - 'cursor' - 'limit' - 'detail')::text);
  after jsonb := market.position_of(request ->> 'cursor', list);
  errors jsonb := market.allowed_values(request);
  as_of timestamptz := coalesce((after ->> 'as_of')::timestamptz, now());
  vector public.halfvec := case when market.setting('embedding_model') = to_jsonb(model) then market.unit_vector(embedding) end;
  before integer := coalesce((after ->> 'rank')::integer, 0);
  skip integer := case when query <> '' then before else 0 end;
  results jsonb;
  last record;
  more boolean;
begin
  if market.account_id() is null then
    perform market.fail(401, 'unauthorized', 'Call with a token or a session.');
  end if;
  if jsonb_array_length(errors) > 0 then
    perform market.fail_fields(errors);
  end if;
  if query = '' and filters = '{}' then
    perform market.fail_fields('[{"pointer": "/query", "detail": "Say what to look for: a query, a filter, or both."}]');
  end if;

  -- A browsed list goes on after the last key; a ranked one is short, and goes on after the last rank.
  with ranked as (
    select s.offer_id, s.score, null::numeric as sort_key
    from market.search_offers(query, filters, vector, model, as_of, market.account_id(), 200) as s
    where query <> '' and sort = 'relevance'
    union all
    select s.offer_id, s.score, case sort when 'newest' then extract(epoch from o.published_at) else o.price_hundredths end
    from market.search_offers(query, filters, vector, model, as_of, market.account_id(), 1000) as s
    join market.offer o on o.id = s.offer_id
    where query <> '' and sort <> 'relevance' and (sort = 'newest' or o.price_hundredths is not null)
    union all
    select b.offer_id, 0, b.sort_key
    from market.browse_offers(filters, as_of, market.account_id(), case sort when 'relevance' then 'newest' else sort end,
      after, size + 1) as b
    where query = ''
  ), ordered as (
    select r.offer_id, r.score, row_number() over (order by
      case sort when 'relevance' then r.score end desc,
      case sort when 'price_asc' then r.sort_key end,
      case when sort <> 'price_asc' then r.sort_key end desc,
      case sort when 'price_asc' then r.offer_id end,
      r.offer_id desc) as n
    from ranked r
  ), page as (
    select p.n, p.score, o as offer
    from ordered p join market.offer o on o.id = p.offer_id
    where p.n > skip and p.n <= skip + size + 1
  )
  select
    coalesce(jsonb_agg(market.search_result(p.offer) || jsonb_build_object(
        'score', round(p.score::numeric, 4), 'rank', before - skip + p.n)
      order by p.n) filter (where p.n <= skip + size), '[]'),
    coalesce(max(p.n) > skip + size, false)
  into results, more from page p;
  if request ->> 'detail' = 'compact' then
    select coalesce(jsonb_agg(r || jsonb_build_object('metadata', null,
      'document', (r -> 'document') || jsonb_build_object('description', left(r -> 'document' ->> 'description', 200))) order by n), '[]')
    into results from jsonb_array_elements(results) with ordinality as t (r, n);
  end if;
  select o.id, o.published_at, o.price_hundredths into last
  from market.offer o where o.id = (results -> -1 ->> 'id')::uuid;

  return jsonb_build_object(
    'type', 'results', 'query', coalesce(request ->> 'query', ''),
    'classification', market.classify_query(query, filters),
    'results', results,
    'page', market.page(jsonb_build_object('list', list, 'as_of', as_of, 'id', last.id, 'time', last.published_at,
      'price', last.price_hundredths, 'rank', results -> -1 -> 'rank'), more),
    'notices', notices,
    'next', case when results = '[]' and after is null then jsonb_build_array(jsonb_build_object(
        'summary', 'Nothing is offered yet. State what the person wants as an ask, and read its matches later.',
        'method', 'POST', 'path', '/v1/asks'))
      when results = '[]' then '[]'
      else jsonb_build_array(jsonb_build_object(
        'summary', 'Read one offer in full before the person decides.',
        'method', 'GET', 'path', '/v1/offers/' || (results -> 0 ->> 'id'))) end);
end
$function$;
comment on function market.answer_search(jsonb,text,text,jsonb) is 'The SearchResponse. Runs as its owner, since search operators are not leakproof; market.passes states who may see what.';
grant execute on function market.answer_search(jsonb,text,text,jsonb) to souk_agent, souk_person;

reset role;
