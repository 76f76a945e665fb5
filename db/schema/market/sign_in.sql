-- Signing in: one row is one attempt, bound to the browser that began it. What a provider or a mailbox has vouched for
-- ends here in market.complete_sign_in: an account that is known, a new one, or one more method of the same account.
--
-- Locks are taken in this order, so that no two attempts, removals or deletions wait for each other in a circle: who the
-- provider says it is, the sessions of an account (market.lock_sessions), the account, its agents, the verifications by
-- their ids, the attempt. A removed agent takes its verifications along and a verification its attempts, so no other order
-- can hold. Everything else of an account, such as its offers, asks, texts and keys, comes after the account: whoever locks
-- one of those, and then writes what refers to the account, holds that first (market.hold_account). The clock's jobs wait
-- for no lock that somebody has (jobs/upkeep.sql).

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
  constraint sign_in_email_whole check (
    num_nonnulls(link_hash, code_hash) = case method when 'email' then 2 else 0 end
    and (email is not null) = (method = 'email' and finished_at is null)),
  constraint sign_in_tries_range check (tries between 0 and 5)
);
create index sign_in_account_id_idx on market.sign_in (account_id);
create index sign_in_verification_id_idx on market.sign_in (verification_id);
-- For the end of an account, which takes along what was mailed to its mailboxes.
create index sign_in_email_idx on market.sign_in (email) where email is not null;
-- For forgetting.
create index sign_in_expires_at_idx on market.sign_in (expires_at);
comment on table market.sign_in is 'One row is one attempt to sign in, or to prove a method. It holds no secret.';
comment on column market.sign_in.id is 'UUIDv7.';
comment on column market.sign_in.flow_hash is 'SHA-256 of the secret that only the browser which began holds.';
comment on column market.sign_in.method is 'google, apple or email.';
comment on column market.sign_in.purpose is 'sign_in, or add: a method for the account of account_id.';
comment on column market.sign_in.account_id is 'Whose method is to be proved; null when signing in.';
comment on column market.sign_in.verification_id is 'The request of an agent that this answers.';
comment on column market.sign_in.email is 'The mailbox that a link and a code went to; null once it is finished.';
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

create or replace function market.lock_sign_in(flow_hash bytea, subject_hash bytea, session_hash bytea) returns market.sign_in
  language plpgsql volatile
as $$
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
  -- The session that this browser has ends, too, and its account may be another one, which is being deleted.
  perform market.lock_sessions(o.account_id) from (
    select unnest(accounts)
    union
    select s.account_id from market.session s where s.secret_hash = lock_sign_in.session_hash
    order by 1) as o (account_id);
  -- The strongest lock: a verification that is being started refers to the account, and waits or is waited for.
  perform from market.account a where a.id = any (accounts) order by a.id for update;
  perform from market.verification v
  where v.account_id = any (accounts) and v.status = 'pending'
    or v.id = (select s.verification_id from market.sign_in s where s.flow_hash = lock_sign_in.flow_hash)
  order by v.id for update;
  select * into attempt from market.sign_in s where s.flow_hash = lock_sign_in.flow_hash for update;
  return attempt;
end
$$;
comment on function market.lock_sign_in(bytea, bytea, bytea) is
  'The attempt of a browser, locked, after its subject, the sessions of the accounts of both and of the browser''s, those accounts and their verifications; nulls when there is none.';

create or replace function market.missing_session(account_id uuid, session_account uuid) returns text
  language plpgsql stable
as $$
begin
  return case
    when missing_session.session_account = missing_session.account_id then null
    when exists (select from market.proved_method p where p.account_id = missing_session.account_id) then 'sign_in'
    -- The agent has the link, too: without the browser of its person it would make the account its own.
    when exists (select from market.account a where a.id = missing_session.account_id and a.claimed_at is not null)
      and exists (select from market.session s where s.account_id = missing_session.account_id and market.is_alive(s)) then 'browser'
    when missing_session.session_account is not null then 'sign_out' end;
end
$$;
comment on function market.missing_session(uuid, uuid) is
  'What whoever has this account''s session, or none, has to do before proving a method of an account by its agent''s link: sign_in to it, come with the browser in which its agent was approved, or sign_out of another account; null when nothing is missing.';

create or replace function market.check_verification(verification market.verification, account_id uuid, session_hash bytea) returns void
  language plpgsql stable
as $$
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
$$;
comment on function market.check_verification(market.verification, uuid, bytea) is
  'Refuses a link that is unknown (404), over (410), decided or of another account (409), and whoever is not signed in to its account (market.missing_session): 401 once that has a method, else 409.';

create or replace function market.complete_sign_in(
  attempt market.sign_in, subject_hash bytea, email text, name text, session_hash bytea, new_session_hash bytea
) returns jsonb
  language plpgsql volatile
as $$
declare
  verification market.verification;
  session record := market.find_session(complete_sign_in.session_hash);
  -- Locked by market.lock_sign_in, as attempt.account_id and the verification are.
  holder uuid := (select p.account_id from market.proved_method p
    where p.method = attempt.method and p.subject_hash = complete_sign_in.subject_hash);
  known constant boolean := holder is not null;
  account market.account;
begin
  if attempt.verification_id is not null then
    select * into verification from market.verification v where v.id = attempt.verification_id;
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
$$;
comment on function market.complete_sign_in(market.sign_in, bytea, text, text, bytea, bytea) is
  'Ends a locked, open attempt whose subject was proved: label, display_name, new_account, purpose, added. An account''s first method ends its other sessions. 401 (sign_in_again when a method is added long after signing in), 404, 409 or 410 as its verification or another account is in the way.';
