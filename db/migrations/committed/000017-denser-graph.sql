--! Previous: sha1:5e36173e321908b123a476ed2dc55152710e9172
--! Hash: sha1:1ade9cdd173d7cf2ceffcc5702c7570d77f64fe3
--! Message: denser-graph

-- Enter migration here
-- The graph of the vectors of offers gets more links. A graph of many offers keeps its links until it is built anew,
-- which takes minutes: the operator does that while the service runs (reindex index concurrently).
set local role souk_owner;
alter index market.offer_embedding_hnsw_idx set (m = 24);
do $$
begin
  if not exists (select from market.offer_embedding offset 1000) then
    reindex index market.offer_embedding_hnsw_idx;
  end if;
end
$$;
reset role;
