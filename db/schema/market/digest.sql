create table market.digest (
  account_id uuid constraint digest_pkey primary key
    constraint digest_account_fkey references market.account on delete cascade,
  enabled boolean not null,
  changed_at timestamptz not null default now(),
  due_at timestamptz not null default now(),
  sent_at timestamptz,
  told_at timestamptz,
  seen pg_snapshot,
  mail_id uuid,
  mail_until pg_snapshot,
  mail_at timestamptz,
  constraint digest_mail_has_end
    check ((mail_id is null) = (mail_until is null) and (mail_id is null) = (mail_at is null))
);
-- For jobs.enqueue_digests.
create index digest_due_at_idx on market.digest (due_at) where enabled;

create policy "a person sees its own choice" on market.digest for select to souk_person
  using (account_id = (select internal.account_id()));
create policy "a person makes its own choice" on market.digest for insert to souk_person
  with check (account_id = (select internal.account_id()));
create policy "a person changes its own choice" on market.digest for update to souk_person
  using (account_id = (select internal.account_id())) with check (account_id = (select internal.account_id()));

comment on table market.digest is
  'One row is one person''s choice whether new matches come by mail. A person who never chose has no row, and gets '
  'none.';
comment on column market.digest.enabled is 'Whether the person wants the digest.';
comment on column market.digest.changed_at is
  'When the person last switched it on or off. Earlier matches are not sent.';
comment on column market.digest.due_at is 'When to look for new matches next.';
comment on column market.digest.sent_at is 'When the mail server last took a digest; null when it never did.';
comment on column market.digest.told_at is
  'Up to when conversations were looked through for the last digest; null before the first.';
comment on column market.digest.seen is
  'The transactions whose matches were sent (as in a cursor of the feed of events); null for none.';
comment on column market.digest.mail_id is
  'The mail that is being sent, part of its Message-ID; null when none is. A second attempt sends the same mail.';
comment on column market.digest.mail_until is 'The transactions whose matches are in the mail that is being sent.';
comment on column market.digest.mail_at is 'Up to when it has looked through conversations.';
grant select (account_id, enabled, changed_at, sent_at), insert (account_id, enabled),
  update (enabled, changed_at, due_at)
  on market.digest to souk_person;
