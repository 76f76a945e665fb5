create table market.connection (
  agent_id uuid constraint connection_pkey primary key
    constraint connection_agent_fkey references market.agent on delete cascade,
  secret_hash bytea not null constraint connection_secret_hash_key unique,
  code text not null,
  address text,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '30 minutes',
  approved_at timestamptz,
  declined_at timestamptz,
  mispicked_at timestamptz,
  notified_at timestamptz,
  constraint connection_secret_hash_is_sha256 check (octet_length(secret_hash) = 32),
  constraint connection_code_form check (code ~ '^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$'),
  constraint connection_address_length check (char_length(address) between 1 and 50),
  constraint connection_decided_once check (approved_at is null or declined_at is null),
  constraint connection_mispicked_unapproved check (approved_at is null or mispicked_at is null)
);

-- Used to forget addresses.
create index connection_created_at_address_idx on market.connection (created_at) where address is not null;

comment on table market.connection is
  'One row is one link with which a person can approve an agent. It works once, within 30 minutes, and the agent acts '
  'for the first person who approves.';
comment on column market.connection.secret_hash is 'SHA-256 of the secret in the link.';
comment on column market.connection.code is
  'The code that the person picks among three on the page (internal.codes_to_pick). It is never in the link.';
comment on column market.connection.address is
  'The network that requested the link: IPv4 /32 or IPv6 /64. It is needed while a "Not mine" may count against it, '
  'and while its sandboxes count; null after a day.';
comment on column market.connection.declined_at is
  'When a person chose "Not mine", or when the agent was removed before it was approved.';
comment on column market.connection.mispicked_at is
  'When somebody picked another code than this one. The link then approves nothing any more.';
comment on column market.connection.notified_at is
  'When the message about the approval was sent to the person''s e-mail address.';
