-- The values of /metrics that come from the database.

create or replace function inspect.state() returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object(
    'jobs', (
      select coalesce(jsonb_agg(
        jsonb_build_object('task', q.task, 'state', q.state, 'count', q.count, 'oldest_seconds', q.oldest)), '[]')
      from (
        select j.task, j.state, count(*) as count, extract(epoch from now() - min(j.created_at))::integer as oldest
        from inspect.read_jobs() j group by j.task, j.state) as q),
    'submissions', (
      select jsonb_build_object('waiting', count(*), 'oldest_seconds',
        coalesce(extract(epoch from now() - min(s.created_at)), 0)::integer)
      from market.submission s where s.completed_at is null),
    'sign_in_mails', (
      select jsonb_build_object('strangers', count(*), 'limit', internal.setting('sign_in_mails_of_strangers'))
      from market.rate_limit_hit h
      where h.scope = 'service' and h.action = 'sign_in_mail' and h.called_at > now() - interval '1 hour'),
    'heartbeat_age_seconds', (select extract(epoch from now() - max(h.beat_at)) from market.worker_heartbeat h),
    'workers', (select count(*) from market.worker_heartbeat h where h.beat_at > now() - interval '30 seconds'),
    'invariants', (select jsonb_object_agg(i.invariant, i.broken) from market.invariant i),
    -- Empty where track_functions is off. Functions of one name count together.
    'functions', (
      select coalesce(jsonb_agg(jsonb_build_object('function', f.name, 'calls', f.calls, 'seconds', f.seconds)), '[]')
      from (
        select s.schemaname || '.' || s.funcname as name, sum(s.calls)::bigint as calls,
          round((sum(s.self_time) / 1000)::numeric, 3) as seconds
        from pg_stat_user_functions s group by 1 order by 3 desc, 1 limit 10) as f),
    'checked_seconds_ago', (select extract(epoch from now() - max(i.checked_at)) from market.invariant i));
end
$$;
comment on function inspect.state() is
  'Returns backlog, heartbeat, broken invariants and the ten functions that take the most time for /metrics: {jobs, '
  'submissions, sign_in_mails, heartbeat_age_seconds, workers, invariants, functions, checked_seconds_ago}. It '
  'contains only numbers and names of tasks, invariants and functions, no id and no text.';
grant execute on function inspect.state() to souk_api, souk_worker, souk_dba;
