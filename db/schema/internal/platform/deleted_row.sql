create table internal.deleted_row (
  table_name text not null,
  key jsonb not null,
  -- A key may be a text of 8,000 characters, which is too long for an index.
  key_md5 text not null generated always as (md5(key::text)) stored,
  constraint deleted_row_pkey primary key (table_name, key_md5),
  constraint deleted_row_table_name_length check (char_length(table_name) between 1 and 100),
  constraint deleted_row_key_is_array check (jsonb_typeof(key) = 'array'),
  constraint deleted_row_key_md5_length check (char_length(key_md5) = 32),
  constraint deleted_row_key_length check (octet_length(key::text) <= 60000)
);

comment on table internal.deleted_row is
  'One row is the key of one shipped row that somebody deleted. An upgrade does not insert that row again '
  '(internal/platform/origin.sql).';
comment on column internal.deleted_row.table_name is 'The table, with its schema.';
comment on column internal.deleted_row.key is
  'The values of the columns of the key, in the order of src/install/data_files.ts.';
comment on column internal.deleted_row.key_md5 is 'MD5 of the key, by which rows are looked up.';
grant select on internal.deleted_row to souk_dba;
