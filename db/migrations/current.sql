-- Nobody needs temporary objects here, and what does not exist shadows nothing. Only the database's owner can say so.
do $$
begin
  execute format('revoke temporary on database %I from public', current_database());
end
$$;

do $$
begin
  -- Every statement of a request or a job takes milliseconds. PostgreSQL expects far more rows of the functions in them than
  -- there are, and would spend more on compiling them than on running them: publishing an offer takes 19 ms of a processor
  -- with it and 5 without.
  alter role souk_api set jit = off;
  alter role souk_worker set jit = off;
exception when insufficient_privilege then
  raise notice 'souk_api and souk_worker are slow until a superuser runs: alter role souk_api set jit = off; alter role souk_worker set jit = off';
end
$$;

set local role souk_owner;

-- With an empty search_path, types are looked up in the caller's temporary schema first, and what stands there is run as
-- the owner.
do $$
declare
  function regprocedure;
begin
  for function in
    select p.oid from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname in ('market', 'api', 'jobs', 'admin', 'inspect') and 'search_path=""' = any (p.proconfig)
  loop
    execute format('alter function %s set search_path = pg_catalog, pg_temp', function);
  end loop;
end
$$;


-- A change of a row names the request that asked for it, also when a worker carries it out.
alter table market.submission
  add column request_id text default nullif(current_setting('market.request_id', true), ''),
  add constraint submission_request_id_length check (char_length(request_id) between 1 and 100);
comment on column market.submission.request_id is 'The Request-Id of the call that sent it, for the audit log.';
comment on column market.audit_event.request_id is 'The Request-Id of the call that did it, or job and the id of the worker''s job; null for a dba.';
comment on column admin.audit_event.request_id is 'The request that did it, or job and the id of a job; empty for a dba.';

-- One list of reasons, for reports as for decisions.
alter table market.report drop constraint report_reason_known;
alter table market.report add constraint report_reason_fkey foreign key (reason) references market.reason on delete restrict;
create index report_reason_idx on market.report (reason);
comment on table market.reason is 'One row is one reason: for a report, or for taking an offer or an account down.';

-- How far the vectors are is told by one view.
drop view market.embedding_progress;
--!include inspect/embedding.sql

-- Moderators find an account by its mailbox, and people who are appointed are looked for by it.
create index proved_method_email_idx on market.proved_method (email) where email is not null;

-- Why an agent gets 429 tells of caps that moderators set.
create or replace view inspect.why_429 with (security_invoker = true) as
select a.id as agent_id, action.name as action, w.used >= cap.calls as refused, w.used, cap.calls as cap, wait.seconds as next_slot_in,
  clock_timestamp() + wait.seconds * interval '1 second' as next_slot_at,
  t.base, t.factor, t.settled as settled_offers, t.proved as proved_methods, coalesce(t.old, false) as account_is_old,
  t.removed as recent_removals,
  format('%s of %s calls of the last hour are used%s. %s', w.used, cap.calls,
    case when cap.calls = 0 then ', so every call is refused with 429'
      when w.used >= cap.calls then format(', so the next is refused with 429; in %s seconds a slot is free', wait.seconds)
      else ', so the next is admitted' end,
    case when o.cap is null then
      format('The cap: %s + %s x (4 x %s settled offers + 30 x %s proved methods + %s for an account of 30 days), at most %s%s.',
        t.base, t.factor, t.settled, t.proved, case when t.old then 60 else 0 end, 10 * t.base,
        case when t.removed > 0 then format(', halved %s times for offers removed within 30 days, but not below %s', t.removed, t.base / 4) else '' end)
      else format('A moderator set the cap of this account to %s on %s, whatever its record.', o.cap, to_char(o.changed_at at time zone 'UTC', 'YYYY-MM-DD'))
    end) as reason,
  o.changed_at as overridden_at
from market.agent a
cross join (values ('publish_offer'), ('create_ask'), ('preview_offer')) as action (name)
left join market.cap_override o on o.account_id = a.account_id and o.action = action.name
cross join lateral market.call_cap_terms(a.account_id, action.name) as t
cross join lateral market.call_cap(a.account_id, action.name) as cap (calls)
cross join lateral (
  select (market.window_figures('agent:' || a.id, action.name, cap.calls) ->> 'used')::integer as used) as w
cross join lateral (
  select coalesce(market.window_wait('agent:' || a.id, action.name, cap.calls), 0) as seconds) as wait;
comment on column inspect.why_429.next_slot_in is 'Whole seconds until a call is admitted; 0 when one is now, or when the cap is 0.';
comment on column inspect.why_429.overridden_at is 'When a moderator set the cap by hand, which the record then does not change; null when it follows from the record.';


-- Nothing is proved any more while an agent asks for a verification (market.hold_agent).
drop policy "an agent notes that its account proves what it asked for" on market.verification;


create or replace function market.lexemes_of(query tsquery) returns text[]
  language plpgsql immutable parallel safe
  -- A hundred times what PostgreSQL expects of a function: to be read from an index, not computed.
  cost 10000
as $$
begin
  return case when query is null then array['*'] else array(
    select distinct replace(replace(m.lexeme[1], '''''', ''''), '\\', '\')
    from regexp_matches(query::text, '''((?:[^'']|'''')+)''', 'g') as m (lexeme)) end;
end
$$;
comment on function market.lexemes_of(tsquery) is 'The lexemes in a query, whatever stands between them; * for no query.';
grant execute on function market.lexemes_of(tsquery) to souk_agent, souk_person;
-- What a new offer is held against: asks that share a word and the place with it.
create index ask_words_idx on market.ask using gin (market.lexemes_of(keywords_query), market.lexemes_of(place_query))
  with (fastupdate = off) where status = 'active';
drop index market.ask_active_idx;
create index ask_embedding_hnsw_idx on market.ask_embedding using hnsw (embedding public.halfvec_cosine_ops);

create index synonym_first_lexeme_idx on market.synonym ((language || ' ' || lexemes[1]) collate "C");

-- After the index on vectors, which has the settings of hnsw known.
--!include market/matching.sql

-- Functions beside tables whose text changed (as db/schema has them)

drop function if exists market.lock_sign_in(bytea,bytea);

CREATE OR REPLACE FUNCTION market.visible_name(name text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  -- Control, bidirectional and zero-width characters would let a name pretend to be other words on the approval page.
  -- The pages take the same away from what never came here (src/shown.ts); a test compares the two.
  select nullif(btrim(regexp_replace(normalize(name, NFC),
    '[\u0001-\u001f\u007f-\u009f\u00ad\u034f\u061c\u070f\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb]|[\U0001BCA0-\U0001BCA3]|[\U0001D173-\U0001D17A]|[\U000E0000-\U000E007F]',
    '', 'g'), E' \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000'), '')
$function$;
comment on function market.visible_name(text) is 'A name without characters that cannot be seen; null when nothing is left.';
grant execute on function market.visible_name(text) to souk_person;

CREATE OR REPLACE FUNCTION market.concepts_in(words text, languages text[], language text)
 RETURNS text[]
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  folded constant text := market.fold(words);
  -- In variables, since the planner would make them anew for each row.
  vectors constant tsvector[] := array(
    select to_tsvector(market.search_config(l.language), folded) from unnest(languages) with ordinality as l (language, n) order by l.n);
  stems constant text[] := array(
    select languages[v.n] || ' ' || s.lexeme
    from unnest(vectors) with ordinality as v (vector, n) cross join unnest(tsvector_to_array(v.vector)) as s (lexeme));
begin
  -- By one stem of each term: by all of them, an index gives every phrase that shares any word.
  return market.compound_heads(words, concepts_in.language) || array(
    select distinct s.concept from market.synonym s
    where (s.language || ' ' || s.lexemes[1]) collate "C" = any (stems)
      and (cardinality(s.lexemes) = 1 or vectors[array_position(languages, s.language)] @@ s.needle)
      -- Of another language only English words and long ones are taken: a short text's language is easily mistaken, and
      -- short words mean something else elsewhere (a Dutch "les").
      and (s.language in (concepts_in.language, 'en') or length(s.term) >= 7));
end
$function$;
comment on function market.concepts_in(text,text[],text) is 'The concepts that a text names in any of some languages, one of which is probably its own (ISO 639-1).';

CREATE OR REPLACE FUNCTION market.hold_account()
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  -- Whatever is written next refers to the account, and would wait for it while holding what a deletion wants.
  perform from market.account a where a.id = market.account_id() for share;
  if not found then
    perform market.fail(401, 'unauthorized', 'This account no longer exists. Call GET /v1/me to see whether your token still works.');
  end if;
end
$function$;
comment on function market.hold_account() is 'Holds the account acted for until the transaction ends, before anything of it is locked: whoever deletes or suspends it waits. 401 when it is gone.';
grant execute on function market.hold_account() to souk_agent, souk_person;

CREATE OR REPLACE FUNCTION market.settle_removed_agent()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  -- The next call is refused on every replica that synchronous_standby_names lists; without standbys this changes nothing.
  perform set_config('synchronous_commit', 'remote_apply', true);
  update market.connection set declined_at = now() where agent_id = new.id and approved_at is null and declined_at is null;
  delete from market.idempotency_key where owner_id = new.id;
  -- In the order in which whoever proves one of them locks them.
  perform from market.verification v where v.agent_id = new.id and v.status = 'pending' order by v.id for update;
  update market.verification v
  set status = case when v.expires_at <= now() then 'expired' else 'cancelled' end
  where v.agent_id = new.id and v.status = 'pending';
  return new;
end
$function$;
comment on function market.settle_removed_agent() is 'What dies with a removed agent: its open links, its keys and its verifications under way.';

CREATE OR REPLACE FUNCTION market.is_alive(session market.session)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$ select session.expires_at > now() and session.seen_at > now() - interval '7 days' $function$;
comment on function market.is_alive(market.session) is 'Whether a session still admits: 30 days after it began, and 7 days after it was last used, it has ended.';

CREATE OR REPLACE FUNCTION market.find_session(secret_hash bytea, OUT session_id uuid, OUT account_id uuid, OUT signed_in_at timestamp with time zone)
 RETURNS record
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  select s.id, s.account_id, s.signed_in_at into session_id, account_id, signed_in_at
  from market.session s
  where s.secret_hash = find_session.secret_hash and market.is_alive(s);
end
$function$;
comment on function market.find_session(bytea) is 'The live session whose secret has this SHA-256, with its account and when its person signed in; nulls when there is none.';
grant execute on function market.find_session(bytea) to souk_api;

CREATE OR REPLACE FUNCTION market.hold_agent()
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  agent market.agent;
begin
  perform market.hold_account();
  select * into agent from market.agent a where a.id = market.agent_id() for share;
  if agent.removed_at is not null then
    perform market.fail(401, 'unauthorized', 'This agent was removed a moment ago.');
  elsif agent.account_id is distinct from market.account_id() then
    perform market.fail(409, 'invalid_state', 'A person has approved this agent at this very moment. Send the call again.');
  end if;
end
$function$;
comment on function market.hold_agent() is 'Holds the calling agent until the transaction ends, after its account: whoever removes or approves it waits. 401 when it was removed, 409 when it acts for another account by now.';
grant execute on function market.hold_agent() to souk_agent;

CREATE OR REPLACE FUNCTION market.lock_sign_in(flow_hash bytea, subject_hash bytea, session_hash bytea)
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
$function$;
comment on function market.lock_sign_in(bytea,bytea,bytea) is 'The attempt of a browser, locked, after its subject, the sessions of the accounts of both and of the browser''s, those accounts and their verifications; nulls when there is none.';

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
      and exists (select from market.session s where s.account_id = missing_session.account_id and market.is_alive(s)) then 'browser'
    when missing_session.session_account is not null then 'sign_out' end;
end
$function$;
comment on function market.missing_session(uuid,uuid) is 'What whoever has this account''s session, or none, has to do before proving a method of an account by its agent''s link: sign_in to it, come with the browser in which its agent was approved, or sign_out of another account; null when nothing is missing.';

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

CREATE OR REPLACE FUNCTION market.hold_owner(offer_id uuid)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  perform market.hold_standing((select o.account_id from market.offer o where o.id = hold_owner.offer_id));
end
$function$;
comment on function market.hold_owner(uuid) is 'Holds the account of an offer until the transaction ends, before the offer is locked, as its deletion does.';
grant execute on function market.hold_owner(uuid) to souk_moderator;

CREATE OR REPLACE FUNCTION market.admit(action text, idempotency_key text, request_hash bytea, errors jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
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
    perform market.hold_account();
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

CREATE OR REPLACE FUNCTION market.audit()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  was jsonb := case when tg_op <> 'INSERT' then to_jsonb(old) end;
  becomes jsonb := case when tg_op <> 'DELETE' then to_jsonb(new) end;
  subject uuid := coalesce(becomes ->> 'account_id', was ->> 'account_id',
    case when tg_table_name = 'account' then coalesce(becomes ->> 'id', was ->> 'id') end)::uuid;
  status text := case when tg_op = 'INSERT' or was -> 'status' <> becomes -> 'status' then becomes ->> 'status' end;
  login text := coalesce(nullif(current_setting('role'), 'none'), session_user);
  moderator uuid := nullif(current_setting('market.moderator_id', true), '')::uuid;
  agent uuid := case
    -- Nobody has entered: it is an agent that makes itself.
    when login = 'souk_api' and tg_table_name = 'agent' and tg_op = 'INSERT' then (becomes ->> 'id')::uuid
    else market.agent_id() end;
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
    -- Nobody has entered: it is a person whom the secret of a link admits.
    when login = 'souk_api' then 'person'
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
      when tg_table_name = 'offer' and not (was ->> 'reviewed')::boolean and (becomes ->> 'reviewed')::boolean then 'offer.kept'
      when tg_table_name = 'ask' and tg_op = 'UPDATE' and status is not null
        then 'ask.' || case status when 'active' then 'reopened' else status end
      when tg_table_name = 'agent' and was ->> 'removed_at' is null and becomes ->> 'removed_at' is not null then 'agent.removed'
      when tg_table_name = 'agent' and was ->> 'connected_at' is null and becomes ->> 'connected_at' is not null then 'agent.connected'
      when tg_table_name = 'account' and was ->> 'suspended_at' is null and becomes ->> 'suspended_at' is not null then 'account.suspended'
      when tg_table_name = 'account' and was ->> 'suspended_at' is not null and becomes ->> 'suspended_at' is null then 'account.reinstated'
      when tg_table_name = 'account' and was ->> 'claimed_at' is null and becomes ->> 'claimed_at' is not null then 'account.claimed'
      when tg_table_name in ('account', 'profile') and tg_op <> 'DELETE' then 'profile.updated'
      when tg_table_name = 'proved_method' then case tg_op when 'DELETE' then 'method.removed' else 'method.proved' end
      else tg_table_name || case tg_op when 'INSERT' then '.created' when 'UPDATE' then '.updated' else '.deleted' end
    end,
    tg_table_name,
    coalesce(becomes ->> 'id', was ->> 'id', becomes ->> 'method', was ->> 'method', becomes ->> 'name', was ->> 'name',
      becomes ->> 'action', was ->> 'action', subject::text),
    subject,
    case when tg_op <> 'INSERT' then before end, case when tg_op <> 'DELETE' then after end,
    nullif(current_setting('market.request_id', true), ''));
  return null;
end
$function$;
comment on function market.audit() is 'Writes one change into the audit log. Its arguments are the columns whose values may stand there: none that a person wrote.';

CREATE OR REPLACE FUNCTION market.states_amount(quote text, amount numeric)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
begin
  -- A word for thousands or millions behind one number of a range goes for the others, too: "10-12k".
  return (with factor as (
    select 1::numeric as factor
    union all
    select f.factor from (values
      ('¢|cents?|cts?|centimes|centimos|céntimos|centavos|centesimi|p|pence', 0.01),
      ('k|grand|mil|mille|mila|tsd|tausend|duizend|tys|tysi[aą]ce|tysi[eę]cy|thousand', 1000),
      ('lakh|lac', 100000),
      ('m|mln|mio|million|millions|millionen|millones|milioni|milh[oõ]es|miljoen', 1000000)) as f (words, factor)
    where quote ~* ('[0-9]\s*(' || f.words || ')\M')
  )
  -- 1e12: beyond it is no price, and a bigint of hundredths would overflow.
  select amount = 0 and quote !~ '[1-9]'
    or amount <= 1e12 and exists (select from market.stated_numbers(quote) as stated, factor f where stated * f.factor = amount)
    or quote !~ '[0-9]' and coalesce(market.spoken_number(quote) = amount, false));
end
$function$;
comment on function market.states_amount(text,numeric) is 'Whether a quote states an amount: as a number, with k, grand, mil and the like as factors, or in words; no digits for 0.';

CREATE OR REPLACE FUNCTION market.states_contact(quote text, method jsonb)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
begin
  -- A number's last digits, without a country code, which the quote need not say: eight, or six of a short number.
  return (with said as (
    select method ->> 'type' as type, method ->> 'value' as value,
      regexp_replace(method ->> 'value', '[^0-9]', '', 'g') as digits
  )
  select case
    -- "anna [@] example.org" is written around harvesters, too.
    when type = 'email' and quote ~ '@' then
      position(lower(value) in regexp_replace(lower(quote), '[][(){}<>[:space:]]', '', 'g')) > 0
    -- Written around harvesters ("kev at example dot com"): every piece has to stand there.
    when type = 'email' then
      value ~ '@' and not exists (
        select from regexp_split_to_table(market.fold(value), '[^[:alnum:]]+') as piece
        where position(piece in market.fold(quote)) = 0)
    when type = 'url' then
      position(rtrim(regexp_replace(lower(value), '^https?://(www\.)?', ''), '/') in lower(quote)) > 0
    when type in ('phone', 'sms', 'whatsapp') then
      length(digits) >= 5 and exists (
        -- A letter O is how some people hide a zero.
        select from (values (quote), (translate(quote, 'oO', '00')), (market.digits_of_words(quote))) as q (words)
        where position(right(digits, greatest(6, least(8, length(digits) - 3)))
          in regexp_replace(q.words, '[^0-9]', '', 'g')) > 0)
    else false
  end
  from said);
end
$function$;
comment on function market.states_contact(text,jsonb) is 'Whether a quote states a way to be reached: an e-mail address or all its pieces, the address of a link, the last digits of a number.';

CREATE OR REPLACE FUNCTION market.states_title(text text, title text)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
declare
  said constant text := market.fold(text);
begin
  return not exists (
    select from regexp_split_to_table(market.fold(title), '[^[:alnum:]]+') as word
    where word <> '' and position(word in said) = 0);
end
$function$;
comment on function market.states_title(text,text) is 'Whether every word of a title stands in the text.';

CREATE OR REPLACE FUNCTION market.image_links(images jsonb)
 RETURNS text[]
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
begin
  return (
    select coalesce(array_agg(first.url order by first.n), '{}')
    from (select url, min(n) as n from jsonb_array_elements_text(images) with ordinality as t (url, n) group by url) as first);
end
$function$;
comment on function market.image_links(jsonb) is 'The links in order, duplicates dropped.';
grant execute on function market.image_links(jsonb) to souk_agent, souk_person;

CREATE OR REPLACE FUNCTION market.image_warnings(images text[])
 RETURNS text[]
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
begin
  return case when exists (select from unnest(images) as url where url ~* '^http:')
    then array['An image link uses http; many clients will not show it. Use https.'] else '{}' end;
end
$function$;
comment on function market.image_warnings(text[]) is 'What is not wrong with image links but should be better.';
grant execute on function market.image_warnings(text[]) to souk_agent, souk_person;

CREATE OR REPLACE FUNCTION market.understood(offer market.offer)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  return jsonb_build_object(
      'title', offer.title, 'domain', offer.domain, 'category', offer.category, 'offer_kind', offer.offer_kind,
      'extraction', offer.extraction)
    || jsonb_strip_nulls(jsonb_build_object(
      'price', offer.metadata -> 'pricing' -> 'label',
      'location', offer.location_text,
      'contact', (
        select c -> 'quote' from jsonb_array_elements(offer.extraction -> 'contact') with ordinality as t (c, n)
        order by (c -> 'value' ->> 'preferred')::boolean desc, n limit 1)))
    || case when offer.missing_fields <> '{}' then jsonb_build_object('missing_fields', offer.missing_fields) else '{}' end
    || case when offer.warnings <> '{}' then jsonb_build_object('warnings', offer.warnings) else '{}' end;
end
$function$;
comment on function market.understood(market.offer) is 'How a text was understood: the members that OfferPublished and a preview share.';

CREATE OR REPLACE FUNCTION market.awaits_reading(submission market.submission)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  -- An ask is filled in even after its caller was answered, as long as it still has this text.
  return submission.settled_at is null or submission.kind in ('create_ask', 'update_ask') and exists (
    select from market.ask a
    where a.id = submission.target_id and a.read_at is null and a.text = submission.text);
end
$function$;
comment on function market.awaits_reading(market.submission) is 'Whether reading the text of a submission still has an effect.';

CREATE OR REPLACE FUNCTION jobs.get_submission(id uuid)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  return (
    select jsonb_build_object('kind', s.kind, 'text', s.text)
    from market.submission s
    where s.id = get_submission.id and market.awaits_reading(s));
end
$function$;
comment on function jobs.get_submission(uuid) is 'kind and text of a submission; null when reading it would have no effect any more.';
grant execute on function jobs.get_submission(uuid) to souk_worker;

CREATE OR REPLACE FUNCTION jobs.get_embedding_input(id uuid)
 RETURNS text
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  return (
    select market.embedding_input(o) from market.offer o
    where o.id = get_embedding_input.id and o.status = 'published'
    union all
    -- An ask as it stands: it is embedded before it has been read, too.
    select a.text from market.ask a
    where a.id = get_embedding_input.id and a.status = 'active');
end
$function$;
comment on function jobs.get_embedding_input(uuid) is 'The words of a live offer or an active ask that its vector stands for; null when there is nothing to do.';
grant execute on function jobs.get_embedding_input(uuid) to souk_worker;

CREATE OR REPLACE FUNCTION jobs.finish_reading(id uuid, reading jsonb, embedding text DEFAULT NULL::text, model text DEFAULT NULL::text)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
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
    set_config('market.agent_id', coalesce(submission.agent_id::text, ''), true),
    set_config('market.request_id', coalesce(submission.request_id, ''), true);
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

CREATE OR REPLACE FUNCTION market.withdraw(id uuid)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  submission market.submission;
  ask market.ask;
begin
  -- The account's row first, as in jobs.finish_reading.
  perform from market.account a
  where a.id = (select s.account_id from market.submission s where s.id = withdraw.id) for key share;
  select * into submission from market.submission s where s.id = withdraw.id and s.settled_at is null for update;
  if not found then
    return;
  end if;
  if submission.kind in ('create_ask', 'update_ask') then
    -- Nothing is known yet of the text that stands there now.
    update market.ask a set text = submission.text, read_at = null, updated_at = now(),
      title = null, domain = null, category = null, ask_kind = null, language = null, criteria = '{}',
      keywords_query = null, exclude_query = null, place_query = null, price_max_hundredths = null, price_currency = null
    where a.id = submission.target_id and a.account_id = submission.account_id
    returning * into ask;
    delete from market.match m where m.ask_id = ask.id;
    perform market.settle(submission.id, case submission.kind when 'create_ask' then 201 else 200 end,
      market.ask_document(ask));
  else
    delete from market.idempotency_key k where k.submission_id = submission.id;
    perform market.settle(submission.id, 503, jsonb_build_object('code', 'service_unavailable', 'retry_after', 5,
      'detail', 'The text could not be read in time, and nothing was published. Send it again in a few seconds.'));
  end if;
end
$function$;
comment on function market.withdraw(uuid) is 'Settles a submission that was not read in time; does nothing when it is settled.';

CREATE OR REPLACE FUNCTION jobs.forget_keys()
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  forgotten integer;
begin
  delete from market.idempotency_key k
  where (k.owner_id, k.key) in (
    select o.owner_id, o.key from market.idempotency_key o
    where o.created_at <= now() - interval '24 hours' limit 5000 for update skip locked);
  get diagnostics forgotten = row_count;
  delete from market.submission s
  where s.id in (
    select o.id from market.submission o
    where o.created_at <= now() - interval '24 hours' and o.settled_at is not null
      -- Deleting it would delete its key, and wait for whoever has locked that.
      and not exists (select from market.idempotency_key k where k.submission_id = o.id) limit 5000 for update skip locked);
  delete from market.call c
  where c.id in (select o.id from market.call o where o.called_at <= now() - interval '1 day' limit 20000 for update skip locked);
  delete from market.query_embedding q
  where (q.model, q.query_hash) in (
    select o.model, o.query_hash from market.query_embedding o
    where o.created_at <= now() - interval '30 days' limit 5000 for update skip locked);
  -- Provisional accounts whose agent went to the account of a person who had one. Fewer: each is looked for in every table.
  delete from market.account a
  where a.id in (
    select o.id from market.account o
    where o.claimed_at is null and o.created_at <= now() - interval '24 hours'
      and not exists (select from market.agent g where g.account_id = o.id)
      -- Its texts go first: deleting them would wait for whoever has locked one.
      and not exists (select from market.submission s where s.account_id = o.id) limit 1000 for update skip locked);
  return forgotten;
end
$function$;
comment on function jobs.forget_keys() is 'Forgets idempotency keys, settled submissions and counted calls of more than 24 hours ago, query vectors of more than 30 days ago, and accounts that lost their only agent before a person claimed them; gives how many keys.';
grant execute on function jobs.forget_keys() to souk_worker;

CREATE OR REPLACE FUNCTION jobs.sweep_submissions()
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  swept integer;
begin
  -- Whoever waited has long been answered: a key must not stay in flight because a job was lost.
  with stuck as (
    select s.id from market.submission s join market.account a on a.id = s.account_id
    where s.settled_at is null and s.created_at <= now() - interval '10 minutes'
    limit 1000 for key share of a skip locked for update of s skip locked
  ), free as (
    select k.submission_id from market.idempotency_key k join stuck on stuck.id = k.submission_id for update of k skip locked
  )
  select count(market.withdraw(stuck.id)) into swept from stuck
  where stuck.id in (select f.submission_id from free f)
    or not exists (select from market.idempotency_key k where k.submission_id = stuck.id);
  -- An ask that was answered before its text was read is read still.
  perform market.enqueue('read_submission', s.id)
  from market.ask a join market.submission s on s.target_id = a.id and s.text = a.text and s.settled_at is not null
  where a.read_at is null
  limit 1000;
  return swept;
end
$function$;
comment on function jobs.sweep_submissions() is 'Settles submissions that nobody reads any more, freeing their keys; gives how many.';
grant execute on function jobs.sweep_submissions() to souk_worker;

CREATE OR REPLACE FUNCTION jobs.forget_sign_ins()
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
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
    select o.id from market.session o where not market.is_alive(o) limit 10000 for update skip locked);
  get diagnostics forgotten = row_count;
  update market.verification v set status = 'expired'
  where v.id in (
    select o.id from market.verification o
    where o.status = 'pending' and o.expires_at <= now() limit 10000 for update skip locked);
  delete from market.verification v
  where v.id in (
    select o.id from market.verification o
    where o.status <> 'pending' and o.expires_at <= now() - interval '30 days'
      -- Deleting it would delete these, and wait for whoever has locked one.
      and not exists (select from market.sign_in s where s.verification_id = o.id) limit 10000 for update skip locked);
  return forgotten;
end
$function$;
comment on function jobs.forget_sign_ins() is 'Forgets attempts to sign in a day after they ended, sessions that ended, and verifications that ended 30 days ago; notes which verifications ran out. Gives how many sessions.';
grant execute on function jobs.forget_sign_ins() to souk_worker;

CREATE OR REPLACE FUNCTION market.is_abandoned(agent market.agent)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  -- A report keeps its reporter.
  return agent.connected_at is null
    and exists (select from market.publisher p
      where p.account_id = agent.account_id and p.last_active_at <= now() - interval '7 days')
    and not exists (select from market.report r where r.account_id = agent.account_id)
    and not exists (select from market.submission s where s.agent_id = agent.id)
    and not exists (select from market.verification v
      where v.agent_id = agent.id and v.created_at > now() - interval '7 days');
end
$function$;
comment on function market.is_abandoned(market.agent) is 'Whether nobody approved an agent, and it did nothing but read for 7 days.';

CREATE OR REPLACE FUNCTION jobs.forget_agents()
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  abandoned uuid[];
  forgotten integer;
begin
  -- The account, too: with an agent go its verifications, which whoever has locked the account locks next.
  abandoned := array(
    select o.id from market.agent o join market.account a on a.id = o.account_id
    where o.connected_at is null and o.created_at <= now() - interval '7 days' and market.is_abandoned(o)
    limit 1000 for update of a, o skip locked);
  delete from market.verification v
  where v.id in (
    select o.id from market.verification o
    where o.agent_id = any (abandoned) and o.created_at <= now() - interval '7 days'
      and not exists (select from market.sign_in s where s.verification_id = o.id) for update skip locked);
  -- Judged again: what was written before both were locked counts. The account goes with jobs.forget_keys, unless a person
  -- proved a method on it.
  delete from market.agent a
  where a.id = any (abandoned) and market.is_abandoned(a)
    and not exists (select from market.verification v where v.agent_id = a.id);
  get diagnostics forgotten = row_count;
  return forgotten;
end
$function$;
comment on function jobs.forget_agents() is 'Forgets agents that nobody approved, 7 days after they were made or last did more than read; gives how many.';
grant execute on function jobs.forget_agents() to souk_worker;

CREATE OR REPLACE FUNCTION api.vocabulary_changed_at()
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$ begin return to_jsonb(jobs.vocabulary_changed_at()); end $function$;
comment on function api.vocabulary_changed_at() is 'When the vocabulary or the taxonomy last changed: when it differs from what an API process knows, the process gets them again.';
grant execute on function api.vocabulary_changed_at() to souk_api;

CREATE OR REPLACE FUNCTION api.get_connection(secret_hash bytea, session_hash bytea DEFAULT NULL::bytea)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
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
      'needs_sign_in', market.needs_sign_in(person, session.signed_in_at)));
end
$function$;
comment on function api.get_connection(bytea,bytea) is 'What the approval page shows: agent_name, code, requested_at, expires_in (seconds), and the account that this session, or a new one, would bind: label, is_new, shown (for api.approve_connection), has_method, needs_sign_in; 404, 409 or 410 otherwise. Changes nothing.';
grant execute on function api.get_connection(bytea,bytea) to souk_api;

CREATE OR REPLACE FUNCTION market.own_sessions(OUT sessions integer, OUT signed_in_seconds_ago integer)
 RETURNS record
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  select count(*), extract(epoch from now() - max(s.signed_in_at) filter (where s.id = market.session_id()))
  into sessions, signed_in_seconds_ago
  from market.session s where s.account_id = market.account_id() and market.is_alive(s);
end
$function$;
comment on function market.own_sessions() is 'In how many browsers the person is signed in, and how long ago in this one; null when this one only approved an agent.';
grant execute on function market.own_sessions() to souk_person;

CREATE OR REPLACE FUNCTION market.erase_account()
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
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

CREATE OR REPLACE FUNCTION api.start_verification(method text, base_url text, link_key bytea)
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
declare
  verification market.verification;
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
  -- No method is proved or removed from here on.
  perform market.hold_agent();
  if exists (select from market.proved_method p
      where p.account_id = market.account_id() and p.method = start_verification.method) then
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
  -- The newest is the open one, or was decided at this very moment.
  select * into verification from market.verification v
  where v.agent_id = market.agent_id() and v.method = start_verification.method
  order by v.status = 'pending' desc, v.id desc limit 1;
  return jsonb_build_object('status', case when started and verification.status = 'pending' then 201 else 200 end,
    'body', market.verification_document(verification, start_verification.base_url, start_verification.link_key));
end
$function$;
comment on function api.start_verification(text,text,bytea) is 'Verification: 201 with a new link, 200 with the same one while pending, 200 completed when proved already; 400 unknown_method; 401 or 409 when the agent is removed or approved meanwhile.';
grant execute on function api.start_verification(text,text,bytea) to souk_api;

CREATE OR REPLACE FUNCTION api.finish_mail_sign_in(flow_hash bytea, link_hash bytea, code_hash bytea, session_hash bytea, new_session_hash bytea)
 RETURNS jsonb
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  email text := (select s.email from market.sign_in s where s.flow_hash = finish_mail_sign_in.flow_hash);
  subject bytea := market.subject_hash('email', email);
  attempt market.sign_in := market.lock_sign_in(finish_mail_sign_in.flow_hash, subject, finish_mail_sign_in.session_hash);
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
$function$;
comment on function api.finish_mail_sign_in(bytea,bytea,bytea,bytea,bytea) is 'Finishes an attempt by its mailed link or code, in the browser that began it; as market.complete_sign_in, or wrong_code with tries_left. 410 when neither works any more.';
grant execute on function api.finish_mail_sign_in(bytea,bytea,bytea,bytea,bytea) to souk_api;

CREATE OR REPLACE FUNCTION api.finish_sign_in(flow_hash bytea, method text, subject text, email text, name text, session_hash bytea, new_session_hash bytea)
 RETURNS jsonb
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  subject_hash bytea := market.subject_hash(finish_sign_in.method, nullif(finish_sign_in.subject, ''));
  attempt market.sign_in;
begin
  if subject_hash is null then
    perform market.fail(400, 'bad_request', 'The sign-in provider did not say who you are. Start again.');
  end if;
  attempt := market.lock_sign_in(finish_sign_in.flow_hash, subject_hash, finish_sign_in.session_hash);
  -- A mailbox is proved by its mail alone.
  if attempt.id is null or attempt.method <> finish_sign_in.method or attempt.method = 'email'
      or attempt.finished_at is not null or attempt.expires_at <= now() then
    perform market.fail(409, 'invalid_state', 'This sign-in was used already, or took longer than 15 minutes. Start again.');
  end if;
  return market.complete_sign_in(attempt, subject_hash, market.mailbox_of(finish_sign_in.email), finish_sign_in.name,
    finish_sign_in.session_hash, finish_sign_in.new_session_hash);
end
$function$;
comment on function api.finish_sign_in(bytea,text,text,text,text,bytea,bytea) is 'Finishes an attempt by what a provider vouched for (its subject; the e-mail only when verified), in the browser that began it; as market.complete_sign_in. 409 when it was finished, is over, or was begun another way.';
grant execute on function api.finish_sign_in(bytea,text,text,text,text,bytea,bytea) to souk_api;

CREATE OR REPLACE FUNCTION api.get_viewer(session_hash bytea)
 RETURNS jsonb
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
    'signed_in_seconds_ago', floor(extract(epoch from now() - session.signed_in_at))::integer));
end
$function$;
comment on function api.get_viewer(bytea) is 'viewer: who is signed in with this session (display_name, label, methods, signed_in_seconds_ago), or null.';
grant execute on function api.get_viewer(bytea) to souk_api;

CREATE OR REPLACE FUNCTION market.text_errors(text text)
 RETURNS jsonb
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
begin
  return (select coalesce(jsonb_agg(jsonb_build_object('pointer', '/text', 'detail', e.detail)), '[]')
  from (values
    (case when coalesce(market.first_line(text), '') = '' then 'The text is empty.' end),
    (case when char_length(normalize(text, NFC)) > 4000 then 'A text may have at most 4,000 characters.' end),
    (market.contains_secret(text))) as e (detail)
  where e.detail is not null);
end
$function$;
comment on function market.text_errors(text) is 'What is wrong with a text before it is read: [{pointer, detail}].';
grant execute on function market.text_errors(text) to souk_agent, souk_person;

CREATE OR REPLACE FUNCTION market.answer_of(submission_id uuid)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return (
    select jsonb_build_object('status', s.status, 'body', s.body)
    from market.submission s
    where s.id = answer_of.submission_id and s.settled_at is not null and market.is_own(s));
end
$function$;
comment on function market.answer_of(uuid) is 'The settled answer of one of the caller''s submissions, else null.';
grant execute on function market.answer_of(uuid) to souk_agent, souk_person;

CREATE OR REPLACE FUNCTION market.own_offer(id uuid)
 RETURNS market.offer
 LANGUAGE plpgsql
AS $function$
declare
  offer market.offer;
begin
  perform market.hold_account();
  select * into offer from market.offer o where o.id = own_offer.id and o.account_id = market.account_id()
  -- No stronger than needed: matches of the offer are written meanwhile, and refer to it.
  for no key update;
  if not found then
    perform market.fail(404, 'not_found', 'You have no such offer.');
  end if;
  return offer;
end
$function$;
comment on function market.own_offer(uuid) is 'An offer of the account acted for, locked after it; 404 otherwise.';
grant execute on function market.own_offer(uuid) to souk_agent, souk_person;

CREATE OR REPLACE FUNCTION api.report_offer(id uuid, reason text, comment text)
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
begin
  if not exists (select from market.offer o where o.id = report_offer.id and o.status = 'published') then
    perform market.fail(404, 'not_found', 'There is no such offer, or it is not visible to you.');
  end if;
  perform market.hold_account();
  insert into market.report (offer_id, account_id, agent_id, reason, comment)
  values (report_offer.id, market.account_id(), market.agent_id(), report_offer.reason, nullif(btrim(report_offer.comment), ''))
  on conflict do nothing;
  return jsonb_build_object('offer_id', report_offer.id, 'status', 'received',
    'summary', 'A moderator will look at this offer. Reporting it again changes nothing.');
end
$function$;
comment on function api.report_offer(uuid,text,text) is 'Puts a published offer before the moderators, once an account.';
grant execute on function api.report_offer(uuid,text,text) to souk_api;

CREATE OR REPLACE FUNCTION api.update_ask(id uuid, body jsonb, errors jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
declare
  ask market.ask;
begin
  perform market.require_connected('manage_asks', market.rate_headers(market.own_figures('create_ask')));
  perform market.hold_account();
  ask := market.own_ask(update_ask.id);
  if errors <> '[]' then
    perform market.fail_fields(errors, market.rate_headers(market.own_figures('create_ask')));
  end if;
  if body ? 'watch_enabled' then
    update market.ask a set watch_enabled = (body ->> 'watch_enabled')::boolean, updated_at = now()
    where a.id = ask.id returning * into ask;
  end if;
  if body ? 'text' then
    return market.submit('update_ask', 'create_ask', body, null, null, market.text_errors(body ->> 'text'), ask.id);
  end if;
  return jsonb_build_object('status', 200, 'headers', market.rate_headers(market.own_figures('create_ask')),
    'body', market.ask_document(ask));
end
$function$;
comment on function api.update_ask(uuid,jsonb,jsonb) is 'Changes watch_enabled at once; a new text is read like a new ask''s, counts like one, and keeps the id. {submission, headers}, or the answer.';
grant execute on function api.update_ask(uuid,jsonb,jsonb) to souk_api;

CREATE OR REPLACE FUNCTION market.decide_offer(id uuid, action text, expected_updated_at timestamp with time zone, reason text, sentence text)
 RETURNS admin.offer
 LANGUAGE plpgsql
AS $function$
declare
  offer market.offer;
  review market.review_case;
  becomes text := case decide_offer.action when 'remove' then 'removed' when 'restore' then 'published'
    when 'publish' then 'published' when 'reject' then 'rejected' end;
  may_be constant text[] := case when decide_offer.action in ('keep', 'remove') then array['published', 'archived']
    when decide_offer.action in ('publish', 'reject') then array['pending_review'] else array['removed'] end;
  note text := nullif(btrim(decide_offer.sentence), '');
begin
  perform market.hold_owner(decide_offer.id);
  select * into offer from market.offer o where o.id = decide_offer.id for no key update;
  if not found then
    perform market.fail(404, 'not_found', 'There is no such offer.');
  end if;
  review := market.lock_case(offer.id);
  if offer.updated_at is distinct from decide_offer.expected_updated_at then
    perform market.fail(409, 'invalid_state',
      format('This offer has changed since you looked at it, and is %s now. Look at it again, then decide.', replace(offer.status, '_', ' ')));
  elsif offer.status <> all (may_be) then
    perform market.fail(409, 'invalid_state',
      format('This offer is %s; only what is %s can be decided so.', replace(offer.status, '_', ' '), replace(array_to_string(may_be, ' or '), '_', ' ')));
  elsif decide_offer.action = 'uphold' and 'appeal' <> all (coalesce(review.causes, '{}')) then
    perform market.fail(409, 'invalid_state', 'Nobody has appealed against the removal of this offer.');
  elsif decide_offer.action in ('remove', 'reject')
    and not exists (select from market.reason r where r.code = decide_offer.reason) then
    perform market.fail(400, 'bad_request', 'Give one of the reasons, by its code.');
  elsif char_length(note) > 500 then
    perform market.fail(400, 'bad_request', 'The sentence may be at most 500 characters long.');
  end if;
  perform market.check_appeal_judge(offer, review.causes);

  if decide_offer.action in ('remove', 'reject') then
    note := coalesce(note, (select r.sentence from market.reason r where r.code = decide_offer.reason));
  end if;
  update market.offer o set
    status = coalesce(becomes, o.status),
    reviewed = decide_offer.action in ('keep', 'restore', 'publish'),
    review_reason = case when decide_offer.action in ('remove', 'reject') then decide_offer.reason when decide_offer.action = 'uphold' then o.review_reason end,
    review_note = case when decide_offer.action in ('remove', 'reject') then note when decide_offer.action = 'uphold' then coalesce(note, o.review_note) end
  where o.id = offer.id;
  update market.report r set settled_at = now() where r.offer_id = offer.id and r.settled_at is null;
  update market.review_case c set closed_at = now(), reports = 0, held_by = null, held_until = null
  where c.offer_id = offer.id and c.closed_at is null;
  insert into market.decision (moderator_id, action, offer_id, account_id, reason, sentence)
  values (market.moderator_id(), decide_offer.action, offer.id, offer.account_id, decide_offer.reason, note);
  return (select o from admin.offer o where o.id = offer.id);
end
$function$;
comment on function market.decide_offer(uuid,text,timestamp with time zone,text,text) is 'Makes one decision on an offer, settles its reports and closes its case; 409 invalid_state when the offer is not as expected, held by another, or not to be decided so.';
grant execute on function market.decide_offer(uuid,text,timestamp with time zone,text,text) to souk_moderator;

CREATE OR REPLACE FUNCTION admin.remove_agent(id uuid, note text DEFAULT NULL::text)
 RETURNS admin.agent
 LANGUAGE plpgsql
AS $function$
declare
  agent admin.agent;
begin
  -- The token of the agent is not a moderator's to see, so the row is not read whole.
  select * into agent from admin.agent a where a.id = remove_agent.id;
  if not found then
    perform market.fail(404, 'not_found', 'There is no such agent.');
  elsif char_length(remove_agent.note) > 500 then
    perform market.fail(400, 'bad_request', 'The note may be at most 500 characters long.');
  end if;
  perform market.lock_account(agent.account_id);
  update market.agent a set removed_at = now() where a.id = agent.id and a.removed_at is null;
  if not found then
    perform market.fail(409, 'invalid_state', 'This agent was removed already.');
  end if;
  insert into market.decision (moderator_id, action, account_id, agent_id, sentence)
  values (market.moderator_id(), 'remove_agent', agent.account_id, agent.id, nullif(btrim(remove_agent.note), ''));
  return (select a from admin.agent a where a.id = agent.id);
end
$function$;
comment on function admin.remove_agent(uuid,text) is 'Removes an agent: its token is refused from now on. What it published stays. The note is for other moderators.';
grant execute on function admin.remove_agent(uuid,text) to souk_moderator;

CREATE OR REPLACE FUNCTION market.find_by_mailbox(email text)
 RETURNS SETOF uuid
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER ROWS 1
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  -- Whoever knows a mailbox, as from a complaint, finds its account; nobody reads a mailbox.
  if market.moderator_id() is not null then
    return query select distinct p.account_id from market.proved_method p
      where p.email = lower(btrim(normalize(find_by_mailbox.email, nfc)));
  end if;
end
$function$;
comment on function market.find_by_mailbox(text) is 'The accounts that proved exactly this mailbox, for moderators.';
grant execute on function market.find_by_mailbox(text) to souk_moderator;

CREATE OR REPLACE FUNCTION admin.find(words text)
 RETURNS SETOF admin.finding
 LANGUAGE plpgsql
 STABLE ROWS 60
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
declare
  said constant text := btrim(find.words);
  query constant tsquery := websearch_to_tsquery('simple', left(market.fold(find.words), 200));
  whole constant text := left(lower(said), 80);
  beginning constant text := replace(replace(replace(whole, '\', '\\'), '%', '\%'), '_', '\_') || '%';
  a_name constant smallint := 2;
  the_beginning constant smallint := 3;
  the_words constant smallint := 4;
begin
  if said ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
    return query select * from market.find_by_id(said::uuid);
    return;
  elsif said = '' then
    return;
  end if;
  -- Ids are UUIDv7: by id is by age.
  return query
    select f.kind, f.id, f.title, f.status, f.at, f.offer_id, f.account_id from (
      select distinct on (c.kind, c.id) c.* from (
        (select 1::smallint as rank, b.* from market.find_by_mailbox(said) as m (account_id), market.find_by_id(m.account_id) as b)
        union all (select a_name, b.* from (
          select a.id from market.account a where lower(a.display_name) = whole order by a.id desc limit 20) as a, market.find_by_id(a.id) as b)
        union all (select a_name, b.* from (
          select a.id from market.agent a where lower(a.name) = whole order by a.id desc limit 20) as a, market.find_by_id(a.id) as b)
        union all (select the_beginning, b.* from (
          select a.id from market.account a where lower(a.display_name) like beginning order by a.id desc limit 20) as a, market.find_by_id(a.id) as b)
        union all (select the_beginning, b.* from (
          select a.id from market.agent a where lower(a.name) like beginning order by a.id desc limit 20) as a, market.find_by_id(a.id) as b)
        -- Live and hidden offers have an index each.
        union all (select the_words, b.* from (
          select o.id from market.offer o where o.status = 'published' and o.search @@ query order by o.id desc limit 20) as o, market.find_by_id(o.id) as b)
        union all (select the_words, b.* from (
          select o.id from market.offer o where o.status <> 'published' and o.search @@ query order by o.id desc limit 20) as o, market.find_by_id(o.id) as b)
        union all (select the_words, b.* from (
          select a.id from market.ask a where to_tsvector('simple', market.fold(a.text)) @@ query order by a.id desc limit 20) as a, market.find_by_id(a.id) as b)
      ) as c order by c.kind, c.id, c.rank) as f
    order by f.rank, f.id desc;
end
$function$;
comment on function admin.find(text) is '@behavior -queryField:resource:connection +queryField:resource:list -typeField:resource:connection +typeField:resource:list
The one thing with this id; else the account with exactly this mailbox, then agents and people with this name, then those whose name begins so, then offers and asks with these words. Of each kind up to twenty, the newest first.';
grant execute on function admin.find(text) to souk_moderator;

reset role;
