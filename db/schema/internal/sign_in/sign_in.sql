-- Completes a sign-in after the provider or the e-mail message proved a subject. The result is a known account, a new
-- account, or one more method of an account. internal/platform/locks.sql states the order of locks.

create or replace function internal.subject_hash(method text, subject text) returns bytea
  language sql immutable
as $$ select sha256(convert_to(subject_hash.method || ':' || subject_hash.subject, 'UTF8')) $$;
comment on function internal.subject_hash(text, text) is
  'Returns the stored form of a provider''s subject: SHA-256 of method and subject. For method email the subject is '
  'the e-mail address.';

create or replace function internal.mailbox_of(email text) returns text
  language plpgsql immutable
as $$
declare
  mailbox text := internal.clean_email(mailbox_of.email);
  -- The beginning of any other character than these.
  other constant text := '[^' || internal.white_space() || '@<>()\[\],;:"\\';
begin
  -- The pattern allows no character that ends a header line or begins another address. It does not allow quoted local
  -- parts, because they do not occur in practice.
  return case when char_length(mailbox) <= 254 and mailbox = internal.visible_name(mailbox)
    and mailbox ~ ('^' || other || ']{1,64}@(' || other || '.]+\.)+' || other || '.]{2,63}$') then mailbox end;
end
$$;
comment on function internal.mailbox_of(text) is
  'Returns an e-mail address as it is stored and compared (internal.clean_email); null when it is not a valid address.';
grant execute on function internal.mailbox_of(text) to souk_person;

create or replace function internal.count_sign_in(address text) returns void
  language plpgsql volatile
as $$
declare
  scope constant text := 'sign_in:' || internal.network_of(count_sign_in.address);
  wait integer;
begin
  perform internal.lock_window(scope, 'sign_in');
  -- Each start costs a row. Sixty an hour are enough for an office behind one address.
  wait := internal.window_wait(scope, 'sign_in', 60);
  if wait is not null then
    perform internal.raise_problem(429, 'rate_limited',
      'too_many_sign_ins', jsonb_build_object('minutes', ceil(wait / 60.0)),
      extra => jsonb_build_object('retry_after', wait));
  end if;
  insert into market.rate_limit_hit (scope, action) values (scope, 'sign_in');
end
$$;
comment on function internal.count_sign_in(text) is
  'Counts a sign-in that is started from an address, with any method. Raises 429 after 60 in an hour.';

create or replace function internal.lock_sign_in(flow_hash bytea, subject_hash bytea, session_hash bytea)
  returns market.sign_in
  language plpgsql volatile
as $$
declare
  attempt market.sign_in;
  accounts uuid[];
begin
  -- Only one sign-in of a subject runs at a time, so that a new person who signs in in two tabs gets only one account.
  -- Everybody who may log in sees which locks are held.
  perform pg_advisory_xact_lock(
    hashtextextended(internal.mark_of('subject ' || encode(lock_sign_in.subject_hash, 'hex')), 0));
  -- The account that gets the method, the account that the browser leaves, and the account for which the subject is
  -- proved. While this transaction holds the lock of the subject, no other transaction can add the subject to another
  -- account.
  accounts := array(
    select o.id from market.sign_in s, unnest(array[s.account_id, s.left_account_id]) as o (id)
    where s.flow_hash = lock_sign_in.flow_hash and o.id is not null
    union
    select p.account_id from market.sign_in s
    join market.proved_method p on p.method = s.method and p.subject_hash = lock_sign_in.subject_hash
    where s.flow_hash = lock_sign_in.flow_hash
    order by 1);
  -- The present session of the browser ends too. It may belong to a third account, which another transaction may be
  -- deleting.
  perform internal.lock_sessions(o.account_id) from (
    select unnest(accounts)
    union
    select s.account_id from market.session s where s.secret_hash = lock_sign_in.session_hash
    order by 1) as o (account_id);
  -- The lock must be "for update": a transaction that starts a verification inserts a row that refers to the account,
  -- and only with this lock one of the two transactions waits for the other.
  perform from market.account a where a.id = any (accounts) order by a.id for update;
  -- The agents that may be removed or disconnected.
  perform from market.agent a
  join market.sign_in s on a.account_id = s.account_id or a.account_id = s.left_account_id
  where s.flow_hash = lock_sign_in.flow_hash and a.removed_at is null
  order by a.id for no key update of a;
  perform from market.verification v
  where v.account_id = any (accounts) and v.status = 'pending'
    or v.id = (select s.verification_id from market.sign_in s where s.flow_hash = lock_sign_in.flow_hash)
  order by v.id for update;
  select * into attempt from market.sign_in s where s.flow_hash = lock_sign_in.flow_hash for update;
  return attempt;
end
$$;
comment on function internal.lock_sign_in(bytea, bytea, bytea) is
  'Locks and returns the sign-in attempt of a browser; nulls when there is none. Before the attempt it locks the '
  'subject, the sessions of all accounts concerned (also of the browser''s present account), the accounts, the agents '
  'of the account that gets a method or is left, and the verifications.';

create or replace function internal.complete_sign_in(
  attempt market.sign_in, subject_hash bytea, email text, name text, session_hash bytea, new_session_hash bytea
) returns jsonb
  language plpgsql volatile
as $$
declare
  verification market.verification;
  session record := internal.find_session(complete_sign_in.session_hash);
  -- internal.lock_sign_in has locked the rows used here: attempt.account_id, the verification, and this holder.
  holder uuid := (select p.account_id from market.proved_method p
    where p.method = attempt.method and p.subject_hash = complete_sign_in.subject_hash);
  has_holder constant boolean := holder is not null;
  account market.account;
  recovers boolean := false;
  leaves uuid;
begin
  if attempt.verification_id is not null then
    select * into verification from market.verification v where v.id = attempt.verification_id;
    perform internal.check_verification(verification, attempt.account_id, complete_sign_in.session_hash);
    recovers := internal.is_recovery(verification, session.account_id);
    if recovers and attempt.kept_agents is not null then
      -- The page listed the agents that would go on. A recovery would disconnect them.
      perform internal.raise_problem(409, 'invalid_state', 'verification_signed_out');
    end if;
  elsif attempt.purpose = 'add' and session.account_id is distinct from attempt.account_id then
    -- Otherwise, on a shared computer, the next person could add their own method to this account.
    perform internal.raise_problem(409, 'invalid_state', 'adding_signed_out');
  end if;
  if attempt.purpose = 'add' then
    perform internal.check_recent_sign_in(attempt.account_id, session.signed_in_at);
  end if;
  if attempt.purpose = 'add' and holder <> attempt.account_id then
    perform internal.raise_problem(409, 'invalid_state', 'method_of_other_account',
      jsonb_build_object('method', internal.method_name(attempt.method)));
  end if;
  if attempt.purpose = 'add' and not recovers then
    perform internal.check_agents_chosen(attempt.account_id, attempt.kept_agents);
  elsif attempt.purpose = 'sign_in' then
    leaves := internal.account_to_leave(complete_sign_in.session_hash);
    if leaves is distinct from attempt.left_account_id and leaves is not null then
      perform internal.raise_problem(409, 'invalid_state', 'account_without_method_since');
    end if;
  end if;

  if coalesce(attempt.account_id, holder) is null then
    insert into market.account (display_name, claimed_at)
    values (left(internal.visible_name(complete_sign_in.name), 80), now()) returning * into account;
  else
    if recovers then
      perform internal.recover_account(attempt.account_id);
    end if;
    select * into account from market.account a where a.id = coalesce(attempt.account_id, holder);
    update market.account a set claimed_at = now() where a.id = account.id and a.claimed_at is null;
    if found then
      -- They belong to the agent whose link this is, and not to the person.
      update market.report r set account_id = null where r.account_id = account.id;
    end if;
  end if;
  if has_holder then
    update market.proved_method p set email = complete_sign_in.email
    where p.account_id = account.id and p.method = attempt.method
      and p.email is distinct from complete_sign_in.email;
  else
    insert into market.proved_method (account_id, method, subject_hash, email)
    values (account.id, attempt.method, complete_sign_in.subject_hash, complete_sign_in.email)
    on conflict do nothing;
    if not found then
      perform internal.raise_problem(409, 'invalid_state', 'method_proved_already',
        jsonb_build_object('method', internal.method_name(attempt.method)));
    end if;
  end if;
  update market.verification v set status = 'completed'
  where v.account_id = account.id and v.method = attempt.method and v.status = 'pending' and v.expires_at > now()
    -- An agent that is not connected learns only the outcome of its own link.
    and (v.id = attempt.verification_id or exists (
      select from market.agent g where g.id = v.agent_id and g.connected_at is not null));
  if recovers then
    -- Other links belong to agents that nobody has approved since.
    update market.verification v set status = 'cancelled'
    where v.account_id = account.id and v.status = 'pending' and v.expires_at > now();
  end if;
  -- After that, because removing an agent cancels its pending verifications.
  if leaves is not null then
    perform internal.remove_other_agents(leaves, null);
    -- Nobody can open the account any more, so it must not stand for a moderator.
    delete from market.moderator m where m.account_id = leaves;
  elsif attempt.kept_agents is not null and not recovers then
    perform internal.remove_other_agents(account.id, attempt.kept_agents);
  end if;
  if (attempt.kept_agents is not null or recovers) and internal.notice_email(account.id) is not null then
    perform internal.enqueue('send_proof_notice', attempt.id);
  end if;

  -- End the session that the browser had before it signed in, because others may know its secret. If this is the
  -- account's first method, end all its sessions, because nobody had proved anything before. The rows are locked by id
  -- to avoid deadlocks.
  delete from market.session s
  where s.id in (
    select o.id from market.session o
    where o.secret_hash = complete_sign_in.session_hash
      or o.account_id = account.id and not has_holder and not exists (
        select from market.proved_method p where p.account_id = account.id and p.method <> attempt.method)
    order by o.id for update);
  insert into market.session (account_id, secret_hash, signed_in_at)
  values (account.id, complete_sign_in.new_session_hash, now());
  update market.sign_in s set finished_at = now(), email = null where s.id = attempt.id;
  return jsonb_build_object(
    'label', internal.account_label(account.id),
    'display_name', account.display_name,
    'new_account', attempt.account_id is null and holder is null,
    'purpose', attempt.purpose,
    'added', not has_holder);
end
$$;
comment on function internal.complete_sign_in(market.sign_in, bytea, text, text, bytea, bytea) is
  'Completes a locked, open sign-in attempt whose subject was proved: {label, display_name, new_account, purpose, '
  'added}. The first method of an account ends its other sessions. Agents that the person did not keep are removed, '
  'and so are the agents of an account that the browser leaves; a recovery disconnects all. Raises 401 (with '
  'sign_in_again when a method is added long after signing in), 404, 409 (choose_agents when the person has to say '
  'which agents go on) or 410.';
