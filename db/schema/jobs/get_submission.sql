-- The worker reads the text of a submission that waits.

create or replace function jobs.get_submission(id uuid) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select jsonb_build_object('kind', s.kind, 'text', s.text)
    from market.submission s
    where s.id = get_submission.id and internal.awaits_extraction(s));
end
$$;
comment on function jobs.get_submission(uuid) is
  'Returns {kind, text} of a submission; null when reading it would have no effect any more.';
grant execute on function jobs.get_submission(uuid) to souk_worker;
