-- Suspended accounts. The agents of a suspended account may read, but all their writes to the market are refused. Its
-- offers are hidden at once (market.account.hiding). A job archives them, and publishes them again when the account is
-- reinstated (jobs/suspension.sql).

create or replace function internal.require_good_standing(headers jsonb default '{}') returns void
  language plpgsql stable
as $$
declare
  note text;
begin
  select coalesce(a.suspension_note, internal.sentence('suspension_without_reason')) into note
  from market.account a where a.id = internal.account_id() and a.suspended_at is not null;
  if found then
    perform internal.raise_problem(409, 'invalid_state', 'account_suspended',
      jsonb_build_object('reason', note),
      extra => jsonb_build_object('headers', headers, 'account_status', 'suspended'));
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
    perform internal.raise_problem(409, 'invalid_state', 'offer_of_suspended_account');
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
  return (select array_agg(a.id) from market.account a where a.hiding);
end
$$;
comment on function internal.accounts_being_hidden() is
  'Returns the accounts that are suspended or being deleted, and whose offers are not all archived yet. Queries hide '
  'the offers of these accounts from other accounts. Null when there are none, which is nearly always.';
grant execute on function internal.accounts_being_hidden() to souk_agent, souk_person;

create or replace function internal.few_matches(ids uuid[]) returns uuid[]
  language sql stable
as $$
  -- An offer that is taken down, or an ask that is deleted, costs little by itself, but each of its matches also writes
  -- an event, and a delivery to each webhook: up to a tenth of a millisecond.
  select coalesce(array_agg(w.id order by w.n), '{}') from (
    select r.id, r.n, sum(c.matches) over (order by r.n) as together
    from unnest(few_matches.ids) with ordinality as r (id, n)
    cross join lateral (select count(*) as matches from (
      select from market.match m where m.offer_id = r.id or m.ask_id = r.id limit 5001) as m) as c) as w
  where w.n = 1 or w.together <= 5000
$$;
comment on function internal.few_matches(uuid[]) is
  'Returns the first of these offers or asks that have at most 5,000 matches together, and at least one of them. So a '
  'batch has a bounded cost.';

create or replace function internal.mark_standing(account_id uuid) returns void
  language plpgsql volatile
as $$
begin
  -- The mark hides every offer of the account at once, or shows those that are still live. A moderator's operation may
  -- take three seconds, and the offers and their matches may take longer, so a job moves the offers.
  update market.account a set hiding = a.suspended_at is not null where a.id = mark_standing.account_id;
  perform internal.enqueue('apply_standing', mark_standing.account_id);
end
$$;
comment on function internal.mark_standing(uuid) is
  'Hides the offers of an account that was suspended, and shows those of an account that was reinstated. A job '
  'archives the former, and publishes the latter again (jobs.apply_standing).';

create or replace function internal.begin_applying_standing(account_id uuid) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if internal.moderator_id() is null then
    perform internal.raise_problem(404, 'not_found', 'no_account');
  end if;
  perform internal.mark_standing(begin_applying_standing.account_id);
end
$$;
comment on function internal.begin_applying_standing(uuid) is
  'Does internal.mark_standing for a moderator. Raises 404 when the caller is not one.';
grant execute on function internal.begin_applying_standing(uuid) to souk_moderator;
