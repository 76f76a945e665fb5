-- One row is one appeal: the owner of an offer that was taken down asks for a second look, once for each removal.

create table market.appeal (
  offer_id uuid not null constraint appeal_offer_fkey references market.offer on delete cascade,
  removed_at timestamptz not null,
  account_id uuid not null constraint appeal_account_fkey references market.account on delete cascade,
  agent_id uuid constraint appeal_agent_fkey references market.agent on delete set null,
  comment text,
  created_at timestamptz not null default now(),
  decided_at timestamptz,
  constraint appeal_pkey primary key (offer_id, removed_at),
  constraint appeal_comment_length check (char_length(comment) between 1 and 1000)
);
create index appeal_account_id_idx on market.appeal (account_id);
create index appeal_agent_id_idx on market.appeal (agent_id);
comment on table market.appeal is 'One row is one appeal against one removal.';
comment on column market.appeal.offer_id is 'The offer that was taken down.';
comment on column market.appeal.removed_at is 'When it was taken down: another removal may be appealed again.';
comment on column market.appeal.account_id is 'Who appeals.';
comment on column market.appeal.agent_id is 'Through which agent; null when the person did it.';
comment on column market.appeal.comment is 'Why, in the owner''s words.';
comment on column market.appeal.created_at is 'When.';
comment on column market.appeal.decided_at is 'When a moderator decided on it; null while it waits.';

alter table market.appeal enable row level security;
alter table market.appeal force row level security;
create policy "the owner sees all" on market.appeal to souk_owner using (true) with check (true);
create policy "an account sees its appeals" on market.appeal for select to souk_agent, souk_person
  using (account_id = (select market.account_id()));
create policy "an account appeals against the removal of its offer" on market.appeal for insert to souk_agent, souk_person
  with check (account_id = (select market.account_id()) and agent_id is not distinct from (select market.agent_id())
    and exists (select from market.offer o
      where o.id = offer_id and o.account_id = (select market.account_id()) and o.status = 'removed' and o.removed_at = appeal.removed_at));
grant select, insert (offer_id, removed_at, account_id, agent_id, comment) on market.appeal to souk_agent, souk_person;

create or replace function market.review_appeal() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform market.open_case(new.offer_id, array['appeal']);
  return null;
end
$$;
comment on function market.review_appeal() is 'An appeal returns the offer to the moderators.';
create or replace trigger review_appeal after insert on market.appeal for each row execute function market.review_appeal();

create or replace function market.is_appealable(offer market.offer) returns boolean
  language plpgsql stable
as $$
begin
  return offer.status = 'removed' and not exists (
    select from market.appeal a where a.offer_id = offer.id and a.removed_at = offer.removed_at);
end
$$;
comment on function market.is_appealable(market.offer) is 'Whether the owner may appeal: the offer is down, and this removal was not appealed yet.';
grant execute on function market.is_appealable(market.offer) to souk_agent, souk_person;

create or replace function market.appeal_document(offer market.offer) returns jsonb
  language plpgsql stable
as $$
begin
  return (
    select jsonb_build_object('status', case when a.decided_at is null then 'waiting' else 'declined' end,
      'created_at', market.utc(a.created_at), 'decided_at', market.utc(a.decided_at))
    from market.appeal a where a.offer_id = offer.id and a.removed_at = offer.removed_at);
end
$$;
comment on function market.appeal_document(market.offer) is
  'How the appeal against the removal of an offer that is down stands: status, created_at, decided_at; null when there is none.';
grant execute on function market.appeal_document(market.offer) to souk_agent, souk_person;
