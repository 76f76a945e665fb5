--! Previous: sha1:b5f8327a8a8d048297c37cb9adf2fc8f20b78bc7
--! Hash: sha1:b9b9b1e4159e2354711710c4ab5b083164d3b187
--! Message: machines-and-speed

-- The worker does not wait for the disk at each commit.
do $$
begin
  -- logins.sql says why. souk_migrator may not change roles. Roles belong to the whole server, so another database may
  -- have set it.
  if not exists (
    select from pg_db_role_setting s join pg_roles r on r.oid = s.setrole
    where r.rolname = 'souk_worker' and s.setdatabase = 0 and 'synchronous_commit=off' = any (s.setconfig))
  then
    alter role souk_worker set synchronous_commit = off;
  end if;
exception when insufficient_privilege then
  raise notice 'souk_worker waits for the disk at each commit until a superuser runs: alter role souk_worker set '
    'synchronous_commit = off';
end
$$;

-- An agent that is disconnected reads nothing of the account.
set local role souk_owner;

--! Included internal/claims.sql
-- The caller's claims. internal.enter_agent, enter_person and enter_moderator set them for one transaction. Without
-- these calls the claims are null.

create or replace function internal.agent_id() returns uuid
  language sql stable parallel safe
as $$ select nullif(current_setting('market.agent_id', true), '')::uuid $$;
comment on function internal.agent_id() is 'The id of the calling agent; null when the caller is not an agent.';
grant execute on function internal.agent_id() to souk_agent, souk_person;

create or replace function internal.account_id() returns uuid
  language sql stable parallel safe
as $$ select nullif(current_setting('market.account_id', true), '')::uuid $$;
comment on function internal.account_id() is 'The id of the account that the caller acts for; null outside a request.';
grant execute on function internal.account_id() to souk_agent, souk_person;

create or replace function internal.visible_account_id() returns uuid
  language sql stable parallel safe
as $$
  select case when current_setting('market.disconnected', true) is distinct from 'true' then internal.account_id() end
$$;
comment on function internal.visible_account_id() is
  'The id of the account whose rows the caller may read: the one that it acts for; null for an agent that is '
  'disconnected until a person approves it again, and outside a request.';
grant execute on function internal.visible_account_id() to souk_agent, souk_person;

create or replace function internal.connected() returns boolean
  language sql stable parallel safe
as $$ select coalesce(nullif(current_setting('market.connected', true), '')::boolean, false) $$;
comment on function internal.connected() is 'Whether a person has approved the caller; false outside a request.';
grant execute on function internal.connected() to souk_agent, souk_person;

create or replace function internal.session_id() returns uuid
  language sql stable parallel safe
as $$ select nullif(current_setting('market.session_id', true), '')::uuid $$;
comment on function internal.session_id() is
  'The id of the calling person''s session; null when the caller is an agent.';
grant execute on function internal.session_id() to souk_agent, souk_person;

create or replace function internal.moderator_id() returns uuid
  language sql stable parallel safe
as $$ select nullif(current_setting('market.moderator_id', true), '')::uuid $$;
comment on function internal.moderator_id() is
  'The account id of the calling moderator; null outside a moderator''s operation.';
grant execute on function internal.moderator_id() to souk_moderator;
--! EndIncluded internal/claims.sql
alter policy "a caller sees the account it acts for" on market.account
  using (id = (select internal.visible_account_id()));
alter policy "an account sees its own asks" on market.ask
  using (account_id = (select internal.visible_account_id()));
alter policy "everyone sees published offers, and an account sees its own" on market.offer
  using (status = 'published' and (account_id = any ((select internal.accounts_being_hidden())::uuid[])) is not true
    or account_id = (select internal.visible_account_id()));
alter policy "an account sees the changes of its offers" on market.offer_change
  using (account_id = (select internal.visible_account_id()));
alter policy "an agent sees its submissions and those of its account" on market.submission
  using (agent_id = (select internal.agent_id()) or account_id = (select internal.visible_account_id()));
alter policy "a caller sees what its account proved" on market.proved_method
  using (account_id = (select internal.visible_account_id()));
alter policy "an account sees its appeals" on market.appeal
  using (account_id = (select internal.visible_account_id()));
alter policy "a caller sees the verifications of its account" on market.verification
  rename to "a caller sees its account's verifications; an agent its own";
alter policy "a caller sees its account's verifications; an agent its own" on market.verification
  using (account_id = (select internal.visible_account_id()) or agent_id = (select internal.agent_id()));

-- The hash of a removed sign-in method is kept, so that what moderation decides later also concerns it.
-- The table has a row for each deleted account with a record, so rewriting it takes milliseconds.
alter table market.kept_record drop constraint kept_record_pkey;
alter table market.kept_record add column account_id uuid;
-- squawk-ignore adding-foreign-key-constraint, constraint-missing-not-valid
alter table market.kept_record add constraint kept_record_account_fkey foreign key (account_id)
  references market.account on delete cascade;
alter table market.kept_record add column caps jsonb not null default '{}';
-- squawk-ignore adding-field-with-default
alter table market.kept_record add column id uuid default internal.uuid_v7();
-- squawk-ignore constraint-missing-not-valid, adding-serial-primary-key-field
alter table market.kept_record add constraint kept_record_pkey primary key (id);
alter table market.kept_record drop constraint kept_record_says_something;
-- squawk-ignore constraint-missing-not-valid
alter table market.kept_record add constraint kept_record_says_something
  check (account_id is not null or suspended_at is not null or cardinality(removed_offers) > 0 or caps <> '{}');
-- squawk-ignore require-concurrent-index-creation
create index kept_record_method_hash_idx on market.kept_record (method_hash);
-- squawk-ignore require-concurrent-index-creation
create index kept_record_account_id_idx on market.kept_record (account_id) where account_id is not null;
drop trigger keep_record on market.proved_method;
--! Included internal/kept_record.sql
-- What moderation decided about a person outlives the account for twelve months, so that deleting the account and
-- coming back with the same sign-in method does not clear the record. Removing a method first does not help: its hash
-- is kept for twelve months, and whoever proves it again has the record of the account, also what was decided since.

create or replace function internal.use_record_key(key bytea) returns void
  language plpgsql volatile
as $$
begin
  perform set_config('market.record_key', coalesce(encode(use_record_key.key, 'hex'), ''), true);
end
$$;
comment on function internal.use_record_key(bytea) is
  'Takes the operator''s key (a SHA-256 of RECORD_KEY; null when it is not set) for the rest of the transaction.';
grant execute on function internal.use_record_key(bytea) to souk_person;

create or replace function internal.record_hashes(subject_hash bytea) returns bytea[]
  language plpgsql volatile
as $$
declare
  key bytea := decode(nullif(current_setting('market.record_key', true), ''), 'hex');
begin
  -- With the hash of the database's own key, records from before the operator set RECORD_KEY are found, too.
  return array_remove(array[
    internal.keyed_hash(record_hashes.subject_hash, key),
    internal.keyed_hash(record_hashes.subject_hash, internal.hash_key())], null);
end
$$;
comment on function internal.record_hashes(bytea) is
  'Returns the keyed hashes under which the record of a proved subject is kept: the first is the one to write, and all '
  'are to be looked up. The operator''s RECORD_KEY is in no dump. Without it, the key is in the database.';

create or replace function internal.removed_offers(account market.account) returns uuid[]
  language plpgsql stable
as $$
begin
  -- The cap counts ten removals at most. Two hundred are a record that more would not change.
  return (array(
    select o.id from market.offer o where o.account_id = account.id and o.status = 'removed'
    order by o.removed_at desc limit 200) || account.prior_removals)[1:200];
end
$$;
comment on function internal.removed_offers(market.account) is
  'Returns the offers that moderation removed from an account and from its person''s earlier accounts, at most 200.';
grant execute on function internal.removed_offers(market.account) to souk_person;

create or replace function internal.caps_set(account_id uuid) returns jsonb
  language plpgsql stable
as $$
begin
  return (
    select coalesce(jsonb_object_agg(o.action, jsonb_build_object('cap', o.cap, 'changed_at', o.changed_at)), '{}')
    from market.cap_override o where o.account_id = caps_set.account_id);
end
$$;
comment on function internal.caps_set(uuid) is
  'Returns the limits that a moderator set for an account: for each action {cap, changed_at}.';

create or replace function internal.keep_method() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from market.account a where a.id = old.account_id) then
    -- Somebody deleted the account by SQL, with everything that refers to it.
    return old;
  end if;
  insert into market.kept_record (method_hash, account_id)
  values ((internal.record_hashes(old.subject_hash))[1], old.account_id);
  -- A person changes their mailbox a few times. Whoever can prove twenty within a year can prove new ones, too, so a
  -- longer memory would not help.
  delete from market.kept_record k
  where k.id in (
    select o.id from market.kept_record o where o.account_id = old.account_id order by o.id desc offset 20);
  return old;
end
$$;
comment on function internal.keep_method() is
  'Keeps the hash of a sign-in method that is removed from an account, because what moderation decides about the '
  'account later also concerns whoever proves the method again.';

create or replace function internal.keep_record(account_id uuid) returns void
  language plpgsql volatile
as $$
declare
  account market.account;
  removals uuid[];
  limits constant jsonb := internal.caps_set(keep_record.account_id);
begin
  select * into account from market.account a where a.id = keep_record.account_id;
  removals := internal.removed_offers(account);
  if account.suspended_at is not null or cardinality(removals) > 0 or limits <> '{}' then
    update market.kept_record k set account_id = null, removed_offers = removals,
      suspended_at = account.suspended_at, suspension_reason = account.suspension_reason,
      suspension_note = account.suspension_note, caps = limits, kept_until = now() + interval '12 months'
    where k.account_id = account.id and k.kept_until > now();
  end if;
end
$$;
comment on function internal.keep_record(uuid) is
  'Keeps the record of an account that is about to be deleted under the hash of each sign-in method that was removed '
  'from it within twelve months, if it was suspended, had offers removed, or had a limit set by a moderator.';

create or replace function internal.resume_record() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  kept market.kept_record;
  former market.account;
begin
  for kept in
    select * from market.kept_record k
    where k.method_hash = any (internal.record_hashes(new.subject_hash)) and k.kept_until > now()
    -- If the account of a row is being deleted right now, wait for what is kept of it.
    for update
  loop
    if kept.account_id is null or kept.account_id = new.account_id then
      -- The account has the record from here on, and it may change.
      delete from market.kept_record k where k.id = kept.id;
      continue when kept.account_id is not null;
    else
      select * into former from market.account a where a.id = kept.account_id;
      kept.removed_offers := internal.removed_offers(former);
      kept.suspended_at := former.suspended_at;
      kept.suspension_reason := former.suspension_reason;
      kept.suspension_note := former.suspension_note;
      -- A higher limit was set for that account, which still has it. Otherwise one decision would raise many accounts.
      kept.caps := (
        select coalesce(jsonb_object_agg(c.key, c.value), '{}') from jsonb_each(internal.caps_set(former.id)) as c
        where (c.value ->> 'cap')::integer < internal.setting(c.key || '_cap')::integer);
    end if;
    update market.account a set
      prior_removals = (a.prior_removals || array(
        select o.id from market.offer o
        where o.id = any (kept.removed_offers) and o.id <> all (a.prior_removals) and o.status = 'removed'
          -- The person may have removed the method from this same account and now adds it again.
          and o.account_id is distinct from a.id
        order by o.removed_at desc))[1:200],
      suspended_at = coalesce(a.suspended_at, kept.suspended_at),
      suspension_reason = case when a.suspended_at is null then kept.suspension_reason else a.suspension_reason end,
      suspension_note = case when a.suspended_at is null then kept.suspension_note else a.suspension_note end
    where a.id = new.account_id;
    insert into market.cap_override as o (account_id, action, cap, changed_at)
    select new.account_id, c.key, (c.value ->> 'cap')::integer, (c.value ->> 'changed_at')::timestamptz
    from jsonb_each(kept.caps) as c
    on conflict on constraint cap_override_pkey do update set cap = excluded.cap where excluded.cap < o.cap;
    if kept.suspended_at is not null and not internal.apply_standing(new.account_id, 50) then
      perform internal.enqueue('apply_standing', new.account_id);
    end if;
  end loop;
  return new;
end
$$;
comment on function internal.resume_record() is
  'Gives the account that proves a sign-in method the record of the accounts that had proved it before, within twelve '
  'months: their removals, their suspension if it is in force, and the limits that a moderator set. Of an account that '
  'still exists it takes over only lower limits.';

create or replace function internal.kept_after_deletion() returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  account market.account;
  removals integer;
  caps integer;
begin
  select * into account from market.account a where a.id = internal.account_id();
  removals := cardinality(internal.removed_offers(account));
  caps := (select count(*)::integer from market.cap_override o where o.account_id = account.id);
  -- An account that never had a sign-in method leaves nothing by which the person could be recognized.
  return case when (account.suspended_at is not null or removals > 0 or caps > 0)
    and (exists (select from market.proved_method m where m.account_id = account.id)
      or exists (select from market.kept_record k where k.account_id = account.id and k.kept_until > now()))
    then jsonb_build_object('suspended', account.suspended_at is not null, 'removals', removals, 'caps', caps) end;
end
$$;
comment on function internal.kept_after_deletion() is
  'Returns what would be kept of the calling person''s account for twelve months after its deletion, as {suspended, '
  'removals, caps}; null when nothing would be kept.';
grant execute on function internal.kept_after_deletion() to souk_person;

create or replace function internal.forget_kept_suspension() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- The time identifies the suspension, because it is copied and is exact to a microsecond.
  delete from market.kept_record k
  where k.suspended_at = old.suspended_at and cardinality(k.removed_offers) = 0 and k.caps = '{}';
  update market.kept_record k set suspended_at = null, suspension_reason = null, suspension_note = null
  where k.suspended_at = old.suspended_at;
  return new;
end
$$;
comment on function internal.forget_kept_suspension() is
  'When an account is reinstated: forgets its suspension under the methods with which its person had an earlier '
  'account.';
--! EndIncluded internal/kept_record.sql
--! Included internal/erase_account.sql
-- The deletion of an account: what is deleted, what is kept without personal data, and in which order. What moderation
-- decided about the account is kept for twelve months (market.kept_record).

create or replace function internal.erase_account() returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  erased uuid := internal.account_id();
  -- Each offer takes some milliseconds, and a statement may take five seconds.
  batch constant integer := 200;
  -- Each event takes some hundredths of a millisecond. Every call also reads the events that earlier calls have already
  -- emptied.
  logged constant integer := 5000;
  emptied integer;
  offers uuid[];
  attempts uuid[];
begin
  perform internal.lock_sessions(erased);
  -- Lock the account's row first: jobs.complete_submission locks it before it publishes, so one of the two waits for
  -- the other.
  perform from market.account a where a.id = erased for update;
  if not found or internal.agent_id() is not null then
    perform internal.raise_problem(401, 'unauthorized', 'You are not signed in, or this account no longer exists.');
  end if;
  -- The commit waits for the replicas in synchronous_standby_names, so that they refuse the account's tokens and
  -- sessions too (as in internal.end_removed_agent).
  perform set_config('synchronous_commit', 'remote_apply', true);
  -- From here on no agent of the account can publish, however many calls the deletion takes.
  perform from market.agent a where a.account_id = erased order by a.id for update;
  update market.agent a set removed_at = now() where a.account_id = erased and a.removed_at is null;
  -- Then lock the offers. A transaction that stores a vector locks its offer too, so one of the two waits for the
  -- other.
  offers := array(select o.id from market.offer o where o.account_id = erased order by o.id limit batch for update);
  perform from market.ask a where a.account_id = erased order by a.id for update;

  delete from market.rate_limit_hit c
  where c.scope = 'account:' || erased
    or c.scope in (select 'agent:' || a.id from market.agent a where a.account_id = erased);
  delete from market.idempotency_key k
  where k.owner_id = erased or k.owner_id in (select a.id from market.agent a where a.account_id = erased);
  perform pg_notify('submission', s.id::text) from market.submission s
  where s.account_id = erased and s.completed_at is null;
  delete from market.submission s where s.account_id = erased;
  delete from market.offer_change c where c.account_id = erased;

  -- The removals that internal.keep_record will keep. The next statement takes them from the account.
  update market.account a set prior_removals = (array(
    select o.id from market.offer o where o.id = any (offers) and o.status = 'removed' order by o.removed_at desc)
    || a.prior_removals)[1:200]
  where a.id = erased
    and exists (select from market.offer o where o.id = any (offers) and o.status = 'removed');

  -- The rows stay, because reports of other accounts and moderators' decisions refer to them. Nothing that a person
  -- wrote stays.
  update market.offer o set
    status = case when o.status in ('published', 'pending_review') then 'archived' else o.status end,
    title = 'Deleted offer', text = 'The account that published this offer was deleted.',
    language = null, images = '{}', price_hundredths = null, price_currency = null, price_period = null,
    location_text = null, metadata = '{}', contact = '{}', extraction = '{}', missing_fields = '{}', warnings = '{}',
    review_note = null, origin_ask_id = null, agent_id = null, account_id = null
  where o.id = any (offers);
  delete from market.offer_embedding e where e.offer_id = any (offers);
  delete from reading.price_reason r where r.offer_id = any (offers);
  delete from market.match m where m.offer_id = any (offers);
  -- The offers are empty now, so moderators have nothing to decide.
  update market.report r set completed_at = now() where r.offer_id = any (offers) and r.completed_at is null;
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

  -- A sign-in attempt is locked after the verification that it belongs to, as in internal.lock_sign_in. Attempts for
  -- the account's e-mail addresses are deleted too.
  perform from market.verification v where v.account_id = erased order by v.id for update;
  attempts := array(
    select s.id from market.sign_in s where s.account_id = erased
    union
    select s.id from market.verification v join market.sign_in s on s.verification_id = v.id where v.account_id = erased
    union
    select s.id from market.proved_method p join market.sign_in s on s.email = p.email where p.account_id = erased);
  perform from market.sign_in s where s.id = any (attempts) order by s.id for update;
  delete from market.sign_in s where s.id = any (attempts);
  -- While the account still exists, because its record is kept under the hashes of its methods (internal.keep_method).
  delete from market.proved_method m where m.account_id = erased;
  perform internal.keep_record(erased);
  -- Agents, links, asks, profile, sessions and verifications are deleted with the account.
  delete from market.account a where a.id = erased;
  -- Empty also the events that this call has logged.
  update market.audit_event e set before = null, after = null
  where e.subject_account_id = erased and (e.before is not null or e.after is not null);
  return true;
end
$$;
comment on function internal.erase_account() is
  'Deletes the calling person''s account: removes its agents, archives and empties its offers, and deletes all its '
  'other rows. Works in batches: returns false when it must be called again. Raises 401 without a session, or for an '
  'agent.';
grant execute on function internal.erase_account() to souk_person;
--! EndIncluded internal/erase_account.sql
create trigger keep_method before delete on market.proved_method
  for each row execute function internal.keep_method();

-- What a change names, and what it took over from the change before.
alter table market.submission add column changes text[] not null default '{text,images}';
-- All rows have the default value, so checking them takes no longer than reading them.
-- squawk-ignore constraint-missing-not-valid
alter table market.submission add constraint submission_changes_known
  check (changes <@ '{text,images}' and cardinality(changes) between 1 and 2);

-- Few asks are unread, so the index is small, and finding them reads the table once: a second for a million asks.
-- squawk-ignore require-concurrent-index-deletion
drop index market.ask_unread_idx;
-- squawk-ignore require-concurrent-index-creation
create index ask_unread_idx on market.ask (account_id, id) where read_at is null;

-- Reads on replicas: what was recently written, by account.
set local role souk_owner;

--! Included internal/recent_write.sql
-- One row is one recent transaction that changed rows of one account. A read of the account may use a replica only if
-- the replica has all these transactions (internal/note_write.sql).
--
-- There is no foreign key, because a deleted account must be noted, too, and because the check would lock the account.

create table internal.recent_write (
  account_id uuid not null,
  xid xid8 not null default pg_current_xact_id(),
  written_at timestamptz not null default clock_timestamp(),
  constraint recent_write_pkey primary key (account_id, xid)
);
-- Used to purge old rows.
create index recent_write_written_at_idx on internal.recent_write (written_at);

alter table internal.recent_write enable row level security;
alter table internal.recent_write force row level security;
create policy "the owner sees all" on internal.recent_write to souk_owner using (true) with check (true);
create policy "a dba reads all" on internal.recent_write for select to souk_dba using (true);

-- Reloaded: grants and comments from here on are loaded again whenever a file of db/schema changes.

comment on table internal.recent_write is
  'One row is one transaction of the last five minutes that changed rows of one account. The account''s reads go to '
  'the primary until a replica has that transaction.';
comment on column internal.recent_write.account_id is 'The account whose rows were changed, by whomever.';
comment on column internal.recent_write.xid is 'The transaction.';
comment on column internal.recent_write.written_at is 'When the transaction began to commit.';
grant select on internal.recent_write to souk_dba;
--! EndIncluded internal/recent_write.sql
--! Included internal/note_write.sql
-- Reads on replicas. Whoever has changed something sees it in the next read, from whichever process; and a removed
-- agent, an ended session or a suspended account is refused at once. For this, every transaction notes the accounts
-- whose rows it changes, and before a process reads on a replica, it asks the primary whether the replica has all that
-- was noted for the caller's account (src/database/replicas.ts).
--
-- The triggers are deferred, so a note is made when its transaction commits. Then a row can be deleted five minutes
-- after it was noted, however long the transaction took: replicas are used only while they are at most 30 seconds
-- behind.

create or replace function internal.note_write_of(account_id uuid) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if note_write_of.account_id is not null then
    insert into internal.recent_write (account_id) values (note_write_of.account_id) on conflict do nothing;
  end if;
end
$$;
comment on function internal.note_write_of(uuid) is
  'Notes that this transaction changes rows of this account. Null is skipped.';

create or replace function internal.note_write() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform internal.note_write_of(coalesce(new.account_id, old.account_id));
  -- Also the former account, because an agent moves from its provisional account to that of the person who approves it.
  if tg_op = 'UPDATE' and old.account_id is distinct from new.account_id then
    perform internal.note_write_of(old.account_id);
  end if;
  return null;
end
$$;
comment on function internal.note_write() is
  'Notes a change of a row with an account_id, when the transaction commits.';

create or replace function internal.note_account_write() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform internal.note_write_of(new.id);
  return null;
end
$$;
comment on function internal.note_account_write() is
  'Notes a change of an account itself, such as its suspension, when the transaction commits.';

create or replace function internal.note_hit_write() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  owner text[] := regexp_match(new.scope, '^(agent|account):([0-9a-f-]{36})$');
begin
  if owner[1] = 'account' then
    perform internal.note_write_of(owner[2]::uuid);
  elsif owner[1] = 'agent' then
    perform internal.note_write_of((select a.account_id from market.agent a where a.id = owner[2]::uuid));
  end if;
  return null;
end
$$;
comment on function internal.note_hit_write() is
  'Notes a counted call for the account of its window, when the transaction commits. GET /v1/me shows the window.';

create or replace function internal.check_replicas(
  hashes bytea[], replicas integer[], snapshots pg_snapshot[],
  out lacking boolean[], out snapshot pg_snapshot, out lsn pg_lsn, out server text
)
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  -- PostgreSQL would plan the statement anew for each array, which takes longer than running it.
  set plan_cache_mode = force_generic_plan
as $$
begin
  -- One statement, so one snapshot. Everything that was acknowledged before the call is in it. The position is read
  -- after the snapshot was taken, so the commits of all transactions in the snapshot lie before it.
  select
    (select coalesce(array_agg(
        c.account_id is null or c.snapshot is null or exists (
          select from internal.recent_write w
          where w.account_id = c.account_id and not pg_visible_in_snapshot(w.xid, c.snapshot))
        order by c.place), '{}')
      from (
        select h.place, check_replicas.snapshots[h.replica] as snapshot, coalesce(
          (select a.account_id from market.agent a where a.token_hash = h.hash and a.removed_at is null),
          (select s.account_id from market.session s where s.secret_hash = h.hash)) as account_id
        from unnest(check_replicas.hashes, check_replicas.replicas) with ordinality as h (hash, replica, place)) as c),
    pg_current_snapshot(),
    pg_current_wal_insert_lsn(),
    extract(epoch from pg_postmaster_start_time())::text
  into lacking, snapshot, lsn, server;
end
$$;
comment on function internal.check_replicas(bytea[], integer[], pg_snapshot[]) is
  'Returns for each caller (the SHA-256 of a token or session secret) whether the replica that it would read lacks '
  'something: a write of its account that is not in the replica''s snapshot, or the caller is not valid. `snapshots` '
  'has what each replica is known to have, and `replicas` says which of them each caller would read, from 1. Also '
  'returns the present snapshot, a WAL position at which a replica has all of it, and when this server started, which '
  'tells servers apart. Only on the primary.';
grant execute on function internal.check_replicas(bytea[], integer[], pg_snapshot[]) to souk_api;
--! EndIncluded internal/note_write.sql

create constraint trigger note_write after update on market.account deferrable initially deferred
  for each row execute function internal.note_account_write();
create constraint trigger note_write after insert or update or delete on market.agent deferrable initially deferred
  for each row execute function internal.note_write();
create constraint trigger note_write after insert or update or delete on market.session deferrable initially deferred
  for each row execute function internal.note_write();
create constraint trigger note_write after insert or update or delete on market.profile deferrable initially deferred
  for each row execute function internal.note_write();
create constraint trigger note_write after insert or update or delete
  on market.proved_method deferrable initially deferred
  for each row execute function internal.note_write();
create constraint trigger note_write after insert or update or delete on market.moderator deferrable initially deferred
  for each row execute function internal.note_write();
create constraint trigger note_write after insert or update or delete on market.offer deferrable initially deferred
  for each row execute function internal.note_write();
create constraint trigger note_write after insert or update or delete
  on market.offer_change deferrable initially deferred
  for each row execute function internal.note_write();
create constraint trigger note_write after insert or update or delete on market.ask deferrable initially deferred
  for each row execute function internal.note_write();
create constraint trigger note_write after insert or update or delete on market.report deferrable initially deferred
  for each row execute function internal.note_write();
create constraint trigger note_write after insert or update or delete on market.appeal deferrable initially deferred
  for each row execute function internal.note_write();
create constraint trigger note_write after insert or update or delete
  on market.cap_override deferrable initially deferred
  for each row execute function internal.note_write();
-- Deleting these is left to purges, long after they are shown no more.
create constraint trigger note_write after insert or update on market.submission deferrable initially deferred
  for each row execute function internal.note_write();
create constraint trigger note_write after insert or update on market.verification deferrable initially deferred
  for each row execute function internal.note_write();
create constraint trigger note_write after insert on market.rate_limit_hit deferrable initially deferred
  for each row execute function internal.note_hit_write();

-- The documents of offers and of publishers are built when they change, and not for each reader.

set local role souk_owner;

alter table market.offer add column document jsonb;
alter table market.offer alter column document set storage main;
alter table market.account_stats add column publisher jsonb;

-- Until the code is reloaded, functions of the earlier release call these new ones as their caller.
grant execute on function internal.visible_name(text), internal.visible_sentence(text)
  to souk_agent, souk_person, souk_moderator;
-- Until then, no offer has a change that waits.
create function internal.change_document(offer_id uuid) returns jsonb
  language sql stable
as $$ select null::jsonb $$;
grant execute on function internal.change_document(uuid) to souk_agent, souk_person;
--! Included internal/documents.sql
-- Offers and asks as JSON documents for clients.
--
-- Functions that PostgreSQL cannot inline are in PL/pgSQL, which keeps its plans for the session. PostgreSQL plans an
-- SQL function anew in each statement that calls it. Measured reads of one offer per second: 3,100 in SQL, 7,300 in
-- PL/pgSQL.

create or replace function internal.utc(moment timestamptz) returns text
  language sql stable parallel safe
as $$ select to_char(moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') $$;
comment on function internal.utc(timestamptz) is 'Returns a time in RFC 3339 format, in UTC with Z.';
grant execute on function internal.utc(timestamptz) to souk_agent, souk_person;

create or replace function internal.utc_month(moment timestamptz) returns text
  language sql stable parallel safe
as $$ select to_char(moment at time zone 'UTC', 'YYYY-MM') $$;
comment on function internal.utc_month(timestamptz) is 'Returns the month of a time in UTC, as YYYY-MM.';
grant execute on function internal.utc_month(timestamptz) to souk_agent, souk_person;

create or replace function internal.build_publisher(stats market.account_stats) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select jsonb_build_object(
      'verified', exists (select from market.proved_method m where m.account_id = a.id),
      'member_since', internal.utc_month(a.created_at),
      'last_active', internal.utc_month(stats.last_active_at),
      'offers', jsonb_build_object('active', stats.active,
        -- Offers removed from earlier accounts of the person count, too.
        'lifetime', stats.lifetime + cardinality(a.prior_removals),
        'removed', stats.removed + cardinality(a.prior_removals)))
    from market.account a where a.id = stats.account_id);
end
$$;
comment on function internal.build_publisher(market.account_stats) is
  'Builds the public record of an account (Publisher), without its identity.';
grant execute on function internal.build_publisher(market.account_stats) to souk_agent, souk_person;

create or replace function internal.publisher_document(account_id uuid) returns jsonb
  language plpgsql stable
as $$
begin
  return (select coalesce(p.publisher, internal.build_publisher(p))
    from market.account_stats p where p.account_id = publisher_document.account_id);
end
$$;
comment on function internal.publisher_document(uuid) is
  'Returns the public record of an account (Publisher); null when the account no longer exists.';
grant execute on function internal.publisher_document(uuid) to souk_agent, souk_person;

create or replace function internal.offer_preview(offer market.offer) returns jsonb
  language sql stable
as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'headline', offer.title,
    -- A list shows many of these, so only the beginning of each text is cleaned.
    'snippet', left(internal.visible_sentence(left(offer.text, 600)), 200),
    'price_label', offer.metadata -> 'pricing' -> 'label',
    'location_label', offer.location_text))
$$;
comment on function internal.offer_preview(market.offer) is
  'Returns content.preview of an offer: {headline, snippet, price_label, location_label}, without unknown members.';
grant execute on function internal.offer_preview(market.offer) to souk_agent, souk_person;

create or replace function internal.image_list(images text[]) returns jsonb
  language plpgsql immutable
as $$
begin
  return (select coalesce(jsonb_agg(jsonb_build_object('url', i.url) order by i.n), '[]')
    from unnest(images) with ordinality as i (url, n));
end
$$;
comment on function internal.image_list(text[]) is 'Returns image links as content.images: [{url}].';
grant execute on function internal.image_list(text[]) to souk_agent, souk_person;

create or replace function internal.build_offer_document(offer market.offer) returns jsonb
  language plpgsql stable
as $$
begin
  return jsonb_build_object(
    'id', offer.id,
    'document', jsonb_build_object('title', offer.title, 'description', offer.text,
      'location', offer.location_text, 'language', offer.language),
    'metadata', nullif(offer.metadata, '{}'),
    'content', jsonb_build_object(
      'preview', internal.offer_preview(offer),
      'contact', offer.contact,
      'images', internal.image_list(offer.images)),
    'reviewed', offer.reviewed)
    || case when offer.published_at is null then '{}'
      else jsonb_build_object('posted', to_char(offer.published_at at time zone 'UTC', 'YYYY-MM-DD')) end;
end
$$;
comment on function internal.build_offer_document(market.offer) is
  'Builds market.offer.document: a SearchResult without publisher, score and rank.';
grant execute on function internal.build_offer_document(market.offer) to souk_agent, souk_person;

create or replace function internal.set_offer_document() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  new.document := internal.build_offer_document(new);
  return new;
end
$$;
comment on function internal.set_offer_document() is 'Builds the document of an offer that is added or changed.';

create or replace function internal.missing_offer_document(id uuid) returns jsonb
  language plpgsql stable
as $$
begin
  return (select internal.build_offer_document(o) from market.offer o where o.id = missing_offer_document.id);
end
$$;
comment on function internal.missing_offer_document(uuid) is
  'Builds the document of an offer for which the job build_documents has not stored it yet.';
grant execute on function internal.missing_offer_document(uuid) to souk_agent, souk_person;

-- Call it with a row of the table itself (`internal.search_result_document(o) from market.offer o`), and not with one
-- that a subquery has passed on. Then PostgreSQL inlines it and reads one column, and otherwise all long values of the
-- row. It inlines only functions without subqueries, and reads the whole row if the function passes it on.
create or replace function internal.search_result_document(offer market.offer) returns jsonb
  language sql stable
as $$
  select coalesce(offer.document, internal.missing_offer_document(offer.id))
    || jsonb_strip_nulls(jsonb_build_object('publisher', internal.publisher_document(offer.account_id)))
$$;
comment on function internal.search_result_document(market.offer) is
  'Returns a published offer as a SearchResult without score and rank.';
grant execute on function internal.search_result_document(market.offer) to souk_agent, souk_person;

create or replace function internal.offer_content_document(offer market.offer) returns jsonb
  language plpgsql stable
as $$
begin
  return jsonb_build_object(
    'title', offer.title,
    'description', offer.text,
    'domain', offer.domain,
    'category', offer.category,
    'offer_kind', offer.offer_kind,
    'metadata', offer.metadata,
    'preview', internal.offer_preview(offer),
    'contact', offer.contact,
    'images', internal.image_list(offer.images),
    'missing_fields', to_jsonb(offer.missing_fields));
end
$$;
comment on function internal.offer_content_document(market.offer) is
  'Returns what the text and the images of an offer say: the members that OwnerOffer and its change share.';
grant execute on function internal.offer_content_document(market.offer) to souk_agent, souk_person;

create or replace function internal.owner_offer_document(offer market.offer) returns jsonb
  language plpgsql stable
as $$
declare
  change constant jsonb := internal.change_document(offer.id);
begin
  return internal.offer_content_document(offer) || jsonb_build_object(
    'id', offer.id,
    'status', offer.status,
    'visibility', case offer.status when 'published' then 'public' else 'owner_only' end,
    'review', coalesce(offer.review_note, case offer.status
      when 'published' then 'This offer is live: anyone can find it.'
      when 'pending_review' then 'A moderator will look at this offer before it goes live; nothing has to be done.'
      when 'rejected' then 'A moderator decided that this offer does not go live.'
      when 'archived' then case when offer.suspended_at is null then 'You took this offer down. It can be republished.'
        else 'The account is suspended by moderation, so this offer is not shown. It goes live again when the account '
          'is reinstated.' end
      when 'removed' then 'Moderation took this offer down; it cannot be republished.' end),
    'published_at', internal.utc(offer.published_at),
    'created_at', internal.utc(offer.created_at),
    'updated_at', internal.utc(offer.updated_at))
    || case when offer.review_reason is null then '{}' else jsonb_build_object('review_reason', offer.review_reason) end
    || case when offer.status <> 'removed' then '{}' else jsonb_strip_nulls(jsonb_build_object(
        'appealable', internal.is_appealable(offer), 'appeal', internal.appeal_document(offer))) end
    || case when change is null then '{}' else jsonb_build_object('change', change) end;
end
$$;
comment on function internal.owner_offer_document(market.offer) is
  'Returns an offer as its owner sees it (OwnerOffer).';
grant execute on function internal.owner_offer_document(market.offer) to souk_agent, souk_person;

create or replace function internal.ask_document(ask market.ask) returns jsonb
  language sql stable
as $$
  select jsonb_build_object(
    'id', ask.id,
    'status', ask.status,
    'watch_enabled', ask.watch_enabled,
    'text', ask.text,
    'title', ask.title,
    'domain', ask.domain,
    'category', ask.category,
    'ask_kind', ask.ask_kind,
    'criteria', ask.criteria,
    'created_at', internal.utc(ask.created_at),
    'updated_at', internal.utc(ask.updated_at))
$$;
comment on function internal.ask_document(market.ask) is 'Returns an ask as its owner sees it (Ask).';
grant execute on function internal.ask_document(market.ask) to souk_agent, souk_person;

create or replace function internal.understood_document(offer market.offer) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
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
    || case when offer.missing_fields <> '{}' then jsonb_build_object('missing_fields', offer.missing_fields)
      else '{}' end
    || case when offer.warnings <> '{}' then jsonb_build_object('warnings', offer.warnings) else '{}' end;
end
$$;
comment on function internal.understood_document(market.offer) is
  'Returns how the text of an offer was understood: the members that OfferPublished and a preview share.';

create or replace function internal.matched_offers(ask_id uuid) returns jsonb
  language plpgsql stable
as $$
begin
  return (select coalesce(jsonb_agg(m.offer_id order by m.score desc, m.offer_id), '[]')
    from market.match m where m.ask_id = matched_offers.ask_id);
end
$$;
comment on function internal.matched_offers(uuid) is 'Returns the ids of the offers that match an ask, best first.';
grant execute on function internal.matched_offers(uuid) to souk_person;
--! EndIncluded internal/documents.sql
--! Included internal/account_stats.sql
-- Account stats (market.account_stats). Triggers maintain them, and search results show them beside each offer.

create or replace function internal.create_account_stats() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into market.account_stats (account_id) values (new.id);
  return new;
end
$$;
comment on function internal.create_account_stats() is 'Creates the account_stats row of a new account.';

create or replace function internal.set_publisher() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  new.publisher := internal.build_publisher(new);
  return new;
end
$$;
comment on function internal.set_publisher() is 'Builds the public record of an account whose stats change.';

create or replace function internal.refresh_publisher() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- set_publisher builds it. If another transaction changes the row at the same time, the one that comes second sees
  -- what the first has committed.
  update market.account_stats p set publisher = null
  where p.account_id = (to_jsonb(case tg_op when 'DELETE' then old else new end) ->> tg_argv[0])::uuid;
  return null;
end
$$;
comment on function internal.refresh_publisher() is
  'Builds the public record of an account again when a row on which it depends has changed. Its argument is the column '
  'with the account''s id.';

create or replace function internal.note_activity() returns void
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$
  -- Clients see only the month, so one write a day is enough. With more writes, calls would wait for each other's lock
  -- on the row.
  update market.account_stats p set last_active_at = now()
  where p.account_id = internal.account_id() and p.last_active_at < now() - interval '1 day'
$$;
comment on function internal.note_activity() is
  'Stores the time of the last write of the caller''s account in account_stats, at most once a day.';
grant execute on function internal.note_activity() to souk_agent, souk_person;

create or replace function internal.count_offer() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  was market.offer := case when tg_op <> 'INSERT' then old end;
  becomes market.offer := case when tg_op <> 'DELETE' then new end;
begin
  update market.account_stats p set
    active = p.active + coalesce((becomes.status = 'published')::integer, 0)
    - coalesce((was.status = 'published')::integer, 0),
    lifetime = p.lifetime + coalesce((becomes.published_at is not null)::integer, 0)
    - coalesce((was.published_at is not null)::integer, 0),
    removed = p.removed + coalesce((becomes.status = 'removed')::integer, 0)
    - coalesce((was.status = 'removed')::integer, 0),
    last_active_at = case when internal.account_id() = p.account_id or tg_op = 'INSERT' then now()
      else p.last_active_at end
  where p.account_id = coalesce(becomes.account_id, was.account_id);
  return null;
end
$$;
comment on function internal.count_offer() is
  'Updates the counts in account_stats when an offer is added, changed or deleted.';
--! EndIncluded internal/account_stats.sql

create trigger refresh_publisher after update of prior_removals on market.account
  for each row execute function internal.refresh_publisher('id');
create trigger set_publisher before insert or update on market.account_stats
  for each row execute function internal.set_publisher();
create trigger refresh_publisher after insert or delete on market.proved_method
  for each row execute function internal.refresh_publisher('account_id');

-- An update of only the document does not count as a change of the offer.
create or replace trigger move_offer before update on market.offer for each row
  when (old.concepts = new.concepts and old.document is not distinct from new.document or old.status <> new.status
    or old.account_id is distinct from new.account_id or (old.title, old.text) <> (new.title, new.text)
    or old.language is distinct from new.language)
  execute function internal.move_offer();
create trigger set_offer_document before insert or update on market.offer
  for each row execute function internal.set_offer_document();

-- The offers that exist get theirs in batches, while the market goes on.
do $$
begin
  if exists (select from market.offer) then
    perform graphile_worker.add_job('build_documents', '{"id": "00000000-0000-0000-0000-000000000000"}',
      job_key => 'build_documents', max_attempts => 8, priority => 10);
  end if;
end
$$;

-- The weights of the ranking are data.
set local role souk_owner;

create table market.ranking (
  ranking text constraint ranking_pkey primary key,
  in_title real not null,
  in_text real not null,
  in_category real not null,
  density real not null,
  modifier real not null,
  place real not null,
  price real not null,
  same_category real not null,
  same_domain real not null,
  other_domain real not null,
  same_kind real not null,
  other_kind real not null,
  match_base real not null,
  match_similarity real not null,
  match_category real not null,
  match_words real not null,
  match_place real not null,
  match_other_place real not null,
  match_price real not null,
  match_other_condition real not null,
  match_musts real not null,
  match_attributes real not null,
  match_other_attributes real not null,
  origin text not null default 'operator',
  constraint ranking_ranking_known check (ranking ~ '^default$'),
  constraint ranking_origin_known check (origin in ('shipped', 'operator'))
);

alter table market.ranking enable row level security;
alter table market.ranking force row level security;
create policy "the owner sees all" on market.ranking to souk_owner using (true) with check (true);
create policy "a dba reads all" on market.ranking for select to souk_dba using (true);

create trigger forget_deletion after insert on market.ranking referencing new table as added
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.forget_deletion('ranking');
create trigger keep_origin before update or delete on market.ranking
  for each row when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.keep_origin('ranking',
    'in_title,in_text,in_category,density,modifier,place,price,same_category,same_domain,other_domain,'
    'same_kind,other_kind,match_base,match_similarity,match_category,match_words,match_place,'
    'match_other_place,match_price,match_other_condition,match_musts,match_attributes,'
    'match_other_attributes');
create trigger remember_truncate before truncate on market.ranking
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.remember_truncate('ranking');

-- Lists of a domain or a category by price read their first rows in this order. Lists by time use market.offer.facets.
-- squawk-ignore require-concurrent-index-creation
create index offer_published_by_domain_price_idx on market.offer (domain, price_hundredths, id)
  where status = 'published';
-- squawk-ignore require-concurrent-index-deletion
drop index market.offer_published_by_class_idx;

-- A filter holds the accounts whose offers nobody finds.
alter type search.search_filter add attribute hidden uuid[];
-- Until the code is reloaded, functions of the earlier release make filters by this one.
--! Included search/filter.sql
-- The visibility rule and the hard filters of a search, in one place for all kinds of candidates. Written to be
-- inlined, so that each condition can use an index.

create or replace function search.text_array(filter jsonb) returns text[]
  language plpgsql immutable parallel safe
as $$
begin
  return case jsonb_typeof(filter)
    when 'string' then array[filter #>> '{}']
    when 'array' then array(select jsonb_array_elements_text(filter))
  end;
end
$$;
comment on function search.text_array(jsonb) is
  'Returns a string, or an array of strings, as text[]; null when absent.';
grant execute on function search.text_array(jsonb) to souk_agent, souk_person;

create or replace function search.is_verified(account_id uuid) returns boolean
  language plpgsql stable
as $$
begin
  -- This is a function and not a subquery, because PostgreSQL does not inline an SQL function that contains a subquery.
  return exists (select from market.proved_method m where m.account_id = is_verified.account_id);
end
$$;
comment on function search.is_verified(uuid) is 'Returns whether an account has proved a sign-in method.';

create or replace function search.to_search_filter(filters jsonb, as_of timestamptz, searcher uuid)
  returns search.search_filter
  language plpgsql stable
as $$
declare
  price jsonb := coalesce(filters -> 'price', '{}');
begin
  return row(
    as_of, search.text_array(filters -> 'domain'), search.text_array(filters -> 'category'),
    search.text_array(filters -> 'offer_kind'),
    round((price ->> 'min')::numeric * 100), round((price ->> 'max')::numeric * 100), price ->> 'currency',
    price ->> 'period',
    search.place_query(filters ->> 'location'), filters, searcher, internal.accounts_being_hidden()
  )::search.search_filter;
end
$$;
comment on function search.to_search_filter(jsonb, timestamptz, uuid) is
  'Returns the filters of a request as a search_filter, for a moment in time and a searching account.';

create or replace function search.posted_since(c search.search_filter) returns timestamptz
  language sql stable
as $$ select (c.filters ->> 'posted_since')::date::timestamp at time zone 'UTC' $$;
comment on function search.posted_since(search.search_filter) is
  'Returns the beginning of the day since which offers must be published; null when that filter is not set.';

create or replace function search.facet_query(c search.search_filter) returns tsquery
  language plpgsql immutable
as $$
begin
  return (
    select string_agg('(' || f.query::text || ')', ' & ')::tsquery
    from (values
      (c.place),
      (search.any_lexeme(array(select 'domain/' || d from unnest(c.domains) as d))),
      (search.any_lexeme(array(select 'category/' || k from unnest(c.categories) as k))),
      (search.any_lexeme(array(select 'kind/' || k from unnest(c.kinds) as k))),
      (search.price_bucket_query(c.price_min, c.price_max, c.currency))) as f (query)
    where f.query::text <> '');
end
$$;
comment on function search.facet_query(search.search_filter) is
  'Returns the filters that market.offer.facets indexes, without time, as a query that every passing offer matches; '
  'null when there are none.';

create or replace function search.matches_filter(offer market.offer, c search.search_filter) returns boolean
  language sql stable
as $$
  select offer.status = 'published' and offer.published_at <= c.as_of
    and (c.hidden is null or (offer.account_id = any (c.hidden)) is not true)
    and (c.domains is null or offer.domain = any (c.domains))
    and (c.categories is null or offer.category = any (c.categories))
    and (c.kinds is null or offer.offer_kind = any (c.kinds))
    and (c.price_min is null or offer.price_hundredths >= c.price_min)
    and (c.price_max is null or offer.price_hundredths <= c.price_max)
    and (c.currency is null or offer.price_currency = c.currency or offer.price_hundredths = 0)
    and (c.period is null or offer.price_period = c.period)
    and (c.place is null or offer.facets @@ c.place)
    and (c.filters ->> 'posted_since' is null or offer.published_at >= search.posted_since(c))
    and (c.filters ->> 'reviewed' is null or offer.reviewed = (c.filters ->> 'reviewed')::boolean)
    and (c.filters ->> 'has_images' is null or (cardinality(offer.images) > 0) = (c.filters ->> 'has_images')::boolean)
    and (not coalesce((c.filters ->> 'exclude_own')::boolean, false) or offer.account_id is distinct from c.searcher)
    and (c.filters ->> 'verified_publisher' is null or (c.filters ->> 'verified_publisher')::boolean
      = search.is_verified(offer.account_id))
$$;
comment on function search.matches_filter(market.offer, search.search_filter) is
  'Returns whether an offer is published at the filter''s moment and passes every filter that is set.';
--! EndIncluded search/filter.sql

reset role;
