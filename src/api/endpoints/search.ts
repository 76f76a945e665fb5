import { ANY_BODY, type Endpoint } from "../endpoint.ts";
import { SOFA_ID, SOFA_LISTING } from "../examples.ts";
import { search } from "../handlers/search.ts";
import * as shape from "../schemas/search.ts";

/** The endpoint for searches. */
export const SEARCH_ENDPOINTS: readonly Endpoint[] = [
  {
    operationId: "searchOffers",
    method: "post",
    path: "/v1/offers/search",
    summary: "Search offers",
    description: "By words and by meaning. Filters are hard, the rest ranks. A query, a filter, or both.",
    tag: "Search",
    auth: "token",
    handler: search,
    function: "search_offers",
    args: ["request", "extraction", "embedding", "model", "notices"],
    body: {
      schema: shape.search,
      required: true,
      maxBytes: ANY_BODY,
      example: { query: "sofa", filters: { location: "Berlin", price: { max: 250, currency: "EUR" } } },
    },
    answers: {
      200: {
        description: "What is offered, best first.",
        schema: shape.searchResponse,
        example: {
          type: "results",
          query: "sofa",
          classification: null,
          results: [{ ...SOFA_LISTING, score: 0.98, rank: 1 }],
          page: { next_cursor: null, has_more: false },
          notices: [],
          next: [{ summary: "Read one offer in full.", method: "GET", path: `/v1/offers/${SOFA_ID}` }],
        },
      },
    },
    problems: [],
    cache: "no-store",
  },
];
