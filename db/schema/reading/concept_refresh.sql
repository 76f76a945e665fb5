-- How far offers have been filed again under their concepts, after the words for concepts changed.

create table reading.concept_refresh (
  single boolean constraint concept_refresh_pkey primary key default true,
  last_offer_id uuid not null default '00000000-0000-0000-0000-000000000000',
  constraint concept_refresh_single check (single)
);

alter table reading.concept_refresh enable row level security;
alter table reading.concept_refresh force row level security;
create policy "the owner sees all" on reading.concept_refresh to souk_owner using (true) with check (true);
create policy "a dba reads all" on reading.concept_refresh for select to souk_dba using (true);

-- Reloaded: grants and comments from here on are loaded again whenever a file of db/schema changes.

comment on table reading.concept_refresh is
  'One row while offers are being filed again under their concepts, and none otherwise.';
comment on column reading.concept_refresh.single is 'There is one row at most.';
comment on column reading.concept_refresh.last_offer_id is 'Offers up to this one have been filed again.';
grant select on reading.concept_refresh to souk_dba;
