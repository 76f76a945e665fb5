-- Sign-in methods, what accounts have proved by them, and the verifications under way.

create table market.sign_in_method (
  method text constraint sign_in_method_pkey primary key,
  available boolean not null default false,
  position smallint not null,
  constraint sign_in_method_known check (method in ('google', 'apple', 'email'))
);
comment on table market.sign_in_method is 'One row a method the contract names.';
comment on column market.sign_in_method.method is 'google, apple or email.';
comment on column market.sign_in_method.available is 'Whether the operator has configured its provider.';
comment on column market.sign_in_method.position is 'Where it stands in lists.';
insert into market.sign_in_method (method, position) values ('google', 1), ('apple', 2), ('email', 3);

create table market.proved_method (
  account_id uuid not null constraint proved_method_account_fkey references market.account on delete cascade,
  method text not null constraint proved_method_method_fkey references market.sign_in_method on delete restrict,
  subject_hash bytea not null,
  proved_at timestamptz not null default now(),
  email text,
  constraint proved_method_pkey primary key (account_id, method),
  constraint proved_method_subject_key unique (method, subject_hash),
  constraint proved_method_method_form check (method in ('google', 'apple', 'email')),
  constraint proved_method_subject_hash_is_sha256 check (octet_length(subject_hash) = 32),
  constraint proved_method_email_length check (char_length(email) between 3 and 254)
);
create index proved_method_email_idx on market.proved_method (email) where email is not null;
comment on table market.proved_method is 'One row is one method that an account has proved; a subject proves one account only.';
comment on column market.proved_method.account_id is 'Who proved.';
comment on column market.proved_method.method is 'By what.';
comment on column market.proved_method.subject_hash is 'SHA-256 of who the provider says it is.';
comment on column market.proved_method.proved_at is 'When.';
comment on column market.proved_method.email is 'The mailbox that the provider vouched for, null when it vouched for none. Agents never see it.';

create table market.verification (
  id uuid default market.uuid_v7() constraint verification_pkey primary key,
  account_id uuid not null constraint verification_account_fkey references market.account on delete cascade,
  agent_id uuid not null constraint verification_agent_fkey references market.agent on delete cascade,
  method text not null constraint verification_method_fkey references market.sign_in_method on delete restrict,
  secret_hash bytea not null constraint verification_secret_hash_key unique,
  status text not null default 'pending',
  created_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '30 minutes',
  constraint verification_method_form check (method in ('google', 'apple', 'email')),
  constraint verification_status_known check (status in ('pending', 'completed', 'expired', 'cancelled')),
  constraint verification_secret_hash_is_sha256 check (octet_length(secret_hash) = 32)
);
create index verification_account_id_idx on market.verification (account_id);
create index verification_method_idx on market.verification (method);
-- One open link for each agent and method; asking again finds it.
create unique index verification_one_pending on market.verification (agent_id, method) where status = 'pending';
create index verification_agent_id_idx on market.verification (agent_id);
-- For forgetting, and for noting which links ran out.
create index verification_expires_at_idx on market.verification (expires_at);
create index verification_expires_at_pending_idx on market.verification (expires_at) where status = 'pending';
comment on table market.verification is 'One row is one request of an agent that its person proves a method.';
comment on column market.verification.id is 'UUIDv7.';
comment on column market.verification.account_id is 'Whose method is to be proved.';
comment on column market.verification.agent_id is 'Who asked; its link key makes the link.';
comment on column market.verification.method is 'google, apple or email.';
comment on column market.verification.secret_hash is 'SHA-256 of the secret in the link.';
comment on column market.verification.status is 'pending, then completed, expired or cancelled for good. A pending row past expires_at counts as expired.';
comment on column market.verification.created_at is 'When the agent asked.';
comment on column market.verification.expires_at is 'When the link stops working.';

alter table market.sign_in_method enable row level security;
alter table market.sign_in_method force row level security;
alter table market.proved_method enable row level security;
alter table market.proved_method force row level security;
alter table market.verification enable row level security;
alter table market.verification force row level security;
create policy "the owner sees all" on market.sign_in_method to souk_owner using (true) with check (true);
create policy "the owner sees all" on market.proved_method to souk_owner using (true) with check (true);
create policy "the owner sees all" on market.verification to souk_owner using (true) with check (true);
create policy "everyone reads the methods" on market.sign_in_method for select to souk_agent, souk_person using (true);
create policy "a caller sees what its account proved" on market.proved_method for select to souk_agent, souk_person
  using (account_id = (select market.account_id()));
create policy "a caller sees the verifications of its account" on market.verification for select to souk_agent, souk_person
  using (account_id = (select market.account_id()));
create policy "an agent asks for its account" on market.verification for insert to souk_agent
  with check (account_id = (select market.account_id()) and agent_id = (select market.agent_id()) and status = 'pending');
create policy "an agent notes what its account proved already" on market.verification for insert to souk_agent
  with check (account_id = (select market.account_id()) and agent_id = (select market.agent_id()) and status = 'completed'
    and exists (select from market.proved_method p
      where p.account_id = (select market.account_id()) and p.method = verification.method));
create policy "an agent notes that a link ran out" on market.verification for update to souk_agent
  using (account_id = (select market.account_id()) and status = 'pending' and expires_at <= now())
  with check (status = 'expired' and expires_at <= now());
grant select on market.sign_in_method to souk_agent, souk_person;
grant select (account_id, method, proved_at) on market.proved_method to souk_agent, souk_person;
grant select (email) on market.proved_method to souk_person;
grant select on market.verification to souk_agent, souk_person;
grant insert (id, account_id, agent_id, method, secret_hash, status), update (status) on market.verification to souk_agent;

create or replace function market.keep_final_verification() returns trigger
  language plpgsql volatile
as $$
begin
  if old.status <> 'pending' then
    perform market.fail(409, 'invalid_state', format('This verification is %s, and that is final.', old.status));
  end if;
  return new;
end
$$;
comment on function market.keep_final_verification() is 'completed, expired and cancelled are final.';
create or replace trigger keep_final_verification before update of status on market.verification
  for each row when (old.status is distinct from new.status) execute function market.keep_final_verification();

create or replace function market.hold_agent() returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  agent market.agent;
begin
  perform market.hold_account();
  select * into agent from market.agent a where a.id = market.agent_id() for share;
  if agent.removed_at is not null then
    perform market.fail(401, 'unauthorized', 'This agent was removed a moment ago.');
  elsif agent.account_id is distinct from market.account_id() then
    perform market.fail(409, 'invalid_state', 'A person has approved this agent at this very moment. Send the call again.');
  end if;
end
$$;
comment on function market.hold_agent() is
  'Holds the calling agent until the transaction ends, after its account: whoever removes or approves it waits. 401 when it was removed, 409 when it acts for another account by now.';
grant execute on function market.hold_agent() to souk_agent;

create or replace function market.verification_secret(link_key bytea, verification_id uuid) returns text
  language sql immutable parallel safe
as $$
  -- Made from a key that only the agent's token yields, so the same link can be given again and is stored nowhere.
  select encode(sha256(verification_secret.link_key || uuid_send(verification_secret.verification_id)), 'hex')
$$;
comment on function market.verification_secret(bytea, uuid) is
  'The secret in a verification''s link: SHA-256 over the agent''s link key and the verification''s id, in hex.';

create or replace function market.verification_document(verification market.verification, base_url text, link_key bytea) returns jsonb
  language plpgsql stable
as $$
declare
  status text := case when verification.status = 'pending' and verification.expires_at <= now()
    then 'expired' else verification.status end;
begin
  return jsonb_build_object(
    'id', verification.id,
    'method', verification.method,
    'status', status,
    'expires_in', case when status = 'pending'
      then ceil(extract(epoch from verification.expires_at - now()))::integer else 0 end,
    'summary', case status
      when 'pending' then 'Give this link to the person you act for and do not open it yourself. Then read this verification until its status is no longer pending.'
      when 'completed' then 'The method is proved. The limits of the account have risen.'
      when 'expired' then 'The link ran out of time. Start a new verification when the person is ready.'
      else 'The person cancelled. Ask before you start a new one.'
    end)
    -- Another agent of the account sees the verification, but cannot make its link.
    || case when status = 'pending' and verification.agent_id = market.agent_id() then jsonb_build_object('url',
      verification_document.base_url || '/verify/' || market.verification_secret(link_key, verification.id))
      else '{}' end;
end
$$;
comment on function market.verification_document(market.verification, text, bytea) is
  'A verification as clients see it; the link only while pending.';
grant execute on function market.keep_final_verification(), market.verification_secret(bytea, uuid),
  market.verification_document(market.verification, text, bytea) to souk_agent, souk_person;

create or replace function market.methods(available boolean) returns jsonb
  language plpgsql stable
as $$
begin
  return (select coalesce(jsonb_agg(m.method order by m.position), '[]')
    from market.sign_in_method m where m.available = methods.available);
end
$$;
comment on function market.methods(boolean) is 'The sign-in methods that can be started now, or those that cannot.';

create or replace function market.verified_methods() returns jsonb
  language plpgsql stable
as $$
begin
  return (select coalesce(jsonb_agg(p.method order by p.method), '[]')
    from market.proved_method p where p.account_id = (select market.account_id()));
end
$$;
comment on function market.verified_methods() is 'The methods that the account acted for has proved.';
grant execute on function market.methods(boolean), market.verified_methods() to souk_agent, souk_person;
