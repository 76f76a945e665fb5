-- The worker checks the invariants according to the crontab: a sample every five minutes, all rows every night.

create or replace function jobs.check_invariants(sample integer)
  returns table (invariant text, broken integer, example text)
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  with found as (
    select c.invariant, count(*)::integer as broken, left(min(c.object || ': ' || c.detail), 300) as example
    from inspect.check(check_invariants.sample) as c
    group by c.invariant
  ), noted as (
    update market.invariant i set
      -- A sample that finds nothing does not undo what another sample has found.
      broken = case when check_invariants.sample is not null and i.sampled
        then greatest(coalesce(f.broken, 0), i.broken) else coalesce(f.broken, 0) end,
      example = case when check_invariants.sample is not null and i.sampled then coalesce(f.example, i.example)
        else f.example end,
      checked_at = now()
    from market.invariant j left join found f on f.invariant = j.invariant
    where i.invariant = j.invariant
  )
  select f.invariant, f.broken, f.example from found f;
end
$$;
comment on function jobs.check_invariants(integer) is
  'Runs inspect.check on a sample of this many rows of each large table (null: on all rows), stores the result in '
  'market.invariant, and returns the broken invariants with the number of rows and an example.';
