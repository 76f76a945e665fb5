-- A worker that is killed leaves its jobs locked for hours. So each pool of workers sends heartbeats, and unlocks the
-- jobs of pools that have stopped sending them.

create or replace function jobs.heartbeat(pool_id text, alone boolean) returns integer
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  dead text[];
begin
  insert into market.worker_heartbeat (pool_id) values (heartbeat.pool_id)
  on conflict on constraint worker_heartbeat_pkey do update set beat_at = now();
  -- A pool counts as dead after three missed heartbeats, one every ten seconds. A process with an embedded database is
  -- the only pool, so it need not wait.
  delete from market.worker_heartbeat h
  where h.pool_id <> heartbeat.pool_id and (heartbeat.alone or h.beat_at < now() - interval '30 seconds');
  select array_agg(distinct j.locked_by) into dead
  from graphile_worker.jobs j
  where j.locked_by is not null and (heartbeat.alone or j.locked_at < now() - interval '30 seconds')
    and j.locked_by not in (select h.pool_id from market.worker_heartbeat h);
  perform internal.unlock_jobs(coalesce(dead, '{}'));
  return coalesce(cardinality(dead), 0);
end
$$;
comment on function jobs.heartbeat(text, boolean) is
  'Stores the heartbeat of a pool (one every ten seconds), unlocks the jobs of dead pools and returns their number. '
  '`alone`: no other pool can be alive.';

create or replace function jobs.deregister(pool_id text) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  delete from market.worker_heartbeat h where h.pool_id = deregister.pool_id;
  -- The pool works on no job any more. Jobs that are still locked ended while the database was unreachable.
  perform internal.unlock_jobs(array[deregister.pool_id]);
end
$$;
comment on function jobs.deregister(text) is 'Removes a pool that has stopped, and unlocks its jobs for others.';

create or replace function jobs.get_held_jobs(pool_id text) returns text[]
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return array(select j.id::text from graphile_worker.jobs j where j.locked_by = get_held_jobs.pool_id);
end
$$;
comment on function jobs.get_held_jobs(text) is
  'Returns the ids of the jobs that a pool has locked. If the pool does not work on one of them, the end of that job '
  'could not be stored.';
