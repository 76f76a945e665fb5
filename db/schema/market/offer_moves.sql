-- The moves of an offer, and what follows from each.
--
--   published        -> archived, removed
--   archived         -> published, removed
--   removed          -> published                       (a moderator restores)
--   pending_review   -> published, rejected, archived

create or replace function market.move_offer() returns trigger
  language plpgsql volatile
as $$
begin
  if old.status <> new.status and (old.status, new.status) not in (
    ('published', 'archived'), ('published', 'removed'),
    ('archived', 'published'), ('archived', 'removed'),
    ('removed', 'published'),
    ('pending_review', 'published'), ('pending_review', 'rejected'), ('pending_review', 'archived'))
    -- Only a moderator restores, publishes what waits, takes down or rejects.
    or old.status <> new.status and current_user in ('souk_agent', 'souk_person') and (old.status, new.status) not in (
      ('published', 'archived'), ('archived', 'published'), ('pending_review', 'archived'))
    -- What never passed review does not go live by way of the archive.
    or old.status = 'archived' and new.status = 'published' and old.published_at is null
  then
    perform market.fail(409, 'invalid_state',
      format('This offer is %s, so it cannot become %s.', old.status, new.status));
  end if;
  new.updated_at := now();
  if new.status <> 'archived' then
    new.suspended_at := null;
  end if;
  if new.status = 'published' then
    new.published_at := coalesce(old.published_at, now());
  elsif new.status = 'removed' and old.status <> 'removed' then
    new.removed_at := now();
  end if;
  return new;
end
$$;
comment on function market.move_offer() is 'Lets an offer move only as the contract says, and keeps its times.';
grant execute on function market.move_offer() to souk_agent, souk_person, souk_moderator;
create or replace trigger move_offer before update on market.offer for each row execute function market.move_offer();

create or replace function market.count_offer() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  was market.offer := case when tg_op <> 'INSERT' then old end;
  becomes market.offer := case when tg_op <> 'DELETE' then new end;
begin
  update market.publisher p set
    active = p.active + coalesce((becomes.status = 'published')::integer, 0) - coalesce((was.status = 'published')::integer, 0),
    lifetime = p.lifetime + coalesce((becomes.published_at is not null)::integer, 0) - coalesce((was.published_at is not null)::integer, 0),
    removed = p.removed + coalesce((becomes.status = 'removed')::integer, 0) - coalesce((was.status = 'removed')::integer, 0),
    last_active_at = case when market.account_id() = p.account_id or tg_op = 'INSERT' then now() else p.last_active_at end
  where p.account_id = coalesce(becomes.account_id, was.account_id);
  return null;
end
$$;
comment on function market.count_offer() is 'Keeps the publisher''s record equal to a count of its offers.';
create or replace trigger count_new_offer after insert or delete on market.offer for each row execute function market.count_offer();
create or replace trigger count_moved_offer after update on market.offer for each row
  when (old.status is distinct from new.status or old.published_at is distinct from new.published_at)
  execute function market.count_offer();

create or replace function market.refresh_offer() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if new.status = 'published' then
    perform market.enqueue('embed_offer', new.id);
  else
    delete from market.match m where m.offer_id = new.id;
  end if;
  return null;
end
$$;
comment on function market.refresh_offer() is 'A live offer is embedded and matched; one that is not live matches nothing.';
create or replace trigger refresh_new_offer after insert on market.offer for each row execute function market.refresh_offer();
create or replace trigger refresh_changed_offer after update on market.offer for each row
  when (old.status is distinct from new.status or old.text is distinct from new.text or old.title is distinct from new.title)
  execute function market.refresh_offer();
