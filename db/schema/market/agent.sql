-- One row is one agent: a client that calls with a bearer token.

create table market.agent (
  id uuid default internal.uuid_v7() constraint agent_pkey primary key,
  account_id uuid not null constraint agent_account_fkey references market.account on delete cascade,
  name text not null,
  token_hash bytea not null constraint agent_token_hash_key unique,
  created_at timestamptz not null default now(),
  connected_at timestamptz,
  removed_at timestamptz,
  constraint agent_name_length check (char_length(name) between 1 and 80),
  constraint agent_token_hash_is_sha256 check (octet_length(token_hash) = 32)
);
create index agent_account_id_idx on market.agent (account_id);
-- Moderators search agents by name.
create index agent_name_idx on market.agent (lower(name) text_pattern_ops);
-- Used to purge agents that nobody approved.
create index agent_created_at_unapproved_idx on market.agent (created_at) where connected_at is null;

alter table market.agent enable row level security;
alter table market.agent force row level security;
create policy "the owner sees all" on market.agent to souk_owner using (true) with check (true);
create policy "an agent sees itself" on market.agent for select to souk_agent
  using (id = (select internal.agent_id()));
create policy "a person sees the agents of the account" on market.agent for select to souk_person
  using (account_id = (select internal.account_id()));
create policy "an agent removes itself" on market.agent for update to souk_agent
  using (id = (select internal.agent_id())) with check (removed_at is not null);
create policy "a person removes agents of the account" on market.agent for update to souk_person
  using (account_id = (select internal.account_id())) with check (removed_at is not null);

-- Reloaded: grants and comments from here on are loaded again whenever a file of db/schema changes.

comment on table market.agent is 'One row is one agent. Only the agent knows its token; the row has the hash.';
comment on column market.agent.id is 'UUIDv7.';
comment on column market.agent.account_id is
  'The account that the agent acts for; provisional until a person approves the agent.';
comment on column market.agent.name is 'The name that the agent gave itself.';
comment on column market.agent.token_hash is 'SHA-256 of the token.';
comment on column market.agent.created_at is 'When the agent called POST /v1/connect.';
comment on column market.agent.connected_at is 'When a person approved the agent; null until then.';
comment on column market.agent.removed_at is 'When the agent was removed. Its token is refused from that moment.';
grant select (id, account_id, name, created_at, connected_at, removed_at) on market.agent to souk_agent, souk_person;
grant update (removed_at) on market.agent to souk_agent, souk_person;
