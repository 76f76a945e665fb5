-- The lock order. Every transaction (sign-in, removal, deletion) takes its locks in this order, so that there are no
-- deadlocks. Locks of the same kind are taken in the order of the ids.
--   1. the subject, which is the identity that a sign-in provider gives (an advisory lock in internal.lock_sign_in)
--   2. the sessions of an account (an advisory lock, internal.lock_sessions)
--   3. the account
--   4. its agents
--   5. the verifications
--   6. the sign-in attempts
-- No other order of 4 to 6 works: removing an agent changes its verifications, and deleting a verification deletes its
-- sign-in attempts.
--
-- All other rows of an account (offers, asks, submissions, keys) are locked after the account. A transaction that locks
-- one of these rows and then writes a row that refers to the account must lock the account first
-- (internal.lock_own_account). The vector of an offer or ask, and its row in schema search, are locked after the offer
-- or ask, and a transaction that then matches it takes the lock of matching from the beginning. Conversations are
-- locked after the accounts and agents of both sides and after the offer, in the order of their ids. Messages,
-- proposals and agreements are locked after their conversation. There is one exception: the deletion of an account
-- locks its conversations before its offers. That causes no deadlock, because whoever changes the status of an offer
-- locks its account first, and the deletion holds that lock. Matches come last, in the order of their offers
-- (internal.lock_matches). The purges of the crontab never wait for a locked row: they skip it (jobs/purge.sql).
-- test/db/lock_order.test.ts compares every two operations, and fails when a function that locks is in none of them.

create or replace function internal.sessions_key(account_id uuid) returns bigint
  language sql immutable
as $$ select hashtextextended('sessions ' || sessions_key.account_id, 0) $$;
comment on function internal.sessions_key(uuid) is
  'Returns the key of the advisory lock on an account''s sessions. A transaction that ends several sessions takes this '
  'lock before it locks the account.';
grant execute on function internal.sessions_key(uuid) to souk_person;

create or replace function internal.lock_sessions(account_id uuid) returns void
  language plpgsql volatile
as $$
begin
  -- internal.touch_session updates a session at the start of a transaction, while it holds this lock. A transaction
  -- that ends several sessions waits for it here, before it locks anything else.
  perform pg_advisory_xact_lock(internal.sessions_key(lock_sessions.account_id));
end
$$;
comment on function internal.lock_sessions(uuid) is
  'Takes the lock on an account''s sessions, so that no other transaction of the account writes to them until this one '
  'ends.';
grant execute on function internal.lock_sessions(uuid) to souk_person;

create or replace function internal.lock_own_account() returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- The caller will write rows that refer to the account. Without this lock, the caller would hold rows that a deletion
  -- of the account needs, and then wait for the deletion: a deadlock.
  perform from market.account a where a.id = internal.account_id() for share;
  if not found then
    perform internal.raise_problem(401, 'unauthorized', 'account_of_agent_gone');
  end if;
end
$$;
comment on function internal.lock_own_account() is
  'Locks the caller''s account until the transaction ends, so that a deletion or suspension of the account waits. Call '
  'it before locking any other row of the account. Raises 401 when the account no longer exists.';
grant execute on function internal.lock_own_account() to souk_agent, souk_person;

create or replace function internal.lock_own_agent() returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  agent market.agent;
begin
  perform internal.lock_own_account();
  select * into agent from market.agent a where a.id = internal.agent_id() for share;
  if agent.removed_at is not null then
    perform internal.raise_problem(401, 'unauthorized', 'agent_removed_now');
  elsif agent.account_id is distinct from internal.account_id() then
    perform internal.raise_problem(409, 'invalid_state', 'agent_approved_now');
  end if;
end
$$;
comment on function internal.lock_own_agent() is
  'Locks the caller''s account and then the calling agent until the transaction ends, so that a removal or approval '
  'waits. Raises 401 when the agent was removed, and 409 when it acts for another account now.';
grant execute on function internal.lock_own_agent() to souk_agent;

create or replace function internal.lock_caller() returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if internal.agent_id() is null then
    perform internal.lock_own_account();
  else
    perform internal.lock_own_agent();
  end if;
end
$$;
comment on function internal.lock_caller() is
  'Locks the caller''s account and, for an agent, the agent, as internal.lock_own_account and internal.lock_own_agent.';

create or replace function internal.lock_good_standing(account_id uuid) returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- A suspension waits for this lock, so that no offer is published after the suspension.
  return exists (select from market.account a
    where a.id = lock_good_standing.account_id and a.suspended_at is null for share);
end
$$;
comment on function internal.lock_good_standing(uuid) is
  'Locks an account until the transaction ends, and returns whether it exists and is not suspended.';

create or replace function internal.lock_offer_account(offer_id uuid) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform internal.lock_good_standing(
    (select o.account_id from market.offer o where o.id = lock_offer_account.offer_id));
end
$$;
comment on function internal.lock_offer_account(uuid) is
  'Locks the account of an offer until the transaction ends. Callers lock the offer afterwards, as the deletion of an '
  'account does.';
grant execute on function internal.lock_offer_account(uuid) to souk_moderator;

create or replace function internal.lock_matches(ids uuid[]) returns void
  language plpgsql volatile
as $$
begin
  perform from market.match m
  where m.offer_id = any (lock_matches.ids) or m.ask_id = any (lock_matches.ids)
  order by m.offer_id, m.ask_id for update;
end
$$;
comment on function internal.lock_matches(uuid[]) is
  'Locks the matches of these offers and asks, in the order in which all transactions lock matches. Call it before a '
  'statement that deletes matches of several offers, or asks with their matches.';

create or replace function internal.lock_account(id uuid) returns market.account
  language plpgsql volatile
as $$
declare
  account market.account;
begin
  select * into account from market.account a where a.id = lock_account.id for no key update;
  if not found then
    perform internal.raise_problem(404, 'not_found', 'no_account');
  end if;
  return account;
end
$$;
comment on function internal.lock_account(uuid) is 'Locks and returns an account. Raises 404 when there is none.';
grant execute on function internal.lock_account(uuid) to souk_moderator;
