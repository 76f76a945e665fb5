-- The worker reads the text of a submission that waits. A text is sent to a model twice at most, whatever goes wrong
-- and whichever worker sends it; then only the built-in reader reads it. So the count is in the row and not in the job,
-- which a sweep may enqueue again.

create or replace function jobs.get_submission(id uuid, model text default null, paid boolean default false)
  returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  submission market.submission;
begin
  select * into submission from market.submission s
  where s.id = get_submission.id and internal.awaits_extraction(s);
  if submission.id is null then
    -- The job runs again. If it ended after publishing an offer and before storing the vector, another job stores it.
    perform internal.enqueue('embed_offer', o.id)
    from market.submission s join market.offer o on o.id = s.target_id and o.status = 'published'
    where s.id = get_submission.id and s.status in (200, 201) and not exists (
      select from market.offer_embedding e
      where e.offer_id = o.id and e.text_hash = search.text_hash(search.embedding_input(o)));
    return null;
  end if;
  return jsonb_build_object('kind', submission.kind, 'text', submission.text, 'images', to_jsonb(submission.images),
    'target', submission.target_id,
    'embed', get_submission.model is not null and submission.kind in ('create_ask', 'update_ask')
      and search.begin_embedding(submission.target_id, submission.text, get_submission.model, get_submission.paid));
end
$$;
comment on function jobs.get_submission(uuid, text, boolean) is
  'Returns {kind, text, images, target, embed} of a submission; null when reading it would have no effect. target: the '
  'offer or ask. embed: whether the worker has to make the vector of the ask with its embedding model; `paid` says '
  'whether that costs money.';

create or replace function jobs.count_model_reading(id uuid) returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  update market.submission s set model_readings = s.model_readings + 1
  where s.id = count_model_reading.id and s.model_readings < 2 and not internal.is_of_stranger(s);
  return found;
end
$$;
comment on function jobs.count_model_reading(uuid) is
  'Returns whether the text of a submission may be sent to a model, and counts that it is. False after the second '
  'time, and for texts of agents that no person has approved: the built-in reader reads them.';
