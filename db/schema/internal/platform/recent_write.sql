-- One row is one recent transaction that changed rows of one account. A read of the account may use a replica only if
-- the replica has all these transactions (internal/platform/note_write.sql).
--
-- There is no foreign key, because a deleted account must be noted, too, and because the check would lock the account.

create table internal.recent_write (
  account_id uuid not null,
  xid xid8 not null default pg_current_xact_id(),
  written_at timestamptz not null default clock_timestamp(),
  constraint recent_write_pkey primary key (account_id, xid)
);
-- Used to purge old rows.
create index recent_write_written_at_idx on internal.recent_write (written_at);

comment on table internal.recent_write is
  'One row is one transaction of the last five minutes that changed rows of one account. The account''s reads go to '
  'the primary until a replica has that transaction.';
comment on column internal.recent_write.xid is 'The transaction.';
comment on column internal.recent_write.written_at is 'When the transaction began to commit.';
grant select on internal.recent_write to souk_dba;
