-- The rest of a suspension or reinstatement, for an account with many offers.

create or replace function jobs.apply_standing(id uuid) returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- The audit log names the moderator who decided, because the worker only finishes that act.
  perform set_config('market.moderator_id', coalesce((
    select d.moderator_id from market.decision d
    where d.account_id = apply_standing.id and d.action in ('suspend', 'reinstate') order by d.id desc limit 1)::text,
      ''), true);
  -- Fifty offers take well under a second. So no lock lasts long, and the embedded database can serve other calls
  -- between the batches.
  return internal.apply_standing(apply_standing.id, 50);
end
$$;
comment on function jobs.apply_standing(uuid) is
  'Archives, or publishes again, the next 50 offers of an account that was suspended or reinstated; returns true when '
  'nothing is left.';
