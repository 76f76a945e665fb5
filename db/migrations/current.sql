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

--!include market/visible_name.sql
--!include market/require_recent_sign_in.sql
--!include market/account_label.sql
--!include market/sign_in.sql
--!include api/verification_page.sql
--!include api/sign_in.sql
--!include api/viewer.sql
--!include jobs/approval_notice.sql

--!include market/claims.sql
--!include market/profile.sql

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

--!include market/audit.sql

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
