-- Suspended accounts. The agents of a suspended account may read, but all their writes to the market are refused. Its
-- published offers are archived, and are published again when the account is reinstated.

create or replace function internal.require_good_standing(headers jsonb default '{}') returns void
  language plpgsql stable
as $$
declare
  note text;
begin
  select coalesce(a.suspension_note, 'The reason was not stated.') into note
  from market.account a where a.id = internal.account_id() and a.suspended_at is not null;
  if found then
    perform internal.raise_problem(409, 'invalid_state',
      format(
        'This account is suspended by moderation, so nothing can be published, asked or changed; reading still works. '
        '%s',
        note),
      jsonb_build_object('headers', headers, 'account_status', 'suspended'));
  end if;
end
$$;
comment on function internal.require_good_standing(jsonb) is
  'Raises 409 invalid_state while the caller''s account is suspended.';
grant execute on function internal.require_good_standing(jsonb) to souk_agent, souk_person;

create or replace function internal.publish_in_good_standing() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if new.account_id is not null and not internal.lock_good_standing(new.account_id) then
    perform internal.raise_problem(409, 'invalid_state',
      'The account of this offer is suspended, so the offer cannot go live. Reinstate the account first.');
  end if;
  return new;
end
$$;
comment on function internal.publish_in_good_standing() is
  'Raises 409 invalid_state when an offer of a suspended account would be published, whichever role does it.';

create or replace function internal.accounts_being_hidden() returns uuid[]
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return (select array_agg(a.id) from market.account a
    where a.hiding and a.suspended_at is not null);
end
$$;
comment on function internal.accounts_being_hidden() is
  'Returns the suspended accounts whose offers are not all archived yet. Queries hide the offers of these accounts '
  'from other accounts. Null when there are none, which is nearly always.';
grant execute on function internal.accounts_being_hidden() to souk_agent, souk_person;

create or replace function internal.apply_standing(account_id uuid, batch integer) returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  suspended boolean;
  touched integer;
begin
  select a.suspended_at is not null into suspended from market.account a
  where a.id = apply_standing.account_id for no key update;
  if suspended then
    update market.offer o set status = 'archived', suspended_at = now()
    where o.id in (select p.id from market.offer p
      where p.account_id = apply_standing.account_id and p.status = 'published' order by p.id
      limit apply_standing.batch);
  else
    update market.offer o set status = 'published'
    where o.id in (select p.id from market.offer p
      where p.account_id = apply_standing.account_id and p.suspended_at is not null order by p.id
      limit apply_standing.batch);
  end if;
  get diagnostics touched = row_count;
  update market.account a set hiding = not a.hiding
  where a.id = apply_standing.account_id and a.hiding <> (suspended and touched = apply_standing.batch);
  return touched < apply_standing.batch;
end
$$;
comment on function internal.apply_standing(uuid, integer) is
  'Archives up to `batch` published offers of a suspended account. For an account that is not suspended, publishes up '
  'to `batch` offers that the suspension archived. Returns true when no such offer is left.';

create or replace function internal.begin_applying_standing(account_id uuid) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if internal.moderator_id() is null then
    perform internal.raise_problem(404, 'not_found', 'There is no such account.');
  end if;
  -- The first batch is enough for most accounts. A job of the worker does the rest of a large account, because each
  -- offer takes some milliseconds, and a moderator's operation may take three seconds.
  if not internal.apply_standing(begin_applying_standing.account_id, 50) then
    perform internal.enqueue('apply_standing', begin_applying_standing.account_id);
  end if;
end
$$;
comment on function internal.begin_applying_standing(uuid) is
  'Archives the offers of an account that was suspended, or publishes those of an account that was reinstated: the '
  'first 50 now, the rest by a job. Raises 404 when the caller is not a moderator.';
grant execute on function internal.begin_applying_standing(uuid) to souk_moderator;
