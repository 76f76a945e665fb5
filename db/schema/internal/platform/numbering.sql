create table internal.numbering (
  server bigint constraint numbering_pkey primary key
);

comment on table internal.numbering is
  'The server whose transactions the stored numbers come from, in one row; none before it was noted. Another server '
  'counts from another number (internal/platform/renumber.sql).';
comment on column internal.numbering.server is 'The identifier of the server, which every initdb makes anew.';
grant select on internal.numbering to souk_dba;
