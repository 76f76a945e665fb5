create table market.confirmation (
  id uuid default internal.uuid_v7() constraint confirmation_pkey primary key,
  account_id uuid not null constraint confirmation_account_fkey references market.account on delete cascade,
  agreement_id uuid not null constraint confirmation_agreement_fkey references market.agreement on delete cascade,
  kind text not null default 'agreement',
  status text not null default 'pending',
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null default clock_timestamp() + interval '48 hours',
  decided_at timestamptz,
  listed boolean not null default false,
  notified_at timestamptz,
  constraint confirmation_agreement_id_account_id_key unique (agreement_id, account_id),
  constraint confirmation_kind_known check (kind = any ('{agreement}'::text[])),
  constraint confirmation_status_known check (status in ('pending', 'confirmed', 'refused', 'expired'))
);
create index confirmation_account_id_idx on market.confirmation (account_id, id desc);
create index confirmation_pending_idx on market.confirmation (account_id, id) where status = 'pending';

create policy "an account sees its confirmations" on market.confirmation for select to souk_agent, souk_person
  using (account_id = (select internal.visible_account_id()));

comment on table market.confirmation is
  'One row is one question to a person: whether to agree to what an agent may not agree to alone.';
comment on column market.confirmation.kind is 'What is asked: agreement.';
comment on column market.confirmation.status is
  'pending, confirmed, refused or expired. One that is pending after expires_at has expired.';
comment on column market.confirmation.listed is
  'Whether the mail about it lists all that wait, because there were five others within 24 hours.';
comment on column market.confirmation.notified_at is 'When the mail server took the mail about it; null until then.';
grant select on market.confirmation to souk_agent, souk_person;
grant select on market.confirmation to souk_dba;
