--! Previous: sha1:b9b9b1e4159e2354711710c4ab5b083164d3b187
--! Hash: sha1:4c535d12229417058e9b82563abe7aa370eab776
--! Message: assistants-and-events

-- Enter migration here
set local role souk_owner;
set local check_function_bodies = off;

-- OAuth: an agent has no token before its client has exchanged the code, and access tokens expire.
-- Processes of the previous release only look tokens up, and find no null.
-- squawk-ignore ban-drop-not-null
alter table market.agent alter column token_hash drop not null;
alter table market.agent add column token_expires_at timestamptz;
--! Included market/oauth_client.sql
-- One row is one client of OAuth that registered itself (RFC 7591). A client that publishes a document about itself has
-- no row: the address of its document is its id.

create table market.oauth_client (
  id uuid default internal.uuid_v7() constraint oauth_client_pkey primary key,
  name text not null,
  redirect_uris text[] not null,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  constraint oauth_client_name_length check (char_length(name) between 1 and 80),
  constraint oauth_client_redirect_uris_length check (
    cardinality(redirect_uris) between 1 and 10 and char_length(array_to_string(redirect_uris, '')) <= 20000)
);
-- Used to purge clients that never finished.
create index oauth_client_created_at_unfinished_idx on market.oauth_client (created_at) where finished_at is null;

alter table market.oauth_client enable row level security;
alter table market.oauth_client force row level security;
create policy "the owner sees all" on market.oauth_client to souk_owner using (true) with check (true);

-- Reloaded: grants and comments from here on are loaded again whenever a file of db/schema changes.

comment on table market.oauth_client is 'One row is one client of OAuth that registered itself.';
comment on column market.oauth_client.id is 'The client_id. UUIDv7.';
comment on column market.oauth_client.name is 'What the client calls itself.';
comment on column market.oauth_client.redirect_uris is
  'The addresses to which a browser may be sent back with an authorization code.';
comment on column market.oauth_client.created_at is 'When the client registered.';
comment on column market.oauth_client.finished_at is
  'When the client first got a token; null until then. A client that gets none within a day is deleted.';
--! EndIncluded market/oauth_client.sql
--! Included market/oauth_grant.sql
-- One row is one agent that came by OAuth: the request for authorization, its code, and the refresh token. The access
-- token is the token of the agent (market.agent), so it ends with the agent.

create table market.oauth_grant (
  agent_id uuid constraint oauth_grant_pkey primary key
    constraint oauth_grant_agent_fkey references market.agent on delete cascade,
  client_id text not null,
  redirect_uri text not null,
  code_challenge text not null,
  state text,
  created_at timestamptz not null default now(),
  code_hash bytea constraint oauth_grant_code_hash_key unique,
  code_expires_at timestamptz,
  code_used_at timestamptz,
  family_hash bytea constraint oauth_grant_family_hash_key unique,
  refresh_token_hash bytea,
  refreshed_at timestamptz,
  constraint oauth_grant_client_id_length check (char_length(client_id) between 1 and 2000),
  constraint oauth_grant_redirect_uri_length check (char_length(redirect_uri) between 1 and 2000),
  constraint oauth_grant_code_challenge_form check (code_challenge ~ '^[A-Za-z0-9_-]{43}$'),
  constraint oauth_grant_state_length check (char_length(state) <= 4000),
  constraint oauth_grant_code_hash_is_sha256 check (octet_length(code_hash) = 32),
  constraint oauth_grant_code_expires check ((code_hash is null) = (code_expires_at is null)),
  constraint oauth_grant_family_hash_is_sha256 check (octet_length(family_hash) = 32),
  constraint oauth_grant_refresh_token_hash_is_sha256 check (octet_length(refresh_token_hash) = 32),
  constraint oauth_grant_refresh_token_complete check ((family_hash is null) = (refresh_token_hash is null))
);
create index oauth_grant_client_id_idx on market.oauth_grant (client_id);
-- Used to purge what never got a token.
create index oauth_grant_created_at_unfinished_idx on market.oauth_grant (created_at) where family_hash is null;

alter table market.oauth_grant enable row level security;
alter table market.oauth_grant force row level security;
create policy "the owner sees all" on market.oauth_grant to souk_owner using (true) with check (true);

-- Reloaded: grants and comments from here on are loaded again whenever a file of db/schema changes.

comment on table market.oauth_grant is 'One row is one agent that came by OAuth.';
comment on column market.oauth_grant.agent_id is 'The agent.';
comment on column market.oauth_grant.client_id is
  'The client: the id of a market.oauth_client, or the address of the document that the client publishes about itself.';
comment on column market.oauth_grant.redirect_uri is 'Where the browser is sent back with the code.';
comment on column market.oauth_grant.code_challenge is
  'The challenge of PKCE: the client gets a token only with the secret whose SHA-256 in base64url this is.';
comment on column market.oauth_grant.state is
  'What the client wants to get back together with the code; null when it sent nothing, or when it has its token.';
comment on column market.oauth_grant.created_at is 'When a browser brought the request.';
comment on column market.oauth_grant.code_hash is 'SHA-256 of the authorization code; null until a person approves.';
comment on column market.oauth_grant.code_expires_at is 'When the code stops working.';
comment on column market.oauth_grant.code_used_at is 'When the code was presented. It works once.';
comment on column market.oauth_grant.family_hash is
  'SHA-256 of the part that all refresh tokens of this grant share; null until the client has one. Whoever presents it '
  'with another rest presents a refresh token that was used already.';
comment on column market.oauth_grant.refresh_token_hash is 'SHA-256 of the refresh token that works.';
comment on column market.oauth_grant.refreshed_at is 'When the refresh token was last used; null when it never was.';
--! EndIncluded market/oauth_grant.sql
create policy "a dba reads all" on market.oauth_client for select to souk_dba using (true);
create policy "a dba reads all" on market.oauth_grant for select to souk_dba using (true);

-- The home page counts the asks of the market. Asks are few beside offers, so the index is soon made.
-- squawk-ignore require-concurrent-index-creation
create index if not exists ask_active_idx on market.ask (id) where status = 'active';

-- Events of accounts
create table market.event (
  id uuid not null default internal.uuid_v7(),
  account_id uuid not null,
  xid xid8 not null default pg_current_xact_id(),
  type text not null,
  data jsonb not null,
  occurred_at timestamptz not null default clock_timestamp(),
  constraint event_pkey primary key (account_id, id, occurred_at),
  constraint event_type_known check (type in ('match.created', 'match.withdrawn', 'ask.read', 'offer.reviewed',
    'offer.removed', 'offer.restored', 'offer.appeal_decided', 'offer.archived', 'verification.completed',
    'verification.expired', 'agent.connected', 'agent.removed', 'account.suspended', 'account.reinstated'))
) partition by range (occurred_at);
-- A reader goes on behind its cursor.
create index event_account_id_idx on market.event (account_id, xid, id);
-- A process without notifications asks which accounts have new events (api.list_event_readers).
create index event_xid_idx on market.event (xid);

alter table market.event enable row level security;
alter table market.event force row level security;
create policy "the owner sees all" on market.event to souk_owner using (true) with check (true);
create policy "an account sees its events" on market.event for select to souk_agent, souk_person
  using (account_id = (select internal.visible_account_id()));
create policy "a dba reads all" on market.event for select to souk_dba using (true);

-- The default partition takes events whose week has no partition.
create table market.event_default (
  like market.event including defaults including constraints including comments);

alter table market.event attach partition market.event_default default;
alter table market.event_default enable row level security;
alter table market.event_default force row level security;
create policy "the owner sees all" on market.event_default to souk_owner using (true) with check (true);

--! Included internal/event.sql
-- Events are written in the transaction of what happened. So an event is there if, and only if, it happened.

create or replace function internal.note_event() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  was jsonb := to_jsonb(new);
begin
  insert into market.event (account_id, type, data)
  values ((was ->> case tg_table_name when 'account' then 'id' else 'account_id' end)::uuid, tg_argv[0],
    (select coalesce(jsonb_object_agg(split_part(m.member, '=', 1), was -> split_part(m.member, '=', 2)), '{}')
      from unnest(tg_argv[1:]) as m (member) where was ->> split_part(m.member, '=', 2) is not null));
  return null;
end
$$;
comment on function internal.note_event() is
  'Writes an event for the account of the row. Arguments of the trigger: the type, and each member of data as '
  'name=column. A column with text that a person wrote must never be among them.';

create or replace function internal.note_new_matches() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into market.event (account_id, type, data)
  select a.account_id, 'match.created',
    jsonb_build_object('ask_id', m.ask_id, 'offer_id', m.offer_id, 'score', round(m.score::numeric, 4))
  from added m join market.ask a on a.id = m.ask_id
  where a.watch_enabled order by m.score desc, m.offer_id;
  return null;
end
$$;
comment on function internal.note_new_matches() is
  'Writes the event match.created for new matches of asks that watch, best first.';

create or replace function internal.note_lost_matches() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- The ask of a match that is deleted together with it is not found, so nothing is told of it.
  insert into market.event (account_id, type, data)
  select a.account_id, 'match.withdrawn', jsonb_build_object('ask_id', m.ask_id, 'offer_id', m.offer_id)
  from lost m join market.ask a on a.id = m.ask_id
  where a.watch_enabled;
  return null;
end
$$;
comment on function internal.note_lost_matches() is
  'Writes the event match.withdrawn for deleted matches of asks that watch.';

create or replace function internal.note_decided_appeal() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into market.event (account_id, type, data)
  select new.account_id, 'offer.appeal_decided', jsonb_build_object('offer_id', o.id,
    'outcome', case o.status when 'removed' then 'upheld' else 'restored' end)
  from market.offer o where o.id = new.offer_id;
  return null;
end
$$;
comment on function internal.note_decided_appeal() is
  'Writes the event offer.appeal_decided: the removal was upheld, or the offer restored.';

create or replace function internal.event_readers(event market.event) returns uuid[]
  language sql immutable parallel safe
as $$ select array_remove(array[event.account_id, (event.data ->> 'agent_id')::uuid], null) $$;
comment on function internal.event_readers(market.event) is
  'Returns whom an event concerns: its account, and the agent that it is about. That agent may have belonged to '
  'another account until now, and wait for the events of that one.';

create or replace function internal.wake_readers() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform pg_notify('event', r.reader::text)
  from (select distinct unnest(internal.event_readers(a)) as reader from added a) as r;
  return null;
end
$$;
comment on function internal.wake_readers() is 'Notifies the API processes in which agents wait for these events.';
--! EndIncluded internal/event.sql
--! Included internal/keep_partitions.sql
-- Tables that are partitioned by time: one partition for each month or week, created ahead, and dropped when all its
-- rows are older than the table keeps them. Each table has a default partition.

create or replace function internal.keep_partitions(
  name text, time_column text, step text, form text, kept interval, of_what text
) returns integer
  language plpgsql volatile
as $$
declare
  present constant timestamp := now() at time zone 'UTC';
  period constant interval := ('1 ' || keep_partitions.step)::interval;
  parent constant regclass := ('market.' || keep_partitions.name)::regclass;
  starts timestamp;
  part text;
  changed integer := 0;
begin
  for ahead in 0..1 loop
    starts := date_trunc(keep_partitions.step, present) + ahead * period;
    part := keep_partitions.name || '_' || to_char(starts, keep_partitions.form);
    continue when to_regclass('market.' || part) is not null;
    -- Created as a table and then attached: unlike "partition of", this lets others write to the table meanwhile.
    execute format(
      'create table market.%I (like %s including defaults including constraints including comments)', part, parent);
    execute format('comment on table market.%I is %L', part,
      format('The events of %s (UTC), a part of %s.',
        replace(to_char(starts, keep_partitions.form), '_', '-') || keep_partitions.of_what, parent));
    execute format('alter table market.%I enable row level security', part);
    execute format('alter table market.%I force row level security', part);
    execute format('create policy "the owner sees all" on market.%I to souk_owner using (true) with check (true)',
      part);
    execute format('with moved as (delete from market.%1$I where %2$I >= %3$L and %2$I < %4$L returning *)
      insert into market.%5$I select * from moved',
      keep_partitions.name || '_default', keep_partitions.time_column,
      starts at time zone 'UTC', (starts + period) at time zone 'UTC', part);
    execute format('alter table %s attach partition market.%I for values from (%L) to (%L)',
      parent, part, starts at time zone 'UTC', (starts + period) at time zone 'UTC');
    changed := changed + 1;
  end loop;
  for part in
    select c.relname::text from pg_catalog.pg_inherits i join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = parent and c.relname ~ '_\d{4}(_\d{2})+$'
      and to_date(substr(c.relname, length(keep_partitions.name) + 2), keep_partitions.form) + period
        + keep_partitions.kept <= present
  loop
    execute format('drop table market.%I', part);
    changed := changed + 1;
  end loop;
  execute format('delete from market.%I where %I < $1', keep_partitions.name || '_default', keep_partitions.time_column)
    using now() - keep_partitions.kept;
  return changed;
end
$$;
comment on function internal.keep_partitions(text, text, text, text, interval, text) is
  'Creates the partitions of this and the next `step` (month or week) of a table of schema market, and drops those '
  'whose rows are all older than `kept`; returns how many it created and dropped. `form`: how a partition''s name '
  'shows its beginning. `of_what`: how its comment goes on after that.';
--! EndIncluded internal/keep_partitions.sql
--! Included jobs/keep_partitions.sql
-- The partitions of the audit log (one for each month, dropped when all its events are more than 12 months old) and of
-- the events of accounts (one for each week, dropped when all are more than 30 days old).

create or replace function jobs.keep_audit_partitions() returns integer
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  -- Every writer to the log waits behind this lock, so give up early. The crontab tries again in an hour.
  set lock_timeout = '1s'
as $$
begin
  return internal.keep_partitions('audit_event', 'at', 'month', 'YYYY_MM', '12 months', '');
end
$$;
comment on function jobs.keep_audit_partitions() is
  'Creates the partitions of this and the next month, and drops those whose events are all more than 12 months old; '
  'returns how many it created and dropped.';
grant execute on function jobs.keep_audit_partitions() to souk_worker;

create or replace function jobs.keep_event_partitions() returns integer
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  -- As above.
  set lock_timeout = '1s'
as $$
begin
  -- A dump that was restored on another server has numbers of transactions that are still to come there. No reader
  -- would see these events before, so they become events of long ago, in the order of their ids.
  update market.event e set xid = '3' where e.xid >= pg_snapshot_xmax(pg_current_snapshot());
  return internal.keep_partitions('event', 'occurred_at', 'week', 'YYYY_MM_DD', '30 days', ' and the six days after');
end
$$;
comment on function jobs.keep_event_partitions() is
  'Creates the partitions of this and the next week, and drops those whose events are all more than 30 days old; '
  'returns how many it created and dropped. After a dump was restored, makes its events readable.';
grant execute on function jobs.keep_event_partitions() to souk_worker;
--! EndIncluded jobs/keep_partitions.sql

create trigger note_new_matches after insert on market.match referencing new table as added
  for each statement execute function internal.note_new_matches();
create trigger note_lost_matches after delete on market.match referencing old table as lost
  for each statement execute function internal.note_lost_matches();
create trigger note_read after update on market.ask for each row
  when (new.read_at is not null and old.read_at is distinct from new.read_at)
  execute function internal.note_event('ask.read', 'ask_id=id');
create trigger note_reviewed after insert on market.decision for each row
  when (new.action in ('keep', 'publish', 'reject') and new.offer_id is not null and new.account_id is not null)
  execute function internal.note_event('offer.reviewed', 'offer_id=offer_id', 'decision=action');
create trigger note_removed after update on market.offer for each row
  when (old.status <> 'removed' and new.status = 'removed' and new.account_id is not null)
  execute function internal.note_event('offer.removed', 'offer_id=id', 'reason=review_reason');
create trigger note_restored after update on market.offer for each row
  when (old.status = 'removed' and new.status = 'published' and new.account_id is not null)
  execute function internal.note_event('offer.restored', 'offer_id=id');
create trigger note_archived after update on market.offer for each row
  when (old.status <> 'archived' and new.status = 'archived' and new.account_id is not null)
  execute function internal.note_event('offer.archived', 'offer_id=id');
create trigger note_decided_appeal after update on market.appeal for each row
  when (old.decided_at is null and new.decided_at is not null) execute function internal.note_decided_appeal();
create trigger note_completed after update on market.verification for each row
  when (old.status <> 'completed' and new.status = 'completed')
  execute function internal.note_event('verification.completed', 'verification_id=id', 'method=method');
create trigger note_expired after update on market.verification for each row
  when (old.status <> 'expired' and new.status = 'expired')
  execute function internal.note_event('verification.expired', 'verification_id=id', 'method=method');
create trigger note_connected after update on market.agent for each row
  when (old.connected_at is null and new.connected_at is not null)
  execute function internal.note_event('agent.connected', 'agent_id=id');
create trigger note_removed after update on market.agent for each row
  when (old.removed_at is null and new.removed_at is not null)
  execute function internal.note_event('agent.removed', 'agent_id=id');
create trigger note_suspended after update on market.account for each row
  when (old.suspended_at is null and new.suspended_at is not null)
  execute function internal.note_event('account.suspended');
create trigger note_reinstated after update on market.account for each row
  when (old.suspended_at is not null and new.suspended_at is null)
  execute function internal.note_event('account.reinstated');
create trigger wake_readers after insert on market.event referencing new table as added
  for each statement execute function internal.wake_readers();

select jobs.keep_event_partitions();
reset role;
