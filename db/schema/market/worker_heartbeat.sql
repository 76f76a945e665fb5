create table market.worker_heartbeat (
  pool_id text constraint worker_heartbeat_pkey primary key,
  beat_at timestamptz not null default now(),
  constraint worker_heartbeat_pool_id_length check (char_length(pool_id) between 1 and 100)
);

comment on table market.worker_heartbeat is 'One row is one worker pool that is running, or was until recently.';
comment on column market.worker_heartbeat.pool_id is 'The id of the pool, as graphile-worker writes it into locked_by.';
comment on column market.worker_heartbeat.beat_at is
  'When the last heartbeat came. After 30 seconds without one, the pool counts as dead.';
