-- Moderators: their role and their schema, what they look at, what they decide, and what follows from it.

do $$
begin
  begin
    -- Two databases of one cluster may be migrated at once; this is the one lock that they share.
    lock table pg_catalog.pg_authid in share row exclusive mode;
  exception when insufficient_privilege then
    null;
  end;
  if not exists (select from pg_roles where rolname = 'souk_moderator') then
    create role souk_moderator nologin;
  end if;
end
$$;
grant souk_moderator to souk_api;

create schema admin authorization souk_owner;
comment on schema admin is 'What moderators see and decide, in their words: exactly what the GraphQL under /admin shows.';
grant usage on schema market to souk_moderator;
grant usage on schema admin to souk_moderator;

set local role souk_owner;

--!include market/reason.sql

alter table market.account
  add column suspended_at timestamptz,
  add column suspension_reason text constraint account_suspension_reason_fkey references market.reason on delete restrict,
  add column suspension_note text,
  add constraint account_suspension_note_length check (char_length(suspension_note) between 1 and 500),
  add constraint account_suspension_whole check (suspended_at is not null or (suspension_reason is null and suspension_note is null));
create index account_suspension_reason_idx on market.account (suspension_reason) where suspension_reason is not null;
create index account_display_name_idx on market.account (lower(display_name) text_pattern_ops);
comment on column market.account.suspended_at is 'Since when moderation has suspended it; null while in good standing.';
comment on column market.account.suspension_reason is 'Why it is suspended, as a code.';
comment on column market.account.suspension_note is 'Why it is suspended, as a sentence for its owner.';

create index agent_name_idx on market.agent (lower(name) text_pattern_ops);

alter table market.offer
  add column review_reason text constraint offer_review_reason_fkey references market.reason on delete restrict,
  add column suspended_at timestamptz,
  add constraint offer_suspended_is_archived check (suspended_at is null or status = 'archived');
create index offer_hidden_search_idx on market.offer using gin (search) with (fastupdate = off) where status <> 'published';
create index offer_review_reason_idx on market.offer (review_reason) where review_reason is not null;
create index offer_suspended_idx on market.offer (account_id) where suspended_at is not null;
comment on column market.offer.review_reason is 'Why a moderator took it down or rejected it, as a code.';
comment on column market.offer.suspended_at is 'When it was archived because its account was suspended; it is published again when the account is reinstated.';

create index ask_text_idx on market.ask using gin (to_tsvector('simple', market.fold(text)));

alter table market.report add column settled_at timestamptz;
comment on column market.report.settled_at is 'When a moderator decided on the offer it is about; null while it waits.';

alter table market.setting
  add column least integer,
  add column most integer,
  add column changed_by uuid,
  add column changed_at timestamptz,
  add constraint setting_bounds check ((least is null) = (most is null) and least <= most),
  add constraint setting_within_bounds
    check (jsonb_typeof(value) <> 'number' or least is null or value::numeric between least and most);
comment on column market.setting.least is 'The least that a moderator may set a number to.';
comment on column market.setting.most is 'The most that a moderator may set a number to.';
comment on column market.setting.changed_by is 'The moderator who changed it last; null when it was changed in SQL, or never.';
comment on column market.setting.changed_at is 'When a moderator changed it last.';
revoke select on market.setting from souk_agent, souk_person;
grant select (name, value, summary) on market.setting to souk_agent, souk_person;
-- What comes with the service is nobody's act.
alter table market.setting disable trigger audit;
insert into market.setting (name, value, summary, least, most) values
  ('publish_offer_cap', '60', 'Offers an hour that an agent of a new account may send. It rises with the record of the account.', 4, 10000),
  ('create_ask_cap', '120', 'Asks an hour that an agent of a new account may send. It rises with the record of the account.', 4, 10000),
  ('preview_offer_cap', '120', 'Previews an hour that an agent of a new account may ask for. It rises with the record of the account.', 4, 10000),
  ('first_offers_to_review', '1', 'How many of the first offers of an account a moderator looks at after they went live; 0 for none.', 0, 100);
alter table market.setting enable trigger audit;

--!include market/moderator.sql
--!include market/review_case.sql
--!include market/decision.sql
--!include market/appeal.sql
--!include market/suspension.sql
--!include market/cap_override.sql
--!include market/suspicious_link.sql
--!include jobs/suspension.sql
--!include api/appeal_offer.sql
--!include api/moderator_link.sql
-- What moderators decided, and not in which words.
grant select on market.reason, market.moderator, market.review_case, market.cap_override to souk_dba;
grant select (created_at, expires_at) on market.moderator_link to souk_dba;
grant select (id, moderator_id, action, offer_id, account_id, agent_id, reason, created_at) on market.decision to souk_dba;
grant select (offer_id, removed_at, account_id, agent_id, created_at) on market.appeal to souk_dba;
grant select (suspended_at, suspension_reason) on market.account to souk_dba;
grant select (review_reason, suspended_at) on market.offer to souk_dba;
grant select (settled_at) on market.report to souk_dba;

create policy "a dba reads all" on market.reason for select to souk_dba using (true);
create policy "a dba reads all" on market.moderator for select to souk_dba using (true);
create policy "a dba reads all" on market.moderator_link for select to souk_dba using (true);
create policy "a dba reads all" on market.review_case for select to souk_dba using (true);
create policy "a dba reads all" on market.cap_override for select to souk_dba using (true);
create policy "a dba reads all" on market.decision for select to souk_dba using (true);
create policy "a dba reads all" on market.appeal for select to souk_dba using (true);

--!include market/moderation_access.sql
--!include admin/moderators.sql
--!include admin/accounts.sql
--!include admin/offers.sql
--!include admin/cases.sql
--!include admin/decisions.sql
--!include admin/measures.sql
--!include admin/settings.sql
--!include admin/search.sql
--!include admin/audit.sql

-- What was reported before there was anybody to look.
insert into market.review_case (offer_id, causes, reports, opened_at)
  select r.offer_id, array['reported'], count(*), min(r.created_at) from market.report r group by r.offer_id;
insert into market.review_case (offer_id, causes, opened_at)
  select o.id, array['pending'], o.created_at from market.offer o where o.status = 'pending_review'
  on conflict on constraint review_case_pkey do update
    set causes = market.review_case.causes || excluded.causes, opened_at = least(market.review_case.opened_at, excluded.opened_at);

comment on column market.audit_event.row_id is 'Which row: its id, or what it has for one (the method, the switch, the capped action, the account of a profile).';
create or replace trigger audit after insert or update or delete on market.offer for each row execute function market.audit(
  'account_id', 'agent_id', 'origin_ask_id', 'status', 'language', 'domain', 'category', 'offer_kind', 'price_hundredths',
  'price_currency', 'price_period', 'reviewed', 'published_at', 'removed_at', 'review_reason', 'suspended_at');
create or replace trigger audit after update or delete on market.account for each row execute function market.audit(
  'claimed_at', 'suspended_at', 'suspension_reason');
create or replace trigger audit after insert or update or delete on market.report for each row execute function market.audit(
  'offer_id', 'account_id', 'agent_id', 'reason', 'settled_at');
create or replace trigger audit after insert or delete on market.moderator for each row execute function market.audit(
  'account_id', 'appointed_by');
create or replace trigger audit after insert or update or delete on market.cap_override for each row execute function market.audit(
  'action', 'cap');

-- Functions beside tables whose text changed (as db/schema has them)

CREATE OR REPLACE FUNCTION market.uuid_v7()
 RETURNS uuid
 LANGUAGE sql
 PARALLEL SAFE
AS $function$
  select encode(
    set_bit(set_bit(
      overlay(
        uuid_send(gen_random_uuid())
        placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
        from 1 for 6
      ), 52, 1), 53, 1),
    'hex')::uuid
$function$;
comment on function market.uuid_v7() is 'A new UUIDv7: sorts by the time it was made.';
grant execute on function market.uuid_v7() to souk_agent, souk_moderator, souk_person;

CREATE OR REPLACE FUNCTION market.fold(words text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select translate(
    replace(replace(replace(
      regexp_replace(normalize(lower(words), NFKD), '[\u0300-\u036f]', '', 'g'),
      'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'),
    'łøđðıþ', 'loddit')
$function$;
comment on function market.fold(text) is 'Words as they are compared: lower case, compatibility forms resolved, no accents.';
grant execute on function market.fold(text) to souk_agent, souk_moderator, souk_person;

CREATE OR REPLACE FUNCTION market.search_config(language text)
 RETURNS regconfig
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case split_part(language, '-', 1)
    when 'de' then 'pg_catalog.german'::regconfig
    when 'en' then 'pg_catalog.english'::regconfig
    when 'es' then 'pg_catalog.spanish'::regconfig
    when 'fr' then 'pg_catalog.french'::regconfig
    when 'it' then 'pg_catalog.italian'::regconfig
    when 'nl' then 'pg_catalog.dutch'::regconfig
    when 'pt' then 'pg_catalog.portuguese'::regconfig
    else 'pg_catalog.simple'::regconfig
  end
$function$;
comment on function market.search_config(text) is 'The stemmer of a language (BCP 47); simple where PostgreSQL has none, as for Polish.';
grant execute on function market.search_config(text) to souk_agent, souk_moderator, souk_person;

CREATE OR REPLACE FUNCTION market.fail(status integer, code text, detail text, extra jsonb DEFAULT '{}'::jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  raise exception using
    errcode = 'PT' || fail.status,
    message = fail.code,
    detail = fail.detail,
    hint = fail.extra::text;
end
$function$;
comment on function market.fail(integer,text,text,jsonb) is 'Refuses the request: status and code of the contract, a sentence fit to be read aloud, and further members of the Problem (headers apart, under "headers").';
grant execute on function market.fail(integer,text,text,jsonb) to souk_agent, souk_api, souk_moderator, souk_person;

CREATE OR REPLACE FUNCTION market.require_connected(permission text, headers jsonb DEFAULT '{}'::jsonb)
 RETURNS void
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  if not market.connected() then
    perform market.fail(403, 'verification_required',
      'No person has approved this agent yet. Ask the person you act for to open the connection link and compare the code; then try again.',
      jsonb_build_object(
        'headers', headers,
        'permission', permission,
        'connected', false,
        'verified', market.verified_methods(),
        -- No permission requires a method at present, so no method would lift the refusal.
        'accepted_methods', '[]'::jsonb,
        'options', '[]'::jsonb,
        'next', jsonb_build_array(jsonb_build_object(
          'summary', 'Ask the person to open the connection link you were given, then read your permissions.',
          'method', 'GET', 'path', '/v1/me'))));
  end if;
  perform market.require_good_standing(require_connected.headers);
end
$function$;
comment on function market.require_connected(text,jsonb) is 'Refuses with 403 verification_required, naming the permission, until a person has approved the agent, and with 409 invalid_state while the account is suspended.';
grant execute on function market.require_connected(text,jsonb) to souk_agent, souk_person;

CREATE OR REPLACE FUNCTION market.call_cap_terms(account_id uuid, action text)
 RETURNS TABLE(base integer, factor integer, settled integer, proved integer, old boolean, removed integer)
 LANGUAGE sql
 STABLE
AS $function$
  -- base: offers cost readers' attention, asks only machine time, hence twice as many at first, and every term doubled.
  select market.setting(call_cap_terms.action || '_cap')::integer,
    case call_cap_terms.action when 'publish_offer' then 1 else 2 end,
    (select count(*)::integer from (
      select from market.offer o
      where o.account_id = call_cap_terms.account_id and o.status in ('published', 'archived')
        and o.published_at <= now() - interval '72 hours'
      limit 60) as settled),
    (select count(*)::integer from market.proved_method m where m.account_id = call_cap_terms.account_id),
    (select a.created_at <= now() - interval '30 days' from market.account a where a.id = call_cap_terms.account_id),
    (select count(*)::integer from (
      select from market.offer o
      where o.account_id = call_cap_terms.account_id and o.status = 'removed' and o.removed_at > now() - interval '30 days'
      limit 10) as removals)
$function$;
comment on function market.call_cap_terms(uuid,text) is 'What a cap is made from: base and factor of the action; settled offers (60 count), proved methods, whether the account is 30 days old, and listings removed in the last 30 days (10 count).';
grant execute on function market.call_cap_terms(uuid,text) to souk_dba;

CREATE OR REPLACE FUNCTION market.call_cap(account_id uuid, action text)
 RETURNS integer
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  return coalesce(
    (select o.cap from market.cap_override o where o.account_id = call_cap.account_id and o.action = call_cap.action),
    (select greatest(
      least(t.base + t.factor * (4 * t.settled + 30 * t.proved + case when t.old then 60 else 0 end), 10 * t.base) / 2 ^ t.removed,
      t.base / 4)::integer
    from market.call_cap_terms(call_cap.account_id, call_cap.action) as t));
end
$function$;
comment on function market.call_cap(uuid,text) is 'Calls an hour: base + 4 x min(settled offers, 60) + 30 x proved methods + 60 after 30 days, at most 10 x base; each removal of the last 30 days halves it, not below base / 4. Terms are doubled for asks and previews. The base is a setting, and what a moderator set for the account goes before all.';
grant execute on function market.call_cap(uuid,text) to souk_agent, souk_dba, souk_moderator, souk_person;

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
    -- hangs one, and neither those that read, or see to a suspension.
    queue_name => case
      when enqueue.task in ('read_submission', 'settle_standing') then null
      when enqueue.task like 'send\_%' then 'mail'
      else 'embed ' || (hashtext(enqueue.id::text) & 3) end);
end
$function$;
comment on function market.enqueue(text,uuid) is 'Gives the worker a job about one row. For the market''s own functions.';

CREATE OR REPLACE FUNCTION market.move_offer()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if old.status <> new.status and (old.status, new.status) not in (
    ('published', 'archived'), ('published', 'removed'),
    ('archived', 'published'), ('archived', 'removed'),
    ('removed', 'published'),
    ('pending_review', 'published'), ('pending_review', 'rejected'), ('pending_review', 'archived'))
    -- Only a moderator restores, publishes what waits, takes down or rejects.
    or old.status <> new.status and current_user in ('souk_agent', 'souk_person') and (old.status, new.status) not in (
      ('published', 'archived'), ('archived', 'published'), ('pending_review', 'archived'))
    -- What never passed review does not go live by way of the archive.
    or old.status = 'archived' and new.status = 'published' and old.published_at is null
  then
    perform market.fail(409, 'invalid_state',
      format('This offer is %s, so it cannot become %s.', old.status, new.status));
  end if;
  new.updated_at := now();
  if new.status <> 'archived' then
    new.suspended_at := null;
  end if;
  if new.status = 'published' then
    new.published_at := coalesce(old.published_at, now());
  elsif new.status = 'removed' and old.status <> 'removed' then
    new.removed_at := now();
  end if;
  return new;
end
$function$;
comment on function market.move_offer() is 'Lets an offer move only as the contract says, and keeps its times.';
grant execute on function market.move_offer() to souk_agent, souk_moderator, souk_person;

CREATE OR REPLACE FUNCTION market.audit()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  was jsonb := case when tg_op <> 'INSERT' then to_jsonb(old) end;
  becomes jsonb := case when tg_op <> 'DELETE' then to_jsonb(new) end;
  subject uuid := coalesce(becomes ->> 'account_id', was ->> 'account_id',
    case when tg_table_name = 'account' then coalesce(becomes ->> 'id', was ->> 'id') end)::uuid;
  status text := case when tg_op = 'INSERT' or was -> 'status' <> becomes -> 'status' then becomes ->> 'status' end;
  login text := coalesce(nullif(current_setting('role'), 'none'), session_user);
  moderator uuid := nullif(current_setting('market.moderator_id', true), '')::uuid;
  agent uuid := market.agent_id();
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
    -- Nobody has entered: it is an agent that makes itself, or a person whom the secret of a link admits.
    when login = 'souk_api' then case when tg_table_name = 'agent' and tg_op = 'INSERT' then 'agent' else 'person' end
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
    || case when offer.status <> 'removed' then '{}' else jsonb_build_object('appealable', market.is_appealable(offer)) end;
end
$function$;
comment on function market.owner_offer(market.offer) is 'An offer as its owner sees it.';
grant execute on function market.owner_offer(market.offer) to souk_agent, souk_person;

CREATE OR REPLACE FUNCTION market.finish_offer(submission market.submission, reading jsonb, OUT status integer, OUT body jsonb)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  read market.offer := market.read_offer(submission.text, reading);
  current market.offer;
begin
  read.warnings := market.image_warnings(submission.images);
  if submission.kind = 'preview_offer' then
    status := 200;
    body := market.understood(read) || jsonb_build_object('questions', market.questions(read.missing_fields, read.language));
    return;
  end if;
  if not market.hold_standing(submission.account_id) then
    status := 409;
    body := jsonb_build_object('code', 'invalid_state', 'account_status', 'suspended',
      'detail', 'This account was suspended by moderation while the text was being read, so nothing was published.');
    return;
  end if;
  if 'contact' = any (read.missing_fields) then
    status := 400;
    body := jsonb_build_object('code', 'missing_contact',
      'detail', 'The text names no way to reach the publisher. Ask the person for a phone number, an e-mail address or a link, put it into the text and send it again.',
      'errors', jsonb_build_array(jsonb_build_object('pointer', '/text', 'detail', 'Add a phone number, an e-mail address or a link.')));
    return;
  end if;

  if submission.kind = 'update_offer' then
    update market.offer o set
      text = read.text, images = submission.images, language = read.language, title = read.title,
      domain = read.domain, category = read.category, offer_kind = read.offer_kind,
      price_hundredths = read.price_hundredths, price_currency = read.price_currency, price_period = read.price_period,
      location_text = read.location_text, metadata = read.metadata, contact = read.contact, extraction = read.extraction,
      missing_fields = read.missing_fields, warnings = read.warnings, reviewed = false
    where o.id = submission.target_id and o.account_id = submission.account_id
      and o.status in ('published', 'archived', 'pending_review')
    returning * into current;
    if not found then
      status := 409;
      body := jsonb_build_object('code', 'invalid_state',
        'detail', 'This offer was taken down by moderation while its new text was being read, so it cannot be changed.');
      return;
    end if;
    status := 200;
  else
    insert into market.offer (id, account_id, agent_id, origin_ask_id, status, text, images, language, title,
      domain, category, offer_kind, price_hundredths, price_currency, price_period, location_text,
      metadata, contact, extraction, missing_fields, warnings, published_at)
    select submission.target_id, submission.account_id, submission.agent_id, submission.origin_ask_id,
      m.status, read.text, submission.images, read.language, read.title,
      read.domain, read.category, read.offer_kind, read.price_hundredths, read.price_currency, read.price_period,
      read.location_text, read.metadata, read.contact, read.extraction, read.missing_fields, read.warnings,
      case m.status when 'published' then now() end
    from (select case when market.setting('pre_moderation')::boolean then 'pending_review' else 'published' end as status) as m
    returning * into current;
    status := 201;
  end if;
  perform market.review_read_offer(current, coalesce((finish_offer.reading ->> 'addresses_agents')::boolean, false));
  body := jsonb_build_object('offer_id', current.id, 'status', current.status) || market.understood(current);
end
$function$;
comment on function market.finish_offer(market.submission,jsonb) is 'Publishes, changes or previews an offer by its reading, or refuses it for want of a contact: the answer''s status and body.';

CREATE OR REPLACE FUNCTION api.get_me(base_url text, link_key bytea)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  agent market.agent;
  account market.account;
  connected boolean := market.connected();
  may_write boolean;
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
  may_write := connected and account.suspended_at is null;
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
      select jsonb_object_agg(p.name, jsonb_build_object('allowed', may_write or not p.needs_approval)
        || case when p.needs_approval and not connected then jsonb_build_object('accepted_methods', '[]'::jsonb,
          'summary', 'A person has to approve this agent first, through the connection link.')
        when p.needs_approval and not may_write then jsonb_build_object('accepted_methods', '[]'::jsonb,
          'summary', 'This account is suspended by moderation. ' || coalesce(account.suspension_note, 'The reason was not stated.'))
        else '{}' end)
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
      select e.id, e.at, e.actor_type, e.agent_id, e.action, e.table_name, e.row_id from market.audit_event e
      where e.subject_account_id = market.account_id() and e.at > now() - interval '12 months'
        and e.table_name in ('offer', 'ask', 'agent', 'account', 'profile', 'proved_method')
        and (last_seen is null or (e.at, e.id) < ((last_seen ->> 'time')::timestamptz, (last_seen ->> 'id')::uuid))
      order by e.at desc, e.id desc limit own_activity.limit + 1) as e
  )
  select
    coalesce(jsonb_agg(jsonb_build_object(
      'at', market.utc(p.at), 'action', p.action,
      'agent', (select jsonb_build_object('id', a.id, 'name', a.name) from market.agent a where a.id = p.agent_id),
      'target', market.activity_target(p.table_name, p.row_id))
      || case p.actor_type when 'moderator' then jsonb_build_object('by', 'moderator') else '{}' end order by p.n) filter (where p.n <= own_activity.limit), '[]'),
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
comment on function api.list_activity(integer,text) is 'What was done in the account in the last 12 months, newest first, and by which agent (null: the person, or by a moderator, where by says so).';
grant execute on function api.list_activity(integer,text) to souk_api;

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
      'extraction', o.extraction, 'warnings', to_jsonb(o.warnings), 'reviewed', o.reviewed,
      'appeals', (select coalesce(jsonb_agg(jsonb_build_object('comment', p.comment, 'created_at', market.utc(p.created_at))
        order by p.created_at), '[]') from market.appeal p where p.offer_id = o.id)) as item
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

CREATE OR REPLACE FUNCTION inspect.check_requests(share double precision)
 RETURNS TABLE(invariant text, object text, detail text)
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return query
  select 'submission_is_counted', 'agent ' || s.agent_id,
    format('%s texts of %s within an hour, and %s counted calls within a day', s.texts, s.action, c.calls)
  from (
    select s.agent_id, a.action, count(*) as texts
    from market.submission s
    cross join lateral (select case when s.kind = 'preview_offer' then 'preview_offer'
      when s.kind like '%_ask' then 'create_ask' else 'publish_offer' end as action) as a
    where s.created_at > now() - interval '1 hour'
      -- A person's are not counted.
      and s.agent_id is not null
      -- A change of an ask without a new text comes without a submission; one with it counts.
    group by s.agent_id, a.action) as s
  cross join lateral (
    select count(*) as calls from market.call c where c.scope = 'agent:' || s.agent_id and c.action = s.action) as c
  where c.calls < s.texts;

  return query
  select 'call_is_past', 'call ' || c.id, format('a call of %s at %s', c.action, c.called_at)
  from market.call c where c.called_at > clock_timestamp() + interval '1 second';

  return query
  select 'window_keeps_to_cap', c.scope, format('%s calls of %s within an hour', c.calls, c.action)
  from (
    select c.scope, c.action, count(*) as calls from market.call c
    where c.called_at > now() - interval '1 hour' and c.scope like 'agent:%'
    -- Ten times the base is as far as a record takes an agent.
    group by c.scope, c.action having count(*) > case c.action when 'publish_offer' then 600 else 1200 end) as c
  left join market.agent g on 'agent:' || g.id = c.scope
  where c.calls > coalesce(market.call_cap(g.account_id, c.action), 0)
    -- A cap that a moderator lowered within the hour says nothing of the calls before.
    and not exists (select from market.cap_override o
      where o.account_id = g.account_id and o.action = c.action and o.changed_at > now() - interval '1 hour')
    and not exists (select from market.setting s
      where s.name = c.action || '_cap' and s.changed_at > now() - interval '1 hour');

  return query
  -- Not the key itself, which its agent chose: this goes into logs. inspect.keys_in_flight shows it.
  select 'key_has_answer',
    case when exists (select from market.agent g where g.id = k.owner_id) then 'agent ' else 'account ' end || k.owner_id,
    case when k.submission_id is null then 'a key of ' || k.created_at || ' holds no submission'
      else 'a key has been in flight since ' || k.created_at end
  from (
    select k.* from market.idempotency_key k where k.submission_id is null
    union all
    select k.* from market.submission s join market.idempotency_key k on k.submission_id = s.id
    -- The sweep comes every minute for what is ten minutes old.
    where s.settled_at is null and s.created_at < now() - interval '15 minutes') as k;

  return query
  select 'submission_is_settled', 'submission ' || s.id, format('%s waits since %s', s.kind, s.created_at)
  from market.submission s
  where s.settled_at is null and s.created_at < now() - interval '15 minutes';

  return query
  select 'submission_has_job', 'submission ' || s.id, format('%s waits since %s, and no job reads it', s.kind, s.created_at)
  from market.submission s
  where s.settled_at is null
    and not exists (select from inspect.read_jobs() j where j.task = 'read_submission' and j.row_id = s.id);

  return query
  select 'answer_tells_the_truth', 'submission ' || s.id,
    format('%s was answered with %s, and %s %s is %s', s.kind, s.status, split_part(s.kind, '_', 2), s.target_id,
      case when f.found then 'there' else 'not there' end)
  from market.submission s tablesample system (check_requests.share)
  cross join lateral (
    select case s.kind when 'publish_offer' then exists (select from market.offer o where o.id = s.target_id)
      else exists (select from market.ask a where a.id = s.target_id) end as found) as f
  where s.settled_at is not null and (
    s.kind = 'publish_offer' and f.found <> (s.status = 201)
    or s.kind = 'create_ask' and not f.found);

  return query
  select 'nothing_outlives_its_time', o.object, o.detail from (
    (select 'idempotency keys' as object, 'the oldest is of ' || k.created_at as detail from market.idempotency_key k
      where k.created_at < now() - interval '26 hours' order by k.created_at limit 1)
    union all
    (select 'submissions', 'the oldest is of ' || s.created_at from market.submission s
      where s.created_at < now() - interval '26 hours' order by s.created_at limit 1)
    union all
    (select 'calls', 'the oldest is of ' || c.called_at from market.call c
      where c.called_at < now() - interval '26 hours' order by c.called_at limit 1)
    union all
    (select 'sign-ins', 'the oldest ended at ' || i.expires_at from market.sign_in i
      where i.expires_at < now() - interval '26 hours' order by i.expires_at limit 1)
    union all
    (select 'sessions', 'the oldest ended at ' || s.expires_at from market.session s
      where s.expires_at < now() - interval '2 hours' order by s.expires_at limit 1)
    union all
    (select 'query vectors', 'the oldest is of ' || q.created_at from market.query_embedding q
      where q.created_at < now() - interval '31 days' order by q.created_at limit 1)) as o;
end
$function$;
comment on function inspect.check_requests(double precision) is 'Texts, keys and windows: what breaks an invariant; of settled texts in a share of 0 to 100 percent.';

reset role;
