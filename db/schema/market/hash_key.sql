create table market.hash_key (
  id boolean default true constraint hash_key_pkey primary key,
  -- gen_random_uuid has 122 random bits.
  key bytea not null default sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())),
  constraint hash_key_single check (id),
  constraint hash_key_length check (octet_length(key) = 32)
);

comment on table market.hash_key is
  'The one row is the key of the hashes by which the market recognizes values that it must not store. A dump contains '
  'it. For hashes kept longer than a day, the operator''s RECORD_KEY takes its place (internal.record_hashes).';
comment on column market.hash_key.id is 'Always true, so that there is one row.';
comment on column market.hash_key.key is '32 random bytes.';
