create table market.known_browser (
  secret_hash bytea not null,
  method text not null default 'email',
  subject_hash bytea not null,
  seen_at timestamptz not null default now(),
  constraint known_browser_pkey primary key (secret_hash, subject_hash),
  constraint known_browser_mailbox_fkey foreign key (method, subject_hash)
    references market.proved_method (method, subject_hash) on delete cascade,
  constraint known_browser_method_is_email check (method = 'email'),
  constraint known_browser_secret_hash_is_sha256 check (octet_length(secret_hash) = 32),
  constraint known_browser_subject_hash_is_sha256 check (octet_length(subject_hash) = 32)
);
create index known_browser_mailbox_idx on market.known_browser (method, subject_hash, seen_at);
-- Used to purge browsers that have lost their cookie.
create index known_browser_seen_at_idx on market.known_browser (seen_at);

comment on table market.known_browser is
  'One row is one browser that signed in to one mailbox. It signs nobody in: the messages that it asks for are counted '
  'apart, so that strangers cannot use them up (internal/sign_in/sign_in_mail.sql).';
comment on column market.known_browser.secret_hash is
  'SHA-256 of the secret in the browser''s cookie. Each sign-in by mail gives the browser another secret.';
comment on column market.known_browser.method is 'Always email: with subject_hash, the mailbox.';
comment on column market.known_browser.subject_hash is
  'SHA-256 of the method and the e-mail address (internal.subject_hash). The row ends with the proof of the mailbox.';
comment on column market.known_browser.seen_at is 'When the browser last signed in by mail.';
