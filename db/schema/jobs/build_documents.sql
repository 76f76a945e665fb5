-- Fills columns that are newer than an offer: its document, its facets with the cells of its place, and the public
-- record of its account. One batch for each job, in the order of the offers' ids. Until then each reader builds the
-- document again (internal.search_result_document), and no search by distance finds the offer.

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
  built integer;
begin
  -- The triggers build the rest from the metadata. The two other columns are set so that this is not a change of the
  -- offer.
  update market.offer o set document = internal.build_offer_document(o), facet_values = search.facet_values(o),
    metadata = case when o.metadata -> 'location' ? 'city' and not o.metadata -> 'location' ? 'point'
      then jsonb_set(o.metadata, '{location}', (o.metadata -> 'location')
        || jsonb_strip_nulls(jsonb_build_object('point', reading.town_point(o.metadata -> 'location'))))
      else o.metadata end
  where o.id = any (batch) and (o.document is null or o.facet_values is null);
  get diagnostics built = row_count;
  update market.account_stats p set publisher = null
  where p.publisher is null and p.account_id in (select o.account_id from market.offer o where o.id = any (batch));
  if cardinality(batch) = build_documents.size then
    -- Offers that agents publish meanwhile are embedded first.
    perform internal.enqueue('build_documents', batch[build_documents.size], priority => 10);
  end if;
  return jsonb_build_object('looked_at', cardinality(batch), 'built', built,
    'finished', cardinality(batch) < build_documents.size);
end
$$;
comment on function jobs.build_documents(uuid, integer) is
  'Builds the missing documents and facets of the next `size` offers after an offer, and enqueues the job for the '
  'offers after them. Returns {looked_at, built, finished}.';
