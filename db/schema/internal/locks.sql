-- Which locks are taken, and in which order, so that no two attempts, removals or deletions wait for each other in a
-- circle: who the provider says it is, the sessions of an account (internal.lock_sessions), the account, its agents,
-- the verifications by their ids, the attempt to sign in. A removed agent takes its verifications along and a
-- verification its attempts, so no other order can hold. Everything else of an account, such as its offers, asks, texts
-- and keys, comes after the account: whoever locks one of those, and then writes what refers to the account, locks that
-- first (internal.lock_own_account). The jobs of the crontab wait for no lock that somebody has (jobs/purge.sql).

create or replace function internal.sessions_key(account_id uuid) returns bigint
  language sql immutable
as $$ select hashtextextended('sessions ' || sessions_key.account_id, 0) $$;
comment on function internal.sessions_key(uuid) is
  'The advisory lock on the sessions of an account: taken before the account by whoever ends several of them.';
grant execute on function internal.sessions_key(uuid) to souk_person;

create or replace function internal.lock_sessions(account_id uuid) returns void
  language plpgsql volatile
as $$
begin
  -- Entering writes to a session before anything else is locked: who ends all of them waits here, holding nothing yet.
  perform pg_advisory_xact_lock(internal.sessions_key(lock_sessions.account_id));
end
$$;
comment on function internal.lock_sessions(uuid) is
  'Waits until nobody else of the account writes to its sessions in a transaction that goes on.';
grant execute on function internal.lock_sessions(uuid) to souk_person;

create or replace function internal.lock_own_account() returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- Whatever is written next refers to the account, and would wait for it while holding what a deletion wants.
  perform from market.account a where a.id = internal.account_id() for share;
  if not found then
    perform internal.raise_problem(401, 'unauthorized',
      'This account no longer exists. Call GET /v1/me to see whether your token still works.');
  end if;
end
$$;
comment on function internal.lock_own_account() is
  'Holds the account acted for until the transaction ends, before anything of it is locked: whoever deletes or '
  'suspends it waits. 401 when it is gone.';
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
    perform internal.raise_problem(401, 'unauthorized', 'This agent was removed a moment ago.');
  elsif agent.account_id is distinct from internal.account_id() then
    perform internal.raise_problem(409, 'invalid_state',
      'A person has approved this agent at this very moment. Send the call again.');
  end if;
end
$$;
comment on function internal.lock_own_agent() is
  'Holds the calling agent until the transaction ends, after its account: whoever removes or approves it waits. 401 '
  'when it was removed, 409 when it acts for another account by now.';
grant execute on function internal.lock_own_agent() to souk_agent;

create or replace function internal.lock_good_standing(account_id uuid) returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- A suspension waits for whoever holds this, so nothing slips past it.
  return exists (select from market.account a
    where a.id = lock_good_standing.account_id and a.suspended_at is null for share);
end
$$;
comment on function internal.lock_good_standing(uuid) is
  'Whether an account is not suspended, and will not be until this transaction ends.';

create or replace function internal.lock_offer_account(offer_id uuid) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform internal.lock_good_standing(
    (select o.account_id from market.offer o where o.id = lock_offer_account.offer_id));
end
$$;
comment on function internal.lock_offer_account(uuid) is
  'Holds the account of an offer until the transaction ends, before the offer is locked, as its deletion does.';
grant execute on function internal.lock_offer_account(uuid) to souk_moderator;

create or replace function internal.lock_account(id uuid) returns market.account
  language plpgsql volatile
as $$
declare
  account market.account;
begin
  select * into account from market.account a where a.id = lock_account.id for no key update;
  if not found then
    perform internal.raise_problem(404, 'not_found', 'There is no such account.');
  end if;
  return account;
end
$$;
comment on function internal.lock_account(uuid) is 'An account, locked; 404 when there is none.';
grant execute on function internal.lock_account(uuid) to souk_moderator;
