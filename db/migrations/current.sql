-- Enter migration here

set local role souk_owner;

-- Their signatures change; the functions below come with new ones.
drop function admin.keep_offer(uuid, timestamptz, text), admin.remove_offer(uuid, timestamptz, text, text),
  admin.restore_offer(uuid, timestamptz, text), admin.uphold_removal(uuid, timestamptz, text),
  admin.publish_offer(uuid, timestamptz, text), admin.reject_offer(uuid, timestamptz, text, text),
  admin.reinstate_account(uuid, text), admin.override_cap(uuid, text, integer, text),
  market.decide_offer(uuid, text, timestamptz, text, text), market.check_appeal_judge(market.offer, text[]);

-- The queue is filed anew, since there is one more cause. The view that stands on it takes two functions with it.
drop view admin.queue;
drop view admin.review_case cascade;
alter table market.review_case drop column queue, drop constraint review_case_causes_known;
alter table market.review_case add column queue text not null generated always as (case
    when 'appeal' = any (causes) then 'appeal'
    when 'pending' = any (causes) then 'pending'
    when 'reported' = any (causes) then 'reported'
    when 'addresses_agents' = any (causes) then 'addresses_agents'
    when 'suspicious_link' = any (causes) then 'suspicious_link'
    when 'changed' = any (causes) then 'changed'
    else 'first_offer' end) stored,
  add constraint review_case_causes_known
    check (causes <@ array['appeal', 'pending', 'reported', 'addresses_agents', 'suspicious_link', 'changed', 'first_offer']),
  add constraint review_case_queue_length check (char_length(queue) <= 40);
create index review_case_open_by_queue_idx on market.review_case (queue, reports desc, opened_at, offer_id) where closed_at is null;
comment on column market.review_case.causes is 'Why: appeal, pending (pre-moderation), reported, addresses_agents, suspicious_link, changed (since it was reported, reviewed or held back), first_offer.';
comment on column market.review_case.queue is 'The most pressing of its causes.';
comment on column market.review_case.reports is 'Counted reports that no decision has settled.';
--!include market/may_decide.sql
--!include market/visible_name.sql
--!include admin/cases.sql

alter table market.report add column counted boolean not null default false;
comment on column market.report.counted is 'Whether it counts in the rank of the case: a person stood behind the account.';
-- What was counted so far stays counted.
update market.report set counted = true where settled_at is null;
create index report_open_idx on market.report (offer_id) where settled_at is null;
create policy "a caller reports again" on market.report for update to souk_agent, souk_person
  using (account_id = (select market.account_id()))
  with check (account_id = (select market.account_id()) and settled_at is null and agent_id is not distinct from (select market.agent_id())
    and exists (select from market.offer o where o.id = offer_id and o.status = 'published'));
-- In the order in which db/schema grants.
revoke select (created_at, settled_at) on market.report from souk_dba;
revoke update (settled_at) on market.report from souk_moderator;
grant update (agent_id, reason, comment, created_at, settled_at) on market.report to souk_agent, souk_person;
grant select (created_at, settled_at) on market.report to souk_dba;
grant update (settled_at) on market.report to souk_moderator;
create or replace function market.count_report() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$ begin return new; end $$;
create trigger count_report before insert on market.report for each row execute function market.count_report();
create trigger count_report_again before update on market.report for each row
  when (old.settled_at is not null and new.settled_at is null)
  execute function market.count_report();
create trigger review_offer_reported_again after update on market.report for each row
  when (old.settled_at is not null and new.settled_at is null)
  execute function market.review_reported_offer();
create or replace function market.review_changed_offer() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$ begin return null; end $$;
create trigger review_changed_offer after update on market.offer for each row
  when (new.status in ('published', 'archived') and new.account_id is not null
    and (old.text <> new.text or old.images <> new.images))
  execute function market.review_changed_offer();

drop view inspect.agents, inspect.why_429, inspect.windows;
--!include inspect/agents.sql

alter table market.appeal add column decided_at timestamptz;
comment on column market.appeal.decided_at is 'When a moderator decided on it; null while it waits.';
update market.appeal a set decided_at = d.created_at
from (select d.offer_id, d.created_at from market.decision d where d.action in ('restore', 'uphold')) as d
where d.offer_id = a.offer_id and d.created_at >= a.created_at;
create policy "a moderator decides on appeals" on market.appeal for update to souk_moderator
  using (true) with check (decided_at is not null);
grant select (decided_at) on market.appeal to souk_dba;
grant update (decided_at) on market.appeal to souk_moderator;
grant select (counted) on market.report to souk_dba;
create or replace view admin.appeal with (security_invoker) as
  select a.offer_id, a.removed_at, a.account_id, a.agent_id, a.comment, a.created_at, a.decided_at from market.appeal a;
comment on column admin.appeal.decided_at is 'When it was decided; null while it waits.';

create or replace function market.check_appointment() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$ begin return new; end $$;
create trigger check_appointment before insert on market.moderator for each row execute function market.check_appointment();
delete from market.moderator_link where exists (select from market.moderator);

--!include inspect/check_moderation.sql

insert into market.invariant (invariant, sampled, summary, remedy) values
  ('suspended_account_is_hidden', true, 'No offer of a suspended account is live, unless a job is just taking them down.',
    'select jobs.settle_standing(account_id), until it gives true.'),
  ('case_counts_its_reports', false, 'An open case says how many counted reports of its offer wait.',
    'Set review_case.reports to what detail says.'),
  ('open_report_has_case', false, 'A report that waits has an open case.',
    'select market.open_case(offer_id, array[''reported''], how many counted reports wait).'),
  ('pending_offer_has_case', true, 'An offer that waits for review has an open case.',
    'select market.open_case(offer_id, array[''pending'']).'),
  ('open_appeal_has_case', true, 'An appeal that waits has an open case.',
    'select market.open_case(offer_id, array[''appeal'']).'),
  ('reviewed_offer_is_not_down', true, 'What a moderator took down, rejected or has not seen yet is not called reviewed.',
    'Set reviewed to false.'),
  ('extraction_is_quoted', true, 'What was read from the text of an offer stands there, word for word, where the reading says.',
    'Somebody wrote to market.offer past the reader: its agent sends the text again.'),
  ('reference_has_row', true, 'Whatever a row refers to by a foreign key is there.',
    'Somebody wrote or deleted with triggers off (session_replication_role), or a dump was restored in parts. What refers to nothing is deleted; on delete of the constraint says what would have become of it.'),
  ('call_has_agent', true, 'A counted call belongs to an agent that is there.', 'Delete the call.'),
  ('log_has_its_months', false, 'The audit log has a partition for this month and the next.',
    'The worker''s clock stands still, or keep_audit_partitions fails: see inspect.jobs. By hand: select jobs.keep_audit_partitions().'),
  ('log_is_forgotten_in_time', false, 'Events of the audit log are dropped with their month a year later.',
    'The worker''s clock stands still, or keep_audit_partitions fails: see inspect.jobs. By hand: select jobs.keep_audit_partitions().'),
  ('agent_is_forgotten_in_time', false, 'Agents that nobody approved are forgotten 7 days after they last wrote.',
    'The worker''s clock stands still, or forget_agents fails: see inspect.workers and inspect.jobs. By hand: select jobs.forget_agents().');

update market.setting set summary = 'When true, a new offer waits as pending_review until a moderator publishes it. What was published once stays so when it changes, and comes before a moderator.'
where name = 'pre_moderation';

-- Nothing waits that belongs to nobody any more.
update market.report r set settled_at = now() from market.offer o
where o.id = r.offer_id and o.account_id is null and r.settled_at is null;
update market.review_case c set closed_at = now(), reports = 0, held_by = null, held_until = null from market.offer o
where o.id = c.offer_id and o.account_id is null and c.closed_at is null;

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

CREATE OR REPLACE FUNCTION market.check_appointment()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  if exists (select from market.account a where a.id = new.account_id and a.suspended_at is not null) then
    perform market.fail(409, 'invalid_state', 'This account is suspended. Have it reinstated first.');
  end if;
  -- It was for a market that nobody moderates.
  delete from market.moderator_link;
  return new;
end
$function$;
comment on function market.check_appointment() is 'Refuses to appoint whoever is suspended; ends the first-start link, which has done its work.';

CREATE OR REPLACE FUNCTION market.find_moderator(session_hash bytea, OUT session_id uuid, OUT account_id uuid)
 RETURNS record
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  select s.session_id, s.account_id into session_id, account_id
  from market.find_session(find_moderator.session_hash) as s
  where exists (
    select from market.moderator m join market.account a on a.id = m.account_id
    where m.account_id = s.account_id and a.suspended_at is null);
end
$function$;
comment on function market.find_moderator(bytea) is 'The live session with this hash and its account, when its person is a moderator in good standing; else nulls.';
grant execute on function market.find_moderator(bytea) to souk_api;

CREATE OR REPLACE FUNCTION market.count_report()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  -- Accounts that nobody approved are had for the asking.
  new.counted := exists (select from market.account a where a.id = new.account_id and a.claimed_at is not null);
  return new;
end
$function$;
comment on function market.count_report() is 'Counts a report by whether a person stands behind the account.';

CREATE OR REPLACE FUNCTION market.review_reported_offer()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  if tg_op <> 'DELETE' then
    perform market.open_case(new.offer_id, array['reported'], new.counted::integer);
  elsif old.settled_at is null then
    update market.review_case c set reports = greatest(c.reports - old.counted::integer, 0)
    where c.offer_id = old.offer_id and c.closed_at is null;
    if not exists (select from market.report r where r.offer_id = old.offer_id and r.settled_at is null) then
      perform market.drop_cause(old.offer_id, 'reported');
    end if;
  end if;
  return null;
end
$function$;
comment on function market.review_reported_offer() is 'A report opens a case, or adds its voice to the open one; a report that goes takes it back.';

CREATE OR REPLACE FUNCTION market.review_changed_offer()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  -- Else whatever a moderator kept, or would have held back, is exchanged afterwards for something else.
  if old.reviewed or market.setting('pre_moderation')::boolean
    or exists (select from market.report r where r.offer_id = new.id) then
    perform market.open_case(new.id, array['changed']);
  end if;
  return null;
end
$function$;
comment on function market.review_changed_offer() is 'An offer that was reported or reviewed comes before the moderators when it changes; with pre-moderation on, every one that was live.';

CREATE OR REPLACE FUNCTION market.appeal_document(offer market.offer)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return (
    select jsonb_build_object('status', case when a.decided_at is null then 'waiting' else 'declined' end,
      'created_at', market.utc(a.created_at), 'decided_at', market.utc(a.decided_at))
    from market.appeal a where a.offer_id = offer.id and a.removed_at = offer.removed_at);
end
$function$;
comment on function market.appeal_document(market.offer) is 'How the appeal against the removal of an offer that is down stands: status, created_at, decided_at; null when there is none.';
grant execute on function market.appeal_document(market.offer) to souk_agent, souk_person;

CREATE OR REPLACE FUNCTION market.settle_standing(account_id uuid, batch integer)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  suspended boolean;
  touched integer;
begin
  select a.suspended_at is not null into suspended from market.account a where a.id = settle_standing.account_id for no key update;
  if suspended then
    update market.offer o set status = 'archived', suspended_at = now()
    where o.id in (select p.id from market.offer p
      where p.account_id = settle_standing.account_id and p.status = 'published' order by p.id limit settle_standing.batch);
  else
    update market.offer o set status = 'published'
    where o.id in (select p.id from market.offer p
      where p.account_id = settle_standing.account_id and p.suspended_at is not null order by p.id limit settle_standing.batch);
  end if;
  get diagnostics touched = row_count;
  return touched < settle_standing.batch;
end
$function$;
comment on function market.settle_standing(uuid,integer) is 'Archives what a suspended account has live, or publishes again what its suspension archived, so many offers at a time; true when nothing is left to do.';

CREATE OR REPLACE FUNCTION market.window_figures(scope text, action text, cap integer, span interval DEFAULT '01:00:00'::interval)
 RETURNS jsonb
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  -- resets_in is until the oldest counted call leaves, rounded up. A cap of 0 frees no slot, however many leave.
  return (select jsonb_build_object(
    'limit', window_figures.cap,
    'used', count(*),
    'remaining', greatest(window_figures.cap - count(*), 0),
    'resets_in', case when window_figures.cap = 0 then extract(epoch from window_figures.span)
      else greatest(coalesce(ceil(extract(epoch from
        min(c.called_at) + window_figures.span - clock_timestamp())), 0), 0) end::integer)
  from market.call c
  where c.scope = window_figures.scope and c.action = window_figures.action
    and c.called_at > clock_timestamp() - window_figures.span);
end
$function$;
comment on function market.window_figures(text,text,integer,interval) is 'What a window holds now: limit, used, remaining, and resets_in, the whole seconds until its oldest call leaves it; of a cap of 0 the whole span.';
grant execute on function market.window_figures(text,text,integer,interval) to souk_dba;

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
        case cap when 0 then 'Moderation has set the limit of this call to 0 for this account, so waiting does not help. Tell the person; GET /v1/me shows whether the limit has changed.'
          else format('This agent has used its %s calls of this hour. Wait %s seconds, then try again.', cap, wait) end,
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

CREATE OR REPLACE FUNCTION market.owner_offer(offer market.offer)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return jsonb_build_object(
    'id', offer.id,
    'status', offer.status,
    'visibility', case offer.status when 'published' then 'public' else 'owner_only' end,
    'review', coalesce(offer.review_note, case offer.status
      when 'published' then 'This offer is live: anyone can find it.'
      when 'pending_review' then 'A moderator will look at this offer before it goes live; nothing has to be done.'
      when 'rejected' then 'A moderator decided that this offer does not go live.'
      when 'archived' then case when offer.suspended_at is null then 'You took this offer down. It can be republished.'
        else 'The account is suspended by moderation, so this offer is not shown. It goes live again when the account is reinstated.' end
      when 'removed' then 'Moderation took this offer down; it cannot be republished.'
      else 'This offer is not finished.' end),
    'title', offer.title,
    'description', offer.text,
    'domain', offer.domain,
    'category', offer.category,
    'offer_kind', offer.offer_kind,
    'metadata', offer.metadata,
    'preview', market.preview(offer),
    'contact', offer.contact,
    'images', market.image_list(offer.images),
    'missing_fields', to_jsonb(offer.missing_fields),
    'published_at', market.utc(offer.published_at),
    'created_at', market.utc(offer.created_at),
    'updated_at', market.utc(offer.updated_at))
    || case when offer.review_reason is null then '{}' else jsonb_build_object('review_reason', offer.review_reason) end
    || case when offer.status <> 'removed' then '{}' else jsonb_strip_nulls(jsonb_build_object(
        'appealable', market.is_appealable(offer), 'appeal', market.appeal_document(offer))) end;
end
$function$;
comment on function market.owner_offer(market.offer) is 'An offer as its owner sees it.';
grant execute on function market.owner_offer(market.offer) to souk_agent, souk_person;

CREATE OR REPLACE FUNCTION market.match_ask(ask_id uuid)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  ask market.ask;
  vector record;
  answered uuid[];
begin
  -- The row is the lock: matches of one ask are written one after another, so sequences grow in the order of commits.
  select * into ask from market.ask a where a.id = match_ask.ask_id for no key update;
  if ask.id is null or ask.status <> 'active' or ask.read_at is null then
    return;
  end if;
  select e.embedding, e.model, m.match_floor into vector
  from market.ask_embedding e join market.embedding_model m on m.model = e.model
  where e.ask_id = ask.id and to_jsonb(e.model) = market.setting('embedding_model');
  with judged as (
    select o.id, j.score, j.reasons
    from market.answering_candidates(ask, vector.embedding, vector.model) as c
    join market.offer o on o.id = c.offer_id
    left join market.offer_embedding e on e.offer_id = o.id and e.model = vector.model
    cross join lateral market.judge(ask, o,
      (1 - (e.embedding operator(public.<=>) vector.embedding))::real, vector.match_floor) as j
    where o.account_id is distinct from ask.account_id
    order by j.score desc, o.id
    limit 100
  ), live as materialized (
    -- Whoever takes one down waits until these are stored, and then forgets them; or is waited for.
    select o.id from market.offer o
    where o.id = any (array(select g.id from judged g)) and o.status = 'published'
    order by o.id for share
  ), stored as (
    insert into market.match as m (ask_id, offer_id, score, reasons)
    select ask.id, g.id, g.score, g.reasons from judged g join live l on l.id = g.id
    on conflict on constraint match_pkey do update set score = excluded.score, reasons = excluded.reasons
    where (m.score, m.reasons) is distinct from (excluded.score, excluded.reasons)
  )
  select array_agg(l.id) into answered from live l;
  -- What a changed text no longer wants is forgotten.
  delete from market.match m where m.ask_id = ask.id and m.offer_id <> all (coalesce(answered, '{}'));
end
$function$;
comment on function market.match_ask(uuid) is 'Holds one ask against the market; its matches are then exactly the best hundred offers that answer it.';

CREATE OR REPLACE FUNCTION market.match_offer(offer_id uuid)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  offer market.offer;
  vector record;
  answered uuid[];
begin
  select * into offer from market.offer o where o.id = match_offer.offer_id and o.status = 'published'
  -- Whoever takes it down waits until its matches are stored, and then forgets them; or is waited for.
  for share;
  if offer.id is null or offer.offer_kind is null then
    delete from market.match m where m.offer_id = match_offer.offer_id;
    return;
  end if;
  -- A copy out of the compressed row: each ask would unpack it anew.
  offer.search := offer.search || '';
  select e.embedding, e.model, m.match_floor into vector
  from market.offer_embedding e join market.embedding_model m on m.model = e.model
  where e.offer_id = offer.id and to_jsonb(e.model) = market.setting('embedding_model');
  -- Judged under their locks, which makes sequences grow in the order of commits; locked in the order of ids, so that two
  -- offers that meet at the same asks do not wait for each other.
  with locked as materialized (
    select a as ask from market.ask a
    where a.ask_kind = any (array(select k.ask_kind from market.ask_kind k where offer.offer_kind = any (k.answered_by)))
      and a.domain = offer.domain and market.can_answer(a, offer)
      -- What matched once is judged again, whether or not the ask goes on watching.
      and (a.watch_enabled or exists (select from market.match m where m.ask_id = a.id and m.offer_id = offer.id))
      -- Without a shared word it has to lie in the category and near.
      and (offer.search @@ a.keywords_query or (a.category = offer.category or a.category is null or offer.category is null or a.domain = 'community')
        and (a.keywords_query is null or exists (
          select from market.ask_embedding e
          where e.ask_id = a.id and e.model = vector.model
            and 1 - (e.embedding operator(public.<=>) vector.embedding) >= vector.match_floor)))
    order by a.id for no key update
  ), judged as materialized (
    select (l.ask).id, j.score, j.reasons
    from locked l
    left join market.ask_embedding e on e.ask_id = (l.ask).id and e.model = vector.model
    cross join lateral market.judge(l.ask, offer,
      (1 - (e.embedding operator(public.<=>) vector.embedding))::real, vector.match_floor) as j
  ), stored as (
    insert into market.match as m (ask_id, offer_id, score, reasons)
    select g.id, offer.id, g.score, g.reasons from judged g
    on conflict on constraint match_pkey do update set score = excluded.score, reasons = excluded.reasons
    where (m.score, m.reasons) is distinct from (excluded.score, excluded.reasons)
  )
  select array_agg(g.id) into answered from judged g;
  -- An ask at rest keeps what it had: it catches up when it is active again.
  delete from market.match m using market.ask a
  where m.offer_id = offer.id and a.id = m.ask_id and a.status = 'active' and a.id <> all (coalesce(answered, '{}'));
end
$function$;
comment on function market.match_offer(uuid) is 'Holds one offer against every ask that watches for its kind and subject.';

CREATE OR REPLACE FUNCTION jobs.settle_standing(id uuid)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  -- The act of the moderator who decided, for the log: the worker only finishes it.
  perform set_config('market.moderator_id', coalesce((
    select d.moderator_id from market.decision d
    where d.account_id = settle_standing.id and d.action in ('suspend', 'reinstate') order by d.id desc limit 1)::text, ''), true);
  -- As many as are done well within a second, so that no lock is long, and the embedded database answers others between.
  return market.settle_standing(settle_standing.id, 50);
end
$function$;
comment on function jobs.settle_standing(uuid) is 'Archives or publishes again the next 50 offers of an account that was suspended or reinstated; true when nothing is left.';
grant execute on function jobs.settle_standing(uuid) to souk_worker;

CREATE OR REPLACE FUNCTION api.get_me(base_url text, link_key bytea)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  agent market.agent;
  account market.account;
  connected boolean := market.connected();
  suspended boolean;
  suspension text;
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
  suspended := account.suspended_at is not null;
  suspension := 'This account is suspended by moderation. ' || coalesce(account.suspension_note, 'The reason was not stated.');
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
      select jsonb_object_agg(p.name, jsonb_build_object('allowed', (connected or not p.needs_approval) and not (suspended and p.writes))
        || case when p.needs_approval and not connected then jsonb_build_object('accepted_methods', '[]'::jsonb,
          'summary', 'A person has to approve this agent first, through the connection link.')
        when suspended and p.writes then jsonb_build_object('accepted_methods', '[]'::jsonb, 'summary', suspension)
        else '{}' end)
      from (values ('search_offers', false, false), ('read_offers', false, false), ('read_matches', false, false),
        ('start_verification', false, false), ('report_offer', false, true),
        ('publish_offer', true, true), ('create_ask', true, true), ('manage_offers', true, true),
        ('manage_asks', true, true)) as p (name, needs_approval, writes)),
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
      when suspended then jsonb_build_array(
        jsonb_build_object('summary', suspension || ' Nothing can be published, asked or changed until it ends. Tell the person.', 'method', 'GET', 'path', '/v1/me'),
        jsonb_build_object('summary', 'What moderation took down is among your offers, and can be appealed once each.', 'method', 'GET', 'path', '/v1/offers?status=removed'),
        jsonb_build_object('summary', 'Searching still works.', 'method', 'POST', 'path', '/v1/offers/search'))
      when market.agent_id() is null then jsonb_build_array(
        jsonb_build_object('summary', 'Publish what you offer, in your own words.', 'method', 'POST', 'path', '/v1/offers'),
        jsonb_build_object('summary', 'State what you want, and read what matches.', 'method', 'POST', 'path', '/v1/asks'),
        jsonb_build_object('summary', 'See what the market has.', 'method', 'POST', 'path', '/v1/offers/search'))
      when not connected then jsonb_build_array(
        jsonb_build_object('summary', 'Ask the person to open the connection link, compare the code and approve. Then read this document again.', 'method', 'GET', 'path', '/v1/me'),
        jsonb_build_object('summary', 'Meanwhile you can search.', 'method', 'POST', 'path', '/v1/offers/search'))
      else case when agent.connected_at > now() - interval '1 hour' then jsonb_build_array(
        jsonb_build_object('summary', format('Tell the person: "I now act for %s. If that is not you, tell me to disconnect."', acts_for), 'method', 'GET', 'path', '/v1/me')) else '[]' end
      -- Not what a moderator has set to 0 calls an hour.
      || case when (market.own_figures('publish_offer') ->> 'limit')::integer = 0 then '[]' else jsonb_build_array(
        jsonb_build_object('summary', 'Publish what the person offers, in their own words.', 'method', 'POST', 'path', '/v1/offers')) end
      || case when (market.own_figures('create_ask') ->> 'limit')::integer = 0 then '[]' else jsonb_build_array(
        jsonb_build_object('summary', 'State what the person wants, and read what matches.', 'method', 'POST', 'path', '/v1/asks')) end
      || jsonb_build_array(
        jsonb_build_object('summary', 'If the person did not mean to connect you, disconnect.', 'method', 'DELETE', 'path', '/v1/me/agent')) end)
    || case when agent.id is not null
      then jsonb_build_object('agent', jsonb_build_object('id', agent.id, 'name', agent.name, 'connected', connected))
      else jsonb_strip_nulls(jsonb_build_object('email', email, 'phone', phone)) end;
end
$function$;
comment on function api.get_me(text,bytea) is 'Me: account, permissions, limits, open verifications, activity and what to do next; agent when one asks, email and phone when its person does.';
grant execute on function api.get_me(text,bytea) to souk_api;

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
  -- Each takes some hundredths of a millisecond, and what was emptied before is passed by every time.
  logged constant integer := 5000;
  emptied integer;
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

  delete from market.call c where c.scope in (select 'agent:' || a.id from market.agent a where a.account_id = erased);
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
  -- There is nothing left to decide.
  update market.report r set settled_at = now() where r.offer_id = any (offers) and r.settled_at is null;
  update market.review_case c set closed_at = now(), reports = 0, held_by = null, held_until = null
  where c.offer_id = any (offers) and c.closed_at is null;
  if cardinality(offers) = batch then
    return false;
  end if;
  update market.audit_event e set before = null, after = null
  where (e.id, e.at) in (
    select o.id, o.at from market.audit_event o
    where o.subject_account_id = erased and (o.before is not null or o.after is not null) limit logged);
  get diagnostics emptied = row_count;
  if emptied = logged then
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
  -- What this call itself has logged.
  update market.audit_event e set before = null, after = null
  where e.subject_account_id = erased and (e.before is not null or e.after is not null);
  return true;
end
$function$;
comment on function market.erase_account() is 'Ends the account of the person that calls: agents refused, offers archived and emptied, everything else of theirs gone. False while there are more offers, or more events in the log: call again.';
grant execute on function market.erase_account() to souk_person;

CREATE OR REPLACE FUNCTION api.report_offer(id uuid, reason text, comment text)
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
begin
  perform market.require_good_standing();
  if not exists (select from market.offer o where o.id = report_offer.id and o.status = 'published') then
    perform market.fail(404, 'not_found', 'There is no such offer, or it is not visible to you.');
  elsif exists (select from market.offer o where o.id = report_offer.id and o.account_id = market.account_id()) then
    perform market.fail(409, 'invalid_state', 'This is an offer of your own account. Change it, or archive it.');
  end if;
  insert into market.report as r (offer_id, account_id, agent_id, reason, comment)
  values (report_offer.id, market.account_id(), market.agent_id(), report_offer.reason, nullif(btrim(report_offer.comment), ''))
  on conflict on constraint report_once do update
    set agent_id = excluded.agent_id, reason = excluded.reason, comment = excluded.comment, created_at = now(), settled_at = null
    where r.settled_at is not null;
  return jsonb_build_object('offer_id', report_offer.id, 'status', 'received',
    'summary', 'A moderator will look at this offer. Reporting it again before that changes nothing.');
end
$function$;
comment on function api.report_offer(uuid,text,text) is 'Puts a published offer of another before the moderators, once an account until they have decided. 409 invalid_state for an own offer, or while suspended.';
grant execute on function api.report_offer(uuid,text,text) to souk_api;

CREATE OR REPLACE FUNCTION inspect."check"(sample integer DEFAULT NULL::integer)
 RETURNS TABLE(invariant text, object text, detail text)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  -- Whole pages are drawn, so it costs what it reads, however large the table.
  share double precision := case when "check".sample is null then 100 else (
    select least(100, 100.0 * "check".sample / greatest(max(c.reltuples), 1)) from pg_catalog.pg_class c
    where c.oid in ('market.offer'::regclass, 'market.match'::regclass, 'market.publisher'::regclass, 'market.submission'::regclass))
    end;
begin
  return query select * from inspect.check_people(share);
  return query select * from inspect.check_requests(share);
  return query select * from inspect.check_market(share);
  return query select * from inspect.check_moderation(share);
  return query select * from inspect.check_references(share);
  return query select * from inspect.check_log();
  return query
  select 'job_is_not_held_by_the_dead', 'job ' || j.job_id, format('%s is held by %s since %s', j.task, j.locked_by, j.locked_at)
  from inspect.read_jobs() j
  -- A live worker frees it within a minute.
  where j.state = 'held by a dead worker' and j.locked_at < now() - interval '5 minutes';
end
$function$;
comment on function inspect."check"(integer) is 'Every broken invariant: its name (market.invariant says what it means and what to do), the row, and how it is broken. No row when all is well. Looks at everything, some twenty seconds for a million offers and as many matches; with a sample at about so many rows of each large table, drawn at random.';
grant execute on function inspect."check"(integer) to souk_dba;

CREATE OR REPLACE FUNCTION admin.offer_obstacle(offer admin.offer)
 RETURNS text
 LANGUAGE plpgsql
 STABLE
AS $function$ begin return market.decision_obstacle(offer.id, offer.account_id); end $function$;
comment on function admin.offer_obstacle(admin.offer) is 'Why you may not decide on it, another moderator may; null when you may.';
grant execute on function admin.offer_obstacle(admin.offer) to souk_moderator;

CREATE OR REPLACE FUNCTION market.decide_offer(id uuid, action text, expected_updated_at timestamp with time zone, expected_reports integer, reason text, sentence text)
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
  note text := market.visible_sentence(decide_offer.sentence);
begin
  select * into offer from market.offer o where o.id = decide_offer.id for no key update;
  if not found then
    perform market.fail(404, 'not_found', 'There is no such offer.');
  end if;
  perform market.check_may_decide(offer.id, offer.account_id);
  review := market.lock_case(offer.id);
  if offer.updated_at is distinct from decide_offer.expected_updated_at then
    perform market.fail(409, 'invalid_state',
      format('This offer has changed since you looked at it, and is %s now. Look at it again, then decide.', replace(offer.status, '_', ' ')));
  elsif coalesce(review.reports, 0) <> decide_offer.expected_reports then
    perform market.fail(409, 'invalid_state',
      'This offer was reported, or decided, while you looked at it. Read the reports, then decide.');
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
  elsif becomes = 'published' and offer.account_id is null then
    perform market.fail(409, 'invalid_state', 'The account of this offer was deleted, so nobody could answer for it, and it stays down.');
  end if;

  if decide_offer.action in ('remove', 'reject') then
    note := coalesce(note, (select r.sentence from market.reason r where r.code = decide_offer.reason));
  end if;
  update market.offer o set
    status = coalesce(becomes, o.status),
    reviewed = decide_offer.action in ('keep', 'restore', 'publish'),
    review_reason = case when decide_offer.action in ('remove', 'reject') then decide_offer.reason when decide_offer.action = 'uphold' then o.review_reason end,
    review_note = case when decide_offer.action in ('remove', 'reject') then note when decide_offer.action = 'uphold' then coalesce(note, o.review_note) end
  where o.id = offer.id;
  update market.appeal a set decided_at = now()
  where a.offer_id = offer.id and a.removed_at = offer.removed_at and a.decided_at is null and offer.status = 'removed';
  update market.report r set settled_at = now() where r.offer_id = offer.id and r.settled_at is null;
  update market.review_case c set closed_at = now(), reports = 0, held_by = null, held_until = null
  where c.offer_id = offer.id and c.closed_at is null;
  insert into market.decision (moderator_id, action, offer_id, account_id, reason, sentence)
  values (market.moderator_id(), decide_offer.action, offer.id, offer.account_id, decide_offer.reason, note);
  return (select o from admin.offer o where o.id = offer.id);
end
$function$;
comment on function market.decide_offer(uuid,text,timestamp with time zone,integer,text,text) is 'Makes one decision on an offer, settles its reports and closes its case; 409 invalid_state when the offer is not as expected, held by another, or not to be decided so.';
grant execute on function market.decide_offer(uuid,text,timestamp with time zone,integer,text,text) to souk_moderator;

CREATE OR REPLACE FUNCTION admin.keep_offer(id uuid, expected_updated_at timestamp with time zone, note text DEFAULT NULL::text, expected_reports integer DEFAULT NULL::integer)
 RETURNS admin.offer
 LANGUAGE plpgsql
AS $function$ begin return market.decide_offer(keep_offer.id, 'keep', keep_offer.expected_updated_at, keep_offer.expected_reports, null, keep_offer.note); end $function$;
comment on function admin.keep_offer(uuid,timestamp with time zone,text,integer) is 'Keeps an offer up: it becomes reviewed, and its reports are settled. The note is for other moderators.';
grant execute on function admin.keep_offer(uuid,timestamp with time zone,text,integer) to souk_moderator;

CREATE OR REPLACE FUNCTION admin.remove_offer(id uuid, expected_updated_at timestamp with time zone, reason text, sentence text DEFAULT NULL::text, expected_reports integer DEFAULT NULL::integer)
 RETURNS admin.offer
 LANGUAGE plpgsql
AS $function$ begin return market.decide_offer(remove_offer.id, 'remove', remove_offer.expected_updated_at, remove_offer.expected_reports, remove_offer.reason, remove_offer.sentence); end $function$;
comment on function admin.remove_offer(uuid,timestamp with time zone,text,text,integer) is 'Takes an offer down for a reason. Its owner reads the sentence, or that of the reason, and may appeal once.';
grant execute on function admin.remove_offer(uuid,timestamp with time zone,text,text,integer) to souk_moderator;

CREATE OR REPLACE FUNCTION admin.restore_offer(id uuid, expected_updated_at timestamp with time zone, note text DEFAULT NULL::text, expected_reports integer DEFAULT NULL::integer)
 RETURNS admin.offer
 LANGUAGE plpgsql
AS $function$ begin return market.decide_offer(restore_offer.id, 'restore', restore_offer.expected_updated_at, restore_offer.expected_reports, null, restore_offer.note); end $function$;
comment on function admin.restore_offer(uuid,timestamp with time zone,text,integer) is 'Puts an offer up again that was taken down. The note is for other moderators.';
grant execute on function admin.restore_offer(uuid,timestamp with time zone,text,integer) to souk_moderator;

CREATE OR REPLACE FUNCTION admin.uphold_removal(id uuid, expected_updated_at timestamp with time zone, sentence text DEFAULT NULL::text, expected_reports integer DEFAULT NULL::integer)
 RETURNS admin.offer
 LANGUAGE plpgsql
AS $function$ begin return market.decide_offer(uphold_removal.id, 'uphold', uphold_removal.expected_updated_at, uphold_removal.expected_reports, null, uphold_removal.sentence); end $function$;
comment on function admin.uphold_removal(uuid,timestamp with time zone,text,integer) is 'Declines an appeal: the offer stays down. A sentence replaces the one its owner reads.';
grant execute on function admin.uphold_removal(uuid,timestamp with time zone,text,integer) to souk_moderator;

CREATE OR REPLACE FUNCTION admin.publish_offer(id uuid, expected_updated_at timestamp with time zone, note text DEFAULT NULL::text, expected_reports integer DEFAULT NULL::integer)
 RETURNS admin.offer
 LANGUAGE plpgsql
AS $function$ begin return market.decide_offer(publish_offer.id, 'publish', publish_offer.expected_updated_at, publish_offer.expected_reports, null, publish_offer.note); end $function$;
comment on function admin.publish_offer(uuid,timestamp with time zone,text,integer) is 'Lets an offer go live that waits for review. The note is for other moderators.';
grant execute on function admin.publish_offer(uuid,timestamp with time zone,text,integer) to souk_moderator;

CREATE OR REPLACE FUNCTION admin.reject_offer(id uuid, expected_updated_at timestamp with time zone, reason text, sentence text DEFAULT NULL::text, expected_reports integer DEFAULT NULL::integer)
 RETURNS admin.offer
 LANGUAGE plpgsql
AS $function$ begin return market.decide_offer(reject_offer.id, 'reject', reject_offer.expected_updated_at, reject_offer.expected_reports, reject_offer.reason, reject_offer.sentence); end $function$;
comment on function admin.reject_offer(uuid,timestamp with time zone,text,text,integer) is 'Rejects an offer that waits for review, for good. Its owner reads the sentence, or that of the reason.';
grant execute on function admin.reject_offer(uuid,timestamp with time zone,text,text,integer) to souk_moderator;

CREATE OR REPLACE FUNCTION market.begin_settling(account_id uuid)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  if market.moderator_id() is null then
    perform market.fail(404, 'not_found', 'There is no such account.');
  end if;
  -- Most accounts are done with at once; the worker sees to the rest of a large one. Each takes some milliseconds, and
  -- an operation of a moderator has three seconds.
  if not market.settle_standing(begin_settling.account_id, 50) then
    perform market.enqueue('settle_standing', begin_settling.account_id);
  end if;
end
$function$;
comment on function market.begin_settling(uuid) is 'Archives or publishes again the offers of an account whose standing changed: the first 50 now, the rest by a job.';
grant execute on function market.begin_settling(uuid) to souk_moderator;

CREATE OR REPLACE FUNCTION admin.suspend_account(id uuid, reason text, sentence text DEFAULT NULL::text)
 RETURNS admin.account
 LANGUAGE plpgsql
AS $function$
declare
  account market.account := market.lock_account(suspend_account.id);
  note text := market.visible_sentence(suspend_account.sentence);
begin
  if account.suspended_at is not null then
    perform market.fail(409, 'invalid_state', 'This account is suspended already.');
  elsif exists (select from market.moderator m where m.account_id = account.id) then
    perform market.fail(409, 'invalid_state', 'This account belongs to a moderator. Have the appointment ended first.');
  elsif char_length(note) > 500 then
    perform market.fail(400, 'bad_request', 'The sentence may be at most 500 characters long.');
  end if;
  note := coalesce(note, (select r.sentence from market.reason r where r.code = suspend_account.reason));
  if note is null or not exists (select from market.reason r where r.code = suspend_account.reason) then
    perform market.fail(400, 'bad_request', 'Give one of the reasons, by its code.');
  end if;
  update market.account a set suspended_at = now(), suspension_reason = suspend_account.reason, suspension_note = note
  where a.id = account.id;
  perform market.begin_settling(account.id);
  insert into market.decision (moderator_id, action, account_id, reason, sentence)
  values (market.moderator_id(), 'suspend', account.id, suspend_account.reason, note);
  return (select a from admin.account a where a.id = account.id);
end
$function$;
comment on function admin.suspend_account(uuid,text,text) is 'Suspends an account: its agents may read, what they write is refused with the sentence, and its offers are not shown.';
grant execute on function admin.suspend_account(uuid,text,text) to souk_moderator;

CREATE OR REPLACE FUNCTION admin.reinstate_account(id uuid, note text DEFAULT NULL::text, expected_suspended_at timestamp with time zone DEFAULT NULL::timestamp with time zone)
 RETURNS admin.account
 LANGUAGE plpgsql
AS $function$
declare
  account market.account := market.lock_account(reinstate_account.id);
begin
  if account.suspended_at is null then
    perform market.fail(409, 'invalid_state', 'This account is not suspended.');
  elsif account.suspended_at <> reinstate_account.expected_suspended_at then
    perform market.fail(409, 'invalid_state', 'This account was reinstated and suspended anew since you looked at it. Read why, then decide.');
  elsif char_length(reinstate_account.note) > 500 then
    perform market.fail(400, 'bad_request', 'The note may be at most 500 characters long.');
  end if;
  perform market.check_may_decide(null, account.id);
  update market.account a set suspended_at = null, suspension_reason = null, suspension_note = null where a.id = account.id;
  perform market.begin_settling(account.id);
  insert into market.decision (moderator_id, action, account_id, sentence)
  values (market.moderator_id(), 'reinstate', account.id, market.visible_sentence(reinstate_account.note));
  return (select a from admin.account a where a.id = account.id);
end
$function$;
comment on function admin.reinstate_account(uuid,text,timestamp with time zone) is 'Ends a suspension; what it archived goes live again. The note is for other moderators. With the suspendedAt that you saw, only that suspension.';
grant execute on function admin.reinstate_account(uuid,text,timestamp with time zone) to souk_moderator;

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
  perform market.check_may_decide(null, agent.account_id);
  update market.agent a set removed_at = now() where a.id = agent.id and a.removed_at is null;
  if not found then
    perform market.fail(409, 'invalid_state', 'This agent was removed already.');
  end if;
  insert into market.decision (moderator_id, action, account_id, agent_id, sentence)
  values (market.moderator_id(), 'remove_agent', agent.account_id, agent.id, market.visible_sentence(remove_agent.note));
  return (select a from admin.agent a where a.id = agent.id);
end
$function$;
comment on function admin.remove_agent(uuid,text) is 'Removes an agent: its token is refused from now on. What it published stays. The note is for other moderators.';
grant execute on function admin.remove_agent(uuid,text) to souk_moderator;

CREATE OR REPLACE FUNCTION admin.override_cap(account_id uuid, action text, cap integer DEFAULT NULL::integer, note text DEFAULT NULL::text, expected_cap integer DEFAULT NULL::integer)
 RETURNS admin.account
 LANGUAGE plpgsql
AS $function$
declare
  account market.account := market.lock_account(override_cap.account_id);
  in_force integer;
begin
  if override_cap.action not in ('publish_offer', 'create_ask', 'preview_offer') then
    perform market.fail(400, 'bad_request', 'The action is one of publish_offer, create_ask and preview_offer.');
  elsif override_cap.cap not between 0 and 100000 then
    perform market.fail(400, 'bad_request', 'A cap is a whole number from 0 to 100000.');
  elsif char_length(override_cap.note) > 400 then
    perform market.fail(400, 'bad_request', 'The note may be at most 400 characters long.');
  end if;
  perform market.check_may_decide(null, account.id);
  in_force := market.call_cap(account.id, override_cap.action);
  if in_force <> override_cap.expected_cap then
    perform market.fail(409, 'invalid_state', format('This cap has changed since you looked at it: it is %s now. Look at it again.', in_force));
  end if;
  if override_cap.cap is null then
    delete from market.cap_override o where o.account_id = account.id and o.action = override_cap.action;
  else
    insert into market.cap_override (account_id, action, cap, changed_by)
    values (account.id, override_cap.action, override_cap.cap, market.moderator_id())
    on conflict on constraint cap_override_pkey do update
      set cap = excluded.cap, changed_by = excluded.changed_by, changed_at = now();
  end if;
  insert into market.decision (moderator_id, action, account_id, sentence)
  values (market.moderator_id(), 'override_cap', account.id, concat_ws(' ',
    format('%s: %s.', override_cap.action, coalesce(override_cap.cap::text, 'by its record')), market.visible_sentence(override_cap.note)));
  return (select a from admin.account a where a.id = account.id);
end
$function$;
comment on function admin.override_cap(uuid,text,integer,text,integer) is 'Sets how often an agent of the account may do something within an hour; without a cap the record decides again. With the cap that you saw, only while that is in force.';
grant execute on function admin.override_cap(uuid,text,integer,text,integer) to souk_moderator;

CREATE OR REPLACE FUNCTION admin.change_setting(name text, value jsonb, expected_value jsonb)
 RETURNS admin.setting
 LANGUAGE plpgsql
AS $function$
declare
  setting market.setting;
begin
  select * into setting from market.setting s where s.name = change_setting.name and exists (
    select from admin.setting a where a.name = s.name) for no key update;
  if not found then
    perform market.fail(404, 'not_found', 'There is no such setting, or it is not yours to change.');
  elsif setting.value is distinct from change_setting.expected_value then
    perform market.fail(409, 'invalid_state', format('Somebody changed this setting meanwhile: it is %s now. Look at it again.', setting.value));
  elsif jsonb_typeof(change_setting.value) is distinct from jsonb_typeof(setting.value) then
    perform market.fail(400, 'bad_request', case jsonb_typeof(setting.value)
      when 'boolean' then 'This setting is true or false.' else 'This setting is a whole number.' end);
  elsif setting.least is not null and (change_setting.value::numeric not between setting.least and setting.most
    or change_setting.value::numeric % 1 <> 0) then
    perform market.fail(400, 'bad_request', format('This setting is a whole number from %s to %s.', setting.least, setting.most));
  end if;
  update market.setting s set value = change_setting.value, changed_by = market.moderator_id(), changed_at = now()
  where s.name = setting.name;
  return (select s from admin.setting s where s.name = setting.name);
end
$function$;
comment on function admin.change_setting(text,jsonb,jsonb) is 'Changes a setting that still has the value you saw.';
grant execute on function admin.change_setting(text,jsonb,jsonb) to souk_moderator;

reset role;
