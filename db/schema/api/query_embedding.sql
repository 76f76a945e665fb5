-- Cached vectors of queries, for a paid embedding provider. A vector is bought only for agents that a person has
-- approved (so for no test agent), and for persons with a proved sign-in method, so that a client that calls POST
-- /v1/connect in a loop costs nothing. All agents and sessions of an account together cause a limited number of new
-- vectors an hour.

create or replace function api.find_query_embedding(query_hash bytea, model text) returns jsonb
  language plpgsql stable
as $$
begin
  return jsonb_build_object(
    'embedding', (
      select q.embedding::text from market.query_embedding q
      where q.model = find_query_embedding.model and q.query_hash = find_query_embedding.query_hash),
    'may_embed', internal.connected() and internal.sandbox_id() is null and not internal.lacks_method());
end
$$;
comment on function api.find_query_embedding(bytea, text) is
  'Returns {embedding, may_embed}. embedding: the cached vector of the query with this SHA-256, or null. may_embed: '
  'whether the API may pay the provider for a query of this caller.';

create or replace function api.count_query_embedding() returns jsonb
  language plpgsql volatile
as $$
begin
  perform internal.require_connected('search_offers');
  return jsonb_build_object('refusal', internal.count_query_embedding());
end
$$;
comment on function api.count_query_embedding() is
  'Counts that the API buys the vector of a new query for the caller''s account. Returns {refusal}: null, or the '
  'sentence for the caller when the account has used its queries of this hour. Raises 403 until a person has approved '
  'the agent.';

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
