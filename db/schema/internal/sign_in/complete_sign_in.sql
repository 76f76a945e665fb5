-- Completes a sign-in after the provider or the e-mail message proved a subject. The result is a known account, a new
-- account, or one more method of an account. internal.lock_sign_in has locked all rows that are used here.
--
--   holder    the account that has proved this subject before; null when there is none
--   recovers  whether the account is recovered by an agent's link (internal/accounts/recover_account.sql)

create or replace function internal.complete_sign_in(
  attempt market.sign_in, subject_hash bytea, email text, name text, session_hash bytea, new_session_hash bytea
) returns jsonb
  language plpgsql volatile
as $$
declare
  holder constant uuid := (select p.account_id from market.proved_method p
    where p.method = attempt.method and p.subject_hash = complete_sign_in.subject_hash);
  recovers boolean;
  account market.account;
begin
  recovers := internal.check_sign_in(attempt, holder, complete_sign_in.session_hash);
  account := internal.signed_in_account(attempt, holder, complete_sign_in.name, recovers);
  perform internal.prove_method(account.id, attempt.method, complete_sign_in.subject_hash, complete_sign_in.email,
    holder is not null);
  perform internal.end_verifications(account.id, attempt, recovers);
  -- After that, because removing an agent cancels its pending verifications.
  perform internal.end_agents(account.id, attempt, recovers, complete_sign_in.session_hash);
  perform internal.renew_session(account.id, attempt.method, holder is null, complete_sign_in.session_hash,
    complete_sign_in.new_session_hash);
  update market.sign_in s set finished_at = now(), email = null where s.id = attempt.id;
  -- A person who comes to a new account by signing in knows it.
  if attempt.account_id is not null and (holder is null or recovers or attempt.kept_agents is not null) then
    perform internal.notify_addresses(account.id, 'method_added', attempt.method, attempt.id);
  end if;
  return jsonb_build_object(
    'label', internal.account_label(account.id),
    'display_name', account.display_name,
    'new_account', attempt.account_id is null and holder is null,
    'purpose', attempt.purpose,
    'added', holder is null);
end
$$;
comment on function internal.complete_sign_in(market.sign_in, bytea, text, text, bytea, bytea) is
  'Completes a locked, open sign-in attempt whose subject was proved: {label, display_name, new_account, purpose, '
  'added}. Raises what internal.check_sign_in and internal.prove_method raise.';

create or replace function internal.check_sign_in(attempt market.sign_in, holder uuid, session_hash bytea)
  returns boolean
  language plpgsql stable
as $$
declare
  verification market.verification;
  session record := internal.find_session(check_sign_in.session_hash);
  leaves uuid;
  recovers boolean := false;
begin
  if attempt.purpose = 'sign_in' then
    leaves := internal.account_to_leave(check_sign_in.session_hash);
    if leaves is distinct from attempt.left_account_id and leaves is not null then
      perform internal.raise_problem(409, 'invalid_state', 'account_without_method_since');
    end if;
    return false;
  end if;
  if attempt.verification_id is not null then
    select * into verification from market.verification v where v.id = attempt.verification_id;
    perform internal.check_verification(verification, attempt.account_id, check_sign_in.session_hash);
    recovers := internal.is_recovery(verification, session.account_id);
    if recovers and attempt.kept_agents is not null then
      -- The page listed the agents that would go on. A recovery would disconnect them.
      perform internal.raise_problem(409, 'invalid_state', 'verification_signed_out');
    end if;
  elsif session.account_id is distinct from attempt.account_id then
    -- Otherwise, on a shared computer, the next person could add their own method to this account.
    perform internal.raise_problem(409, 'invalid_state', 'adding_signed_out');
  end if;
  perform internal.check_recent_sign_in(attempt.account_id, session.signed_in_at);
  if holder <> attempt.account_id then
    perform internal.raise_problem(409, 'invalid_state', 'method_of_other_account',
      jsonb_build_object('method', internal.method_name(attempt.method)));
  end if;
  if not recovers then
    perform internal.check_agents_chosen(attempt.account_id, attempt.kept_agents);
  end if;
  return recovers;
end
$$;
comment on function internal.check_sign_in(market.sign_in, uuid, bytea) is
  'Checks that this browser may complete an attempt whose subject was proved, and returns whether the attempt recovers '
  'its account. Raises 401 (with sign_in_again when a method is added long after signing in), 404, 409 (choose_agents '
  'when the person has to say which agents go on) or 410.';

create or replace function internal.signed_in_account(
  attempt market.sign_in, holder uuid, name text, recovers boolean
) returns market.account
  language plpgsql volatile
as $$
declare
  known constant uuid := coalesce(attempt.account_id, holder);
  account market.account;
begin
  if known is null then
    insert into market.account (display_name, claimed_at)
    values (left(internal.visible_name(signed_in_account.name), 80), now()) returning * into account;
    return account;
  end if;
  if recovers then
    perform internal.recover_account(known);
  end if;
  select * into account from market.account a where a.id = known;
  update market.account a set claimed_at = now() where a.id = known and a.claimed_at is null;
  if found then
    -- They belong to the agent whose link this is, and not to the person.
    update market.report r set account_id = null where r.account_id = known;
  end if;
  return account;
end
$$;
comment on function internal.signed_in_account(market.sign_in, uuid, text, boolean) is
  'Returns the account that a sign-in leads to: that of the attempt, the one that has proved the subject, or a new one '
  'with this display name. From now on it belongs to a person.';

create or replace function internal.prove_method(
  account_id uuid, method text, subject_hash bytea, email text, is_proved boolean
) returns void
  language plpgsql volatile
as $$
begin
  if is_proved then
    update market.proved_method p set email = prove_method.email
    where p.account_id = prove_method.account_id and p.method = prove_method.method
      and p.email is distinct from prove_method.email;
    return;
  end if;
  insert into market.proved_method (account_id, method, subject_hash, email)
  values (prove_method.account_id, prove_method.method, prove_method.subject_hash, prove_method.email)
  on conflict do nothing;
  if not found then
    perform internal.raise_problem(409, 'invalid_state', 'method_proved_already',
      jsonb_build_object('method', internal.method_name(prove_method.method)));
  end if;
end
$$;
comment on function internal.prove_method(uuid, text, bytea, text, boolean) is
  'Stores the method that an account has proved, or the present e-mail address of one that it proved before. Raises '
  '409 when the account has proved this method with another subject.';

create or replace function internal.end_verifications(account_id uuid, attempt market.sign_in, recovers boolean)
  returns void
  language plpgsql volatile
as $$
begin
  update market.verification v set status = 'completed'
  where v.account_id = end_verifications.account_id and v.method = attempt.method and v.status = 'pending'
    and v.expires_at > now()
    -- An agent that is not connected learns only the outcome of its own link.
    and (v.id = attempt.verification_id or exists (
      select from market.agent g where g.id = v.agent_id and g.connected_at is not null));
  if recovers then
    -- Other links belong to agents that nobody has approved since.
    update market.verification v set status = 'cancelled'
    where v.account_id = end_verifications.account_id and v.status = 'pending' and v.expires_at > now();
  end if;
end
$$;
comment on function internal.end_verifications(uuid, market.sign_in, boolean) is
  'Completes the pending verifications of the method that an attempt has proved. A recovery cancels all others.';

create or replace function internal.end_agents(
  account_id uuid, attempt market.sign_in, recovers boolean, session_hash bytea
) returns void
  language plpgsql volatile
as $$
declare
  leaves constant uuid := case attempt.purpose when 'sign_in' then internal.account_to_leave(session_hash) end;
begin
  if leaves is not null then
    perform internal.remove_other_agents(leaves, null);
    -- Nobody can open the account any more, so it must not stand for a moderator, nor send anybody its events.
    perform internal.forget_person(leaves);
  elsif attempt.kept_agents is not null and not recovers then
    perform internal.remove_other_agents(end_agents.account_id, attempt.kept_agents);
  end if;
end
$$;
comment on function internal.end_agents(uuid, market.sign_in, boolean, bytea) is
  'Removes the agents that the person did not keep, and all agents of an account that the browser leaves, with what '
  'its person set up. A recovery has disconnected them.';

create or replace function internal.renew_session(
  account_id uuid, method text, is_new_method boolean, session_hash bytea, new_session_hash bytea
) returns void
  language plpgsql volatile
as $$
declare
  is_first_method constant boolean := is_new_method and not exists (
    select from market.proved_method p
    where p.account_id = renew_session.account_id and p.method <> renew_session.method);
begin
  -- Others may know the secret of the session that the browser had before. And before the first method, nobody had
  -- proved anything. The rows are locked by id, so that no deadlock arises.
  delete from market.session s
  where s.id in (
    select o.id from market.session o
    where o.secret_hash = renew_session.session_hash
      or o.account_id = renew_session.account_id and is_first_method
    order by o.id for update);
  insert into market.session (account_id, secret_hash, signed_in_at)
  values (renew_session.account_id, renew_session.new_session_hash, now());
end
$$;
comment on function internal.renew_session(uuid, text, boolean, bytea, bytea) is
  'Begins the session of a completed sign-in, and ends the one that the browser had. The first method of an account '
  'ends all its other sessions.';
