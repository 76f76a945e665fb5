-- Cached vectors of queries, for a paid embedding provider. Each vector is bought once, and only for agents that a
-- person has approved, so that a client that calls POST /v1/connect in a loop costs nothing.

create or replace function api.find_query_embedding(query_hash bytea, model text) returns jsonb
  language plpgsql stable
as $$
begin
  return jsonb_build_object(
    'embedding', (
      select q.embedding::text from market.query_embedding q
      where q.model = find_query_embedding.model and q.query_hash = find_query_embedding.query_hash),
    'may_embed', internal.connected());
end
$$;
comment on function api.find_query_embedding(bytea, text) is
  'Returns {embedding, may_embed}. embedding: the cached vector of the query with this SHA-256, or null. may_embed: '
  'whether the API may pay the provider for a query of this caller.';
grant execute on function api.find_query_embedding(bytea, text) to souk_api;

create or replace function api.keep_query_embedding(query_hash bytea, model text, embedding text) returns jsonb
  language plpgsql volatile
as $$
begin
  perform internal.require_connected('search_offers');
  insert into market.query_embedding (model, query_hash, embedding)
  select keep_query_embedding.model, keep_query_embedding.query_hash, vector
  from search.unit_vector(keep_query_embedding.embedding) as vector
  where vector is not null and internal.setting('embedding_model') = to_jsonb(keep_query_embedding.model)
  on conflict do nothing;
  return jsonb '{}';
end
$$;
comment on function api.keep_query_embedding(bytea, text, text) is
  'Stores the vector of a query for later callers with the same query. Ignores an invalid vector and one of a model '
  'that is not in use. Raises 403 until a person has approved the agent.';
grant execute on function api.keep_query_embedding(bytea, text, text) to souk_api;
