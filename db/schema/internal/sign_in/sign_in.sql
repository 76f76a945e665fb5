-- What a sign-in begins with: the form in which a subject is stored, how many may be started, and its locks
-- (internal/platform/locks.sql states their order).

create or replace function internal.subject_hash(method text, subject text) returns bytea
  language sql immutable
as $$ select sha256(convert_to(subject_hash.method || ':' || subject_hash.subject, 'UTF8')) $$;
comment on function internal.subject_hash(text, text) is
  'Returns the stored form of a provider''s subject: SHA-256 of method and subject. For method email the subject is '
  'the e-mail address.';

create or replace function internal.mailbox_of(email text) returns text
  language plpgsql immutable
as $$
declare
  mailbox text := internal.clean_email(mailbox_of.email);
  -- The beginning of any other character than these.
  other constant text := '[^' || internal.white_space() || '@<>()\[\],;:"\\';
begin
  -- The pattern allows no character that ends a header line or begins another address. It does not allow quoted local
  -- parts, because they do not occur in practice.
  return case when char_length(mailbox) <= 254 and mailbox = internal.visible_name(mailbox)
    and mailbox ~ ('^' || other || ']{1,64}@(' || other || '.]+\.)+' || other || '.]{2,63}$') then mailbox end;
end
$$;
comment on function internal.mailbox_of(text) is
  'Returns an e-mail address as it is stored and compared (internal.clean_email); null when it is not a valid address.';
grant execute on function internal.mailbox_of(text) to souk_person;

create or replace function internal.count_sign_in(address text) returns void
  language plpgsql volatile
as $$
declare
  network constant text := internal.network_of(count_sign_in.address);
  scope constant text := 'sign_in:' || network;
  -- As in internal.count_by_address.
  site constant text := case family(network::inet) when 6 then 'sign_in:' || internal.site_of(network) end;
  wait integer;
begin
  perform internal.lock_window(s.scope, 'sign_in')
  from unnest(array[scope, site]) with ordinality as s (scope, n) where s.scope is not null order by s.n;
  -- Each start costs a row. Sixty an hour are enough for an office behind one address.
  wait := coalesce(internal.window_wait(scope, 'sign_in', 60), internal.window_wait(site, 'sign_in', 600));
  if wait is not null then
    perform internal.raise_problem(429, 'rate_limited',
      'too_many_sign_ins', jsonb_build_object('minutes', ceil(wait / 60.0)),
      extra => jsonb_build_object('retry_after', wait));
  end if;
  insert into market.rate_limit_hit (scope, action)
  select s.scope, 'sign_in' from unnest(array[scope, site]) as s (scope) where s.scope is not null;
end
$$;
comment on function internal.count_sign_in(text) is
  'Counts a sign-in that is started from an address, with any method. Raises 429 after 60 in an hour, or after 600 of '
  'its IPv6 site (/48).';

create or replace function internal.lock_sign_in(flow_hash bytea, subject_hash bytea, session_hash bytea)
  returns market.sign_in
  language plpgsql volatile
as $$
declare
  attempt market.sign_in;
  accounts uuid[];
begin
  -- Only one sign-in of a subject runs at a time, so that a new person who signs in in two tabs gets only one account.
  -- Everybody who may log in sees which locks are held.
  perform pg_advisory_xact_lock(
    hashtextextended(internal.mark_of('subject ' || encode(lock_sign_in.subject_hash, 'hex')), 0));
  -- The account that gets the method, the account that the browser leaves, and the account for which the subject is
  -- proved. While this transaction holds the lock of the subject, no other transaction can add the subject to another
  -- account.
  accounts := array(
    select o.id from market.sign_in s, unnest(array[s.account_id, s.left_account_id]) as o (id)
    where s.flow_hash = lock_sign_in.flow_hash and o.id is not null
    union
    select p.account_id from market.sign_in s
    join market.proved_method p on p.method = s.method and p.subject_hash = lock_sign_in.subject_hash
    where s.flow_hash = lock_sign_in.flow_hash
    order by 1);
  -- The present session of the browser ends too. It may belong to a third account, which another transaction may be
  -- deleting.
  perform internal.lock_sessions(o.account_id) from (
    select unnest(accounts)
    union
    select s.account_id from market.session s where s.secret_hash = lock_sign_in.session_hash
    order by 1) as o (account_id);
  -- The lock must be "for update": a transaction that starts a verification inserts a row that refers to the account,
  -- and only with this lock one of the two transactions waits for the other.
  perform from market.account a where a.id = any (accounts) order by a.id for update;
  -- The agents that may be removed or disconnected.
  perform from market.agent a
  join market.sign_in s on a.account_id = s.account_id or a.account_id = s.left_account_id
  where s.flow_hash = lock_sign_in.flow_hash and a.removed_at is null
  order by a.id for no key update of a;
  perform from market.verification v
  where v.account_id = any (accounts) and v.status = 'pending'
    or v.id = (select s.verification_id from market.sign_in s where s.flow_hash = lock_sign_in.flow_hash)
  order by v.id for update;
  select * into attempt from market.sign_in s where s.flow_hash = lock_sign_in.flow_hash for update;
  return attempt;
end
$$;
comment on function internal.lock_sign_in(bytea, bytea, bytea) is
  'Locks and returns the sign-in attempt of a browser; nulls when there is none. Before the attempt it locks the '
  'subject, the sessions of all accounts concerned (also of the browser''s present account), the accounts, the agents '
  'of the account that gets a method or is left, and the verifications.';
