create table market.kept_record (
  method_hash bytea not null,
  removed_offers uuid[] not null default '{}',
  suspended_at timestamptz,
  suspension_reason text constraint kept_record_suspension_reason_fkey references market.reason on delete restrict,
  suspension_note text,
  kept_until timestamptz not null default now() + interval '12 months',
  account_id uuid constraint kept_record_account_fkey references market.account on delete cascade,
  caps jsonb not null default '{}',
  id uuid default internal.uuid_v7() constraint kept_record_pkey primary key,
  constraint kept_record_method_hash_is_sha256 check (octet_length(method_hash) = 32),
  constraint kept_record_removed_offers_count check (cardinality(removed_offers) <= 200),
  constraint kept_record_says_something
    check (account_id is not null or suspended_at is not null or cardinality(removed_offers) > 0 or caps <> '{}'),
  constraint kept_record_suspension_note_length check (char_length(suspension_note) between 1 and 500),
  constraint kept_record_suspension_whole
    check (suspended_at is not null or (suspension_reason is null and suspension_note is null))
);
-- Whoever signs in is looked up in the records of former accounts.
create index kept_record_method_hash_idx on market.kept_record (method_hash);
create index kept_record_account_id_idx on market.kept_record (account_id) where account_id is not null;
-- Used to purge old records.
create index kept_record_kept_until_idx on market.kept_record (kept_until);
-- When an account is reinstated, its suspension is forgotten under all its methods.
create index kept_record_suspended_at_idx on market.kept_record (suspended_at) where suspended_at is not null;
create index kept_record_suspension_reason_idx on market.kept_record (suspension_reason)
  where suspension_reason is not null;

comment on table market.kept_record is
  'One row is a sign-in method of a deleted account, or one that was removed from an account, with what moderation '
  'decided about the account. It names no person, is kept for twelve months, and returns to a person who proves the '
  'method again.';
comment on column market.kept_record.account_id is
  'The account from which the method was removed. While it exists, its own rows say what moderation decided; null '
  'after it was deleted, and then the other columns say it.';
comment on column market.kept_record.caps is 'The limits that a moderator had set: for each action {cap, changed_at}.';
comment on column market.kept_record.method_hash is
  'Keyed hash of the method and its subject (internal.record_hashes).';
comment on column market.kept_record.removed_offers is
  'The offers that moderation had removed, at most 200. They are empty if their account was deleted.';
comment on column market.kept_record.suspended_at is
  'When moderation suspended the account; null when it was not suspended.';
comment on column market.kept_record.suspension_note is 'The reason for the suspension, as a sentence for the owner.';
comment on column market.kept_record.kept_until is 'When the row is deleted.';
