create table market.used_assertion (
  hash bytea constraint used_assertion_pkey primary key,
  expires_at timestamptz not null,
  constraint used_assertion_hash_is_sha256 check (octet_length(hash) = 32)
);
-- Used to purge assertions that have expired.
create index used_assertion_expires_at_idx on market.used_assertion (expires_at);

comment on table market.used_assertion is
  'One row is one signed statement by which a client of OAuth proved itself (RFC 7523). Each proves it once, and the '
  'row is kept until it would have expired.';
comment on column market.used_assertion.hash is 'SHA-256 of the client_id and the jti of the statement.';
comment on column market.used_assertion.expires_at is 'When the statement proves nothing any more in any case.';
