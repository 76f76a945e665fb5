create table internal.loaded (
  name text constraint loaded_pkey primary key,
  hash text not null,
  loaded_at timestamptz not null default now(),
  constraint loaded_name_length check (char_length(name) between 1 and 100),
  constraint loaded_hash_is_sha256 check (hash ~ '^[0-9a-f]{64}$'),
  constraint loaded_hash_length check (char_length(hash) = 64)
);

comment on table internal.loaded is
  'One row is one part of the sources (structure, code, or a file of db/data) that was loaded into this database.';
comment on column internal.loaded.name is '"structure", "code", or the name of the file.';
comment on column internal.loaded.hash is 'SHA-256 of the loaded part. A part with another hash is loaded again.';
grant select (name, loaded_at) on internal.loaded to souk_dba;
