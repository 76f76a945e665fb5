-- What moderation decided about a person outlives the account for twelve months, so that deleting the account and
-- coming back with the same sign-in method does not clear the record. Removing a method first does not help: its hash
-- is kept for twelve months, and a person who proves it again has the account's record, with later decisions.

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
  'Returns the keyed hashes under which the record of a proved subject is kept: write the first, look up all. The '
  'operator''s RECORD_KEY is in no dump; without it, the key is in the database.';

create or replace function internal.removed_offers(account market.account) returns uuid[]
  language plpgsql stable
as $$
begin
  -- The cap counts at most ten removals, so more than two hundred would change nothing.
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
  -- A person changes mailboxes a few times. One who can prove twenty within a year can prove new ones, too, so a longer
  -- memory would not help.
  delete from market.kept_record k
  where k.id in (
    select o.id from market.kept_record o where o.account_id = old.account_id order by o.id desc offset 20);
  return old;
end
$$;
comment on function internal.keep_method() is
  'Keeps the hash of a sign-in method that is removed from an account, because later decisions about the account also '
  'concern a person who proves the method again.';

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
  earlier market.kept_record;
  former market.account;
begin
  for earlier in
    select * from market.kept_record k
    where k.method_hash = any (internal.record_hashes(new.subject_hash)) and k.kept_until > now()
    -- If a row's account is being deleted right now, wait for its record.
    for update
  loop
    if earlier.account_id is null or earlier.account_id = new.account_id then
      -- From here on the record is the account's, and may change.
      delete from market.kept_record k where k.id = earlier.id;
      continue when earlier.account_id is not null;
    else
      select * into former from market.account a where a.id = earlier.account_id;
      earlier.removed_offers := internal.removed_offers(former);
      earlier.suspended_at := former.suspended_at;
      earlier.suspension_reason := former.suspension_reason;
      earlier.suspension_note := former.suspension_note;
      -- A higher limit was set for that account, which still has it. Otherwise one decision would raise many accounts.
      earlier.caps := (
        select coalesce(jsonb_object_agg(c.key, c.value), '{}') from jsonb_each(internal.caps_set(former.id)) as c
        where (c.value ->> 'cap')::integer < internal.setting(c.key || '_cap')::integer);
    end if;
    update market.account a set
      prior_removals = (a.prior_removals || array(
        select o.id from market.offer o
        where o.id = any (earlier.removed_offers) and o.id <> all (a.prior_removals) and o.status = 'removed'
          -- The person may have removed the method from this same account and now adds it again.
          and o.account_id is distinct from a.id
        order by o.removed_at desc))[1:200],
      suspended_at = coalesce(a.suspended_at, earlier.suspended_at),
      suspension_reason = case when a.suspended_at is null then earlier.suspension_reason else a.suspension_reason end,
      suspension_note = case when a.suspended_at is null then earlier.suspension_note else a.suspension_note end
    where a.id = new.account_id;
    insert into market.cap_override as o (account_id, action, cap, changed_at)
    select new.account_id, c.key, (c.value ->> 'cap')::integer, (c.value ->> 'changed_at')::timestamptz
    from jsonb_each(earlier.caps) as c
    on conflict on constraint cap_override_pkey do update set cap = excluded.cap where excluded.cap < o.cap;
    if earlier.suspended_at is not null then
      perform internal.mark_standing(new.account_id);
    end if;
  end loop;
  return new;
end
$$;
comment on function internal.resume_record() is
  'Gives the account that proves a sign-in method the record of the accounts that had proved it before, within twelve '
  'months: their removals, their suspension if it is in force, and the limits that a moderator set. From an account '
  'that still exists it takes over only lower limits.';

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
  'Returns the record that would be kept for twelve months after the deletion of the calling person''s account: '
  '{suspended, removals, caps}; null when nothing would be kept.';
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
