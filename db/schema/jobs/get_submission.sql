-- What the worker reads: the text of a submission that still waits.

create or replace function market.awaits_reading(submission market.submission) returns boolean
  language sql stable
as $$
  -- An ask is filled in even after its caller was answered, as long as it still has this text.
  select submission.settled_at is null or submission.kind in ('create_ask', 'update_ask') and exists (
    select from market.ask a
    where a.id = submission.target_id and a.read_at is null and a.text = submission.text)
$$;
comment on function market.awaits_reading(market.submission) is 'Whether reading the text of a submission still has an effect.';

create or replace function jobs.get_submission(id uuid) returns jsonb
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object('kind', s.kind, 'text', s.text)
  from market.submission s
  where s.id = get_submission.id and market.awaits_reading(s)
$$;
comment on function jobs.get_submission(uuid) is 'kind and text of a submission; null when reading it would have no effect any more.';
grant execute on function jobs.get_submission(uuid) to souk_worker;
