-- Reads on replicas. Callers see their own changes in the next read, from any process; and a removed agent, an ended
-- session or a suspended account is refused at once. For this, every transaction notes the accounts whose rows it
-- changes, and before a process reads on a replica, it asks the primary whether the replica has all writes noted for
-- the caller's account (src/database/replicas.ts).
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

create or replace function internal.note_conversation_write() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- What changes in a conversation changes its time, too.
  perform internal.note_write_of(a.id)
  from (select distinct unnest(array[old.publisher_id, old.inquirer_id, new.publisher_id, new.inquirer_id]) as id) as a;
  return null;
end
$$;
comment on function internal.note_conversation_write() is
  'Notes a change of a conversation for both sides, when the transaction commits.';

create or replace function internal.note_power_write() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform internal.note_write_of(a.account_id)
  from market.agent a where a.id = coalesce(new.agent_id, old.agent_id);
  return null;
end
$$;
comment on function internal.note_power_write() is
  'Notes a change of an agent''s powers for its account, when the transaction commits.';

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
  -- Otherwise PostgreSQL would plan the statement for each array, which takes longer than running it.
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

create or replace function internal.taken_down(offers uuid[]) returns uuid[]
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  hidden constant uuid[] := internal.accounts_being_hidden();
begin
  return array(
    select a.id from unnest(taken_down.offers) as a (id)
    where not exists (select from market.offer o
      where o.id = a.id and o.status = 'published' and (o.account_id = any (hidden)) is not true
        -- A replica that is used is at most half a minute behind.
        and (o.contact_visibility = 'public' or o.updated_at < now() - interval '1 minute')));
end
$$;
comment on function internal.taken_down(uuid[]) is
  'Returns those of some offers that strangers do not see: removed, archived, deleted, of a suspended account, or '
  'changed a moment ago with a contact that not everybody sees. Only on the primary, about offers that a replica '
  'showed.';
grant execute on function internal.taken_down(uuid[]) to souk_api;
