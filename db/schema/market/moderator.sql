create table market.moderator (
  account_id uuid constraint moderator_pkey primary key
    constraint moderator_account_fkey references market.account on delete cascade,
  appointed_at timestamptz not null default now(),
  appointed_by text not null,
  constraint moderator_appointed_by_length check (char_length(appointed_by) between 1 and 120)
);

create table market.moderator_link (
  secret_hash bytea constraint moderator_link_pkey primary key,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '24 hours',
  constraint moderator_link_secret_hash_is_sha256 check (octet_length(secret_hash) = 32)
);

comment on table market.moderator is
  'One row is one account whose person is a moderator. `npm run moderator` appoints one; no endpoint does. While there '
  'is none, the process gives a link (market.moderator_link).';
comment on column market.moderator.appointed_by is
  'How the moderator was appointed: the SQL role that did it, or the first-start link.';
comment on table market.moderator_link is
  'One row is one link that makes the person who accepts it a moderator. It works once: accepting deletes the row.';
comment on column market.moderator_link.secret_hash is 'SHA-256 of the secret in the link.';
