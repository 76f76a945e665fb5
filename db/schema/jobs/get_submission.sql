-- What the worker reads: the text of a submission that still waits.

create or replace function market.awaits_reading(submission market.submission) returns boolean
  language plpgsql stable
as $$
begin
  -- An ask is filled in even after its caller was answered, as long as it still has this text.
  return submission.settled_at is null or submission.kind in ('create_ask', 'update_ask') and exists (
    select from market.ask a
    where a.id = submission.target_id and a.read_at is null and a.text = submission.text);
end
$$;
comment on function market.awaits_reading(market.submission) is 'Whether reading the text of a submission still has an effect.';

create or replace function jobs.get_submission(id uuid) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select jsonb_build_object('kind', s.kind, 'text', s.text)
    from market.submission s
    where s.id = get_submission.id and market.awaits_reading(s));
end
$$;
comment on function jobs.get_submission(uuid) is 'kind and text of a submission; null when reading it would have no effect any more.';
grant execute on function jobs.get_submission(uuid) to souk_worker;
