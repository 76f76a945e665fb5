-- The sign-in pages: a browser begins an attempt, and completes it with a mailed link or code, or with the answer of a
-- provider. These functions need no claims, because the secret that the browser holds authorizes the caller.

create or replace function api.offer_methods(methods jsonb) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  unknown text := (select min(o.method) from jsonb_array_elements_text(offer_methods.methods) as o (method)
    where not exists (select from market.sign_in_method m where m.method = o.method));
begin
  if unknown is not null then
    perform internal.raise_problem(400, 'unknown_method', 'sign_in_method_unknown',
      jsonb_build_object('method', unknown));
  end if;
  -- Processes that start at the same time lock the rows in the same order.
  perform from market.sign_in_method m where m.available <> (offer_methods.methods ? m.method)
  order by m.position for update;
  update market.sign_in_method m set available = not m.available
  where m.available <> (offer_methods.methods ? m.method);
  return jsonb '{}';
end
$$;
comment on function api.offer_methods(jsonb) is
  'Makes exactly these sign-in methods (an array of names) available: those whose provider the operator has '
  'configured. Every process calls it at its start. Raises 400 unknown_method.';

create or replace function api.start_sign_in(
  flow_hash bytea, method text, purpose text, session_hash bytea, verification_hash bytea,
  email text, link_hash bytea, code_hashes jsonb, address text, kept jsonb default null, leave boolean default false,
  browser_hash bytea default null
) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  verification market.verification;
  session record := internal.find_session(start_sign_in.session_hash);
  account_id uuid;
  mailbox text := internal.mailbox_of(start_sign_in.email);
  code_digits integer := 6;
  kept_agents uuid[];
  leaves uuid;
begin
  if not exists (select from market.sign_in_method m where m.method = start_sign_in.method and m.available) then
    perform internal.raise_problem(400, 'unknown_method', 'sign_in_method_not_offered',
      extra => jsonb_build_object('options', internal.sign_in_methods(true)));
  end if;
  if start_sign_in.verification_hash is not null then
    -- Lock the account before the verification, in the same order as when the method is proved.
    account_id :=
      (select v.account_id from market.verification v where v.secret_hash = start_sign_in.verification_hash);
    perform from market.account a where a.id = account_id for key share;
    select * into verification from market.verification v
    where v.secret_hash = start_sign_in.verification_hash for key share;
    perform internal.check_verification(verification, account_id, start_sign_in.session_hash);
    if verification.method <> start_sign_in.method then
      perform internal.raise_problem(400, 'bad_request', 'verification_by_other_method',
        jsonb_build_object('method', internal.method_name(verification.method)));
    end if;
  elsif start_sign_in.purpose = 'add' then
    account_id := session.account_id;
    if account_id is null then
      perform internal.raise_problem(401, 'unauthorized', 'adding_needs_sign_in');
    end if;
  elsif start_sign_in.purpose is distinct from 'sign_in' then
    perform internal.raise_problem(400, 'bad_request', 'sign_in_purpose_unknown');
  end if;
  -- Waits for a deletion of the account that is in progress.
  perform from market.account a where a.id = account_id for key share;
  if account_id is not null and not found then
    perform internal.raise_problem(401, 'unauthorized', 'account_deleted');
  end if;
  -- A sign-in method gives permanent access to the account. So a session that was left open somewhere must not be
  -- enough to add one.
  if session.account_id = account_id then
    perform internal.check_recent_sign_in(account_id, session.signed_in_at);
  end if;
  -- The messages of a browser that the mailbox knows are counted by themselves. That is enough.
  if start_sign_in.method <> 'email' or not internal.is_known_browser(start_sign_in.browser_hash, mailbox) then
    perform internal.count_sign_in(start_sign_in.address);
  end if;
  if start_sign_in.method = 'email' and mailbox is null then
    perform internal.raise_field_problems('[{"pointer": "/email", "detail": "address_missing"}]');
  end if;
  if account_id is null then
    leaves := internal.account_to_leave(start_sign_in.session_hash);
    if leaves is not null and not coalesce(start_sign_in.leave, false) then
      perform internal.raise_problem(409, 'invalid_state', 'account_without_method_here',
        extra => '{"leaves": true}');
    end if;
  elsif not internal.is_recovery(verification, session.account_id) then
    kept_agents := internal.choose_agents(account_id, start_sign_in.kept);
  end if;
  if start_sign_in.method = 'email' then
    perform internal.count_sign_in_mail(mailbox, start_sign_in.address, start_sign_in.browser_hash);
    code_digits := internal.code_digits(mailbox, start_sign_in.address);
  end if;
  insert into market.sign_in (flow_hash, method, purpose, account_id, verification_id, email, link_hash, code_hash,
    code_digits, expires_at, kept_agents, left_account_id)
  values (start_sign_in.flow_hash, start_sign_in.method,
    case when account_id is null then 'sign_in' else 'add' end, account_id, verification.id,
    case when start_sign_in.method = 'email' then mailbox end,
    case when start_sign_in.method = 'email' then start_sign_in.link_hash end,
    case when start_sign_in.method = 'email' then decode(start_sign_in.code_hashes ->> code_digits::text, 'hex') end,
      code_digits,
    least(now() + interval '15 minutes', verification.expires_at), kept_agents, leaves)
  on conflict do nothing;
  if not found then
    perform internal.raise_problem(409, 'invalid_state', 'sign_in_started_already');
  end if;
  return case when start_sign_in.method = 'email'
    then jsonb_build_object('email', mailbox, 'code_digits', code_digits) else '{}' end;
end
$$;
comment
  on function api.start_sign_in(bytea, text, text, bytea, bytea, text, bytea, jsonb, text, jsonb, boolean, bytea) is
  'Begins an attempt to sign in, to add a method to the account of the session, or to complete the verification of an '
  'agent''s link. `kept`: the ids of the agents that go on acting for the account; the others are removed when the '
  'attempt succeeds. `leave`: the person knows that this browser''s account is lost (internal.account_to_leave). '
  '`browser_hash`: of the cookie by which mailboxes know this browser (internal.is_known_browser). Raises 400, 401 '
  '(sign_in_again), 404, 409 (choose_agents, or leaves: the page has to ask), 410, or 429 for too many attempts or '
  'messages. For a message it returns email, the normalized address that it goes to, and code_digits: which of '
  '`code_hashes`, {number of digits: hash in hex}, is that of its code. The response does not reveal whether an '
  'account exists.';

create or replace function api.cancel_sign_in(flow_hash bytea, address text, browser_hash bytea default null)
  returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  attempt market.sign_in;
  window_scope text;
begin
  -- Only attempts without a wrong code are cancelled. An attempt for which a code was tried stays counted.
  delete from market.sign_in s
  where s.flow_hash = cancel_sign_in.flow_hash and s.method = 'email' and s.finished_at is null and s.tries = 0
  returning * into attempt;
  if attempt.id is null then
    return jsonb '{}';
  end if;
  for window_scope in
    select distinct w.scope
    from internal.sign_in_mail_windows(attempt.email, cancel_sign_in.address, cancel_sign_in.browser_hash) as w
    order by 1
  loop
    perform internal.lock_window(window_scope, 'sign_in_mail');
    delete from market.rate_limit_hit c where c.id = (
      select k.id from market.rate_limit_hit k
      where k.scope = window_scope and k.action = 'sign_in_mail' and k.called_at >= attempt.created_at
      order by k.called_at desc limit 1);
  end loop;
  return jsonb '{}';
end
$$;
comment on function api.cancel_sign_in(bytea, text, bytea) is
  'Deletes an attempt whose message could not be sent, and its hits in the rate limits of this address or browser. '
  'Does nothing when the attempt does not exist or has succeeded, or when a code was tried.';

create or replace function api.get_sign_in(flow_hash bytea) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  attempt market.sign_in;
begin
  select * into attempt from market.sign_in s where s.flow_hash = get_sign_in.flow_hash and s.expires_at > now();
  if not found then
    perform internal.raise_problem(404, 'not_found', 'sign_in_over');
  end if;
  return jsonb_build_object(
    'method', attempt.method,
    'email', attempt.email,
    'code_digits', attempt.code_digits,
    'expires_in', ceil(extract(epoch from attempt.expires_at - now()))::integer,
    'tries_left', 5 - attempt.tries,
    'finished', attempt.finished_at is not null);
end
$$;
comment on function api.get_sign_in(bytea) is
  'Returns the attempt of a browser: method, email, code_digits, expires_in (seconds), tries_left, finished. Raises '
  '404 when there is none or it has expired.';

create or replace function api.get_mail_link(link_hash bytea, flow_hash bytea) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  attempt market.sign_in;
begin
  select * into attempt from market.sign_in s where s.link_hash = get_mail_link.link_hash;
  if not found then
    perform internal.raise_problem(404, 'not_found', 'link_unknown');
  end if;
  perform internal.check_sign_in_mail(attempt);
  return jsonb_build_object(
    'same_browser', coalesce(attempt.flow_hash = get_mail_link.flow_hash, false),
    'code_digits', attempt.code_digits,
    'expires_in', ceil(extract(epoch from attempt.expires_at - now()))::integer);
end
$$;
comment on function api.get_mail_link(bytea, bytea) is
  'Returns what the page of a mailed link shows: same_browser (if false, the page shows only the code), code_digits '
  'and expires_in (seconds). Raises 404, or 410 when the link no longer works. Changes nothing.';

create or replace function api.finish_mail_sign_in(
  flow_hash bytea, link_hash bytea, code_hash bytea, session_hash bytea, new_session_hash bytea,
  address text default null, record_key bytea default null, browser_hash bytea default null,
  new_browser_hash bytea default null
) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  email text := (select s.email from market.sign_in s where s.flow_hash = finish_mail_sign_in.flow_hash);
  subject bytea := internal.subject_hash('email', email);
  attempt market.sign_in :=
    internal.lock_sign_in(finish_mail_sign_in.flow_hash, subject, finish_mail_sign_in.session_hash);
  answer jsonb;
begin
  if num_nonnulls(finish_mail_sign_in.link_hash, finish_mail_sign_in.code_hash) <> 1 then
    perform internal.raise_problem(400, 'bad_request', 'code_missing');
  end if;
  perform internal.check_sign_in_mail(attempt);
  if finish_mail_sign_in.link_hash <> attempt.link_hash then
    perform internal.raise_problem(410, 'link_expired', 'mail_link_superseded');
  end if;
  if finish_mail_sign_in.code_hash is not null then
    perform internal.admit_code(attempt, finish_mail_sign_in.address);
    if finish_mail_sign_in.code_hash <> attempt.code_hash then
      perform internal.count_wrong_code(attempt, finish_mail_sign_in.address);
      -- This is returned and not raised, because raising would roll back the count.
      return jsonb_build_object('wrong_code', true, 'tries_left', 4 - attempt.tries);
    end if;
  end if;
  perform internal.use_record_key(finish_mail_sign_in.record_key);
  answer := internal.complete_sign_in(attempt, subject, email, null,
    finish_mail_sign_in.session_hash, finish_mail_sign_in.new_session_hash);
  perform internal.remember_browser(finish_mail_sign_in.browser_hash, finish_mail_sign_in.new_browser_hash, subject);
  return answer;
end
$$;
comment on function api.finish_mail_sign_in(bytea, bytea, bytea, bytea, bytea, text, bytea, bytea, bytea) is
  'Completes an attempt with its mailed link or code, in the browser that began it. Returns the result of '
  'internal.complete_sign_in, or wrong_code with tries_left. Raises 410 when link and code no longer work, and 429 '
  'when codes of this length are not accepted at present. `address` is where the code was entered. From then on the '
  'mailbox knows the browser by `new_browser_hash`, and no longer by `browser_hash` (internal.remember_browser).';

create or replace function api.finish_sign_in(
  flow_hash bytea, method text, subject text, email text, name text, session_hash bytea, new_session_hash bytea,
  record_key bytea default null
) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  subject_hash bytea := internal.subject_hash(finish_sign_in.method, nullif(finish_sign_in.subject, ''));
  attempt market.sign_in;
begin
  if subject_hash is null then
    perform internal.raise_problem(400, 'bad_request', 'provider_names_nobody');
  end if;
  attempt := internal.lock_sign_in(finish_sign_in.flow_hash, subject_hash, finish_sign_in.session_hash);
  -- An e-mail address is proved only by a message to it.
  if attempt.id is null or attempt.method <> finish_sign_in.method or attempt.method = 'email'
      or attempt.finished_at is not null or attempt.expires_at <= now() then
    perform internal.raise_problem(409, 'invalid_state', 'sign_in_used_or_late');
  end if;
  perform internal.use_record_key(finish_sign_in.record_key);
  return
    internal.complete_sign_in(attempt, subject_hash, internal.mailbox_of(finish_sign_in.email), finish_sign_in.name,
    finish_sign_in.session_hash, finish_sign_in.new_session_hash);
end
$$;
comment on function api.finish_sign_in(bytea, text, text, text, text, bytea, bytea, bytea) is
  'Completes an attempt with a provider''s answer, in the browser that began it: subject, and email only if the '
  'provider verified it. Returns the result of internal.complete_sign_in. Raises 400 without a subject, and 409 when '
  'the attempt succeeded before, has expired, or was started with another method.';
