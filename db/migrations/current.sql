-- Nobody needs temporary objects here, and what does not exist shadows nothing. Only the database's owner can say so.
do $$
begin
  execute format('revoke temporary on database %I from public', current_database());
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

-- Functions beside tables whose text changed (as db/schema has them)

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

CREATE OR REPLACE FUNCTION api.vocabulary_changed_at()
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$ begin return to_jsonb(jobs.vocabulary_changed_at()); end $function$;
comment on function api.vocabulary_changed_at() is 'When the vocabulary or the taxonomy last changed: when it differs from what an API process knows, the process gets them again.';
grant execute on function api.vocabulary_changed_at() to souk_api;

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
