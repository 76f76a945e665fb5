-- An offer's allowed status changes, and their effects.
--
--   published        -> archived, removed
--   archived         -> published, removed
--   removed          -> published                       (a moderator restores)
--   pending_review   -> published, rejected, archived

create or replace function internal.move_offer() returns trigger
  language plpgsql volatile
as $$
begin
  if old.status <> new.status and (old.status, new.status) not in (
    ('published', 'archived'), ('published', 'removed'),
    ('archived', 'published'), ('archived', 'removed'),
    ('removed', 'published'),
    ('pending_review', 'published'), ('pending_review', 'rejected'), ('pending_review', 'archived'))
    -- Only a moderator restores, removes, rejects, or publishes an offer that waits for review.
    or old.status <> new.status and current_user in ('souk_agent', 'souk_person') and (old.status, new.status) not in (
      ('published', 'archived'), ('archived', 'published'), ('pending_review', 'archived'))
    -- An offer that was never published has not passed review. Its owner cannot archive and then publish it.
    or old.status = 'archived' and new.status = 'published' and old.published_at is null
  then
    perform internal.raise_problem(409, 'invalid_state',
      case when old.status = 'archived' and new.status = 'published' and old.published_at is null then
        'offer_never_reviewed'
      else 'offer_cannot_become' end,
      jsonb_build_object('status', old.status, 'wanted', new.status));
  end if;
  new.updated_at := now();
  if new.status <> 'archived' or current_user in ('souk_agent', 'souk_person') then
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
comment on function internal.move_offer() is
  'Refuses a status change of an offer that is not allowed (409 invalid_state), and sets its timestamps.';
grant execute on function internal.move_offer() to souk_agent, souk_person, souk_moderator;

create or replace function internal.refresh_offer() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if new.status = 'published' then
    -- The job that publishes an offer embeds it, too, unless a provider makes the vectors.
    if current_setting('market.embeds_offer', true) is distinct from 'true' then
      perform internal.enqueue('embed_offer', new.id);
    end if;
  else
    perform internal.lock_matches(array[new.id]);
    delete from market.match m where m.offer_id = new.id;
  end if;
  if new.status = 'removed' then
    delete from market.offer_change c where c.offer_id = new.id;
    perform internal.drop_cause(new.id, 'pending');
  end if;
  return null;
end
$$;
comment on function internal.refresh_offer() is
  'Enqueues the embedding of a published or changed offer, unless the job that does this embeds it. Deletes the '
  'matches of an unpublished offer, and the change of a removed one.';

create or replace function internal.own_offer(id uuid) returns market.offer
  language plpgsql volatile
as $$
declare
  offer market.offer;
begin
  perform internal.lock_own_account();
  select * into offer from market.offer o where o.id = own_offer.id and o.account_id = internal.account_id()
  -- A stronger lock would block other transactions that write matches, because a match refers to its offer.
  for no key update;
  if not found then
    perform internal.raise_problem(404, 'not_found', 'no_own_offer');
  end if;
  return offer;
end
$$;
comment on function internal.own_offer(uuid) is
  'Locks the caller''s account and then its offer with this id, and returns the offer. Raises 404 when the account has '
  'no such offer.';
grant execute on function internal.own_offer(uuid) to souk_agent, souk_person;
