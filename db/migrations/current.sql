set local role souk_owner;

-- Columns that sign-in brings; declared there.
alter table market.session add column signed_in_at timestamptz;
comment on column market.session.signed_in_at is 'When the person last proved a method in it; null when it only approved an agent.';
alter table market.proved_method add column email text,
  add constraint proved_method_email_length check (char_length(email) between 3 and 254);
comment on column market.proved_method.email is 'The mailbox that the provider vouched for; null when it did not. No agent may read it.';
grant select (email) on market.proved_method to souk_person;

--!include market/claims.sql
--!include market/profile.sql
--!include market/require_recent_sign_in.sql

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
  return new;
end
$function$;
comment on function market.settle_removed_agent() is 'What dies with a removed agent: its open link and its keys.';

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

CREATE OR REPLACE FUNCTION market.visible_name(name text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  -- Control, bidirectional and zero-width characters would let a name pretend to be other words on the approval page.
  select nullif(btrim(regexp_replace(normalize(name, NFC),
    '[\u0001-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb]|[\U000E0000-\U000E007F]', '', 'g'), E' \u00a0\u3000'), '')
$function$;
comment on function market.visible_name(text) is 'A name without characters that cannot be seen; null when nothing is left.';
grant execute on function market.visible_name(text) to souk_person;

CREATE OR REPLACE FUNCTION market.clean_name(name text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$ select coalesce(market.visible_name(name), 'Unnamed agent') $function$;
comment on function market.clean_name(text) is 'What an agent calls itself, without characters that cannot be seen.';

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
  from market.session s where s.account_id = market.account_id() and s.expires_at > now();
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
  if exists (select from market.proved_method p
      where p.account_id = market.account_id() and p.method = start_verification.method) then
    -- Proved already: there is nothing to wait for.
    return jsonb_build_object('status', 200, 'body', jsonb_build_object(
      'id', coalesce((select v.id from market.verification v where v.account_id = market.account_id()
        and v.method = start_verification.method and v.status = 'completed' order by v.id desc limit 1), new_id),
      'method', start_verification.method, 'status', 'completed', 'expires_in', 0,
      'summary', 'The account has proved this method already.'));
  end if;
  update market.verification v set status = 'expired'
  where v.agent_id = market.agent_id() and v.method = start_verification.method and v.status = 'pending' and v.expires_at <= now();
  insert into market.verification (id, account_id, agent_id, method, secret_hash)
  values (new_id, market.account_id(), market.agent_id(), start_verification.method,
    sha256(convert_to(market.verification_secret(link_key, new_id), 'UTF8')))
  on conflict do nothing;
  started := found;
  select * into verification from market.verification v
  where v.agent_id = market.agent_id() and v.method = start_verification.method and v.status = 'pending';
  return jsonb_build_object('status', case when started then 201 else 200 end,
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
