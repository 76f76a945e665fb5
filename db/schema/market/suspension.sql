-- A suspended account: its agents may read, and everything that writes to the market is refused; what it had live is
-- archived, and published again when it is reinstated.

create or replace function market.require_good_standing(headers jsonb default '{}') returns void
  language plpgsql stable
as $$
declare
  note text;
begin
  select coalesce(a.suspension_note, 'The reason was not stated.') into note
  from market.account a where a.id = market.account_id() and a.suspended_at is not null;
  if found then
    perform market.fail(409, 'invalid_state',
      format('This account is suspended by moderation, so nothing can be published, asked or changed; reading still works. %s', note),
      jsonb_build_object('headers', headers, 'account_status', 'suspended'));
  end if;
end
$$;
comment on function market.require_good_standing(jsonb) is 'Refuses with 409 invalid_state while the account acted for is suspended.';
grant execute on function market.require_good_standing(jsonb) to souk_agent, souk_person;

create or replace function market.hold_standing(account_id uuid) returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- A suspension waits for whoever holds this, so nothing slips past it.
  return exists (select from market.account a where a.id = hold_standing.account_id and a.suspended_at is null for share);
end
$$;
comment on function market.hold_standing(uuid) is 'Whether an account is not suspended, and will not be until this transaction ends.';

create or replace function market.hold_owner(offer_id uuid) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform market.hold_standing((select o.account_id from market.offer o where o.id = hold_owner.offer_id));
end
$$;
comment on function market.hold_owner(uuid) is 'Holds the account of an offer until the transaction ends, before the offer is locked, as its deletion does.';
grant execute on function market.hold_owner(uuid) to souk_moderator;

create or replace function market.publish_in_good_standing() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if new.account_id is not null and not market.hold_standing(new.account_id) then
    perform market.fail(409, 'invalid_state', 'The account of this offer is suspended, so the offer cannot go live. Reinstate the account first.');
  end if;
  return new;
end
$$;
comment on function market.publish_in_good_standing() is 'No offer of a suspended account goes live, whoever asks.';
create or replace trigger publish_new_offer before insert on market.offer for each row
  when (new.status = 'published') execute function market.publish_in_good_standing();
-- By its name it runs after move_offer, which says whether the move exists at all.
create or replace trigger publish_moved_offer before update on market.offer for each row
  when (new.status = 'published' and old.status <> 'published') execute function market.publish_in_good_standing();

create or replace function market.settle_standing(account_id uuid, batch integer) returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  suspended boolean;
  touched integer;
begin
  select a.suspended_at is not null into suspended from market.account a where a.id = settle_standing.account_id for no key update;
  if suspended then
    update market.offer o set status = 'archived', suspended_at = now()
    where o.id in (select p.id from market.offer p
      where p.account_id = settle_standing.account_id and p.status = 'published' order by p.id limit settle_standing.batch);
  else
    update market.offer o set status = 'published'
    where o.id in (select p.id from market.offer p
      where p.account_id = settle_standing.account_id and p.suspended_at is not null order by p.id limit settle_standing.batch);
  end if;
  get diagnostics touched = row_count;
  update market.account a set hiding = not a.hiding
  where a.id = settle_standing.account_id and a.hiding <> (suspended and touched = settle_standing.batch);
  return touched < settle_standing.batch;
end
$$;
comment on function market.settle_standing(uuid, integer) is
  'Archives what a suspended account has live, or publishes again what its suspension archived, so many offers at a time; true when nothing is left to do.';
