-- Who moderates: a person whose account is listed here. Nobody becomes one through the API; `npm run moderator` appoints,
-- and on a database without any, whoever opens the one-time link that the process printed.

create table market.moderator (
  account_id uuid constraint moderator_pkey primary key
    constraint moderator_account_fkey references market.account on delete cascade,
  appointed_at timestamptz not null default now(),
  appointed_by text not null,
  constraint moderator_appointed_by_length check (char_length(appointed_by) between 1 and 120)
);
comment on table market.moderator is 'One row is one account whose person is a moderator.';
comment on column market.moderator.account_id is 'Whose account.';
comment on column market.moderator.appointed_at is 'Since when.';
comment on column market.moderator.appointed_by is 'By which means: the SQL role that appointed, or the first-start link.';

alter table market.moderator enable row level security;
alter table market.moderator force row level security;
create policy "the owner sees all" on market.moderator to souk_owner using (true) with check (true);

create table market.moderator_link (
  secret_hash bytea constraint moderator_link_pkey primary key,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '24 hours',
  constraint moderator_link_secret_hash_is_sha256 check (octet_length(secret_hash) = 32)
);
comment on table market.moderator_link is 'One row is one link that makes the person who accepts it a moderator, once; accepting deletes it.';
comment on column market.moderator_link.secret_hash is 'SHA-256 of what the link holds.';
comment on column market.moderator_link.created_at is 'When it was printed.';
comment on column market.moderator_link.expires_at is 'When it stops working.';

alter table market.moderator_link enable row level security;
alter table market.moderator_link force row level security;
create policy "the owner sees all" on market.moderator_link to souk_owner using (true) with check (true);

create or replace function market.check_appointment() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from market.account a where a.id = new.account_id and a.suspended_at is not null) then
    perform market.fail(409, 'invalid_state', 'This account is suspended. Have it reinstated first.');
  end if;
  -- It was for a market that nobody moderates.
  delete from market.moderator_link;
  return new;
end
$$;
comment on function market.check_appointment() is 'Refuses to appoint whoever is suspended; ends the first-start link, which has done its work.';
create or replace trigger check_appointment before insert on market.moderator
  for each row execute function market.check_appointment();

create or replace function market.moderator_id() returns uuid
  language sql stable parallel safe
as $$ select nullif(current_setting('market.moderator_id', true), '')::uuid $$;
comment on function market.moderator_id() is 'The account of the moderator who acts, null outside an operation of one.';
grant execute on function market.moderator_id() to souk_moderator;

create or replace function market.find_moderator(session_hash bytea, out session_id uuid, out account_id uuid)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  select s.session_id, s.account_id into session_id, account_id
  from market.find_session(find_moderator.session_hash) as s
  where exists (
    select from market.moderator m join market.account a on a.id = m.account_id
    where m.account_id = s.account_id and a.suspended_at is null);
end
$$;
comment on function market.find_moderator(bytea) is 'The live session with this hash and its account, when its person is a moderator in good standing; else nulls.';
grant execute on function market.find_moderator(bytea) to souk_api;

create or replace function market.enter_moderator(session_hash bytea) returns boolean
  language plpgsql volatile
as $$
declare
  session record;
begin
  session := market.find_moderator(enter_moderator.session_hash);
  if session.account_id is null then
    -- Whoever is no moderator is not told that there is something to moderate.
    perform market.fail(404, 'not_found', 'There is nothing at this address. GET /v1 lists what there is.');
  end if;
  perform market.keep_session(session.session_id);
  perform set_config('market.agent_id', '', true),
    set_config('market.session_id', session.session_id::text, true),
    set_config('market.account_id', session.account_id::text, true),
    set_config('market.moderator_id', session.account_id::text, true),
    set_config('market.connected', 'false', true),
    set_config('role', 'souk_moderator', true);
  return true;
end
$$;
comment on function market.enter_moderator(bytea) is
  'Makes the rest of the transaction run as the moderator with this session, or fails with 404 for everybody else. Writes nothing but that it was used.';
grant execute on function market.enter_moderator(bytea) to souk_api;
