-- One row is the market record of one account: raw counts, kept by triggers on market.offer, never a score.

create table market.publisher (
  account_id uuid constraint publisher_pkey primary key
    constraint publisher_account_fkey references market.account on delete cascade,
  active integer not null default 0,
  lifetime integer not null default 0,
  removed integer not null default 0,
  last_active_at timestamptz not null default now(),
  constraint publisher_counts_not_negative check (active >= 0 and lifetime >= 0 and removed >= 0)
);
comment on table market.publisher is 'The record of an account: what others see beside its offers.';
comment on column market.publisher.account_id is 'Whose record; never shown.';
comment on column market.publisher.active is 'Offers published now.';
comment on column market.publisher.lifetime is 'Offers ever published.';
comment on column market.publisher.removed is 'Offers taken down by moderation now.';
comment on column market.publisher.last_active_at is 'Latest write by the account; shown as a month.';

alter table market.publisher enable row level security;
alter table market.publisher force row level security;
create policy "the owner sees all" on market.publisher to souk_owner using (true) with check (true);
create policy "everyone reads the records" on market.publisher for select to souk_agent, souk_person using (true);
grant select on market.publisher to souk_agent, souk_person;

create or replace function market.open_record() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into market.publisher (account_id) values (new.id);
  return new;
end
$$;
comment on function market.open_record() is 'Gives every account its record.';
create or replace trigger open_record after insert on market.account for each row execute function market.open_record();

create or replace function market.note_activity() returns void
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$
  -- Shown as a month, so once a day is enough, and the row is not contended.
  update market.publisher p set last_active_at = now()
  where p.account_id = market.account_id() and p.last_active_at < now() - interval '1 day'
$$;
comment on function market.note_activity() is 'Remembers that the account acted for wrote to the market today.';
grant execute on function market.note_activity() to souk_agent, souk_person;

create or replace function market.accounts_being_hidden() returns uuid[]
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return (select array_agg(a.id) from market.account a
    where a.hiding and a.suspended_at is not null);
end
$$;
comment on function market.accounts_being_hidden() is
  'Accounts that were suspended and whose offers are not all archived yet: what is still live of them is shown to nobody else. Null when there are none, as nearly always.';
grant execute on function market.accounts_being_hidden() to souk_agent, souk_person;
