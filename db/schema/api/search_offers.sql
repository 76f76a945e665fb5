-- POST /v1/offers/search. A search only reads, also on a replica, unless it is counted (internal.enter_search).

create or replace function api.search_offers(request jsonb, extraction jsonb, embedding text, model text, notices jsonb)
  returns jsonb
  language plpgsql volatile
as $$
declare
  counted constant boolean := internal.enter_search();
  answer constant jsonb := search.answer_search(request, extraction, embedding, model, notices);
begin
  if counted then
    perform internal.count_search();
  end if;
  return answer;
end
$$;
comment on function api.search_offers(jsonb, jsonb, text, text, jsonb) is
  'Returns the SearchResponse for a search body. extraction: what was extracted from the query, or null. embedding: '
  'the vector of the query by this model, or null; notices then say why. Raises 429 when the caller''s searches are '
  'counted, and those of an hour are used.';
