create table market.verification (
  id uuid default internal.uuid_v7() constraint verification_pkey primary key,
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
-- One pending link for each agent and method. A repeated request returns it.
create unique index verification_one_pending on market.verification (agent_id, method) where status = 'pending';
create index verification_agent_id_idx on market.verification (agent_id);
-- Used to purge old verifications, and to mark those that have expired.
create index verification_expires_at_idx on market.verification (expires_at);
create index verification_expires_at_pending_idx on market.verification (expires_at) where status = 'pending';

create policy "a caller sees its account's verifications; an agent its own" on market.verification
  for select to souk_agent, souk_person
  using (account_id = (select internal.visible_account_id()) or agent_id = (select internal.agent_id()));
create policy "an agent starts a verification for its account" on market.verification for insert to souk_agent
  with check (account_id = (select internal.account_id()) and agent_id = (select internal.agent_id())
    and status = 'pending');
create policy "an agent records a method that its account has already proved" on market.verification for insert
  to souk_agent
  with check (account_id = (select internal.account_id()) and agent_id = (select internal.agent_id())
    and status = 'completed'
    and exists (select from market.proved_method p
      where p.account_id = (select internal.account_id()) and p.method = verification.method));
create policy "an agent marks its expired verification as expired" on market.verification for update to souk_agent
  using (account_id = (select internal.account_id()) and status = 'pending' and expires_at <= now())
  with check (status = 'expired' and expires_at <= now());

comment on table market.verification is
  'One row is one request with which an agent asks its person to prove a sign-in method.';
comment on column market.verification.account_id is 'The account whose method is to be proved.';
comment on column market.verification.agent_id is
  'The agent that made the request. The secret of the link is derived from the link key of this agent.';
comment on column market.verification.secret_hash is 'SHA-256 of the secret in the link.';
comment on column market.verification.status is
  'pending, completed, expired or cancelled; the last three are final. A pending row past expires_at counts as '
  'expired.';
grant select on market.verification to souk_agent, souk_person;
grant insert (id, account_id, agent_id, method, secret_hash, status), update (status) on market.verification
  to souk_agent;
