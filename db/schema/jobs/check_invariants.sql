-- The worker checks the invariants according to the crontab: a sample every five minutes, all rows every night. The
-- check of all rows is made of parts, each in a statement of its own, so that none lasts long in a large market. Where
-- it is, is stored, so a worker that stops goes on where it was.

create or replace function jobs.check_invariants(sample integer, part_rows integer default 10000) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  whole constant boolean := check_invariants.sample is null;
  -- A table that grows meanwhile moves the bounds of the parts, so some rows may be left out: as many as were added.
  -- The bounds are elsewhere the next night.
  low constant double precision := (select max(i.checked_share) from market.invariant i);
  high constant double precision := least(1, low + inspect.share_of_rows(check_invariants.part_rows));
  is_last constant boolean := whole and high = 1;
  result jsonb;
begin
  with violation as (
    select * from inspect.check(check_invariants.sample) where not whole
    union all
    select * from inspect.check_part(low, high) where whole
  ), found as (
    select v.invariant, count(*)::integer as broken, left(min(v.object || ': ' || v.detail), 300) as example
    from violation v
    group by v.invariant
  ), noted as (
    update market.invariant i set
      -- What finds nothing in a part of the rows does not undo what was found in another part.
      broken = case when i.sampled and not is_last then greatest(n.broken, i.broken) else n.broken end,
      example = case when i.sampled and not is_last then coalesce(n.example, i.example) else n.example end,
      found = case when not whole then i.found when is_last then 0 else n.broken end,
      found_example = case when not whole then i.found_example when not is_last then n.example end,
      checked_share = case when not whole then i.checked_share when is_last then 0 else high end,
      checked_at = now()
    from market.invariant j
    left join found f on f.invariant = j.invariant
    cross join lateral (
      select coalesce(f.broken, 0) + case when whole and j.sampled then j.found else 0 end as broken,
        coalesce(case when whole and j.sampled then j.found_example end, f.example) as example) as n
    -- If two workers check the same part, the second stores nothing.
    where i.invariant = j.invariant and (not whole or i.checked_share = low)
  )
  select jsonb_build_object('done', not whole or is_last,
    'broken', coalesce(jsonb_agg(to_jsonb(f) order by f.invariant), '[]'))
  into result from found f;
  if result @> '{"broken": [{"invariant": "document_is_current"}]}' and not exists (
      select from graphile_worker.jobs j where j.task_identifier = 'build_documents' and j.attempts < j.max_attempts)
  then
    perform internal.enqueue('build_documents', '00000000-0000-0000-0000-000000000000', priority => 10);
  end if;
  return result;
end
$$;
comment on function jobs.check_invariants(integer, integer) is
  'Checks the invariants on a sample of at most this many rows of each large table or, with null, on the next part of '
  'all rows, which has at most part_rows of each table, and stores the result in market.invariant. Returns {done, '
  'broken: [{invariant, broken, example}]}: what this part has found, and whether it was the last.';
