-- POST /v1/offers/search.

create or replace function api.search_offers(request jsonb, extraction jsonb, embedding text, model text, notices jsonb)
  returns jsonb
  language plpgsql stable
as $$
begin
  return search.answer_search(request, extraction, embedding, model, notices);
end
$$;
comment on function api.search_offers(jsonb, jsonb, text, text, jsonb) is
  'Returns the SearchResponse for a search body. extraction: what was extracted from the query, or null. embedding: '
  'the vector of the query by this model, or null; notices then say why.';
