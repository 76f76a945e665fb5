-- Enter migration here

set local role souk_owner;

--!include market/ask_example.sql
--!include market/ask_example_data.sql
grant select on market.ask_example to souk_dba;
create policy "a dba reads all" on market.ask_example for select to souk_dba using (true);
comment on table market.vocabulary_change is 'One row: when the vocabulary, the examples or the taxonomy last changed, so that workers read with what holds now.';

-- Functions beside tables whose text changed (as db/schema has them)

CREATE OR REPLACE FUNCTION market.note_vocabulary_change()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  update market.vocabulary_change set changed_at = clock_timestamp();
  return null;
end
$function$;
comment on function market.note_vocabulary_change() is 'Notes that words, examples or the taxonomy changed, whoever changed them.';

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
  perform from market.verification v
  where v.account_id = any (accounts) and v.status = 'pending'
    or v.id = (select s.verification_id from market.sign_in s where s.flow_hash = lock_sign_in.flow_hash)
  order by v.id for update;
  select * into attempt from market.sign_in s where s.flow_hash = lock_sign_in.flow_hash for update;
  return attempt;
end
$function$;
comment on function market.lock_sign_in(bytea,bytea) is 'The attempt of a browser, locked, after its subject, the accounts of both and their verifications; nulls when there is none.';

CREATE OR REPLACE FUNCTION market.complete_sign_in(attempt market.sign_in, subject_hash bytea, email text, name text, session_hash bytea, new_session_hash bytea)
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
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
$function$;
comment on function market.complete_sign_in(market.sign_in,bytea,text,text,bytea,bytea) is 'Ends a locked, open attempt whose subject was proved: label, display_name, new_account, purpose, added. An account''s first method ends its other sessions. 401 (sign_in_again when a method is added long after signing in), 404, 409 or 410 as its verification or another account is in the way.';

CREATE OR REPLACE FUNCTION jobs.get_vocabulary()
 RETURNS jsonb
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
  select jsonb_build_object(
    'taxonomy', (
      select jsonb_agg(jsonb_build_object(
        'domain', d.domain,
        'kinds', d.kinds,
        'categories', (
          select coalesce(jsonb_agg(c.category order by c.position), '[]')
          from market.category c
          where c.domain = d.domain)) order by d.position)
      from market.domain d),
    'terms', (
      select coalesce(
        jsonb_agg(jsonb_build_object('term', v.term, 'language', v.language, 'sense', v.sense, 'weight', v.weight) order by v.id),
        '[]')
      from market.vocabulary v),
    'asks', (
      select coalesce(jsonb_agg(jsonb_build_object('text', e.text, 'kind', e.ask_kind) order by e.id), '[]')
      from market.ask_example e))
$function$;
comment on function jobs.get_vocabulary() is 'The taxonomy, the words and the examples of the market, as the makers of readings take them.';
grant execute on function jobs.get_vocabulary() to souk_worker;

CREATE OR REPLACE FUNCTION jobs.vocabulary_changed_at()
 RETURNS text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$ select c.changed_at::text from market.vocabulary_change c $function$;
comment on function jobs.vocabulary_changed_at() is 'When the vocabulary, the examples or the taxonomy last changed: when it differs from what a worker knows, the worker gets them again.';
grant execute on function jobs.vocabulary_changed_at() to souk_worker;

CREATE OR REPLACE FUNCTION api.get_vocabulary()
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$ begin return jobs.get_vocabulary() - 'asks'; end $function$;
comment on function api.get_vocabulary() is 'The taxonomy and the words of the market, as the reader of queries takes them.';
grant execute on function api.get_vocabulary() to souk_api;

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
  update market.audit_event e set before = null, after = null
  where e.subject_account_id = erased and (e.before is not null or e.after is not null);
  return true;
end
$function$;
comment on function market.erase_account() is 'Ends the account of the person that calls: agents refused, offers archived and emptied, everything else of theirs gone. False while there are more offers: call again.';
grant execute on function market.erase_account() to souk_person;

reset role;
