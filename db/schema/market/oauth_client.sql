create table market.oauth_client (
  id uuid default internal.uuid_v7() constraint oauth_client_pkey primary key,
  name text not null,
  redirect_uris text[] not null,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  constraint oauth_client_name_length check (char_length(name) between 1 and 80),
  constraint oauth_client_redirect_uris_length check (
    cardinality(redirect_uris) between 1 and 10 and char_length(array_to_string(redirect_uris, '')) <= 20000)
);
-- Used to purge clients that never finished.
create index oauth_client_created_at_unfinished_idx on market.oauth_client (created_at) where finished_at is null;

comment on table market.oauth_client is
  'One row is one client of OAuth that registered itself (RFC 7591). One that publishes a document about itself has no '
  'row: the address of its document is its id.';
comment on column market.oauth_client.id is 'The client_id. UUIDv7.';
comment on column market.oauth_client.name is 'What the client calls itself.';
comment on column market.oauth_client.redirect_uris is
  'The addresses to which a browser may be sent back with an authorization code.';
comment on column market.oauth_client.finished_at is
  'When the client first got a token; null until then. A client that gets none within a day is deleted.';
