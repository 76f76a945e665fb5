create table reading.concept_refresh (
  single boolean constraint concept_refresh_pkey primary key default true,
  last_offer_id uuid not null default '00000000-0000-0000-0000-000000000000',
  constraint concept_refresh_single check (single)
);

comment on table reading.concept_refresh is
  'One row while a job sets the concepts of all offers again, because the synonyms have changed; otherwise no row.';
comment on column reading.concept_refresh.single is 'Always true, so that there is at most one row.';
comment on column reading.concept_refresh.last_offer_id is
  'The job has handled the offers up to this id, in the order of their ids.';
grant select on reading.concept_refresh to souk_dba;
