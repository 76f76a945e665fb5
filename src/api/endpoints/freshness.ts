import type { Endpoint } from "../endpoint.ts";
import { SOFA_OWNED } from "../examples.ts";
import { write } from "../handlers/write.ts";
import { ownerOffer } from "../schemas/offers.ts";
import { idPath } from "../schemas/values.ts";

/** The endpoint with which an owner says that an offer is still available. */
export const FRESHNESS_ENDPOINTS: readonly Endpoint[] = [
  {
    operationId: "confirmOffer",
    method: "post",
    path: "/v1/offers/{id}/confirm",
    summary: "Say that an offer is still available",
    description:
      "Ask the person first. An offer that nobody confirms or changes becomes stale after 60 days (event `offer.stale`): it ranks behind others of the same score. Later it is archived (event `offer.archived`), and `review` names the day. Doing it again changes only `confirmed_at`. Counts in the limit `manage`.",
    tag: "Offers",
    auth: "token",
    handler: write,
    function: "confirm_offer",
    permission: "manage_offers",
    pathParameters: idPath("id"),
    answers: { 200: { description: "The offer.", schema: ownerOffer, example: SOFA_OWNED } },
    problems: ["verification_required", "not_found", "invalid_state"],
    cache: "no-store",
  },
];
