-- Makes every row of search.document and search.ask what it should be, in batches in the order of the ids of offers and
-- asks: after a release in which search.document_of returns something else, and when the invariant document_is_current
-- is broken (jobs.check_invariants).

create or replace function jobs.build_documents(after uuid, size integer) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  -- Shorter than deadlock_timeout (1 s): if a request has locked one of the offers, this job fails and is retried, and
  -- not the request.
  set lock_timeout = '500ms'
as $$
declare
  batch constant uuid[] := array(
    select b.id from (
      (select o.id from market.offer o where o.id > build_documents.after order by o.id limit build_documents.size)
      union all
      (select a.id from market.ask a where a.id > build_documents.after order by a.id limit build_documents.size)) as b
    order by b.id limit build_documents.size);
  finished constant boolean := cardinality(batch) < build_documents.size;
  offers constant uuid[] := array(
    select o.id from market.offer o where o.id = any (batch) order by o.id for no key update);
  -- An ask that somebody changes now is kept by that change.
  asks constant uuid[] := array(
    select a.id from market.ask a where a.id = any (batch) order by a.id for no key update skip locked);
  built integer;
begin
  select count(*)::integer into built from (
    select from market.offer o where o.id = any (offers) and search.store_document(o)
    union all
    select from market.ask a where a.id = any (asks) and search.store_ask(a)) as changed;
  -- What no offer or ask has any more, such as after a truncate.
  delete from search.document d
  where d.id > build_documents.after and (finished or d.id <= batch[build_documents.size])
    and not exists (select from market.offer o where o.id = d.id);
  delete from search.ask s
  where s.id > build_documents.after and (finished or s.id <= batch[build_documents.size])
    and not exists (select from market.ask a where a.id = s.id);
  if not finished then
    -- What agents publish meanwhile comes first.
    perform internal.enqueue('build_documents', batch[build_documents.size], priority => 10);
  end if;
  return jsonb_build_object('looked_at', cardinality(batch), 'built', built, 'finished', finished);
end
$$;
comment on function jobs.build_documents(uuid, integer) is
  'Mends what is found of the next `size` offers and asks after an id, and enqueues the job for those after them. '
  'Returns {looked_at, built, finished}; built: how many were not what they should be.';
