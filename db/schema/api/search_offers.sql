-- The answer to a search.

create or replace function api.search_offers(request jsonb, extraction jsonb, embedding text, model text, notices jsonb)
  returns jsonb
  language plpgsql stable
as $$
begin
  return search.answer_search(request, extraction, embedding, model, notices);
end
$$;
comment on function api.search_offers(jsonb, jsonb, text, text, jsonb) is
  'SearchResponse for a search body; reading: what was read from the query, or null; embedding: the query''s vector by '
  'that model, or null, and then notices say why.';
grant execute on function api.search_offers(jsonb, jsonb, text, text, jsonb) to souk_api;
