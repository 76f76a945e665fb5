create table market.oauth_grant (
  agent_id uuid constraint oauth_grant_pkey primary key
    constraint oauth_grant_agent_fkey references market.agent on delete cascade,
  client_id text not null,
  redirect_uri text not null,
  code_challenge text not null,
  signs boolean not null default false,
  state text,
  created_at timestamptz not null default now(),
  code_hash bytea constraint oauth_grant_code_hash_key unique,
  code_expires_at timestamptz,
  code_used_at timestamptz,
  family_hash bytea constraint oauth_grant_family_hash_key unique,
  refresh_token_hash bytea,
  refreshed_at timestamptz,
  constraint oauth_grant_client_id_length check (char_length(client_id) between 1 and 2000),
  constraint oauth_grant_redirect_uri_length check (char_length(redirect_uri) between 1 and 2000),
  constraint oauth_grant_code_challenge_form check (code_challenge ~ '^[A-Za-z0-9_-]{43}$'),
  constraint oauth_grant_state_length check (char_length(state) <= 4000),
  constraint oauth_grant_code_hash_is_sha256 check (octet_length(code_hash) = 32),
  constraint oauth_grant_code_expires check ((code_hash is null) = (code_expires_at is null)),
  constraint oauth_grant_family_hash_is_sha256 check (octet_length(family_hash) = 32),
  constraint oauth_grant_refresh_token_hash_is_sha256 check (octet_length(refresh_token_hash) = 32),
  constraint oauth_grant_refresh_token_complete check ((family_hash is null) = (refresh_token_hash is null))
);
-- Whether a client has a grant (jobs.purge_oauth).
create index oauth_grant_client_id_idx on market.oauth_grant (client_id);
-- Used to purge grants that never got a token.
create index oauth_grant_created_at_unfinished_idx on market.oauth_grant (created_at) where family_hash is null;

comment on table market.oauth_grant is
  'One row is one agent that came by OAuth: the request for authorization, its code, and the refresh token. The access '
  'token is the token of the agent (market.agent), so it ends with the agent.';
comment on column market.oauth_grant.client_id is
  'The client: the id of a market.oauth_client, or the address of the document that the client publishes about itself.';
comment on column market.oauth_grant.redirect_uri is 'Where the browser is sent back with the code.';
comment on column market.oauth_grant.code_challenge is
  'The challenge of PKCE: the client gets a token only with the secret whose SHA-256 in base64url this is.';
comment on column market.oauth_grant.signs is
  'Whether the client has to prove itself with a key of its own, because its document allows nothing less.';
comment on column market.oauth_grant.state is
  'What the client wants to get back together with the code; null when it sent nothing, or when it has its token.';
comment on column market.oauth_grant.code_hash is 'SHA-256 of the authorization code; null until a person approves.';
comment on column market.oauth_grant.code_used_at is 'When the code was presented. It works once.';
comment on column market.oauth_grant.family_hash is
  'SHA-256 of the part that all refresh tokens of this grant share; null until the client has one. Another rest means '
  'a refresh token that was used already.';
comment on column market.oauth_grant.refresh_token_hash is 'SHA-256 of the refresh token that works.';
comment on column market.oauth_grant.refreshed_at is 'When the refresh token was last used; null when it never was.';
