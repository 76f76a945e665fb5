-- Makes every row of search.document what it should be, in batches in the order of the offers' ids: after a release in
-- which search.document_of returns something else, and when the invariant document_is_current is broken.

create or replace function jobs.build_documents(after_offer uuid, size integer) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  -- Shorter than deadlock_timeout (1 s): if a request has locked one of the offers, this job fails and is retried, and
  -- not the request.
  set lock_timeout = '500ms'
as $$
declare
  batch constant uuid[] := array(
    select o.id from market.offer o where o.id > build_documents.after_offer order by o.id limit build_documents.size
    for no key update);
  finished constant boolean := cardinality(batch) < build_documents.size;
  built integer;
begin
  select count(*) filter (where search.store_document(o))::integer into built
  from market.offer o where o.id = any (batch);
  if not finished then
    -- Offers that agents publish meanwhile are embedded first.
    perform internal.enqueue('build_documents', batch[build_documents.size], priority => 10);
  end if;
  return jsonb_build_object('looked_at', cardinality(batch), 'built', built, 'finished', finished);
end
$$;
comment on function jobs.build_documents(uuid, integer) is
  'Mends the documents of the next `size` offers after an offer, and enqueues the job for the offers after them. '
  'Returns {looked_at, built, finished}; built: how many were not what they should be.';
