-- Vectors of queries, when a provider is paid for them: each is bought once, and only for an agent that a person
-- approved, so that whoever calls POST /v1/connect in a loop buys nothing.

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
  'embedding: the vector of a query by its SHA-256, or null; may_embed: whether the caller may have one made.';
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
  'Keeps the vector of a query for whoever asks the same.';
grant execute on function api.keep_query_embedding(bytea, text, text) to souk_api;
