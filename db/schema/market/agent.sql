create table market.agent (
  id uuid default internal.uuid_v7() constraint agent_pkey primary key,
  account_id uuid not null constraint agent_account_fkey references market.account on delete cascade,
  name text not null,
  token_hash bytea constraint agent_token_hash_key unique,
  created_at timestamptz not null default now(),
  connected_at timestamptz,
  removed_at timestamptz,
  disconnected_at timestamptz,
  token_expires_at timestamptz,
  used_at timestamptz not null default now(),
  sandbox_id uuid constraint agent_sandbox_fkey references market.sandbox on delete restrict,
  constraint agent_name_length check (char_length(name) between 1 and 80),
  constraint agent_token_hash_is_sha256 check (octet_length(token_hash) = 32),
  constraint agent_disconnected_or_connected check (disconnected_at is null or connected_at is null)
);
create index agent_account_id_idx on market.agent (account_id);
-- Moderators search agents by name.
create index agent_name_idx on market.agent (reading.fold(name) text_pattern_ops);
-- Used to purge agents that nobody approved.
create index agent_created_at_unapproved_idx on market.agent (created_at) where connected_at is null;
-- Used to end agents that nobody uses.
create index agent_used_at_idx on market.agent (used_at) where removed_at is null;
create index agent_sandbox_id_idx on market.agent (sandbox_id) where sandbox_id is not null;

create policy "an agent sees itself" on market.agent for select to souk_agent
  using (id = (select internal.agent_id()));
create policy "a person sees the agents of the account" on market.agent for select to souk_person
  using (account_id = (select internal.account_id()));
create policy "an agent removes itself" on market.agent for update to souk_agent
  using (id = (select internal.agent_id())) with check (removed_at is not null);
create policy "a person removes agents of the account" on market.agent for update to souk_person
  using (account_id = (select internal.account_id())) with check (removed_at is not null);

comment on table market.agent is
  'One row is one agent: a client that calls with a bearer token. Only the agent knows its token; the row has the '
  'hash.';
comment on column market.agent.account_id is
  'The account that the agent acts for; provisional until a person approves the agent.';
comment on column market.agent.name is 'The name that the agent gave itself.';
comment on column market.agent.token_hash is
  'SHA-256 of the token, for a client of OAuth of its present access token; null while it has none.';
comment on column market.agent.connected_at is
  'When a person approved the agent; null until then, and null while the agent is disconnected.';
comment on column market.agent.removed_at is 'When the agent was removed. Its token is refused from that moment.';
comment on column market.agent.disconnected_at is
  'When the account was recovered. From that moment the agent waits until the person approves it again in the '
  'settings, and reads only what an unapproved agent reads; null when it does not wait.';
comment on column market.agent.token_expires_at is
  'When the token stops working; null when it works until the agent is removed. Access tokens of OAuth expire, and so '
  'does the token of a test agent, with its sandbox.';
comment on column market.agent.used_at is
  'When the token was last used, accurate to a day: the processes of the API tell it once an hour (api.note_uses).';
grant select (id, account_id, name, created_at, connected_at, removed_at, disconnected_at) on market.agent
  to souk_agent, souk_person;
grant update (removed_at) on market.agent to souk_agent, souk_person;
