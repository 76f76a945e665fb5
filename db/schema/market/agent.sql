-- One row is one agent: who calls with a token.

create table market.agent (
  id uuid default market.uuid_v7() constraint agent_pkey primary key,
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
-- Moderators look for agents by what they call themselves.
create index agent_name_idx on market.agent (lower(name) text_pattern_ops);
-- For forgetting those that nobody approved.
create index agent_created_at_unapproved_idx on market.agent (created_at) where connected_at is null;
comment on table market.agent is 'One row is one agent. Its token is known to it alone; here is only the hash.';
comment on column market.agent.id is 'UUIDv7.';
comment on column market.agent.account_id is 'The account it acts for; provisional until a person approves.';
comment on column market.agent.name is 'What it calls itself.';
comment on column market.agent.token_hash is 'SHA-256 of the token.';
comment on column market.agent.created_at is 'When it called POST /v1/connect.';
comment on column market.agent.connected_at is 'When a person approved it; null until then.';
comment on column market.agent.removed_at is 'When it was removed; its token is refused from that moment.';

alter table market.agent enable row level security;
alter table market.agent force row level security;
create policy "the owner sees all" on market.agent to souk_owner using (true) with check (true);
create policy "an agent sees itself" on market.agent for select to souk_agent
  using (id = (select market.agent_id()));
create policy "a person sees the agents of the account" on market.agent for select to souk_person
  using (account_id = (select market.account_id()));
create policy "an agent removes itself" on market.agent for update to souk_agent
  using (id = (select market.agent_id())) with check (removed_at is not null);
create policy "a person removes agents of the account" on market.agent for update to souk_person
  using (account_id = (select market.account_id())) with check (removed_at is not null);
grant select (id, account_id, name, created_at, connected_at, removed_at) on market.agent to souk_agent, souk_person;
grant update (removed_at) on market.agent to souk_agent, souk_person;

create or replace function market.settle_removed_agent() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- The next call is refused on every replica that synchronous_standby_names lists; without standbys this changes nothing.
  perform set_config('synchronous_commit', 'remote_apply', true);
  update market.connection set declined_at = now() where agent_id = new.id and approved_at is null and declined_at is null;
  delete from market.idempotency_key where owner_id = new.id;
  update market.verification v
  set status = case when v.expires_at <= now() then 'expired' else 'cancelled' end
  where v.agent_id = new.id and v.status = 'pending';
  return new;
end
$$;
comment on function market.settle_removed_agent() is 'What dies with a removed agent: its open links and its keys.';
create or replace trigger settle_removed_agent after update of removed_at on market.agent
  for each row when (old.removed_at is null and new.removed_at is not null)
  execute function market.settle_removed_agent();
